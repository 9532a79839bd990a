"""Hands for hosts that a connector reaches: short commands, and waiting until a host is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from ordito.executors.remote.commands import run_command, said
from ordito.executors.remote.connection import Connector
from ordito.work.targets import Ran, Refused, Target, Unreachable

PAUSE = 0.5
LONGEST_PAUSE = 5.0
"""Seconds between two tries to reach a host; each pause is twice as long as the one before."""

ENDING = 20.0
"""Seconds for ending a command that takes too long."""

_NUMBERED = """printf 'ordito:%s\\n' "$$" >&2; exec "$@" """
_END = """kill -s TERM -- "-$1" || kill -s TERM "$1"
for second in 1 2 3 4 5; do kill -0 "$1" || exit 0; sleep 1; done
kill -s KILL -- "-$1" || kill -s KILL "$1" """


class RemoteHands:
    """Runs short commands on the hosts of one protocol."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector

    async def run(
        self, target: Target | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``."""
        if target is None:
            raise Unreachable("these hands reach other hosts only")
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

    async def reach(self, target: Target, timeout: float) -> None:
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
            except Refused:
                raise
            except Unreachable:
                if loop.time() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            if ran.status:
                raise Refused(
                    f"{target.name} has no shell for operations (sh): {said(ran.err) or f'exit {ran.status}'}"
                )
            return

    async def _end(self, target: Target, err: bytes) -> None:
        _, found, rest = err.partition(b"ordito:")
        number = rest.partition(b"\n")[0].decode(errors="replace")
        if found and number.isdigit():
            with contextlib.suppress(Unreachable, TimeoutError):
                await run_command(self._connector, target, ["sh", "-c", _END, "sh", number], timeout=ENDING)
