"""Short commands on a host, from their start to their end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from ordito.executors.remote.connection import CommandChannel, Connector
from ordito.work.targets import HostTarget, Ran, TargetRefused, Unreachable

MOST_BYTES = 4 << 20
"""How many bytes of each output of a command are kept."""


def said(err: bytes) -> str:
    """The line of a command's errors that says most about why it failed."""
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_SUMMARIES)]
    return telling[-1].strip() if telling else ""


_SUMMARIES = ("tar: Exiting", "tar: Error")


class Heard:
    """A listener that keeps the output of a command until it has ended."""

    def __init__(self, err: bytearray | None = None) -> None:
        self._out = bytearray()
        self._err = bytearray() if err is None else err
        self.end: asyncio.Future[tuple[int | None, str]] = asyncio.get_running_loop().create_future()

    def heard_out(self, data: bytes) -> None:
        """See ``CommandListener``."""
        _keep(self._out, data)

    def heard_err(self, data: bytes) -> None:
        """See ``CommandListener``."""
        _keep(self._err, data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``CommandListener``."""
        if not self.end.done():
            self.end.set_result((status, lost))

    async def ran(self) -> Ran:
        """How the command ended; raises ``Unreachable`` if the connection was lost."""
        status, lost = await self.end
        if status is None:
            raise Unreachable(lost)
        return Ran(status, bytes(self._out), bytes(self._err))


def _keep(kept: bytearray, data: bytes) -> None:
    if len(kept) < MOST_BYTES:
        kept += data


async def run_command(
    connector: Connector,
    target: HostTarget,
    words: Sequence[str],
    given: bytes = b"",
    timeout: float | None = None,
    err: bytearray | None = None,
) -> Ran:
    """Run a program with ``given`` as its standard input. Raises ``Unreachable``, also if the connection is lost
    meanwhile, and ``TimeoutError`` after ``timeout`` seconds; then its output is no longer read, and ``err`` has its
    standard error so far."""
    heard = Heard(err)
    channel: CommandChannel | None = None
    try:
        async with asyncio.timeout(timeout):
            channel = await connector.start(target, words, heard)
            if given:
                channel.write(given)
            channel.write_end()
            return await heard.ran()
    finally:
        if channel is not None and not heard.end.done():
            channel.close()


# Hands for hosts that a connector reaches: short commands, and waiting until a host is there.

PAUSE = 0.5
LONGEST_PAUSE = 5.0
"""The most seconds between two attempts to reach a host; each pause is twice as long as the one before."""

ENDING = 20.0
"""Seconds that ending a command may take that has timed out."""

_NUMBERED = """printf 'ordito:%s\\n' "$$" >&2; exec "$@" """
_END = """kill -s TERM -- "-$1" || kill -s TERM "$1"
for second in 1 2 3 4 5; do kill -0 "$1" || exit 0; sleep 1; done
kill -s KILL -- "-$1" || kill -s KILL "$1" """


class RemoteHands:
    """Runs short commands on the hosts of one protocol."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``."""
        if target is None:
            raise Unreachable("this access is for other hosts only")
        if timeout is None:
            return await run_command(self._connector, target, words, given)
        heard = bytearray()
        try:
            # It says which process it is, so that it can be ended.
            numbered = ["sh", "-c", _NUMBERED, "sh", *words]
            ran = await run_command(self._connector, target, numbered, given, timeout, heard)
        except TimeoutError:
            await self._end(target, bytes(heard))
            raise
        _, _, err = ran.err.partition(b"ordito:")
        return Ran(ran.status, ran.out, err.partition(b"\n")[2])

    async def reach(self, target: HostTarget, timeout: float) -> None:
        """See ``work.targets.Hands``."""
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + timeout, PAUSE
        while True:
            self._connector.forget_failure(target)
            try:
                async with asyncio.timeout_at(deadline):
                    ran = await run_command(self._connector, target, ["sh", "-c", ":"])
            except TimeoutError:
                raise Unreachable(f"{target.name} could not be reached within {timeout:g} s") from None
            except TargetRefused:
                raise
            except Unreachable:
                if loop.time() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            if ran.status:
                raise TargetRefused(
                    f"{target.name} has no shell for operations (sh): {said(ran.err) or f'exit {ran.status}'}"
                )
            return

    async def _end(self, target: HostTarget, err: bytes) -> None:
        _, found, rest = err.partition(b"ordito:")
        number = rest.partition(b"\n")[0].decode(errors="replace")
        if found and number.isdigit():
            with contextlib.suppress(Unreachable, TimeoutError):
                await run_command(self._connector, target, ["sh", "-c", _END, "sh", number], timeout=ENDING)
