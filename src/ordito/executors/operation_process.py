"""The process of one operation, from its start to its end, on the event loop: no thread, no child watcher.

RUNNING    --process ends-------> LINGERING   a daemon may still hold its output open
RUNNING    --timeout, cancel----> ENDING      its processes are being ended
LINGERING  --output ends, or has been waited for long enough--> ENDED
ENDING     --they are gone------> ENDED
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH208

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import Callable
from enum import Enum

import msgspec

from ordito.executors.output_pipe import OutputPipe, Watch
from ordito.executors.process_table import Marker, Process, boot_id, machine, now, processes_of, send, start_time
from ordito.executors.spawn import ProcessCommand, spawn
from ordito.work.invocation import Ending, Started


class ProcessPhase(Enum):
    """The phases in the life of a process."""

    RUNNING = "running"
    LINGERING = "lingering"
    ENDING = "ending"
    ENDED = "ended"


class ProcessTimeouts(msgspec.Struct, frozen=True):
    """How long is waited for what, in seconds."""

    grace: float = 10.0
    """Between TERM and KILL."""

    linger: float = 1.0
    """For the end of output that a daemon still holds open."""


class ProcessEnd(msgspec.Struct, frozen=True):
    """How a process ended."""

    status: int
    """Its exit status; negative: the signal that killed it."""

    seconds: float
    """How long it ran."""

    ending: Ending | None = None
    """Why it was ended; None if it ended by itself."""

    unended: tuple[int, ...] = ()
    """The ids of processes that could not be ended."""


class ProcessListener(msgspec.Struct, frozen=True):
    """The callbacks of a process."""

    printed: Callable[[bytes], bool]
    """Takes a piece of output; returns whether more is welcome."""

    ended: Callable[[ProcessEnd], None]
    """Called once, and last."""

    left: Callable[[int], None]
    """Called with the id of a child process that goes on reading what a daemon prints."""


class OperationProcess:
    """A process that leads a session of its own, with its output in a pipe. The constructor starts it, and raises
    ``OSError`` or ``ValueError`` (a variable that no environment can carry) if it cannot."""

    def __init__(
        self,
        command: ProcessCommand,
        marker: Marker,
        timeout: float | None,
        patience: ProcessTimeouts,
        ears: ProcessListener,
        watch: Watch,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._watch = watch
        self._marker = marker
        self._patience = patience
        self._ears = ears
        self._phase = ProcessPhase.RUNNING
        self._ending: Ending | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._end_task: asyncio.Task[None] | None = None
        self._pipe = OutputPipe(watch, ears.printed, self._output_ended)
        self._began = self._loop.time()
        self._status = 0
        earliest = now()
        self._pid = self._spawn(command, marker)
        latest = now()
        self._seconds = 0.0
        self._pidfd = self._open_pidfd()
        watch.add(self._pidfd, self._process_ended)
        self._start_time = start_time(self._pid, earliest, latest)
        if timeout is not None:
            self._timer = self._loop.call_later(timeout, self.end, Ending.TIMED_OUT)

    def started(self, slot: str) -> Started:
        """What is needed to find this process again."""
        return Started(self._pid, self._start_time, boot_id(), machine(), slot)

    def resume(self) -> None:
        """Go on reading output: there is room for it again."""
        self._pipe.resume()

    @property
    def pid(self) -> int:
        """Its id, which is also the id of its process group."""
        return self._pid

    @property
    def has_left_group(self) -> bool:
        """Whether a process of its group lives on after its end, so that its working directory must not be used
        again."""
        try:
            os.killpg(self._pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def end(self, ending: Ending) -> asyncio.Task[None] | None:
        """End it with everything that it started, for this reason; returns the task that does so. None if it has ended
        by itself; then output of a daemon is no longer waited for."""
        if self._phase is ProcessPhase.RUNNING:
            # It may have ended already, and the loop had no time to notice.
            self._process_ended()
        if self._phase is ProcessPhase.LINGERING:
            self._let_go()
        if self._phase is ProcessPhase.RUNNING:
            self._enter(ProcessPhase.ENDING)
            self._ending = ending
            self._end_task = self._loop.create_task(self._end())
        return self._end_task

    # ------------------------------------------------------------------------------------------------ what happens

    def _process_ended(self) -> None:
        if self._phase is ProcessPhase.ENDING:
            # Not reaped yet: while its id is taken, its process group cannot become a stranger's.
            self._ignore_process()
            return
        if not self._reap(os.WNOHANG):
            return
        self._ignore_process()
        self._seconds = self._loop.time() - self._began
        self._enter(ProcessPhase.LINGERING)
        self._pipe.drain()
        if self._phase is ProcessPhase.LINGERING:
            if self._pipe.is_open:
                self._timer = self._loop.call_later(self._patience.linger, self._let_go)
            else:
                self._tell_end(())

    def _output_ended(self) -> None:
        if self._phase is ProcessPhase.LINGERING:
            self._tell_end(())

    async def _end(self) -> None:
        marker = msgspec.structs.replace(self._marker, leader=self._pid, leader_start=self._start_time)
        unended = await end_processes(marker, self._patience.grace, self._has_ended_itself)
        self._ignore_process()
        if self._ending is not None and not any(p.pid == self._pid for p in unended):
            self._reap()
        self._seconds = self._loop.time() - self._began
        self._let_go(tuple(p.pid for p in unended))

    def _has_ended_itself(self) -> bool:
        """Take the status if the process has already ended by itself; returns whether it has."""
        if not self._reap(os.WNOHANG):
            return False
        self._ending = None
        return True

    def _let_go(self, unended: tuple[int, ...] = ()) -> None:
        """Stop reading output that is still held open by a daemon, or by a process that could not be found."""
        self._pipe.drain()
        if self._phase is not ProcessPhase.ENDED:
            reader = self._pipe.let_go()
            if reader is not None:
                self._ears.left(reader)
            self._tell_end(unended)

    def _tell_end(self, unended: tuple[int, ...]) -> None:
        self._enter(ProcessPhase.ENDED)
        self._ears.ended(ProcessEnd(self._status, self._seconds, self._ending, unended))

    # ------------------------------------------------------------------------------------------------------- parts

    def _enter(self, phase: ProcessPhase) -> None:
        self._phase = phase
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _spawn(self, command: ProcessCommand, marker: Marker) -> int:
        _keep_descriptors_here()
        output = self._pipe.open()
        try:
            return spawn(command, _nothing(), output, marker.number)
        except (OSError, ValueError):
            self._pipe.close()
            raise
        finally:
            os.close(output)

    def _reap(self, options: int = 0) -> bool:
        """Take the status of the process if it has ended; returns whether it has."""
        pid, status = os.waitpid(self._pid, options)
        if pid:
            self._status = os.waitstatus_to_exitcode(status)
        return pid != 0

    def _open_pidfd(self) -> int:
        """Open a descriptor that becomes readable when the process ends; if that fails, the process is killed."""
        try:
            return os.pidfd_open(self._pid)
        except OSError:
            os.killpg(self._pid, signal.SIGKILL)
            self._reap()
            self._pipe.close()
            raise

    def _ignore_process(self) -> None:
        if self._pidfd >= 0:
            self._watch.remove(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1


@functools.cache
def _nothing() -> int:
    """A descriptor of /dev/null for reading, shared by all operations."""
    return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


@functools.cache
def _keep_descriptors_here() -> None:
    """Mark inherited descriptors as not to be passed on, once, and make sure that no pipe gets the number of a missing
    standard stream.

    Everything that Python opens is closed in a new process anyway. When the few other descriptors are marked in the
    same way, a new process need not go through all descriptors of this one to close them.
    """
    while (spare := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= 2:
        pass
    os.close(spare)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(int(name), False)


# Ending the processes of a step: first asked to end, then made to.

SHORTEST_PAUSE = 0.01
LONGEST_PAUSE = 0.25
"""The most seconds between two reads of the process table; each pause is twice as long as the one before."""

KILL_PATIENCE = 30.0
"""Seconds after which a killed process that still exists is given up: it hangs in the kernel."""


async def end_processes(marker: Marker, grace: float, is_over: Callable[[], bool] = lambda: False) -> list[Process]:
    """Send TERM to every process of a step, and KILL after ``grace`` seconds; returns when they are gone.

    Processes that appear meanwhile are ended as well. Returns those that did not end even when killed. If ``is_over``
    returns True right before the first TERM, nothing is ended.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    asked: set[tuple[int, int]] = set()
    pause = SHORTEST_PAUSE
    is_first = True
    while True:
        alive = await asyncio.to_thread(processes_of, marker)
        if (is_first and is_over()) or not alive:
            return []
        is_first = False
        elapsed = loop.time() - began
        if elapsed > grace + KILL_PATIENCE:
            return alive
        if elapsed >= grace:
            send(alive, signal.SIGKILL)
            pause = SHORTEST_PAUSE
        else:
            send([p for p in alive if (p.pid, p.start_time) not in asked], signal.SIGTERM)
            asked.update((p.pid, p.start_time) for p in alive)
            pause = min(2 * pause, LONGEST_PAUSE, max(grace - elapsed, SHORTEST_PAUSE))
        await asyncio.sleep(pause)


# The last lines that an operation printed, which tell of its failure.

TAIL_LINES = 20
TAIL_BYTES = 32_768


class Tail:
    """Keeps the last lines of output."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> None:
        """Take a piece of output."""
        self._data = (self._data + data)[-TAIL_BYTES:]

    def lines(self) -> tuple[str, ...]:
        """The last lines, without line ends."""
        if not self._data:
            return ()
        lines = [line.decode(errors="replace").removesuffix("\r") for line in self._data.split(b"\n")]
        if not lines[-1]:
            lines.pop()
        return tuple(lines[-TAIL_LINES:])
