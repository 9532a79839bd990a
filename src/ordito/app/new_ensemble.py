"""Make an ensemble before anything is deployed in it, so that inputs, secrets and hosts can be given to it."""

from __future__ import annotations

from pathlib import Path

from ordito.app.errors import Refused
from ordito.app.inputs.user_part import new_user_part
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import write_user_part
from ordito.ensemble.store import open_ensemble


def make_ensemble(directory: str, service: str) -> None:
    """Make the directory of an ensemble, with a user's part that names the service at a path, as the first deployment
    would write it. Raises ``Refused`` where there is anything already, ``EnsembleError``, and ``OSError``."""
    layout = Layout(Path(directory))
    layout.root.mkdir(parents=True, exist_ok=True)
    if any(layout.root.iterdir()):
        raise Refused("exists", f"{directory} is not empty", "name a directory that is empty, or does not exist")
    with open_ensemble(directory, command="ensembles create"):
        write_user_part(layout, new_user_part(layout, service, {}))
