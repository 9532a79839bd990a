"""Show what exists, with its status. Changes nothing, needs no lock, and works while a job runs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.ensemble_checks import edited, no_ensemble
from ordito.app.job.jobs import INTERRUPTED, OpenJob, describe
from ordito.app.place import EnsembleState, Place, place_of
from ordito.app.revisions import IncompleteRevision, incomplete_revision
from ordito.base.sensitive import shown
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.status import Status, kept_outline, known_forms
from ordito.ensemble.store import EDITED_CURE, Ensemble, read_ensemble
from ordito.instances.outline import Outline
from ordito.instances.records import Instance, Snapshot
from ordito.instances.status import OPERATIONAL, effective_statuses, topology_status
from ordito.work.records import Form
from ordito.work.targets import HOST
from ordito.work.workflows import is_written, workflow_of


class StatusRequest(msgspec.Struct, frozen=True):
    """The ensemble; ``all`` also shows deleted instances."""

    directory: str
    all: bool = False


class InstanceStatus(msgspec.Struct, frozen=True):
    """The status of one instance."""

    instance: Instance
    """Its record."""

    effective: str
    """Its effective status."""

    type: str
    attributes: dict[str, object]
    orphaned: bool
    """Whether its node is no longer in the service."""

    optional: bool = False
    """Whether others can work without it."""

    form: str = ""
    """The earlier deployed version that it still has: a revision, or a job that made none; "" for the present version.
    """

    @property
    def drifted(self) -> bool:
        """Whether drift was found."""
        return bool(self.instance.drift)


def made_by(attributes: Mapping[str, object]) -> tuple[str, str]:
    """The provider that has made an instance, and its name there, by its attributes."""
    found = shown(attributes.get(HOST))
    if not isinstance(found, Mapping):
        return "", ""
    return str(found.get("provider", "")), str(found.get("id", ""))


class Damage(msgspec.Struct, frozen=True):
    """Damage of the files of an ensemble, what to do about it, and whether a waiting job can go on only after that."""

    message: str
    hint: str
    blocks: bool


class StatusResult(msgspec.Struct, frozen=True):
    """The status of an ensemble."""

    service: str
    effective: str
    """The effective status of the whole service."""

    status: Status
    instances: tuple[InstanceStatus, ...]
    job: OpenJob | None
    """The job that runs or was interrupted, if any; then the rest is what its journal says."""

    caveat: str = ""
    """Why effective statuses are not known, "" if they are."""

    failed: tuple[str, ...] = ()
    """The failed steps of the last job, if that was a workflow of the template."""

    waiting: int = 0
    """How many notices wait to be handled."""

    attempt: IncompleteRevision | None = None
    """The incomplete attempt after the last revision, if any."""

    is_half_removed: bool = False
    """Whether everything was to be removed, and something still exists because that has failed."""

    damage: Damage | None = None
    """The damage of the files of the ensemble, if any."""


def status(request: StatusRequest) -> StatusResult:
    """The status of an ensemble. Raises ``Refused`` if there is none, and ``EnsembleError``."""
    return read_status(request).result


class StatusReading(msgspec.Struct, frozen=True):
    """A status, and what it was made from."""

    request: StatusRequest
    result: StatusResult
    snapshot: Snapshot
    outline: Outline | None
    forms: dict[str, str]
    """By id, what deployed versions are called."""


def read_status(request: StatusRequest) -> StatusReading:
    """The status of an ensemble, and what it was made from. Raises ``Refused`` if there is none, and
    ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    with read_ensemble(request.directory) as ensemble:
        outline, caveat = outline_in(place, ensemble)
        snapshot = ensemble.snapshot
        forms = {"": "", **{name: _called(name, form) for name, form in known_forms(ensemble.status).items()}}
        effective = effective_statuses(outline, snapshot) if outline else {}
        job = describe(place, ensemble.unfinished) if ensemble.unfinished else None
        attempt = None
        if not _is_all_of(job, snapshot):
            attempt = incomplete_revision(EnsembleState(place, snapshot, ensemble.status))
        result = StatusResult(
            service=outline.service if outline else "",
            effective=topology_status(outline or NO_OUTLINE, snapshot, effective),
            status=ensemble.status,
            instances=instance_statuses(request, snapshot, outline, effective, forms),
            job=job,
            caveat=caveat,
            failed=_failed(place, ensemble),
            waiting=_waiting(place),
            attempt=attempt,
            is_half_removed=_is_half_removed(ensemble),
            damage=_damage(ensemble, job),
        )
        return StatusReading(request, result, snapshot, outline, forms)


