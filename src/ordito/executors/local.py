"""Runs shell scripts and Python scripts on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from ordito.executors.ansible.executor import AnsibleExecutor
from ordito.executors.attempt import AttemptSurroundings, LocalAttempt
from ordito.executors.copies import remove_pending_copies
from ordito.executors.environment import EnvironmentFiles, base_environment
from ordito.executors.held import AT_WORK, TAKEN_OVER, AtWork, EpochFile, HeldExecutor, LaunchGate, forget_mark
from ordito.executors.operation_process import ProcessTimeouts, end_processes
from ordito.executors.outcomes import is_result_of, outcome_left_behind
from ordito.executors.output_pipe import Stream, Watch, reap_when_ended
from ordito.executors.process_table import Marker, Process, boot_id, is_alive, look_up, machine, processes_of, send
from ordito.executors.processors import command_for
from ordito.executors.slots import Slots, blank_or_remove, remove
from ordito.work.invocation import (
    Ending,
    Epoch,
    Executor,
    Hold,
    InDoubt,
    Invocation,
    Outcome,
    Printed,
    Progress,
    Started,
)
from ordito.work.plan import ARTIFACTS

PLAYBOOKS = "playbooks"
EPOCH = "epoch"
"""What lies beside the work directories: those of playbooks, and the newest epoch that has worked here."""

SETTLE_PAUSE = 0.02
LONGEST_SETTLE_PAUSE = 0.25
SETTLING = 3.0


class LocalExecutor:
    """The executor for bash, sh and Python scripts on this machine (TOSCA 1.3 §4.2, §13.2).

    Each operation is a process that leads a session of its own, with its output in a pipe, no standard input, and a
    working directory that nobody else uses. It ends when that process ends; daemons that it has started live on. A
    timeout or a cancelled job ends all its processes, also those in other sessions.

    The result of an operation stays in its work directory until a later step uses that, or until ``close``: if this
    process dies before the outcome is recorded, ``settle`` finds it.
    """

    def __init__(
        self,
        base: str | os.PathLike[str],
        *,
        grace: float = 10.0,
        linger: float = 1.0,
        settling: float = SETTLING,
        gate: LaunchGate | None = None,
    ) -> None:
        """``base`` is the folder of the work directories; it must belong to one executor at a time. ``gate`` lets
        operations begin where others may take the ensemble over.

        ``grace``: seconds between TERM and KILL. ``linger``: seconds for which output that a daemon holds open is read
        after the end of its operation. ``settling``: seconds that an operation that still runs after a crash gets to
        end by itself.
        """
        self._slots = Slots(str(Path(base).resolve()), has_results=True)
        self._patience = ProcessTimeouts(grace, linger)
        self._settling = settling
        self._shared = EnvironmentFiles(self._slots.base)
        self._watch = Watch()
        self._surroundings = AttemptSurroundings(
            base_environment(os.environ),
            self._slots.base,
            self._shared,
            self._patience,
            self._take_care_of,
            self._watch,
            gate,
        )
        self._running: dict[str, LocalAttempt] = {}
        self._caring: list[Callable[[], None]] = []

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        """Whether an artifact of these types (the type and its ancestors) is a shell or Python script, or a workflow
        that a processor carries out; on this machine only. An artifact with an artifact processor always runs here: the
        processor reaches the host by itself."""
        here = (k for k in processor_kinds if not protocol or k.startswith(ARTIFACTS))
        return any(command_for(kind) is not None for kind in here)

    def batch_key(self, invocation: Invocation) -> str:
        """Steps that start together are given to ``run`` together, which saves a task for each; those that are slow to
        prepare get a key of their own, so that no other step waits for them."""
        return invocation.step if invocation.files or invocation.dependencies else ""

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Run invocations at the same time; all are ended if the caller stops iterating."""
        stream: Stream[tuple[LocalAttempt, Printed | None]] = Stream()
        attempts: set[LocalAttempt] = set()
        try:
            given: list[LocalAttempt] = []
            for invocation in batch:
                try:
                    # All at once: a slot that becomes free while one is prepared may hold a result that is not
                    # written down yet.
                    given.append(self._attempt(invocation, stream))
                except OSError as error:
                    yield invocation.step, _no_room(invocation, error)
            for attempt in given:
                progress = await self._begin(attempt)
                if isinstance(progress, Started):
                    attempts.add(attempt)
                yield attempt.invocation.step, progress
            while attempts:
                attempt, printed = await stream.get()
                # The others do not wait until everything is removed that one has left.
                told = printed or await attempt.finish_unless_slow()
                if isinstance(told, Outcome):
                    attempts.discard(attempt)
                    self._forget(attempt)
                if told is not None:
                    yield attempt.invocation.step, told
        finally:
            for attempt in attempts:
                await attempt.end(Ending.CANCELLED)
                await attempt.finish()
                self._forget(attempt)

    async def cancel(self, step: str) -> None:
        """End a running step's processes; returns when they are gone."""
        attempt = self._running.get(step)
        if attempt is not None:
            await attempt.end(Ending.CANCELLED)

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        """Find out, after a crash, how a started step ended; nothing of it runs afterwards, except daemons of a step
        that has ended.

        The process is found even if the crash came before it was recorded. The outcome is known if the operation
        reached its end. If it did not, or leaves no result (a script that replaced itself by ``exec``, an interpreter
        that is no shell), what still runs of it is ended, and None returned. If something cannot be ended, the step has
        failed, and its outcome says what to do.
        """
        job, step, attempt, outputs, started = doubt.job, doubt.step, doubt.attempt, doubt.outputs, doubt.started
        leader = started if started and (started.boot, started.machine) == (boot_id(), machine()) else None
        outcome = self._left_behind(job, step, attempt, outputs)
        if outcome is None:
            marker = self._marker(job, step, leader)
            # What is about to end is let end: its work is then not done a second time.
            outcome = await self._await_result(marker, attempt, outputs)
            if outcome is None:
                unended = await end_processes(marker, self._patience.grace)
                if unended:
                    self._remove_copies(job, step)
                    return Outcome(Ending.FAILED, message=_unended(unended))
        if outcome is not None and leader is not None:
            await self._let_end(leader)
        self._remove_copies(job, step)
        if outcome is None and leader is not None and self._slots.contain(job, leader.slot):
            await asyncio.to_thread(remove, leader.slot)
        if outcome is None:
            # What it wrote when it was told to end is not how it ended.
            self._drop_results(job, step)
        forget_mark(self._slots.base, Marker(job, step, self._slots.base))
        # The slot of a known outcome stays: this process, too, may die before the outcome is written down.
        return outcome

    def close(self) -> None:
        """Remove all work directories; call it when all outcomes are durable and nothing runs any more."""
        for stop in self._caring:
            stop()
        self._caring.clear()
        self._shared.clear()
        self._slots.remove_all()

    # ------------------------------------------------------------------------------------------------------- parts

    def _attempt(self, invocation: Invocation, stream: Stream[tuple[LocalAttempt, Printed | None]]) -> LocalAttempt:
        if invocation.attempt > 1:
            self._drop_results(invocation.job, invocation.step)
        attempt = LocalAttempt(invocation, self._slots.acquire(invocation.job), stream, self._surroundings)
        self._running[invocation.step] = attempt
        return attempt

    async def _begin(self, attempt: LocalAttempt) -> Started | Outcome:
        is_running = False
        try:
            progress = await attempt.begin()
            is_running = isinstance(progress, Started)
        finally:
            if not is_running:
                self._forget(attempt)
        return progress

    def _forget(self, attempt: LocalAttempt) -> None:
        self._running.pop(attempt.invocation.step, None)
        if (gate := self._surroundings.gate) is not None:
            gate.has_ended(attempt.mark)
        if attempt.is_slot_clean:
            # Not at once: what is started in this turn of the loop was allowed to start before this step's outcome
            # could be written down, and must not overwrite its result.
            loop = asyncio.get_running_loop()
            loop.call_soon(self._slots.release, attempt.invocation.job, attempt.slot)

    def _drop_results(self, job: str, step: str) -> None:
        """Remove the results of earlier attempts, so that none is taken for the result of the next one."""
        for slot in self._slots.of(job):
            if is_result_of(slot, job, step):
                blank_or_remove(slot.result)

    def _remove_copies(self, job: str, step: str) -> None:
        """Remove the copies of a settled operation that are to be removed."""
        for slot in self._slots.of(job):
            remove_pending_copies(job, step, slot)

    def _marker(self, job: str, step: str, leader: Started | None) -> Marker:
        if leader is None:
            return Marker(job, step, self._slots.base)
        return Marker(job, step, self._slots.base, leader.pid, leader.start_time)

    def _left_behind(self, job: str, step: str, attempt: int, outputs: Sequence[str]) -> Outcome | None:
        found = (outcome_left_behind(job, step, attempt, slot, outputs) for slot in self._slots.of(job))
        return next((outcome for outcome in found if outcome is not None), None)

    async def _await_result(self, marker: Marker, attempt: int, outputs: Sequence[str]) -> Outcome | None:
        """The result of a step as soon as it is there; None if the step has ended without a result, or takes too
        long."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settling
        pause = SETTLE_PAUSE
        while True:
            # In this order: a process may write its result and end between two looks.
            runs = bool(await asyncio.to_thread(processes_of, marker))
            outcome = self._left_behind(marker.job, marker.step, attempt, outputs)
            if outcome is not None or not runs or loop.time() > deadline:
                return outcome
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_SETTLE_PAUSE)

    async def _let_end(self, leader: Started) -> None:
        """Wait until a main process that has written its result has ended; daemons are not touched."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience.grace
        while is_alive(leader.pid, leader.start_time):
            if loop.time() > deadline:
                process = look_up(leader.pid)
                send([process] if process and process.start_time == leader.start_time else [], signal.SIGKILL)
            await asyncio.sleep(SETTLE_PAUSE)

    def _take_care_of(self, pid: int) -> None:
        """Wait in the background for a child process that outlives its operation."""
        with contextlib.suppress(OSError):
            self._caring.append(reap_when_ended(self._watch, pid))


