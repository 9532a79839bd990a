"""Short commands on this machine, for providers and checks of hosts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

from ordito.work.targets import HostTarget, Ran, Unreachable

MOST = 4 * 1024 * 1024
"""How many bytes of each output are kept."""

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""The exit statuses by which a shell says that a program does not exist, or cannot be run."""

_CHUNK = 65_536


class LocalHands:
    """Runs programs as processes of this machine, each in a session of its own, with the environment of this one:
    programs that use a service need the variables that the user has set for them."""

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``; a program that does not exist gives the status 127, as in a shell."""
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
        """Does nothing for this machine; raises ``Unreachable`` for others."""
        _here(target)


def _here(target: HostTarget | None) -> None:
    if target is not None:
        raise Unreachable(f"no connector reaches {target.name} (protocol {target.protocol})")


def _source(given: bytes) -> int:
    """Standard input as a file in memory: its size does not matter, nobody has to write to it while the program runs,
    and a program that opens ``/dev/stdin`` can read it, too."""
    source = os.memfd_create("ordito-given", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(source), "wb") as file:
        file.write(given)
    os.lseek(source, 0, os.SEEK_SET)
    return source


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    """The first ``MOST`` bytes of an output, which is read to its end."""
    parts: list[bytes] = []
    size = 0
    while stream is not None and (data := await stream.read(_CHUNK)):
        if size < MOST:
            parts.append(data[: MOST - size])
            size += len(data)
    return b"".join(parts)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process that has not ended by itself, and what it has started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