def instance_statuses(
    request: StatusRequest,
    snapshot: Snapshot,
    outline: Outline | None,
    effective: Mapping[str, str],
    forms: Mapping[str, str],
) -> tuple[InstanceStatus, ...]:
    """The status of each instance that is asked for."""
    nodes = outline.nodes if outline else {}
    found: list[InstanceStatus] = []
    for instance in snapshot.instances.values():
        if request.all or instance.exists or instance.is_missed:
            node = nodes.get(instance.node)
            found.append(
                InstanceStatus(
                    instance,
                    effective.get(instance.id, instance.local),
                    node.type if node else "",
                    snapshot.attributes.get(instance.id, {}),
                    outline is not None and (node is None or node.lost),
                    node is not None and node.optional,
                    forms.get(instance.form, instance.form),
                )
            )
    return tuple(found)


def _is_all_of(job: OpenJob | None, snapshot: Snapshot) -> bool:
    """Whether everything that exists was begun by the open job."""
    if job is None:
        return False
    existing = (i for i in snapshot.instances.values() if i.exists)
    return all(i.created >= job.job if i.created else not i.is_unmanaged for i in existing)


def _called(name: str, form: Form) -> str:
    return f"revision {form.revision}" if form.revision else f"job {name}"


def _damage(ensemble: Ensemble, job: OpenJob | None) -> Damage | None:
    """The damage of the files. They are not read while a job waits, because then the journal says what exists; a
    running job may be writing them just now."""
    if job is None and ensemble.is_edited:
        return Damage(edited(ensemble), EDITED_CURE, blocks=False)
    if job is None or job.outcome != INTERRUPTED:
        return None
    try:
        changed = ensemble.have_files_changed()
    except EnsembleError as error:
        return Damage(error.message, error.hint, blocks=True)
    if not changed:
        return None
    found = f"the machine part of {ensemble.layout.manifest} was changed while this job waits, by damage or a merge"
    return Damage(found, "`ordito jobs resume` writes it again from the journal", blocks=False)


def _waiting(place: Place) -> int:
    if not place.layout.inbox.exists():
        return 0
    # Of most ensembles nobody ever tells anything, and what a notice is takes time to import.
    from ordito.ensemble.inbox import Inbox

    with Inbox(place.layout) as inbox:
        return inbox.waiting()


def _failed(place: Place, ensemble: Ensemble) -> tuple[str, ...]:
    """The failed steps of the last job, if that was a workflow of the template (§7.3.7), which may have left an unknown
    state."""
    last = ensemble.status.last_job
    if last is None or last.status != "failed" or not is_written(last.workflow):
        return ()
    from ordito.app.job.jobs import failed_steps

    return tuple(failed_steps(place, last.id))


def _is_half_removed(ensemble: Ensemble) -> bool:
    last, records = ensemble.status.last_job, ensemble.snapshot.instances.values()
    if ensemble.unfinished or last is None or not workflow_of(last.workflow).removes or last.status in OPERATIONAL:
        return False
    removed = any(not record.exists and record.last_config_change > last.id for record in records)
    return removed and any(record.exists for record in records)


NO_OUTLINE = Outline("", {})


def outline_in(place: Place, ensemble: Ensemble) -> tuple[Outline | None, str]:
    """The outline of the service that is being deployed, or was deployed last; and why it cannot be read."""
    header, last = ensemble.unfinished.header if ensemble.unfinished else None, ensemble.status.last_job
    job = header.id if header else last.id if last else ""
    kept = kept_outline(place.layout, job) if job else None
    if kept is not None:
        return kept, ""
    # Who has no outline needs all that reads services, which takes much longer to import than all the rest.
    from ordito.app.services.in_use import service_as_it_runs
    from ordito.instances.outlining import outline_of

    used, caveat = service_as_it_runs(place, ensemble)
    return outline_of(used.service, used.left) if used is not None else None, caveat