def _no_room(invocation: Invocation, error: OSError) -> Outcome:
    where = f": {error.filename}" if error.filename else ""
    return Outcome(Ending.NOT_STARTED, message=f"{invocation.artifact} was not started: {error.strerror}{where}")


def _unended(processes: Sequence[Process]) -> str:
    numbers = ", ".join(f"{p.pid} (state {p.state})" for p in processes)
    todo = "end them, then deploy (or undeploy) again"
    return f"processes of this step cannot be ended, not even by KILL: {numbers}; {todo}"


# The executors that come with the program.


def local_executors(base: str | os.PathLike[str], area: str = "", hold: Hold | None = None) -> tuple[Executor, ...]:
    """The executors for this machine; below ``base`` each has its own folder for scratch files; ``area`` is the name
    below which this ensemble keeps its files on other hosts, ``hold`` how an ensemble is held that others may take
    over."""
    playbooks = Path(base).with_name(PLAYBOOKS)
    if hold is None:
        return (LocalExecutor(base), AnsibleExecutor(playbooks).for_ensemble(area))
    epochs = EpochFile(Path(base).with_name(EPOCH))
    gate = LaunchGate(hold, epochs, AtWork(Path(base).with_name(AT_WORK)))
    own = LocalExecutor(base, gate=gate), AnsibleExecutor(playbooks).for_ensemble(area, gate)
    return tuple(HeldExecutor(executor, hold, epochs) for executor in own)


async def settle_for(base: str | os.PathLike[str], epoch: Epoch, doubt: InDoubt) -> Outcome | None:
    """Find out for the holder of an ensemble how an operation has ended that ran on this machine; see ``Executor``.
    Raises ``OSError``."""
    if not EpochFile(Path(base).with_name(EPOCH)).enter(epoch):
        return Outcome(Ending.LOST, message=f"it is not known how this operation ended: {TAKEN_OVER}")
    executors = local_executors(base)
    executor = next((one for one in executors if one.accepts((doubt.processor,))), executors[0])
    return await executor.settle(doubt)
