"""One durable job of steps that do nothing, measured from inside: ``python engine_job.py WORK FILE FOLDER``.

WORK is ``executor`` (every operation has an implementation, and is handed to an executor that tells at once that it has
ended: started and finished, two records each) or ``no-op`` (no operation has one: one record each) or ``bare`` (the
loop that everything is compared with; FILE is then the number of steps). The figures come as JSON: steps, and the
CPU seconds of each part of the job.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

BASH = "tosca.artifacts.Implementation.Bash"

BATCH = 64
"""Steps that run at the same time, and records that the bare loop makes durable together."""


class DoesNothing:
    """An executor for shell scripts that tells at once that they have ended."""

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Everything."""
        return True

    def batch_key(self, invocation: Invocation) -> str:
        """What starts together is handed over together, as the executor of this machine has it."""
        return ""

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Their ends; there is no process, so nothing is told about one."""
        for invocation in batch:
            yield invocation.step, Outcome(Ending.SUCCEEDED, exit_code=0, seconds=0.001)

    async def cancel(self, step: str) -> None:
        """Nothing runs."""

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """Nothing is ever in doubt."""
        return None

    def close(self) -> None:
        """Nothing is kept."""


class Counting:
    """A listener that only counts the events that it hears."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, event: Event) -> None:
        """One more."""
        self.heard += 1


class Begun(msgspec.Struct, tag="started"):
    """What the bare loop writes when a step starts."""

    step: int
    at: float
    attempt: int
    change: str


class Done(msgspec.Struct, tag="finished"):
    """What the bare loop writes when a step has ended."""

    step: int
    at: float
    outcome: str
    seconds: float
    change: str


def bare(count: int, folder: Path) -> dict[str, float]:
    """The least that is durable: a row when a step starts, a row when it has ended, 64 steps at a time."""
    began = time.process_time()
    db = sqlite3.connect(folder / "bare.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE record (number INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    encode = msgspec.msgpack.Encoder().encode
    insert = "INSERT INTO record VALUES (?, ?)"
    number = 0
    for first in range(0, count, BATCH):
        steps = range(first, min(first + BATCH, count))
        # Nothing runs that is not known to have started: the rows of the start are durable before the end comes.
        for kind in (Begun, Done):
            db.execute("BEGIN")
            for step in steps:
                record = Begun(step, time.time(), 1, "A") if kind is Begun else Done(step, time.time(), "ok", 0.0, "A")
                db.execute(insert, (number, encode(record)))
                number += 1
            db.execute("COMMIT")
    db.close()
    return {"steps": count, "job": time.process_time() - began}


def job(file: str, folder: Path) -> dict[str, float]:
    """Read a service, plan its deployment, and carry that out, all in a fresh ensemble."""
    figures: dict[str, float] = {}
    last = time.process_time()

    def note(part: str) -> None:
        nonlocal last
        now = time.process_time()
        figures[part] = now - last
        last = now

    with paused_collector():
        found = Diagnostics()
        read = read_service(file, found, network(fetch=False))
        assert not found.has_errors, found.sorted()[:3]
        note("reading")
        made = plan("deploy", read.service, Snapshot(), {}, PlanOptions(Abilities(accepts=lambda kinds: BASH in kinds)))
    note("planning")
    with open_ensemble(str(folder), command="deploy") as ensemble:
        ids = ensemble.change_ids(time.time(), len(made.steps))
        header = JobHeader(ids.job, "deploy", "0" * 64, "service.yaml", time.time(), options=JobOptions(parallel=BATCH))
        listener = Counting()
        result = asyncio.run(carry_out(ensemble, read.service, made, header, ids, listener))
        note("running")
        assert result.status == "ok", result.failed[:3]
        with paused_collector():
            outline = outline_of(read.service)
            ensemble.close_job(lambda snapshot: effective_statuses(outline, snapshot), plan=made)
        note("closing")
    assert listener.heard > 2 * result.counts.no_op
    figures["steps"] = result.counts.succeeded
    figures["job"] = figures["planning"] + figures["running"]
    return figures


async def carry_out(
    ensemble: Ensemble, service: Service, made: Plan, header: JobHeader, ids: ChangeIds, listener: Listener
) -> JobResult:
    """Run the steps of a plan."""
    return await run_job(
        header,
        made,
        PlanOperations(service, ensemble.snapshot, made, {}, root=str(ensemble.layout.root), job=header.id),
        ensemble.snapshot,
        executors=[DoesNothing()],
        providers=Providers(),
        journal=ensemble.journal,
        clock=SystemClock(),
        change_ids=ids,
        listeners=[listener],
    )


if __name__ == "__main__":
    work, file, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if work == "bare":
        print(json.dumps(bare(int(file), folder)))
    else:
        from ordito.app.services.read import network, read_service
        from ordito.base.change_ids import ChangeIds
        from ordito.base.clock import SystemClock
        from ordito.base.collector import paused_collector
        from ordito.base.diagnostics import Diagnostics
        from ordito.engine.driver import JobResult, run_job
        from ordito.ensemble.store import Ensemble, open_ensemble
        from ordito.instances.outlining import outline_of
        from ordito.instances.records import Snapshot
        from ordito.instances.status import effective_statuses
        from ordito.model.service import Service
        from ordito.operations.operations import PlanOperations
        from ordito.planning.options import Abilities, PlanOptions
        from ordito.planning.workflows import plan
        from ordito.work.events import Event, Listener
        from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome, Progress
        from ordito.work.options import JobOptions
        from ordito.work.plan import Plan
        from ordito.work.providing import Providers
        from ordito.work.records import JobHeader

        print(json.dumps(job(file, folder)))
