"""Short commands on a host, from their start to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ordito.executors.remote.connection import Channel, Connector
from ordito.work.targets import Ran, Target, Unreachable

MOST_BYTES = 4 << 20
"""What is kept of each output of a command."""


def said(err: bytes) -> str:
    """The line of what a command said that tells most of why it failed."""
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_SUMMARIES)]
    return telling[-1].strip() if telling else ""


_SUMMARIES = ("tar: Exiting", "tar: Error")


class Heard:
    """Keeps what a command prints until it has ended."""

    def __init__(self, err: bytearray | None = None) -> None:
        self._out = bytearray()
        self._err = bytearray() if err is None else err
        self.end: asyncio.Future[tuple[int | None, str]] = asyncio.get_running_loop().create_future()

    def heard_out(self, data: bytes) -> None:
        """See ``Ears``."""
        _keep(self._out, data)

    def heard_err(self, data: bytes) -> None:
        """See ``Ears``."""
        _keep(self._err, data)

    def ended(self, status: int | None, lost: str = "") -> None:
        """See ``Ears``."""
        if not self.end.done():
            self.end.set_result((status, lost))

    async def ran(self) -> Ran:
        """How the command ended; ``Unreachable`` where the connection was lost."""
        status, lost = await self.end
        if status is None:
            raise Unreachable(lost)
        return Ran(status, bytes(self._out), bytes(self._err))


def _keep(kept: bytearray, data: bytes) -> None:
    if len(kept) < MOST_BYTES:
        kept += data


async def run_command(
    connector: Connector,
    target: Target,
    words: Sequence[str],
    given: bytes = b"",
    timeout: float | None = None,
    err: bytearray | None = None,
) -> Ran:
    """Run a program with ``given`` to read. Raises ``Unreachable``, also where the connection is lost meanwhile, and
    ``TimeoutError`` after so many seconds; then nobody listens to it any more, and ``err`` has what was heard of its
    standard error."""
    heard = Heard(err)
    channel: Channel | None = None
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
