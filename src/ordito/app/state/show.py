"""The records as they are: of one instance, of a node, of everything."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.names import InstanceNames
from ordito.app.place import Place, place_of
from ordito.app.state.edit import deployed
from ordito.base.diagnostics import InvalidDocument
from ordito.base.sensitive import shown
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.manifest_rows import instance_rows, status_row
from ordito.ensemble.store import Ensemble, read_ensemble
from ordito.instances.outlining import outline_of
from ordito.instances.records import Snapshot
from ordito.instances.status import effective_statuses

FORMAT = "ordito.state/1"


class StateRequest(msgspec.Struct, frozen=True):
    """Of which ensemble which records: ids of instances, names of nodes; all of them without any."""

    directory: str
    names: tuple[str, ...] = ()


def show(request: StateRequest) -> dict[str, object]:
    """What is recorded of instances, by their ids, deleted ones included: as `ensemble.yaml` holds it. Changes nothing.

    Raises ``Refused`` and ``EnsembleError``.
    """
    return _read(request)[0]


def export(request: StateRequest) -> dict[str, object]:
    """Everything that is recorded, for programs. Changes nothing. Raises ``Refused`` and ``EnsembleError``."""
    instances, status = _read(request)
    return {"format": FORMAT, **status, "instances": instances}


def _read(request: StateRequest) -> tuple[dict[str, object], Mapping[str, object]]:
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    with read_ensemble(request.directory) as ensemble:
        snapshot: Snapshot = ensemble.snapshot
        chosen = None
        if request.names:
            chosen = {i.id for i in InstanceNames(None, snapshot, deleted=True).instances(request.names)}
        rows = instance_rows(snapshot, _effective(place, ensemble))
        found = {n: msgspec.to_builtins(row, enc_hook=shown) for n, row in rows if chosen is None or n in chosen}
        status: dict[str, object] = msgspec.to_builtins(status_row(snapshot, ensemble.status), enc_hook=shown)
        return found, {k: v for k, v in status.items() if k not in ("format", "instances", "parts")}


def _effective(place: Place, ensemble: Ensemble) -> Mapping[str, str]:
    """Effective statuses, by id; none where the service that was deployed cannot be read."""
    try:
        whole = deployed(place, ensemble).whole
        return effective_statuses(outline_of(whole.service, whole.nodes), ensemble.snapshot)
    except (EnsembleError, InvalidDocument):
        return {}
