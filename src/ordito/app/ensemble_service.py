"""The service by which what is told about an ensemble is understood: the one that is being deployed, or was last."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.errors import Refused
from ordito.app.left_behind import whole_service
from ordito.app.pinned_service import read_pinned
from ordito.app.place import Place
from ordito.ensemble.store import Ensemble
from ordito.model.service import Service
from ordito.work.effects import revises


class ServiceInUse(msgspec.Struct, frozen=True):
    """A service with what it has left behind, its inputs, and the folder in which its files lie."""

    service: Service
    inputs: Mapping[str, object]
    root: str


def service_in_use(place: Place, ensemble: Ensemble) -> ServiceInUse:
    """The service in use. Raises ``Refused`` where nothing was ever deployed, ``EnsembleError``, and
    ``InvalidDocument`` where its files were changed."""
    status = ensemble.status
    digest, main, inputs, choices, left = status.service, status.main, status.inputs, status.choices, status.left
    if ensemble.unfinished is not None and revises(ensemble.unfinished.header.workflow):
        header = ensemble.unfinished.header
        digest, main, inputs, choices, left = header.service, header.main, header.inputs, header.choices, header.left
    if not digest:
        raise Refused(
            "not-deployed",
            f"nothing was ever deployed in {place.shown}",
            next_words=("deploy",),
            purpose="deploy first",
        )
    read = read_pinned(place, digest, main, inputs, choices)
    whole = whole_service(place, read.service, left, read.package.root)
    return ServiceInUse(whole.service, inputs, read.package.root)
