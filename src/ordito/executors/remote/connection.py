"""The port through which hosts are reached: start a command, write to it, hear its outputs and its end.

Everything that runs operations on other machines uses this port: a protocol that can start a command with a standard
input and two separate outputs needs nothing else. The commands need only ``sh``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ordito.work.targets import HostTarget


class CommandListener(Protocol):
    """Listens to a command. All methods are called on the event loop; ``ended`` is called once, and last."""

    def heard_out(self, data: bytes) -> None:
        """A piece of its standard output."""

    def heard_err(self, data: bytes) -> None:
        """A piece of its standard error."""

    def ended(self, status: int | None, lost: str = "") -> None:
        """The command and both outputs have ended. ``status`` is its exit status, negative for the signal that killed
        it; None if the connection was lost, and then ``lost`` says why, for people."""


class CommandChannel(Protocol):
    """A command that runs on a host."""

    def write(self, data: bytes) -> None:
        """Write to its standard input; the data is kept until it can be sent. Does nothing after its end."""

    def write_end(self) -> None:
        """End its standard input."""

    def pause(self) -> None:
        """Stop reading its outputs for a while; the command waits when they are full."""

    def resume(self) -> None:
        """Read its outputs again."""

    def close(self) -> None:
        """Stop listening; ``ended`` is still called. The command itself may go on."""


class Connector(Protocol):
    """Reaches all hosts of one protocol. It keeps connections open and uses them again."""

    protocol: str

    async def start(self, target: HostTarget, words: Sequence[str], ears: CommandListener) -> CommandChannel:
        """Start a program with its arguments on a host, in a session of its own if the protocol can do that.

        Everybody on the host can see the words, so secrets go through ``write``. Waits if the host allows no more
        commands at a time. Raises ``Unreachable``: then nothing was started.
        """

    def forget_failure(self, target: HostTarget) -> None:
        """Forget that a host could not be reached a moment ago; until then ``start`` fails at once."""

    async def close(self) -> None:
        """Close all connections."""


# How long is waited for what.


class HostTimeouts(msgspec.Struct, frozen=True):
    """How long is waited for what, in seconds."""

    grace: float = 10.0
    """Between TERM and KILL."""

    linger: float = 1.0
    """For the end of output that a daemon still holds open."""

    settle: float = 3.0
    """For an operation that still runs after a crash, to end by itself."""

    reconnect: float = 30.0
    """To reach a host again after a connection was lost."""

    pause: float = 0.5
    """Between two attempts to reach a host again."""
