"""Commands as another user, by ``sudo`` or ``doas``: the words before a command, and the dialogue before it begins.

Input for the command must not be sent before a password was given or turned out not to be needed: the first program
that reads would take it. So the command announces that it begins on both its outputs, because the order of two streams
is not known, and its output must not be taken for the dialogue before it. A password is never an argument.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ordito.executors.remote.connection import CommandChannel, CommandListener
from ordito.executors.ssh.settings import Become
from ordito.work.targets import TargetRefused

ASKS = b"ordito:password?"
BEGINS = b"ordito:begins\n"
_BEGIN = """printf '%s\\n' ordito:begins; printf '%s\\n' ordito:begins >&2; exec "$@" """

LONGEST_TALK = 64 * 1024


def words_as(become: Become, words: Sequence[str]) -> list[str]:
    """The words that run a command as another user."""
    begun = ["sh", "-c", _BEGIN, "sh", *words]
    if become.method == "doas":
        return ["doas", "-n", "-u", become.user, "--", *begun]
    asks = ["-S", "-p", ASKS.decode()] if become.password else ["-n"]
    # -H: files are kept in the home of that user.
    return ["sudo", *asks, "-H", "-u", become.user, "--", *begun]


class Becoming:
    """Listens to a command until it begins, and then passes everything on to the listener of the command."""

    def __init__(self, become: Become, ears: CommandListener) -> None:
        self._become = become
        self._ears = ears
        self._said = b""
        self._out = b""
        self._asked = False
        self._refusal = ""
        self._begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._channel: CommandChannel | None = None

    async def talk(self, channel: CommandChannel) -> None:
        """Answer questions until the command begins; raises ``Unreachable`` if it may not (``TargetRefused`` if waiting
        does not help)."""
        self._channel = channel
        self._listen()
        try:
            refusal = await self._begun
        except asyncio.CancelledError:
            channel.close()
            raise
        if refusal:
            raise TargetRefused(refusal)

    @property
    def has_begun(self) -> bool:
        """Whether the command has begun."""
        return self._begun.done() and not self._begun.cancelled() and not self._begun.result()

    def heard_out(self, data: bytes) -> None:
        """See ``CommandListener``."""
        if self.has_begun:
            self._ears.heard_out(data)
        else:
            self._out = _more(self._out, data)
            self._listen()

    def heard_err(self, data: bytes) -> None:
        """See ``CommandListener``."""
        if self.has_begun:
            self._ears.heard_err(data)
        else:
            self._said = _more(self._said, data)
            self._listen()

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``CommandListener``."""
        if self.has_begun:
            self._ears.ended(status, lost)
        elif not self._begun.done():
            self._begun.set_result(lost or self._refusal or self._why())

    def _listen(self) -> None:
        if self._begun.done():
            return
        before, found, err = self._said.partition(BEGINS)
        _, found_out, out = self._out.partition(BEGINS)
        if found and found_out:
            self._begun.set_result("")
            if out:
                self._ears.heard_out(out)
            if err:
                self._ears.heard_err(err)
        elif not found and ASKS in before and self._channel is not None:
            self._answer(self._channel)

    def _answer(self, channel: CommandChannel) -> None:
        self._said = self._said.replace(ASKS, b"")
        if self._asked:
            self._refusal = (
                f'sudo does not accept the password to become "{self._become.user}"; correct become.password'
            )
            # At the end of what it reads it gives up.
            channel.write_end()
            return
        self._asked = True
        channel.write(self._become.password.encode() + b"\n")

    def _why(self) -> str:
        method, user = self._become.method, self._become.user
        said = " ".join((self._said + self._out).decode(errors="replace").split())
        if "password is required" in said or "required" in said.lower():
            return f'{method} wants a password to become "{user}"; give become.password, or allow it without (NOPASSWD)'
        if "not found" in said:
            return f"{method} is not installed there, but is needed to become {user}: {said}"
        return f'{method} does not let this user become "{user}": {said or "it says nothing"}'


def _more(heard: bytes, data: bytes) -> bytes:
    """What was heard, with the new data; an endless dialogue is cut, but not the output of a command that has begun."""
    return heard + data if len(heard) < LONGEST_TALK or BEGINS in heard else heard
