"""A change of the records that no operation makes: written down as a job of its own, which is closed at once."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

import msgspec

from ordito.app.keeping import keeper_of, refuse_uncommittable, shared_options
from ordito.app.left_behind import Whole
from ordito.app.pinned_service import PinnedService
from ordito.base.clock import SystemClock
from ordito.ensemble.git.keeper import JobFiles
from ordito.ensemble.keeping import Kept
from ordito.ensemble.owner import current_user
from ordito.ensemble.store import Ensemble
from ordito.instances.outlining import outline_of
from ordito.instances.records import Delta
from ordito.instances.status import effective_statuses
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Call, Plan, Step
from ordito.work.records import GivenValue, JobClosingRecord, JobHeader, JobOptions, StepFinishedRecord


class Edit(msgspec.Struct, frozen=True):
    """One change: the instance or node that it is about, in words what it does, and by the changeId that it gets what
    it does to the records."""

    target: str
    summary: str
    delta: Callable[[str], Delta]


class Basis(msgspec.Struct, frozen=True):
    """What an edited ensemble has deployed: the service with what it has left behind, its pin, its inputs, the
    wanted numbers of instances, and the environment that it works in."""

    whole: Whole
    pinned: PinnedService
    inputs: dict[str, object]
    given: dict[str, GivenValue] = {}
    counts: dict[str, int] = {}
    environment: str = ""


class Recorded(msgspec.Struct, frozen=True):
    """The id of the job that holds edits, and what came of its files in git."""

    job: str
    kept: Kept


def record(ensemble: Ensemble, operation: str, edits: Sequence[Edit], basis: Basis, commit: str) -> Recorded:
    """Write edits down, all or none. ``operation`` is the word for them in the records; ``commit`` says whether they
    are committed (auto, always, never).

    Raises ``Refused`` where they must be committed and cannot, and ``EnsembleError``.
    """
    options = JobOptions(commit=commit)
    options = shared_options(options) if ensemble.is_shared else options
    refuse_uncommittable(ensemble.layout, options, JobFiles(basis.pinned.digest, basis.pinned.sources))
    now = SystemClock().now()
    change_ids = ensemble.change_ids(now, len(edits))
    workflow = f"state {operation}"
    header = JobHeader(
        id=change_ids.job,
        workflow=workflow,
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
    )
    steps = tuple(Step(f"{edit.target}.state.{operation}", instance=edit.target, call=0) for edit in edits)
    plan = Plan(workflow, steps, (), (Call("", "", "state", operation),), ("by hand",), counts=basis.counts)
    records: list[StepFinishedRecord | JobClosingRecord] = []
    for number, edit in enumerate(edits):
        change = change_ids.next()
        outcome = Outcome(Ending.SUCCEEDED, changed=False, message=edit.summary)
        records.append(StepFinishedRecord(number, now, outcome, change, edit.delta(change)))
    records.append(JobClosingRecord(now, "ok", ensemble.status.outputs))
    ensemble.name_job(header.id)
    ensemble.journal.open(header, plan, Delta(), records)
    for done in records:
        if isinstance(done, StepFinishedRecord) and done.delta is not None:
            ensemble.snapshot.apply(done.delta)
    keeper = keeper_of(ensemble.layout, header, basis.whole.service.name)
    outline = outline_of(basis.whole.service)
    return Recorded(header.id, ensemble.close_job(lambda found: effective_statuses(outline, found), keeper, plan))
