"""Changes of the records without operations: each is recorded as a job of its own, which is closed at once."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

import msgspec

from ordito.app.errors import Refused
from ordito.app.job.git_keeping import keeper_of, refuse_uncommittable, shared_options
from ordito.app.job.kept_events import KeptEvents
from ordito.app.place import Place
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals import description
from ordito.app.requests import DeployRequest
from ordito.app.services.left_behind import ServiceWithOrphans, file_digests, left_behind, whole_service
from ordito.app.services.pinned import PinnedService, pin_service, read_pinned
from ordito.base.change_ids import ChangeIds
from ordito.base.clock import SystemClock
from ordito.ensemble.git.keeper import JobFiles
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.owner import current_user
from ordito.ensemble.status import current_form, deployed_form, keep_outline, known_forms, stable_form
from ordito.ensemble.store import Ensemble
from ordito.instances.outlining import outline_of
from ordito.instances.records import Delta, Snapshot
from ordito.instances.status import effective_statuses
from ordito.work.forms import begun
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import ChangeKind, InstanceCounts, KeptCount, OperationCall, Plan, PlannedRecords, Step
from ordito.work.records import (
    NOBODY,
    AskedBy,
    GivenService,
    GivenValue,
    JobClosingRecord,
    JobHeader,
    StepFinishedRecord,
)

replace = msgspec.structs.replace


class Edit(msgspec.Struct, frozen=True):
    """One change of the records."""

    target: str
    """The instance or node that is changed; for a pair, its source."""

    summary: str
    """What it does, for people."""

    delta: Callable[[str], Delta]
    """Gives the change of the records for a changeId."""

    link: str = ""
    """The id of the pair that is changed, "" for none."""


class EditBasis(msgspec.Struct, frozen=True):
    """What an edited ensemble has deployed."""

    whole: ServiceWithOrphans
    """The service with orphans."""

    pinned: PinnedService
    inputs: dict[str, object]
    given: dict[str, GivenValue] = {}
    """The inputs that are remembered."""

    counts: dict[str, int] = {}
    """The wanted numbers of instances."""

    environment: str = ""
    kept: dict[str, KeptCount] | None = None
    """Those of these numbers that scaling has set; None: as before."""

    named: GivenService | None = None
    """The service to remember instead of the one that the user's part names."""

    older: dict[str, str] = {}
    """The deployed versions of instances that have another version than this service."""


class RecordedEdit(msgspec.Struct, frozen=True):
    """The id of the job that records edits, and its commits."""

    job: str
    kept: KeptCommits


class Record(msgspec.Struct, frozen=True):
    """How edits are recorded: the workflow of the job, the call that they count as, and why they are made. ``outputs``
    are the new outputs of the topology, None if they do not change."""

    workflow: str
    call: OperationCall
    reason: str
    outputs: dict[str, object] | None = None


def record(
    ensemble: Ensemble, operation: str, edits: Sequence[Edit], basis: EditBasis, commit: str, asked: AskedBy = NOBODY
) -> RecordedEdit:
    """Record edits by hand, all or none. ``operation`` is their name in the records; ``commit`` is auto, always or
    never; ``asked`` says who asked through a server. Raises ``Refused`` if they must be committed and cannot be, and
    ``EnsembleError``."""
    how = Record(f"state {operation}", OperationCall("", "", "state", operation), "by hand")
    return write_down(ensemble, how, edits, basis, commit, asked=asked)


def write_down(
    ensemble: Ensemble,
    how: Record,
    edits: Sequence[Edit],
    basis: EditBasis,
    commit: str,
    *,
    begins: Callable[[str], None] = lambda _: None,
    asked: AskedBy = NOBODY,
) -> RecordedEdit:
    """Record edits, all or none; ``begins`` is called with the job's id before anything is written. See ``record``."""
    options = JobOptions(commit=commit)
    options = shared_options(options) if ensemble.is_shared else options
    refuse_uncommittable(ensemble.layout, options, JobFiles(basis.pinned.digest, basis.pinned.sources))
    now = SystemClock().now()
    change_ids = ensemble.change_ids(now, len(edits))
    header = replace(_header(ensemble, how, basis, options, change_ids, now), asked=asked)
    steps = tuple(_step(edit, how.call) for edit in edits)
    plan = Plan(
        how.workflow,
        steps,
        (),
        (how.call,),
        (how.reason,),
        counts=InstanceCounts(basis.counts, kept=basis.kept),
        records=PlannedRecords(older=basis.older),
    )
    records: list[StepFinishedRecord | JobClosingRecord] = []
    for number, edit in enumerate(edits):
        change = change_ids.next()
        outcome = Outcome(Ending.SUCCEEDED, changed=False, message=edit.summary)
        records.append(StepFinishedRecord(number, now, outcome, change, edit.delta(change)))
    outputs = ensemble.status.outputs if how.outputs is None else how.outputs
    records.append(JobClosingRecord(now, "ok", outputs))
    begins(header.id)
    ensemble.name_job(header.id)
    outline = outline_of(basis.whole.service, basis.whole.nodes)
    keep_outline(ensemble.layout, header.id, outline)
    began = begun(plan, ensemble.snapshot)
    events = KeptEvents(ensemble.layout, header, plan, ensemble.snapshot)
    ensemble.journal.open(header, plan, began, records)
    events.committed(records)
    events.end(ensemble.journal)
    ensemble.snapshot.apply(began)
    for done in records:
        if isinstance(done, StepFinishedRecord) and done.delta is not None:
            ensemble.snapshot.apply(done.delta)
    keeper = keeper_of(ensemble.layout, header, basis.whole.service.name)
    return RecordedEdit(header.id, ensemble.close_job(lambda found: effective_statuses(outline, found), keeper, plan))


