"""The pipe that an operation prints into, and what happens to it when the operation ends and a daemon lives on.

The operation's end of the pipe is opened for reading *and* writing, so that the pipe is never broken: a daemon that
goes on printing after we have stopped reading, or have died, gets no SIGPIPE. The reader sees the end of the output as
usual when no process has that end open any more.

A pipe that nobody reads would fill up, and the daemon would hang at 64 KiB of unread output. So if a process still
holds the pipe when we stop reading, a ``cat`` takes over, which discards the output and ends with the last process that
could write to it. (Only after a crash of the orchestrator there is no reader; then a running operation may have to wait
for room until it is settled.)
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import select
import shutil
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

PIECE = 65_536


class OutputPipe:
    """The reading end of an operation's pipe, on the event loop.

    ``printed`` takes a piece of output and returns whether more is welcome now; ``ended`` is called when no process
    holds the operation's end open any more.
    """

    __slots__ = ("_descriptor", "_ended", "_is_reading", "_printed", "_watch")

    def __init__(self, watch: Watch, printed: Callable[[bytes], bool], ended: Callable[[], None]) -> None:
        self._watch = watch
        self._printed = printed
        self._ended = ended
        self._descriptor = -1
        self._is_reading = False

    def open(self) -> int:
        """Open it; returns the descriptor for the operation, which the caller closes after the start."""
        self._descriptor, other = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            # A pipe opened by its name gets flags of its own: the operation's end waits for room as programs expect.
            end = os.open(f"/proc/self/fd/{other}", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            self.close()
            raise
        finally:
            os.close(other)
        self.resume()
        return end

    @property
    def is_open(self) -> bool:
        """Whether we still read, and a process may still print into it."""
        return self._descriptor >= 0

    def resume(self) -> None:
        """Read on after ``printed`` has wanted no more."""
        if self.is_open and not self._is_reading:
            self._watch.add(self._descriptor, self._take)
            self._is_reading = True

    def drain(self) -> None:
        """Read what is in the pipe now, even if it is not welcome; at most what fits into a pipe."""
        if not self.is_open:
            return
        left = fcntl.fcntl(self._descriptor, fcntl.F_GETPIPE_SZ)
        while left > 0 and (size := self._take()):
            left -= size

    def let_go(self) -> int | None:
        """Stop reading; returns the id of the process that reads on, if a process still holds the pipe."""
        if not self.is_open:
            return None
        descriptor = self._detach()
        try:
            return _throw_away(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Stop reading, even if a process may still print."""
        if self.is_open:
            os.close(self._detach())

    def _take(self) -> int:
        """Read one piece; returns its size, 0 if there was none."""
        try:
            data = os.read(self._descriptor, PIECE)
        except BlockingIOError:
            return 0
        if not data:
            self.close()
            self._ended()
        elif not self._printed(data) and self._is_reading:
            self._watch.remove(self._descriptor)
            self._is_reading = False
        return len(data)

    def _detach(self) -> int:
        if self._is_reading:
            self._watch.remove(self._descriptor)
            self._is_reading = False
        descriptor, self._descriptor = self._descriptor, -1
        return descriptor


def reap_when_ended(watch: Watch, pid: int) -> Callable[[], None]:
    """Wait in the background for the end of a child process; the returned function stops that."""
    descriptor = os.pidfd_open(pid)

    def stop() -> None:
        nonlocal descriptor
        if descriptor >= 0:
            watch.remove(descriptor)
            os.close(descriptor)
            descriptor = -1

    def ended() -> None:
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                return
        stop()

    watch.add(descriptor, ended)
    return stop


def _throw_away(descriptor: int) -> int | None:
    """Start a process that reads a pipe until its end; None if there is no program for it."""
    program = shutil.which("cat")
    if program is None:
        return None
    os.set_blocking(descriptor, True)
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, descriptor, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
        return os.posix_spawn(program, ["cat"], {}, file_actions=actions, setsid=True)
    except OSError:
        return None
    finally:
        os.close(null)


# Descriptors to be told about: the pipes and processes of all operations, in one place on the event loop.
#
# The loop's own readers cost a handle, two look-ups and a callback each, twice for every operation. Here the loop has
# one reader, and what it finds is called at once.


class Watch:
    """Calls back, on the running loop, when a descriptor can be read. A call may come without anything to read, so the
    callback must not block."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[], object]] = {}
        self._epoll: select.epoll | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, descriptor: int, callback: Callable[[], object]) -> None:
        """Call ``callback`` whenever there is something to read, until ``remove``."""
        if self._epoll is None:
            self._epoll = select.epoll()
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # What an earlier loop watched, which has ended, is watched by this one from now on.
            loop.add_reader(self._epoll.fileno(), self._look)
            self._loop = loop
        self._epoll.register(descriptor, select.EPOLLIN)
        self._callbacks[descriptor] = callback

    def remove(self, descriptor: int) -> None:
        """Stop calling; to be used before the descriptor is closed."""
        if self._epoll is None or self._callbacks.pop(descriptor, None) is None:
            return
        self._epoll.unregister(descriptor)
        if not self._callbacks:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = self._loop = None

    def _look(self) -> None:
        if self._epoll is None:
            return
        for descriptor, _ in self._epoll.poll(0):
            callback = self._callbacks.get(descriptor)
            if callback is not None:
                callback()


# What several operations tell, in one bounded line of waiting.

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
"""Bytes of output that may wait to be read; when there are more, the operations have to wait."""


class PausableSource(Protocol):
    """A source of items that can pause."""

    def resume(self) -> None:
        """Go on: there is room again."""


class Stream(Generic[T]):
    """A queue: callbacks of the loop put items in, and they come out in order; the weight of an item is its bytes of
    memory."""

    def __init__(self) -> None:
        self._items: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._held: list[PausableSource] = []
        self._waiter: asyncio.Future[None] | None = None

    def put(self, item: T, weight: int = 0) -> None:
        """Add an item; never waits."""
        self._items.append((item, weight))
        self._bytes += weight
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def is_full(self) -> bool:
        """Whether no more output should be put in for now."""
        return self._bytes >= MOST_BYTES

    def hold(self, source: PausableSource) -> None:
        """Call ``resume`` of a source when there is room again."""
        self._held.append(source)

    async def get(self) -> T:
        """Wait for the next item. Only one task may wait at a time."""
        while not self._items:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        item, weight = self._items.popleft()
        self._bytes -= weight
        if self._held and self._bytes < MOST_BYTES // 2:
            held, self._held = self._held, []
            for source in held:
                source.resume()
        return item
