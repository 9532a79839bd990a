"""Whole jobs in an ensemble's directory, with the fakes of the engine's tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ordito.base.change_ids import ChangeIds
from ordito.engine.driver import JobResult, run_job
from ordito.ensemble.job_record import ClosingJob
from ordito.ensemble.logs import JobLog
from ordito.ensemble.status import status_after
from ordito.ensemble.store import Ensemble, open_ensemble
from ordito.instances.records import Snapshot
from ordito.testing import FakeClock
from ordito.work.plan import Plan
from ordito.work.providing import Providers
from ordito.work.records import JobClosingRecord, JobHeader, Journal, StepFinishedRecord, StepStartedRecord
from tests.engine.fakes import FakeExecutor, FakeOperations, FakeProvider, World

NOW = 1_800_000_000.0


def effective(snapshot: Snapshot) -> Mapping[str, str]:
    return {name: instance.local for name, instance in snapshot.instances.items()}


def carry_out(
    ensemble: Ensemble,
    plan: Plan,
    executor: FakeExecutor | None = None,
    journal: Journal | None = None,
    now: float = NOW,
) -> JobResult:
    """Run a new job, or continue the unfinished one, without closing it."""
    unfinished = ensemble.unfinished
    if unfinished is not None:
        header, plan, records = unfinished.header, unfinished.plan, unfinished.records
        used = [r.change for r in records if isinstance(r, StepStartedRecord | StepFinishedRecord) and r.change]
        ids = ChangeIds(header.id, header.ticks, used=used)
    else:
        records = None
        ids = ensemble.change_ids(now, len(plan.steps))
        header = JobHeader(ids.job, "deploy", "d" * 64, "service.yaml", now, {"port": 80}, ticks=ids.ticks)
    with JobLog(ensemble.layout.log(header.id)) as log:
        return asyncio.run(
            run_job(
                header,
                plan,
                FakeOperations(plan, ensemble.snapshot),
                ensemble.snapshot,
                executors=[executor or FakeExecutor(World(plan))],
                providers=Providers((FakeProvider(),)),
                journal=journal or ensemble.journal,
                clock=FakeClock(),
                change_ids=ids,
                output_log=log,
                resume=records,
            )
        )


def deploy(root: Path, plan: Plan, executor: FakeExecutor | None = None, *, now: float = NOW) -> JobResult:
    """A whole job, closed."""
    with open_ensemble(root, command="deploy") as ensemble:
        result = carry_out(ensemble, plan, executor, now=now)
        ensemble.close_job(effective)
    return result


def closing_job(ensemble: Ensemble) -> ClosingJob:
    """The job of an ensemble that has ended and is not closed, as it is to be written down."""
    journal = ensemble.journal
    job, closing = journal.unfinished(), journal.last_record()
    assert job is not None
    assert isinstance(closing, JobClosingRecord)
    before = journal.status()
    after = status_after(before, job.header, job.plan, closing)
    return ClosingJob(
        header=job.header,
        plan=job.plan,
        records=journal.records,
        previous=journal.previous(),
        snapshot=ensemble.snapshot,
        closing=closing,
        before=before,
        after=after,
    )


def files(root: Path, *, private: bool = False) -> dict[str, bytes]:
    """Every file of an ensemble, those in `.ordito/` on request."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and (private or ".ordito" not in path.relative_to(root).parts)
    }