def _header(
    ensemble: Ensemble, how: Record, basis: EditBasis, options: JobOptions, change_ids: ChangeIds, now: float
) -> JobHeader:
    """The header of a job that records edits."""
    return JobHeader(
        id=change_ids.job,
        workflow=how.workflow,
        service=basis.pinned.digest,
        main=basis.pinned.main,
        began=now,
        inputs=basis.inputs,
        options=options,
        machine=socket.gethostname(),
        user=current_user(),
        ticks=change_ids.ticks,
        given=basis.given,
        choices=basis.whole.service.choices,
        sources=basis.pinned.sources,
        left=basis.whole.left,
        environment=basis.environment,
        named=basis.named,
        # Nothing is reached: what is remembered stays.
        hosts=ensemble.status.hosts,
        hosts_given=bool(ensemble.status.hosts),
        forms=known_forms(ensemble.status),
        current=current_form(ensemble.status),
        base=stable_form(ensemble.status, ensemble.snapshot),
    )


def _step(edit: Edit, call: OperationCall) -> Step:
    name = call.name if call.interface else call.operation
    return Step(f"{edit.link or edit.target}.{name}", instance=edit.target, link=edit.link, call=0)


# What is deployed, as the ground on which records are changed by hand.


def deployed(place: Place, ensemble: Ensemble) -> EditBasis:
    """The service as it was deployed last, with orphans. Raises ``EnsembleError``, and ``InvalidDocument`` if the
    pinned service was changed."""
    status = ensemble.status
    read = read_pinned(place, deployed_form(status))
    root = read.package.root
    left = left_behind(read.service, ensemble.snapshot, status)
    whole = whole_service(place, read.service, left, root)
    pinned = PinnedService(status.service, status.main, root)
    digests = {**file_digests(place, status.service, read), **whole.digests}
    whole = ServiceWithOrphans(whole.service, status.left, whole.nodes, digests)
    return EditBasis(whole, pinned, status.inputs, status.given, environment=status.environment, named=status.named)


# Records changed together with the template: what is recorded afterwards must be what deploying would leave.

CHANGES = frozenset(
    {ChangeKind.RELINK, ChangeKind.RESTART, ChangeKind.RECONFIGURE, ChangeKind.UPDATE, ChangeKind.REPLACE}
)
"""The changes that are carried out on running instances."""


def proposed(known: PlanningContext, snapshot: Snapshot) -> Proposal:
    """What deploying the present service would do with these records. Raises ``Refused`` if it would change a running
    instance, which must not be recorded as changed already; also ``InvalidDocument``, ``PlanRefused`` and
    ``EnsembleError``."""
    proposal = description.propose(DeployRequest(), replace(known, snapshot=snapshot))
    changed = next((c for c in proposal.plan.changes if c.kind in CHANGES), None)
    if changed is not None:
        raise Refused(
            "changed",
            f"{changed.instance} differs from what the template describes: {changed.reason}",
            "deploy that first, or restore the template",
            next_words=("plan",),
            purpose="see what deploying would do",
        )
    return proposal


def new_basis(known: PlanningContext, proposal: Proposal) -> EditBasis:
    """The basis for records that belong to the present service, which is pinned."""
    pinned = pin_service(known.place.layout, proposal.source.read, proposal.source.measured, proposal.source.files)
    plan = proposal.plan
    return EditBasis(
        proposal.source.whole,
        pinned,
        proposal.inputs.values,
        proposal.inputs.given,
        plan.counts.wanted,
        proposal.setting.environment,
        plan.counts.kept,
        proposal.source.named,
        proposal.plan.records.older,
    )


def copied(snapshot: Snapshot) -> Snapshot:
    """A snapshot of its own with the same records."""
    copy = Snapshot()
    copy.apply(
        Delta(
            instances=tuple(snapshot.instances.values()),
            links=tuple(snapshot.links.values()),
            attributes=snapshot.attributes,
            outputs=snapshot.outputs,
        )
    )
    copy.highest.update(snapshot.highest)
    return copy


def not_wanted(what: str, hint: str) -> Refused:
    """The refusal because the template does not have something."""
    return Refused("not-wanted", what, hint, next_words=("plan",), purpose="see what deploying would do")
