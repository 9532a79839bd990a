"""The service that an ensemble is about: the one that is being deployed, or was last, with what it has left behind."""

from __future__ import annotations

from ordito.app.as_it_runs import Seen, as_it_runs
from ordito.app.earlier_forms import EarlierForms
from ordito.app.left_behind import whole_service
from ordito.app.pinned_service import read_pinned
from ordito.app.place import Place
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.status import known_forms
from ordito.ensemble.store import Ensemble
from ordito.model.service import Service


def service_in(place: Place, ensemble: Ensemble) -> tuple[Service | None, frozenset[str], str]:
    """The service as it is being deployed, or was last, as it runs, with what it has left behind; the nodes that this
    is; and why the service cannot be read."""
    status, left = ensemble.status, ensemble.status.left
    digest, main, inputs, choices = status.service, status.main, status.inputs, status.choices
    if ensemble.unfinished is not None:
        header = ensemble.unfinished.header
        digest, main, inputs, choices, left = header.service, header.main, header.inputs, header.choices, header.left
    if not digest:
        return None, frozenset(), ""
    try:
        read = read_pinned(place, digest, main, inputs, choices)
    except EnsembleError as error:
        return None, frozenset(), error.message
    except InvalidDocument as error:
        return None, frozenset(), f"the pinned service was changed: {error}"
    root = read.package.root
    whole = whole_service(place, read.service, left, root)
    seen = Seen("", whole.service, inputs, root)
    forms = EarlierForms(place, known_forms(ensemble.status))
    return as_it_runs(seen, seen, forms, ensemble.snapshot), whole.nodes, ""
