"""Workers: the tasks in which executors and providers run, and the inbox to which they report.

A task decides nothing and touches nothing but the inbox. Here is the only broad ``except`` of the project: at the
border to code that the engine does not know, so that a fault in an executor fails a step and not the job, and a fault
in a listener fails only the listener.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from ordito.engine.delegates import Delegates
from ordito.work.events import Event, Listener
from ordito.work.invocation import Ending, Executor, InDoubt, Invocation, Outcome, Progress, Started
from ordito.work.plan import OperationCall
from ordito.work.providing import Delegation
from ordito.work.targets import HostTarget, Unreachable


class Crash(msgspec.Struct, frozen=True):
    """An exception that an executor or provider should not have raised; ``report`` is the traceback."""

    step: str
    report: str


class Doubt(msgspec.Struct, frozen=True):
    """A step that was started before a crash: its attempt, its process as far as the journal knows it, how the host is
    reached on which it ran, None for this machine, and the number of the record that says that it began."""

    index: int
    step: str
    attempt: int
    call: OperationCall
    started: Started | None
    target: HostTarget | None = None
    record: int = -1


LAST_WAIT = 3.0
"""Seconds that running operations get to end by themselves when the job cannot go on. Their results stay where their
executor keeps them, and are found when the job is resumed."""

Message = tuple[int, Progress | None]
"""The index of a step, and what is reported about it; None where nobody knows how a step in doubt has ended, and
nothing of it runs any more."""


class Workers:
    """Runs steps with executors and providers, and collects what they report until ``news`` is called.

    There are reports of every started step until exactly one ``Outcome``.
    """

    def __init__(self, job: str, executors: Sequence[Executor], delegates: Delegates) -> None:
        self._job = job
        self._executors = tuple(executors)
        self._delegates = delegates
        self._by_processor: dict[tuple[str, str], Executor | None] = {}
        self._inbox: list[Message] = []
        self._bell = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: set[asyncio.Task[None]] = set()
        self._executed: dict[int, tuple[str, Executor]] = {}
        self._delegated: dict[int, asyncio.Task[None]] = {}
        self._ending = False
        self.crashes: list[Crash] = []

    def executor_for(self, processor: str, target: HostTarget | None = None) -> Executor | None:
        """The first executor that understands a kind of artifact on a target (None: on this machine)."""
        key = (processor, "" if target is None else target.protocol)
        if key not in self._by_processor:
            found = next((e for e in self._executors if e.accepts((processor,), key[1])), None)
            self._by_processor[key] = found
        return self._by_processor[key]

    def accepts(self, kinds: Sequence[str], protocol: str = "") -> bool:
        """Whether an executor understands artifacts of these types on hosts that are reached by this protocol ("" for
        this machine)."""
        return any(executor.accepts(kinds, protocol) for executor in self._executors)

    def problem(self, asked: Delegation) -> Outcome | None:
        """How a delegated step ends for which there is no provider; None if there is one."""
        return self._delegates.problem(asked)

    # ------------------------------------------------------------------------------------------------- the inbox

    async def news(self, *, wait: bool) -> list[Message]:
        """The reports since the last call; with ``wait``, waits for a report or for ``ring``."""
        if wait:
            await self._bell.wait()
        # One round of the loop more: what ends at the same moment is committed together.
        await asyncio.sleep(0)
        self._bell.clear()
        news, self._inbox = self._inbox, []
        return news

    def ring(self) -> None:
        """End a wait for reports though there may be none."""
        self._bell.set()

    def _post(self, index: int, progress: Progress | None) -> None:
        if isinstance(progress, Outcome):
            self._executed.pop(index, None)
            self._delegated.pop(index, None)
        self._inbox.append((index, progress))
        self._bell.set()

    # ------------------------------------------------------------------------------------------------- the tasks

    def run(self, steps: Sequence[tuple[int, Invocation]]) -> None:
        """Run called operations; those that their executor wants to run together are given to it together."""
        batches: dict[tuple[int, str], list[tuple[int, Invocation]]] = {}
        for index, invocation in steps:
            executor = self.executor_for(invocation.processor, invocation.target)
            if executor is None:
                self._post(index, no_executor(invocation.processor, invocation.target))
                continue
            self._executed[index] = (invocation.step, executor)
            batches.setdefault((id(executor), executor.batch_key(invocation)), []).append((index, invocation))
        for batch in batches.values():
            executor = self._executed[batch[0][0]][1]
            untold = {invocation.step: index for index, invocation in batch}
            _ = self._begin(untold, self._run(executor, [invocation for _, invocation in batch], untold))

    def warnings(self, delegation: Delegation) -> tuple[str, ...]:
        """Warnings before a provider is asked."""
        return self._delegates.warnings(delegation)

    def delegate(self, index: int, step: str, delegation: Delegation) -> None:
        """Let a provider create, remove or check an instance, or wait for its host."""
        untold = {step: index}
        self._delegated[index] = self._begin(untold, self._delegate(index, delegation, untold))

    def end(self, index: int, outcome: Outcome) -> None:
        """Report the end of a step for which nothing has to run."""
        self._post(index, outcome)

    def settle(self, doubts: Sequence[Doubt]) -> None:
        """Settle steps in doubt: end what still runs of them, and report how each has ended, or that nobody knows. If
        an executor fails at this, a process may still run, so its steps have failed."""
        for doubt in doubts:
            task = self._begin({doubt.step: doubt.index}, self._settle(doubt))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    def end_one(self, index: int) -> None:
        """Cancel what an executor runs for a step; how it ends is reported as usual."""
        if found := self._executed.get(index):
            step, executor = found
            _ = self._begin({}, executor.cancel(step))

    def end_running(self) -> None:
        """Cancel everything that runs; how it ends is reported as usual."""
        self._ending = True
        for step, executor in self._executed.values():
            _ = self._begin({}, executor.cancel(step))
        for task in self._delegated.values():
            task.cancel()

    async def stop(self) -> None:
        """End all tasks; used when the job cannot go on. Waits ``LAST_WAIT`` seconds first, because many operations are
        about to end, and those that end need not be done a second time. What is in doubt stays so."""
        for task in self._settling:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_WAIT)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, untold: dict[str, int], work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._border(untold, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _border(self, untold: dict[str, int], work: Coroutine[object, object, None]) -> None:
        """Any exception of an executor becomes the failure of those of its steps whose end it has not reported."""
        with _border() as faults:
            await work
        for error in faults:
            problem = f"{type(error).__name__}: {error}".rstrip(": ")
            message = f"unexpected error in what runs this step ({problem}); this is a fault of the program"
            self.crashes.extend(Crash(step, _report(error)) for step in untold or ("",))
            for index in untold.values():
                self._post(index, Outcome(Ending.FAILED, message=message))

    async def _run(self, executor: Executor, batch: list[Invocation], untold: dict[str, int]) -> None:
        async for step, progress in executor.run(batch):
            self._post(untold[step], progress)
            if isinstance(progress, Outcome):
                del untold[step]
        for index in untold.values():
            self._post(index, Outcome(Ending.FAILED, message="the executor does not say how this operation ended"))

    async def _delegate(self, index: int, delegation: Delegation, untold: dict[str, int]) -> None:
        try:
            outcome = await self._delegates.carry_out(delegation)
        except asyncio.CancelledError:
            if not self._ending:
                raise
            outcome = Outcome(Ending.CANCELLED, message="cancelled while the provider was working")
        untold.clear()
        self._post(index, outcome)

    async def _settle(self, doubt: Doubt) -> None:
        call = doubt.call
        executor = self.executor_for(call.processor, doubt.target)
        outcome: Outcome | None = None
        if executor is not None:
            asked = InDoubt(
                self._job,
                doubt.step,
                doubt.attempt,
                doubt.started,
                call.outputs,
                doubt.target,
                call.processor,
                doubt.record,
                call.in_doubt,
            )
            try:
                outcome = await executor.settle(asked)
            except Unreachable as unreachable:
                outcome = lost(unreachable)
        self._post(doubt.index, outcome)


def told(listener: Listener, events: Sequence[Event]) -> Crash | None:
    """Tell a listener of events; returns its error if it raises one."""
    with _border() as faults:
        for event in events:
            listener(event)
    return Crash("a listener to the events of the job", _report(faults[0])) if faults else None


@contextmanager
def _border() -> Iterator[list[Exception]]:
    """Catch every exception of foreign code, which must not end the job, and collect it."""
    faults: list[Exception] = []
    try:
        yield faults
    except Exception as error:  # noqa: BLE001  (see above: the one place where it is meant)
        faults.append(error)


def _report(error: Exception) -> str:
    return "".join(traceback.format_exception(error))


def no_executor(processor: str, target: HostTarget | None = None) -> Outcome:
    """The end of an operation that no executor can run on its target."""
    where = f" on {target.name}, which is reached by {target.protocol}" if target is not None else ""
    return Outcome(Ending.NOT_STARTED, message=f"no executor runs artifacts of type {processor}{where}")


def lost(unreachable: Unreachable) -> Outcome:
    """The end of an operation that was running when the job was interrupted, on a host that cannot be reached now:
    nobody knows how it ended, or whether it still runs."""
    return Outcome(
        Ending.LOST, message=f"in doubt since the job was interrupted; its host cannot be reached: {unreachable}"
    )
