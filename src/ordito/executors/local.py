"""Runs shell scripts and Python scripts on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence

from ordito.executors.attempt import Attempt, Surroundings
from ordito.executors.commands import COMMANDS
from ordito.executors.copies import remove_pending_copies
from ordito.executors.ending import end_processes
from ordito.executors.environment import base_environment
from ordito.executors.operation import Patience
from ordito.executors.outcomes import outcome_left_behind
from ordito.executors.output_pipe import reap_when_ended
from ordito.executors.process_table import Marker, Process, boot_id, is_alive, look_up, machine, send
from ordito.executors.slots import Slot, Slots, remove
from ordito.executors.stream import Stream
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Progress, Started

SETTLE_PAUSE = 0.02


class LocalExecutor:
    """The executor for bash, sh and Python scripts on this machine (TOSCA 1.3 §4.2, §13.2).

    Each operation is a process that leads a session of its own, with its output in a pipe, no standard input, and a
    working directory that nobody else uses. It ends when that process ends; daemons it leaves behind live on. Timeout
    and cancel end its processes, those in other sessions too, and leave nothing behind.

    A consumer of ``run`` that has written down an outcome by the next turn of the event loop but one can be sure that
    until then ``settle`` of a later process finds the outcome, should this one die.
    """

    def __init__(self, base: str | os.PathLike[str], *, grace: float = 10.0, linger: float = 1.0) -> None:
        """``base`` is the folder of the scratch slots. ``grace``: seconds between TERM and KILL. ``linger``: seconds
        for which output that a daemon holds open is read after the end of its operation."""
        self._slots = Slots(os.path.abspath(base))
        self._patience = Patience(grace, linger)
        self._surroundings = Surroundings(
            base_environment(os.environ), self._slots.base, self._patience, self._take_care_of
        )
        self._running: dict[str, Attempt] = {}
        self._caring: list[Callable[[], None]] = []

    def accepts(self, processor_kinds: Sequence[str]) -> bool:
        """Whether an artifact of these types (the type and its ancestors) is a shell or a Python script."""
        return any(kind in COMMANDS for kind in processor_kinds)

    def batch_key(self, invocation: Invocation) -> str:
        """Each step is a batch of its own: there is nothing to share on one's own machine."""
        return invocation.step

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        """Run invocations at the same time; all are ended if the iteration is given up."""
        stream: Stream[tuple[Attempt, Printed | None]] = Stream()
        attempts: set[Attempt] = set()
        try:
            for invocation in batch:
                attempt = self._attempt(invocation, stream)
                progress = await attempt.begin()
                if isinstance(progress, Started):
                    attempts.add(attempt)
                else:
                    self._forget(attempt)
                yield invocation.step, progress
            while attempts:
                attempt, printed = await stream.get()
                if printed is not None:
                    yield attempt.invocation.step, printed
                    continue
                attempts.discard(attempt)
                outcome = await attempt.finish()
                self._forget(attempt)
                yield attempt.invocation.step, outcome
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

    async def settle(
        self, job: str, step: str, started: Started | None, outputs: Sequence[str]
    ) -> Outcome | None:
        """Find out, after a crash, about a step that was started; nothing of it runs afterwards, save daemons of one
        that has ended.

        ``started`` may be None: the crash came before the process was written down; it is found all the same. The
        outcome is known if the operation came to its end. If it did not, what still runs of it is ended, and None
        returned. If something cannot be ended, the outcome is UNREACHABLE, and says so.
        """
        marker = self._marker_of(job, step, started)
        ...
