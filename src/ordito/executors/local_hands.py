"""Short commands on this machine, for those who make and look after hosts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

from ordito.work.targets import HostTarget, Ran, Unreachable

MOST = 4 * 1024 * 1024
"""Bytes of either output that are kept."""

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses by which a shell says that there is no such program, or that it cannot be run."""

_CHUNK = 65_536


class LocalHands:
    """Runs programs as processes of this machine, each in a session of its own, with the environment of this one:
    programs that speak to a service need what the user has set for them."""

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``; a program that does not exist ends with 127, as a shell says it."""
        _here(target)
        source = _source(given)
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=source,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError:
            return Ran(NOT_FOUND, err=f"{words[0]}: there is no such program on this machine".encode())
        except OSError as error:
            return Ran(NOT_EXECUTABLE, err=f"{words[0]}: {error.strerror}".encode())
        finally:
            os.close(source)
        try:
            async with asyncio.timeout(timeout):
                out, err = await asyncio.gather(_read(process.stdout), _read(process.stderr))
                status = await process.wait()
        finally:
            await _end(process)
        return Ran(status if status >= 0 else 128 - status, out, err)

    async def reach(self, target: HostTarget, timeout: float) -> None:
        """This machine needs no reaching, and others are not reached from here."""
        _here(target)


def _here(target: HostTarget | None) -> None:
    if target is not None:
        raise Unreachable(f"no connector reaches {target.name} (protocol {target.protocol})")


def _source(given: bytes) -> int:
    """Standard input as a file in memory: it can be as large as it likes without anybody writing to it meanwhile, and a
    program that opens ``/dev/stdin`` finds it too."""
    source = os.memfd_create("ordito-given", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(source), "wb") as file:
        file.write(given)
    os.lseek(source, 0, os.SEEK_SET)
    return source


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """The first bytes of an output, which is read to its end."""
    parts: list[bytes] = []
    size = 0
    while stream is not None and (data := await stream.read(_CHUNK)):
        if size < MOST:
            parts.append(data[: MOST - size])
            size += len(data)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what has not ended by itself, and what it has started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
