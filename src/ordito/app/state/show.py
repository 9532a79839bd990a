"""Showing the records of one instance, of a node, or of everything."""

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
    """The ensemble, and ids of instances or names of nodes; without any, all."""

    directory: str
    names: tuple[str, ...] = ()


def show(request: StateRequest) -> dict[str, object]:
    """The records of instances by id, including deleted ones, as in `ensemble.yaml`. Changes nothing. Raises
    ``Refused`` and ``EnsembleError``."""
    return _read(request)[0]


def export(request: StateRequest) -> dict[str, object]:
    """All records, for programs. Changes nothing. Raises ``Refused`` and ``EnsembleError``."""
    instances, status = _read(request)
    return {"format": FORMAT, **status, "instances": instances}


def _read(request: StateRequest) -> tuple[dict[str, object], Mapping[str, object]]:
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
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
    """The effective statuses by id; none if the deployed service cannot be read."""
    try:
        whole = deployed(place, ensemble).whole
        return effective_statuses(outline_of(whole.service, whole.nodes), ensemble.snapshot)
    except (EnsembleError, InvalidDocument):
        return {}
