"""One command over a connection: what asyncssh tells of it, told to those who listen."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import asyncssh

from ordito.executors.remote.connection import Ears

_STDERR = asyncssh.EXTENDED_DATA_STDERR


class Command(asyncssh.SSHClientSession[bytes]):
    """A session with one command; it is the ``Channel`` of the command as well."""

    def __init__(self, ears: Ears, ended: Callable[[], None], name: str) -> None:
        self._ears = ears
        self._ended = ended
        self._name = name
        self._chan: Any = None
        self._status: int | None = None
        self._is_closed = False
        self._is_started = False
        self._is_over = False

    # ---------------------------------------------------------------------------------------- what asyncssh tells

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """A channel is open, and the command is asked for."""
        self._chan = chan

    def session_started(self) -> None:
        """The command runs."""
        self._is_started = True

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """A piece of output."""
        if self._is_closed:
            return
        if datatype == _STDERR:
            self._ears.heard_err(data)
        else:
            self._ears.heard_out(data)

    def eof_received(self) -> bool:
        """Both outputs have ended: there is nothing more to say either."""
        return False

    def exit_status_received(self, status: int) -> None:
        """The command has ended; outputs may go on."""
        self._status = status

    def exit_signal_received(self, name: str, core_dumped: bool, msg: str, lang: str) -> None:
        """A signal has ended the command."""
        self._status = -int(getattr(signal, f"SIG{name}", signal.SIGKILL))

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed."""
        if self._is_over:
            return
        self.give_up()
        if not self._is_started:
            return
        if self._status is not None:
            self._ears.ended(self._status)
        elif self._is_closed:
            self._ears.ended(None, "nobody listens any more")
        else:
            reason = getattr(exc, "reason", "") or "the connection has ended"
            self._ears.ended(None, f"the connection to {self._name} was lost: {reason}")

    def give_up(self) -> None:
        """Nothing is at work over the connection any more, or ever was; does nothing the second time."""
        if not self._is_over:
            self._is_over = True
            self._ended()

    # ------------------------------------------------------------------------------------------------- the channel

    def write(self, data: bytes) -> None:
        """See ``Channel``."""
        if not self._is_over and not self._chan.is_closing():
            self._chan.write(data)

    def write_end(self) -> None:
        """See ``Channel``."""
        if not self._is_over and not self._chan.is_closing():
            self._chan.write_eof()

    def pause(self) -> None:
        """See ``Channel``."""
        self._chan.pause_reading()

    def resume(self) -> None:
        """See ``Channel``."""
        self._chan.resume_reading()

    def close(self) -> None:
        """See ``Channel``."""
        self._is_closed = True
        self._chan.close()
