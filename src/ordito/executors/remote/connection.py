"""The port through which hosts are reached: one command is started, its streams go both ways, it ends.

Everything that runs operations on other machines is written over this port: whoever can start a command there with a
standard input, and hear its two outputs apart from each other, gets all the rest. The commands need ``sh``, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ordito.work.targets import HostTarget


class CommandListener(Protocol):
    """Who hears a command. All is called on the event loop; ``ended`` is called once, and last."""

    def heard_out(self, data: bytes) -> None:
        """A piece of its standard output."""

    def heard_err(self, data: bytes) -> None:
        """A piece of its standard error."""

    def ended(self, status: int | None, lost: str = "") -> None:
        """It has ended, and both outputs with it: its exit status, negative for the signal that killed it.

        None: nobody knows, since the connection was lost; then ``lost`` says why, for people.
        """


class CommandChannel(Protocol):
    """A command at work on a host."""

    def write(self, data: bytes) -> None:
        """Give it something to read; kept until it can be sent. Does nothing after the end."""

    def write_end(self) -> None:
        """There is nothing more to read."""

    def pause(self) -> None:
        """Hear nothing of its outputs for a while; the command waits when they are full."""

    def resume(self) -> None:
        """Hear its outputs again."""

    def close(self) -> None:
        """Listen no more; ``ended`` is still called. The command itself may go on."""


class Connector(Protocol):
    """Reaches all hosts of one protocol. It keeps connections and uses them again."""

    protocol: str

    async def start(self, target: HostTarget, words: Sequence[str], ears: CommandListener) -> CommandChannel:
        """Start a program with its arguments on a host, in a session of its own where the protocol can do that.

        The words are seen by everybody on the host: secrets go through ``write``. Waits for its turn where the host
        takes no more at a time. Raises ``Unreachable``: then nothing was started.
        """

    def forget_failure(self, target: HostTarget) -> None:
        """Try to reach a host again that could not be reached a moment ago; until then ``start`` fails at once."""

    async def close(self) -> None:
        """Close all connections."""


# How long is waited for what.


class HostTimeouts(msgspec.Struct, frozen=True):
    """Seconds: between asking processes to end and making them; for output that a daemon still holds open; for an
    operation that is found running after a crash to end by itself; for a host to be reached again after a connection
    was lost; between two tries of that."""

    grace: float = 10.0
    linger: float = 1.0
    settle: float = 3.0
    reconnect: float = 30.0
    pause: float = 0.5
