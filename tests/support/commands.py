"""Whole commands inside the test process, with an executor without processes: everything is real save the operations.

What was planned, what ran and what is recorded can be asked for afterwards.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from ordito.app.job import running
from ordito.cli.main import run as run_here
from ordito.engine.driver import JobResult, run_job
from ordito.ensemble.status import Status
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Snapshot
from ordito.work.events import Event, StepFailed, StepSkipped, StepStarted
from ordito.work.plan import Action, Plan, Step
from tests.support.golden import note
from tests.support.hands import Hands


class Ran(msgspec.Struct, frozen=True):
    """A command that has ended. ``plan`` is that of the job, None where there was none; ``log`` are the operations that
    an executor carried out, by the ids of their steps, as they began (False) and ended (True)."""

    code: int
    out: str
    err: str
    plan: Plan | None
    events: tuple[Event, ...]
    result: JobResult | None
    log: tuple[tuple[str, bool], ...]
    environments: dict[str, dict[str, str]] = {}

    @property
    def begun(self) -> list[str]:
        """The ids of the steps whose operations were carried out, in the order in which they began."""
        return [step for step, is_end in self.log if not is_end]

    @property
    def failed(self) -> list[str]:
        """The ids of the steps that failed."""
        return [e.step for e in self.events if isinstance(e, StepFailed)]

    @property
    def skipped(self) -> list[str]:
        """The ids of the steps that were not run."""
        return [e.step for e in self.events if isinstance(e, StepSkipped)]

    @property
    def delegated(self) -> list[str]:
        """The ids of the steps that a provider carried out."""
        steps = {s.id for s in self.plan.steps if s.action is Action.DELEGATE} if self.plan else set()
        return [e.step for e in self.events if isinstance(e, StepStarted) and e.step in steps]


class RealHands:
    """What operations that are processes have done: their script writes it down, and fails where it is told to."""

    def __init__(self, directory: Path) -> None:
        self._log = directory / "operations.log"
        self.failing = directory / "failing"

    @property
    def script(self) -> str:
        """The script of all operations. ``failing`` holds the patterns of those that fail, a line each."""
        return (
            "#!/bin/bash\n"
            f"echo begin $ORDITO_STEP >>{self._log}\n"
            "name=${ORDITO_STEP/.Standard./.}; name=${name/.Configure./.}; name=${name/.Maintain./.}\n"
            "ended=0\n"
            f"while read -r pattern; do [[ $name != $pattern ]] || ended=1; done <{self.failing}\n"
            f"echo end $ORDITO_STEP >>{self._log}\n"
            "exit $ended\n"
        )

    def forget(self) -> None:
        """Begin again, for another job."""
        self._log.write_text("")

    def log(self) -> list[tuple[str, bool]]:
        """The steps as they began (False) and ended (True)."""
        lines = [line.split() for line in self._log.read_text().splitlines()]
        return [(step, word == "end") for word, step in lines]


class Commands:
    """An ensemble in a directory of its own, and the commands on it."""

    def __init__(self, directory: Path, *, real: bool = False) -> None:
        """With ``real`` operations are processes, as ever; ``RealHands`` says what their script must do."""
        self.directory = directory
        self.real = RealHands(directory) if real else None
        self.hands = Hands()
        self.last: Ran | None = None
        self.plan: Plan | None = None
        self._events: list[Event] = []
        self._result: JobResult | None = None

    @property
    def ensemble(self) -> Path:
        """The ensemble's directory."""
        return self.directory / "ensemble"

    def run(self, *words: str) -> Ran:
        """Run a command line; ``ensemble`` is added to it, and ``--yes`` where it begins a job."""
        self.hands.forget()
        if self.real is not None:
            self.real.forget()
        self.plan, self._result, self._events = None, None, []
        out, err = _stream(), _stream()
        with mock.patch.multiple("sys", stdout=out, stderr=err, stdin=io.StringIO()), self._without_processes():
            code = run_here([*words, "-e", str(self.ensemble)])
        # A command keeps what it has read out of the collector's sight until its process ends; this one goes on.
        gc.unfreeze()
        note(words, code, _text(out))
        for event in self._events:
            note([type(event).__name__], 0, msgspec.json.encode(event).decode())
        self.last = Ran(
            code,
            _text(out),
            _text(err),
            self.plan,
            tuple(self._events),
            self._result,
            tuple(self.hands.log if self.real is None else self.real.log()),
            dict(self.hands.environments),
        )
        return self.last

    def recorded(self) -> tuple[Snapshot, Status]:
        """What the records say."""
        with read_ensemble(self.ensemble) as ensemble:
            return ensemble.snapshot, ensemble.status

    @contextmanager
    def _without_processes(self) -> Iterator[None]:
        def executors(base: object, area: str, *more: object) -> tuple[Hands]:
            return (self.hands,)

        with (
            nullcontext() if self.real else mock.patch("ordito.app.plugins.local_executors", executors),
            mock.patch.object(running, "run_job", self._run_job),
        ):
            yield

    async def _run_job(self, header: Any, plan: Plan, operations: Any, snapshot: Snapshot, **more: Any) -> JobResult:
        self.plan = plan
        whole = operations.extend

        def extend(longer: Plan) -> None:
            # A rollback's steps are further steps of the plan.
            self.plan = longer
            whole(longer)

        operations.extend = extend
        listeners = [*more.pop("listeners", ()), self._events.append]
        self._result = await run_job(header, plan, operations, snapshot, listeners=listeners, **more)
        return self._result


def short_name(plan: Plan) -> Callable[[Step], str]:
    """The names of a plan's steps without those of their interfaces, where they can be told apart without them."""

    def short(step: Step) -> str:
        interface = plan.calls[step.call].interface if step.call >= 0 else ""
        return step.id.replace(f".{interface}.", ".", 1) if interface else step.id

    count: dict[str, int] = {}
    for step in plan.steps:
        count[short(step)] = count.get(short(step), 0) + 1
    return lambda step: short(step) if count[short(step)] == 1 else step.id


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()
