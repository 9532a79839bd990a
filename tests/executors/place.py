"""A service with scripts in it, and an executor to run them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ordito.executors.local import LocalExecutor
from ordito.executors.process_table import Marker, Process, processes_of
from ordito.work.invocation import Invocation, Outcome, Printed, Progress, Started

T = TypeVar("T")
JOB = "A0AP4P9C0000"
BASH = "tosca.artifacts.Implementation.Bash"
PYTHON = "tosca.artifacts.Implementation.Python"


class Ran:
    """What was told about one operation."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.printed = b""
        self._outcome: Outcome | None = None

    def take(self, progress: Progress) -> None:
        assert self._outcome is None, "nothing comes after the outcome"
        if isinstance(progress, Started):
            assert self.started is None
            self.started = progress
        elif isinstance(progress, Printed):
            self.printed += progress.data
        else:
            self._outcome = progress

    @property
    def text(self) -> str:
        return self.printed.decode()

    @property
    def outcome(self) -> Outcome:
        assert self._outcome is not None, "an outcome comes last"
        return self._outcome


class Place:
    """A folder with a service, an executor, and what it takes to run scripts and to look at what they leave."""

    def __init__(self, path: Path) -> None:
        self.root = path / "service"
        self.root.mkdir()
        self.slots = path / "slots"
        self.scrap = path / "scrap"
        self.scrap.mkdir()
        self.executor = LocalExecutor(self.slots, grace=5.0, linger=0.3)

    def write(self, name: str, text: str | bytes) -> str:
        file = self.root / name
        content = text.encode() if isinstance(text, str) else text
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_bytes() != content:
            file.write_bytes(content)
        return name

    def invocation(self, script: str | bytes, name: str = "run.sh", **more: Any) -> Invocation:
        """An invocation of a script with this text, which is written to the service."""
        kind = PYTHON if name.endswith(".py") else BASH
        values: dict[str, Any] = {"step": name, "attempt": 1, "processor": kind, "environment": {}}
        return Invocation(job=JOB, root=str(self.root), artifact=self.write(name, script), **{**values, **more})

    async def arun(self, invocation: Invocation) -> Ran:
        ran = Ran()
        async for step, progress in self.executor.run([invocation]):
            assert step == invocation.step
            ran.take(progress)
        return ran

    def run(self, script: str | bytes, name: str = "run.sh", **more: Any) -> Ran:
        return asyncio.run(self.arun(self.invocation(script, name, **more)))

    def run_and_cancel(self, script: str, says: str, **more: Any) -> Ran:
        """Run a script, and cancel it when it has printed a text."""
        invocation = self.invocation(script, **more)

        async def run() -> Ran:
            ran = Ran()
            async for step, progress in self.executor.run([invocation]):
                ran.take(progress)
                if isinstance(progress, Printed) and says in ran.text:
                    await self.executor.cancel(step)
            return ran

        return asyncio.run(run())

    def processes(self, step: str = "run.sh") -> list[Process]:
        return processes_of(Marker(JOB, step, str(self.slots)))

    def left(self) -> list[str]:
        """Everything in the slots that is neither a folder of theirs nor a result."""
        every = (p.relative_to(self.slots) for p in self.slots.rglob("*"))
        return sorted(str(p) for p in every if len(p.parts) > 2 and p.parts[2:] not in {("work",), ("result",)})


def until(condition: Callable[[], T], what: str, *, seconds: float = 20.0) -> T:
    """Wait for something that another process does; fails if it does not come."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)
    return value


async def auntil(condition: Callable[[], T], what: str, *, seconds: float = 20.0) -> T:
    """The same on an event loop."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        await asyncio.sleep(0.005)
    return value


def is_gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"
