"""One attempt to carry out an invocation on a host.

The operation and the shell beside it run on the host independently: their output is read as long as the connection
holds; when it is lost, the host is asked for their state until they have ended (`settling.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

from ordito.executors.copies import Unusable
from ordito.executors.held import TAKEN_OVER
from ordito.executors.operation_process import ProcessEnd, Tail
from ordito.executors.outcomes import outcome_from
from ordito.executors.output_pipe import Stream
from ordito.executors.remote.commands import run_command
from ordito.executors.remote.connection import HostTimeouts
from ordito.executors.remote.host import RemoteHost
from ordito.executors.remote.lanes import ShellSession
from ordito.executors.remote.operation_text import (
    STALE,
    HostSpot,
    identity,
    identity_of,
    named_files,
    operation_text,
    outputs_path,
)
from ordito.executors.remote.settling import await_end, end_or_find
from ordito.executors.remote.tree import NONE, Trees
from ordito.executors.result_files import LARGEST_FILE, NOTHING, LeftFile
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Progress, Started
from ordito.work.targets import TargetRefused, Unreachable


class RemoteAttempt:
    """Runs one invocation; ``stream`` gets what happens, and last the outcome. It is the ``CommandListener`` of its
    shell session."""

    def __init__(
        self,
        invocation: Invocation,
        host: RemoteHost,
        trees: Trees,
        stream: Stream[tuple[RemoteAttempt, Progress | None]],
        patience: HostTimeouts,
    ) -> None:
        self.invocation = invocation
        self._host = host
        self._trees = trees
        self._stream = stream
        self._patience = patience
        self._loop = asyncio.get_running_loop()
        self._lane: ShellSession | None = None
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
        """Run it from start to end; faults of hosts and connections become outcomes and are not raised."""
        try:
            outcome = await self._outcome()
        finally:
            self._host.give_back(self._shared)
            self.over.set()
        self._stream.put((self, outcome))

    def end(self, ending: Ending) -> None:
        """End it with everything that it started; its outcome tells so."""
        if self._ending is None and (self._frames.status is None or ending is Ending.CANCELLED):
            self._ending = ending
            self._changed.set()

    def resume(self) -> None:
        """Go on reading output: there is room for it again."""
        if self._lane is not None:
            self._lane.resume()

    # ------------------------------------------------------------------------------------------------ what is heard

    def heard_out(self, data: bytes) -> None:
        """See ``CommandListener``; the output of the operation, and between it messages of the shell beside it."""
        printed = self._frames.take(data)
        if self._frames.begun is not None and self._started is None:
            self._note_start()
        self._print(printed)
        if self._frames.status is not None and not self._ended_at:
            self._ended_at = self._loop.time()
            self._changed.set()

    def heard_err(self, data: bytes) -> None:
        """See ``CommandListener``; something went wrong before the operation began."""
        self._frames.take_noise(data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``CommandListener``; the shell has ended, or the connection to it was lost."""
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
            return Outcome(Ending.UNREACHABLE, message=str(error), refused=isinstance(error, TargetRefused))
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
        """End what still runs of an earlier attempt, on a host that was lost meanwhile: it must not run beside this
        one."""
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
        helpers = await host.helpers(invocation)
        self._lane = await host.lanes.take()
        self._slot = self._lane.slot
        mark = f"ordito-{os.urandom(8).hex()}"
        self._frames = Frames(mark)
        spot = HostSpot(host.tools, tree_there, self._slot, self._shared.path, helpers=helpers)
        hold = host.hold
        text = operation_text(invocation, tree, spot, mark, hold)
        if hold is not None and not hold.is_sure:
            await hold.be_sure()
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
        """Wait for the end of the operation, of whatever kind."""
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
        """Give the shell back. If the operation has left a daemon that may go on printing, its output is read a moment
        longer; then the shell is given up."""
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
        """Start a process on the host that reads the output of the daemon, which would hang when the pipe is full."""
        words = ["sh", f"{self._host.tools}/listen.sh", self._slot]
        with contextlib.suppress(Unreachable, TimeoutError):
            await run_command(self._host.connector, self._host.target, words, timeout=self._patience.grace)

    async def _end(self) -> Outcome:
        """End what was started, because of its timeout or because the job was cancelled."""
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
                    ProcessEnd(found.status, self._loop.time() - self._began), found.result, found.outputs
                )
        except (Unreachable, Unusable) as error:
            why = "it was cancelled" if ending is Ending.CANCELLED else f"its {self.invocation.timeout:g} s were over"
            return Outcome(Ending.LOST, message=f"{why}, and it cannot be ended: {error}", tail=self._tail.lines())
        seconds = self._loop.time() - self._began
        # What it has set by then is set; its variables are no result.
        ended = ProcessEnd(self._frames.status or 143, seconds, ending, tuple(unended))
        return self._outcome_from(ended, NOTHING, found.outputs)

    async def _settle(self) -> Outcome:
        """Find out how the operation ended, when the shell or the connection to it is gone."""
        if self._is_stale:
            self._host.forget()
            return Outcome(Ending.NOT_STARTED, message=f"{self._host.target.name} is no longer ready; try again")
        found = await await_end(self._host, self._identity, self._slot, self._patience, self)
        if found is None:
            return self._never_begun()
        if isinstance(found, str):
            message = (
                f"{self._lost}, and the host cannot be reached again ({found}); nobody knows how the operation ended"
            )
            return Outcome(Ending.LOST, message=message, tail=self._tail.lines())
        if found.state == "ended":
            ended = ProcessEnd(found.status, self._loop.time() - self._began)
            return self._outcome_from(ended, found.result, found.outputs)
        if found.state == "running":
            return await self._end()
        message = f"{self._lost}; it was ended meanwhile and left no result (was the host started again?)"
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
        """Whether it may go on: it has neither timed out nor been cancelled."""
        return self._ending is None

    def _ended_outcome(self) -> Outcome:
        if self._frames.refused:
            return Outcome(Ending.NOT_STARTED, message=self._refusal())
        assert self._frames.status is not None
        ended = ProcessEnd(self._frames.status, self._ended_at - self._began)
        return self._outcome_from(ended, self._frames.file("result"), self._frames.file("outputs"))

    def _refusal(self) -> str:
        kind, *what = self._frames.refused
        name, artifact = self._host.target.name, self.invocation.artifact
        return _REFUSALS[kind](name, artifact, what[0] if what else "", self._said())

    def _said(self) -> str:
        text = self._frames.noise or "\n".join(self._tail.lines()[-1:])
        return f": {text}" if text else ""

    def _outcome_from(self, ended: ProcessEnd, result: LeftFile, outputs: LeftFile) -> Outcome:
        return outcome_from(
            self.invocation, ended, result, outputs, outputs_path(self._slot, self._identity), self._tail.lines()
        )

    @property
    def _identity(self) -> str:
        return identity_of(self.invocation)


