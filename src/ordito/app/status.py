"""Show what exists and how it is. Changes nothing, needs no lock, and works while a job runs."""

from __future__ import annotations

import msgspec

from ordito.app.gate import no_ensemble
from ordito.app.jobs import OpenJob, describe
from ordito.app.left_behind import whole_service
from ordito.app.pinned_service import read_pinned
from ordito.app.place import Place, place_of
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.status import Status
from ordito.ensemble.store import Ensemble, read_ensemble
from ordito.instances.records import Instance
from ordito.instances.status import aggregate, effective_statuses
from ordito.model.service import Service


class StatusRequest(msgspec.Struct, frozen=True):
    """Which ensemble; ``all`` also shows deleted instances."""

    directory: str
    all: bool = False


class InstanceStatus(msgspec.Struct, frozen=True):
    """One instance: what is recorded of it, its effective status, its type, its attributes, and whether its node is no
    longer in the service (``orphaned``)."""

    instance: Instance
    effective: str
    type: str
    attributes: dict[str, object]
    orphaned: bool


class StatusResult(msgspec.Struct, frozen=True):
    """What exists. ``effective`` is the status of the whole; ``caveat`` says why effective statuses are not known."""

    service: str
    effective: str
    status: Status
    instances: tuple[InstanceStatus, ...]
    deleted: int
    job: OpenJob | None
    caveat: str = ""


def status(request: StatusRequest) -> StatusResult:
    """Look at an ensemble. Raises ``Refused`` where there is none, and ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    with read_ensemble(request.directory) as ensemble:
        service, lost, caveat = _service(place, ensemble)
        snapshot = ensemble.snapshot
        effective = effective_statuses(service, snapshot) if service else {}
        found = [
            InstanceStatus(
                instance,
                effective.get(instance.id, instance.local),
                service.nodes[instance.node].type if service and instance.node in service.nodes else "",
                snapshot.attributes.get(instance.id, {}),
                service is not None and (instance.node in lost or instance.node not in service.nodes),
            )
            for instance in snapshot.instances.values()
            if request.all or instance.exists
        ]
        existing = [i.effective for i in found if i.instance.exists]
        return StatusResult(
            service=service.name if service else "",
            effective=aggregate(existing),
            status=ensemble.status,
            instances=tuple(found),
            deleted=sum(not instance.exists for instance in snapshot.instances.values()),
            job=describe(place, ensemble.unfinished) if ensemble.unfinished else None,
            caveat=caveat,
        )


def _service(place: Place, ensemble: Ensemble) -> tuple[Service | None, frozenset[str], str]:
    """The service as it is being deployed, or was last, with what it has left behind; the nodes that this is; and why
    the service cannot be read."""
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
    whole = whole_service(place, read.service, left, read.package.root)
    return whole.service, whole.nodes, ""
