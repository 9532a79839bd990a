"""The shell sessions of one host: one for each operation that runs there at a time, but so few that there is room for
short commands."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Callable

from ordito.executors.remote.connection import CommandChannel, CommandListener, Connector
from ordito.executors.remote.operation_text import opening_text
from ordito.work.targets import HostTarget

USUAL = 64
OF_CONNECTION = 8
"""How many sessions for each connection that the settings of a host allow."""


class Lanes:
    """Gives out shell sessions, idle ones first."""

    def __init__(self, connector: Connector, target: HostTarget, tools: str, folder: str) -> None:
        """``folder`` is where their work directories are made."""
        self._connector = connector
        self._target = target
        self._tools = tools
        self._folder = folder
        self._numbers = itertools.count()
        self._idle: list[ShellSession] = []
        self._is_pressed = False
        self._open: set[ShellSession] = set()
        self._opening: set[asyncio.Task[None]] = set()
        self._waiting: deque[asyncio.Future[ShellSession]] = deque()
        connections = target.settings.get("connections")
        self._most = OF_CONNECTION * connections if isinstance(connections, int) else USUAL

    async def take(self) -> ShellSession:
        """An idle session. Raises ``Unreachable``."""
        self._is_pressed = False
        while self._idle:
            lane = self._idle.pop()
            if lane.is_usable:
                return lane
            lane.finish()
        waiter: asyncio.Future[ShellSession] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._open_more()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.give_back(waiter.result())
            raise

    def give_back(self, lane: ShellSession) -> None:
        """Give an idle session back; the next one that waits gets it."""
        lane.let_go()
        waiter = self._next_waiter() if lane.is_usable else None
        if waiter is not None:
            waiter.set_result(lane)
        elif self._is_pressed:
            lane.finish()
        else:
            self._idle.append(lane)

    def finish_idle(self) -> None:
        """Let idle sessions end, now and when they become idle: something else needs their place."""
        self._is_pressed = True
        idle, self._idle = self._idle, []
        for lane in idle:
            lane.finish()

    def close(self) -> None:
        """Stop listening to all sessions."""
        for lane in [*self._open]:
            lane.close()
        self._idle.clear()

    def _open_more(self) -> None:
        if len(self._open) + len(self._opening) < self._most:
            task = asyncio.create_task(self._open_one())
            self._opening.add(task)
            task.add_done_callback(self._opened)

    async def _open_one(self) -> None:
        lane = ShellSession(f"{self._folder}/{next(self._numbers)}", self._ended)
        await lane.open(self._connector, self._target, self._tools)
        self._open.add(lane)
        self.give_back(lane)

    def _opened(self, task: asyncio.Task[None]) -> None:
        self._opening.discard(task)
        error = None if task.cancelled() else task.exception()
        waiter = self._next_waiter() if error is not None else None
        if error is not None and waiter is not None:
            waiter.set_exception(error)
        if self._waiting:
            # There may be more who wait than shells were being opened.
            self._open_more()

    def _ended(self, lane: ShellSession) -> None:
        self._open.discard(lane)
        if self._waiting:
            self._open_more()

    def _next_waiter(self) -> asyncio.Future[ShellSession] | None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                return waiter
        return None


# Lanes: shells on a host that run one operation after the other.
#
# A command over a connection costs a channel, a process of ``sshd`` and a login shell each time, more than a short
# operation itself. So a shell stays, and is sent the text of one operation when the one before has ended. There are
# as many of them on a host as operations run there at a time.

MOST_OPERATIONS = 500
"""How many operations a session runs before a new one replaces it, because a shell may remember something of each."""


class ShellSession:
    """A shell on a host, used by one operation at a time. ``slot`` is its work directory there."""

    def __init__(self, slot: str, when_over: Callable[[ShellSession], None]) -> None:
        self.slot = slot
        self._when_over = when_over
        self._channel: CommandChannel | None = None
        self._ears: CommandListener | None = None
        self._operations = 0
        self.is_over = False

    async def open(self, connector: Connector, target: HostTarget, tools: str) -> None:
        """Start the shell. Raises ``Unreachable``."""
        self._channel = await connector.start(target, ["sh"], self)
        self._channel.write(opening_text(tools, self.slot).encode())

    @property
    def is_usable(self) -> bool:
        """Whether it can run another operation."""
        return not self.is_over and self._operations < MOST_OPERATIONS

    def run(self, text: str, ears: CommandListener) -> None:
        """Run an operation."""
        self._ears = ears
        self._operations += 1
        self._of_channel().write(text.encode("utf-8", "surrogateescape"))

    def let_go(self) -> None:
        """Stop telling the listener: the operation has ended."""
        self._ears = None

    def pause(self) -> None:
        """Stop reading output for a while."""
        self._of_channel().pause()

    def resume(self) -> None:
        """Read output again."""
        if not self.is_over:
            self._of_channel().resume()

    def finish(self) -> None:
        """Let the shell end when it is idle."""
        if self._channel is not None and not self.is_over:
            self._channel.write_end()

    def close(self) -> None:
        """Stop listening; an operation that it runs goes on."""
        self._ears = None
        if self._channel is not None and not self.is_over:
            self._channel.write_end()
            self._channel.close()

    def heard_out(self, data: bytes) -> None:
        """See ``CommandListener``."""
        if self._ears is not None:
            self._ears.heard_out(data)

    def heard_err(self, data: bytes) -> None:
        """See ``CommandListener``."""
        if self._ears is not None:
            self._ears.heard_err(data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``CommandListener``."""
        self.is_over = True
        self._when_over(self)
        if self._ears is not None:
            self._ears.ended(status, lost)

    def _of_channel(self) -> CommandChannel:
        assert self._channel is not None, "it is open"
        return self._channel