_REFUSALS: dict[str, Callable[[str, str, str, str], str]] = {
    "folder": lambda host, artifact, what, _: f"{artifact} is to be run in {what}, which is no folder on {host}",
    "interpreter": lambda host, artifact, what, _: (
        f'{artifact} needs the interpreter "{what}", which is not installed on {host} (or not in its PATH); install it '
        "there, or run the operation elsewhere (operation_host)"
    ),
    "copy": lambda host, artifact, what, said: (
        f"{artifact} was not started: no copy could be made at {what} on {host}{said}"
    ),
    "late": lambda host, artifact, _, __: f"{artifact} was not started on {host}: {TAKEN_OVER}",
    "disk": lambda host, artifact, _, said: (
        f"{artifact} was not started: its working directory could not be made on {host}{said}; make room there, or "
        'choose another folder (setting "base")'
    ),
}


# What the shell beside an operation says, taken out of the stream that the operation prints into.
#
# The shell speaks in lines ``<mark> WORD ...``, whose mark nobody can guess. What stands between them is what the
# operation printed, save behind ``result`` and ``outputs``, where files follow, and before the first one: that is of
# others, a greeting perhaps. Both go through one pipe, so that their order is kept, and an end is one message.

MOST_NOISE = 4_096
NOISE = "noise"


class Frames:
    """Splits the stream of a shell into the output of the operation and the messages of the shell.

    ``begun`` are process id and start time; ``refused`` says why the operation was not started, ``status`` is its exit
    status when it has ended. ``left`` is "" if it has left no process, ``held`` if it has left one that may go on
    printing.
    """

    def __init__(self, mark: str) -> None:
        # The first byte is in it but once, and hardly ever in anything else.
        self._mark = f"\1{mark} ".encode()
        self._rest = b""
        self._file = NOISE
        self._files: dict[str, bytearray] = {}
        self._unfit: dict[str, str] = {}
        self.begun: tuple[int, int] | None = None
        self.left = ""
        self.refused: tuple[str, ...] = ()
        self.status: int | None = None

    def take(self, data: bytes) -> bytes:
        """Take a piece of the stream; returns the part of it, and of what was kept back from the last piece, that the
        operation printed."""
        data = self._rest + data
        printed = []
        while (at := data.find(self._mark)) >= 0 and (end := data.find(b"\n", at)) >= 0:
            printed.append(self._keep(data[:at]))
            self._hear(data[at + len(self._mark) : end].decode(errors="replace"))
            data = data[end + 1 :]
        if at < 0:
            # A mark may come in two pieces.
            at = data.rfind(self._mark[:1], max(len(data) - len(self._mark), 0))
            if at < 0 or not self._mark.startswith(data[at:]):
                at = len(data)
        self._rest = data[at:]
        printed.append(self._keep(data[:at]))
        return b"".join(printed)

    def take_noise(self, data: bytes) -> None:
        """Take what was printed outside of the stream."""
        self._store(NOISE, data)

    def rest(self) -> bytes:
        """What was kept back, for when nothing more comes."""
        rest, self._rest = self._rest, b""
        return self._keep(rest)

    def file(self, name: str) -> LeftFile:
        """A file that the shell has sent."""
        return LeftFile(bytes(self._files.get(name, b"")), self._unfit.get(name, ""))

    @property
    def noise(self) -> str:
        """The last line that is neither of the operation nor of the shell."""
        return self.file(NOISE).data.decode(errors="replace").strip().rpartition("\n")[2]

    def _keep(self, data: bytes) -> bytes:
        """Store a piece where it belongs; returns it if the operation printed it."""
        if not self._file:
            return data
        self._store(self._file, data)
        return b""

    def _store(self, name: str, data: bytes) -> None:
        kept = self._files.setdefault(name, bytearray())
        if len(kept) < (MOST_NOISE if name == NOISE else LARGEST_FILE + 1):
            kept += data

    def _hear(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        self._file = ""
        if word == "begin":
            pid, start = (int(number) for number in rest.split())
            self.begun = (pid, start)
        elif word == "refused":
            self.refused = tuple(rest.split(" ", 1))
        elif word == "unfit":
            name, _, why = rest.partition(" ")
            self._unfit[name] = why
        elif word == "end":
            status, _, self.left = rest.partition(" ")
            self.status = int(status)
        else:
            self._file = word
            self._files[word] = bytearray()
