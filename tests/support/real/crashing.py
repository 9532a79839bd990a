"""Carries out items as a worker's process does, until a record of the job is written: then the process, its worker, or
both are killed or stopped, once."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.worker_runner import HeldItem, ItemEnd
from ordito.ensemble.journal_database import Statement
from ordito.server.processes.stored_item import run as run_item

ENTRY = "tests.support.real.crashing:run"
NUMBER = "CRASH_AT_RECORD"
HOW = "CRASH_HOW"
MARK = "CRASH_MARK"
"""Variables: the number of the record, what happens then, and a file that says that it has happened, and to whom."""

HOWS = ("runner", "worker", "both", "paused")


def run(held: HeldItem) -> ItemEnd:
    """See ``RunItem``."""
    number, mark = int(os.environ[NUMBER]), Path(os.environ[MARK])
    append = PostgresDatabase.append

    def appended(
        self: PostgresDatabase, job: str, first: int, bodies: Sequence[bytes], more: Sequence[Statement] = ()
    ) -> None:
        append(self, job, first, bodies, more)
        if first + len(bodies) > number:
            _crash(mark)

    PostgresDatabase.append = appended  # type: ignore[method-assign]
    return run_item(held)


def _crash(mark: Path) -> None:
    runner, worker = os.getpid(), _parent_of(os.getppid())
    try:
        with mark.open("x") as file:
            file.write(f"{worker} {runner}\n")
    except FileExistsError:
        return
    how = os.environ[HOW]
    if how == "paused":
        os.kill(worker, signal.SIGSTOP)
        os.kill(runner, signal.SIGSTOP)
        return
    if how in ("worker", "both"):
        os.kill(worker, signal.SIGKILL)
    if how in ("runner", "both"):
        os.kill(runner, signal.SIGKILL)


def _parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
