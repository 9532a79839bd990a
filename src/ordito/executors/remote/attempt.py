"""One attempt to carry out an invocation on a host.

The operation and the shell beside it live on the host by themselves: while the connection holds, this hears them; when
it is lost, the host is asked how they fare until they have ended (`settling.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

from ordito.executors.copies import Unusable
from ordito.executors.left_behind import NOTHING, Left
from ordito.executors.operation_process import Ended
from ordito.executors.outcomes import outcome_from
from ordito.executors.remote.commands import run_command
from ordito.executors.remote.frames import Frames
from ordito.executors.remote.host import Host
from ordito.executors.remote.lane import Lane
from ordito.executors.remote.operation_text import (
    STALE,
    Spot,
    identity,
    identity_of,
    named_files,
    operation_text,
    outputs_path,
)
from ordito.executors.remote.patience import Patience
from ordito.executors.remote.settling import await_end, end_or_find
from ordito.executors.remote.shared_variables import NONE
from ordito.executors.remote.tree import Trees
from ordito.executors.stream import Stream
from ordito.executors.tail import Tail
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Progress, Started
from ordito.work.targets import Refused, Unreachable


class Attempt:
    """Runs one invocation; ``stream`` gets what happens, the outcome last. It is the ``Ears`` of its lane."""

    def __init__(
        self,
        invocation: Invocation,
        host: Host,
        trees: Trees,
        stream: Stream[tuple[Attempt, Progress | None]],
        patience: Patience,
    ) -> None:
        self.invocation = invocation
        self._host = host
        self._trees = trees
        self._stream = stream
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._lane: Lane | None = None
        self._changed = asyncio.Event()
        self.over = asyncio.Event()
        """Set when nothing of it runs any more."""
        self._frames = Frames("")
        self._shared = NONE
        self._is_stale = False
        self._started: Started | None = None
        self._slot = ""
        self._is_over = False
        self._lost = ""
        self._ending: Ending | None = None
        self._tail = Tail()
        self._began = 0.0
        self._ended_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def drive(self) -> None:
        """Do all of it; nothing of the world's faults is raised."""
        try:
            outcome = await self._outcome()
        finally:
            self._host.give_back(self._shared)
            self.over.set()
        self._stream.put((self, outcome))

    def end(self, ending: Ending) -> None:
        """End it with everything that it started; its outcome says so."""
        if self._ending is None and (self._frames.status is None or ending is Ending.CANCELLED):
            self._ending = ending
            self._changed.set()

    def resume(self) -> None:
        """There is room for output again."""
        if self._lane is not None:
            self._lane.resume()

    # ------------------------------------------------------------------------------------------------ what is heard

    def heard_out(self, data: bytes) -> None:
        """See ``Ears``; the operation prints here, and the shell beside it speaks in between."""
        printed = self._frames.take(data)
        if self._frames.begun is not None and self._started is None:
            self._note_start()
        self._print(printed)
        if self._frames.status is not None and not self._ended_at:
            self._ended_at = self._loop.time()
            self._changed.set()

    def heard_err(self, data: bytes) -> None:
        """See ``Ears``; something went wrong before the operation began."""
        self._frames.take_noise(data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``Ears``; the shell has ended, or the connection to it."""
        self._is_over = True
        self._lost = lost if status is None else f"the shell beside the operation has ended with {status}"
        self._is_stale = status == STALE
        self._print(self._frames.rest())
        self._changed.set()

    def _print(self, data: bytes) -> None:
        if not data:
            return
        self._tail.feed(data)
        self._stream.put((self, Printed(data)), len(data))
        if self._stream.is_full and self._lane is not None and not self._is_over:
            self._lane.pause()
            self._stream.hold(self)

    # ------------------------------------------------------------------------------------------------------- parts

    async def _outcome(self) -> Outcome:
        invocation = self.invocation
        try:
            await self._end_earlier()
            if self._ending is not None:
                return Outcome(Ending.CANCELLED, message="cancelled before it was started")
            await self._start()
        except Unreachable as error:
            return Outcome(Ending.UNREACHABLE, message=str(error), refused=isinstance(error, Refused))
        except Unusable as error:
            return Outcome(Ending.NOT_STARTED, message=str(error))
        except (OSError, ValueError) as error:
            return Outcome(Ending.NOT_STARTED, message=f"{invocation.artifact} was not started: {error}")
        try:
            return await self._attend()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            if self._lane is not None:
                self._lane.close()

    async def _end_earlier(self) -> None:
        """What an earlier attempt has left at work, on a host that was lost meanwhile, must not run beside this one."""
        await self._host.ready()
        invocation = self.invocation
        if invocation.attempt > 1:
            found = await self._host.find(identity(invocation.job, invocation.step, invocation.attempt - 1))
            if found is not None and found.state == "running":
                await self._host.end(found, self._patience.grace)

    async def _start(self) -> None:
        invocation, host = self.invocation, self._host
        tree_there = await host.tree(invocation, named_files(invocation))
        self._shared = await host.shared(invocation, tree_there)
        tree = self._trees.of(invocation.root, invocation.artifact, invocation.dependencies)
        self._lane = await host.lanes.take()
        self._slot = self._lane.slot
        mark = f"ordito-{os.urandom(8).hex()}"
        self._frames = Frames(mark)
        text = operation_text(invocation, tree, Spot(host.tools, tree_there, self._slot, self._shared.path), mark)
        self._began = self._loop.time()
        self._lane.run(text, self)
        if invocation.timeout is not None:
            self._timer = self._loop.call_later(invocation.timeout, self.end, Ending.TIMED_OUT)

    def _note_start(self) -> None:
        begun = self._frames.begun
        assert begun is not None
        pid, start = begun
        facts = self._host.facts
        self._started = Started(pid, start, facts.boot, facts.name, self._slot)
        self._stream.put((self, self._started))

    async def _attend(self) -> Outcome:
        """Wait for the end, whatever kind it has."""
        while True:
            if self._frames.status is not None:
                outcome = self._ended_outcome()
                await self._linger()
                return outcome
            if self._ending is not None:
                return await self._end()
            if self._is_over:
                return await self._settle()
            self._changed.clear()
            await self._changed.wait()

    async def _linger(self) -> None:
        """Give the shell back. Where a daemon that the operation has left may go on printing, that is read for a moment
        more, then it is let go, with the shell."""
        assert self._lane is not None
        if not self._frames.left:
            lane, self._lane = self._lane, None
            self._host.lanes.give_back(lane)
            return
        self._lane.finish()
        if self._frames.left != "held":
            return
        until = self._ended_at + self._patience.linger
        while not self._is_over and self._ending is None:
            self._changed.clear()
            try:
                async with asyncio.timeout(until - self._loop.time()):
                    await self._changed.wait()
            except TimeoutError:
                await self._throw_away()
                return

    async def _throw_away(self) -> None:
        """Have somebody on the host read what the daemon goes on printing, or it would hang when the pipe is full."""
        words = ["sh", f"{self._host.tools}/listen.sh", self._slot]
        with contextlib.suppress(Unreachable, TimeoutError):
            await run_command(self._host.connector, self._host.target, words, timeout=self._patience.grace)

    async def _end(self) -> Outcome:
        """End what was started, because time is up or somebody wants it."""
        assert self._ending is not None
        ending = self._ending
        try:
            found = await self._host.find(self._identity, self._slot)
            if found is None:
                return Outcome(ending, message="it was ended before it began")
            found, unended = await end_or_find(self._host, found, self._patience)
            if found.state == "ended":
                # Nobody had heard of it yet: it is done, and must not be done again.
                return self._outcome_from(
                    Ended(found.status, self._loop.time() - self._began), found.result, found.outputs
                )
        except (Unreachable, Unusable) as error:
            why = "it was cancelled" if ending is Ending.CANCELLED else f"its {self.invocation.timeout:g} s were over"
            return Outcome(Ending.LOST, message=f"{why}, and it cannot be ended: {error}", tail=self._tail.lines())
        seconds = self._loop.time() - self._began
        return self._outcome_from(Ended(self._frames.status or 143, seconds, ending, tuple(unended)), NOTHING, NOTHING)

    async def _settle(self) -> Outcome:
        """The shell, or the connection to it, is gone; what becomes of the operation?"""
        if self._is_stale:
            self._host.forget()
            return Outcome(Ending.NOT_STARTED, message=f"{self._host.target.name} is not ready any more; try again")
        found = await await_end(self._host, self._identity, self._slot, self._patience, self)
        if found is None:
            return self._never_begun()
        if isinstance(found, str):
            message = f"{self._lost}, and the host is not reached again ({found}); nobody knows how the operation ended"
            return Outcome(Ending.LOST, message=message, tail=self._tail.lines())
        if found.state == "ended":
            ended = Ended(found.status, self._loop.time() - self._began)
            return self._outcome_from(ended, found.result, found.outputs)
        if found.state == "running":
            return await self._end()
        message = f"{self._lost}; it was ended meanwhile and left no result (was the host started anew?)"
        return Outcome(Ending.FAILED, message=message, tail=self._tail.lines())

    def _never_begun(self) -> Outcome:
        if self._frames.refused:
            return Outcome(Ending.NOT_STARTED, message=self._refusal())
        if noise := self._frames.noise:
            artifact, name = self.invocation.artifact, self._host.target.name
            return Outcome(Ending.NOT_STARTED, message=f"{artifact} was not started on {name}: {noise}")
        return Outcome(Ending.UNREACHABLE, message=f"{self._lost}; the operation had not begun")

    @property
    def is_wanted(self) -> bool:
        """Whether it may go on: neither is its time up, nor has somebody cancelled it."""
        return self._ending is None

    def _ended_outcome(self) -> Outcome:
        if self._frames.refused:
            return Outcome(Ending.NOT_STARTED, message=self._refusal())
        assert self._frames.status is not None
        ended = Ended(self._frames.status, self._ended_at - self._began)
        return self._outcome_from(ended, self._frames.file("result"), self._frames.file("outputs"))

    def _refusal(self) -> str:
        kind, *what = self._frames.refused
        name, artifact = self._host.target.name, self.invocation.artifact
        return _REFUSALS[kind](name, artifact, what[0] if what else "", self._said())

    def _said(self) -> str:
        text = self._frames.noise or "\n".join(self._tail.lines()[-1:])
        return f": {text}" if text else ""

    def _outcome_from(self, ended: Ended, result: Left, outputs: Left) -> Outcome:
        return outcome_from(
            self.invocation, ended, result, outputs, outputs_path(self._slot, self._identity), self._tail.lines()
        )

    @property
    def _identity(self) -> str:
        return identity_of(self.invocation)


_REFUSALS: dict[str, Callable[[str, str, str, str], str]] = {
    "interpreter": lambda host, artifact, what, _: (
        f'{artifact} needs the interpreter "{what}", which is not installed on {host} (or not in its PATH); install it '
        "there, or run the operation elsewhere (operation_host)"
    ),
    "copy": lambda host, artifact, what, said: (
        f"{artifact} was not started: no copy could be made at {what} on {host}{said}"
    ),
    "disk": lambda host, artifact, _, said: (
        f"{artifact} was not started: its working directory could not be made on {host}{said}; make room there, or "
        'choose another folder (setting "base")'
    ),
}
