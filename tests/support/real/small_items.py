"""What a worker of the tests carries out: a job whose records are written one by one, and nothing else."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import msgspec

from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.worker_runner import Cancel, HeldItem, ItemEnd, Suspend
from ordito.ensemble.journal_database import BEGIN_JOB


class SmallJob(msgspec.Struct, frozen=True):
    """The request of an item."""

    steps: int
    notes: str
    """A file in which each operation notes its step and its process."""

    pause: float = 0.0
    """How long an operation takes, in seconds."""

    gate: int = -1
    """Before this step it waits for ``gate_of`` the notes."""

    dies: bool = False
    """Whether the process ends as if killed before it writes anything."""


def run(held: HeldItem) -> ItemEnd:
    """Carry one out."""
    job = msgspec.json.decode(held.item.request, type=SmallJob)
    if job.dies:
        os.kill(os.getpid(), signal.SIGKILL)
    asked: list[Cancel | Suspend] = []
    is_asked = threading.Event()

    def hear(what: Cancel | Suspend) -> None:
        asked.append(what)
        is_asked.set()

    held.listen(hear)
    tenure = held.tenure
    database = PostgresDatabase(held.task.address, tenure.ensemble, tenure.epoch)
    name = f"job of {held.task.item}"
    with database.reading():
        known = [row[0] for row in database.rows("SELECT id FROM job")]
        done = [row[0] for row in database.rows("SELECT number FROM record")]
    if known != [name]:
        database.write("begin", [(BEGIN_JOB, [(name, b"", b"")])])
        done = []
    notes = os.open(job.notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
    for step in range(len(done), job.steps):
        while step == job.gate and not gate_of(Path(job.notes)).exists() and not is_asked.wait(0.02):
            pass
        if asked and isinstance(asked[-1], Suspend):
            return ItemEnd(is_done=False)
        database.append(name, step, [b"%d" % step])
        while not held.may_launch():
            time.sleep(0.01)
        os.write(notes, f"{step} {os.getpid()} {tenure.epoch}\n".encode())
        is_asked.wait(job.pause)
        if asked and isinstance(asked[-1], Cancel):
            return ItemEnd(job=name, outcome=b"cancelled")
    database.shut()
    return ItemEnd(job=name, outcome=b"ok")


def gate_of(notes: Path) -> Path:
    """The file without which a job does not pass its gate."""
    return notes.with_suffix(".go")


def notes_of(path: Path) -> list[tuple[int, int, int]]:
    """What operations have noted: step, process, epoch."""
    if not path.exists():
        return []
    return [(int(a), int(b), int(c)) for a, b, c in (line.split() for line in path.read_text().splitlines())]
