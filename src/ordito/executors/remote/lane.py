"""Lanes: shells on a host that run one operation after the other.

A command over a connection costs a channel, a process of ``sshd`` and a login shell each time, more than a short
operation itself. So a shell stays, and is sent the text of one operation when the one before has ended. There are as
many of them on a host as operations run there at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from ordito.executors.remote.connection import Channel, Connector, Ears
from ordito.executors.remote.operation_text import opening_text
from ordito.work.targets import Target

MOST_OPERATIONS = 500
"""A shell may remember something of each; after so many a new one takes its place."""


class Lane:
    """A shell on a host. Whoever has it hears it; nobody else may use it meanwhile. ``slot`` is its folder there."""

    def __init__(self, slot: str, when_over: Callable[[Lane], None]) -> None:
        self.slot = slot
        self._when_over = when_over
        self._channel: Channel | None = None
        self._ears: Ears | None = None
        self._operations = 0
        self.is_over = False

    async def open(self, connector: Connector, target: Target, tools: str) -> None:
        """Start the shell. Raises ``Unreachable``."""
        self._channel = await connector.start(target, ["sh"], self)
        self._channel.write(opening_text(tools, self.slot).encode())

    @property
    def is_usable(self) -> bool:
        """Whether it can run another operation."""
        return not self.is_over and self._operations < MOST_OPERATIONS

    def run(self, text: str, ears: Ears) -> None:
        """Run an operation."""
        self._ears = ears
        self._operations += 1
        self._of_channel().write(text.encode("utf-8", "surrogateescape"))

    def let_go(self) -> None:
        """Tell nobody any more: the operation has ended."""
        self._ears = None

    def pause(self) -> None:
        """Hear nothing for a while."""
        self._of_channel().pause()

    def resume(self) -> None:
        """Hear again."""
        if not self.is_over:
            self._of_channel().resume()

    def finish(self) -> None:
        """Let the shell end when it has nothing more to do."""
        if self._channel is not None and not self.is_over:
            self._channel.write_end()

    def close(self) -> None:
        """Listen no more; an operation that it runs goes on."""
        self._ears = None
        if self._channel is not None and not self.is_over:
            self._channel.write_end()
            self._channel.close()

    def heard_out(self, data: bytes) -> None:
        """See ``Ears``."""
        if self._ears is not None:
            self._ears.heard_out(data)

    def heard_err(self, data: bytes) -> None:
        """See ``Ears``."""
        if self._ears is not None:
            self._ears.heard_err(data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``Ears``."""
        self.is_over = True
        self._when_over(self)
        if self._ears is not None:
            self._ears.ended(status, lost)

    def _of_channel(self) -> Channel:
        assert self._channel is not None, "it is open"
        return self._channel
