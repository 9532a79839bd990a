"""Fetching and packing a folder of a repository, in a process of its own, since the server itself reads no template."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping

import msgspec

from ordito.results.failure import Failure, Trouble

ARCHIVE = "out.csar"
MOST_ANSWER = 1 << 20
PATIENCE = 30.0
"""Seconds that the process may take besides those of git, twice."""


class PackAsked(msgspec.Struct, frozen=True):
    """What is to be fetched and packed."""

    folder: str
    """An empty folder for all that it writes; the archive is in it afterwards, as ``out.csar``."""

    repository: str
    branch: str
    path: str
    """The folder in the repository, "" for all of it."""

    known: str
    """The commit that needs no packing again, "" for none."""

    addresses: tuple[str, ...]
    """The addresses of the host that may be connected to; none for a repository on this machine."""

    most_bytes: int
    """Of what is fetched, and of the files in the folder."""

    seconds: float
    """How long git may take."""

    memory: int
    """The address space of this process, in bytes."""


class PackedCommit(msgspec.Struct, frozen=True, tag="packed"):
    """A commit that was packed."""

    revision: str
    digest: str
    size: int
    left_out: tuple[str, ...] = ()
    """Submodules, whose files are not there."""


class Unchanged(msgspec.Struct, frozen=True, tag="unchanged"):
    """The branch is still at the commit that is known."""

    revision: str


class NotPacked(msgspec.Struct, frozen=True, tag="failed"):
    """Why nothing was packed; ``revision`` is the commit, "" if it was not found out."""

    revision: str
    trouble: Trouble


PackAnswer = PackedCommit | Unchanged | NotPacked
_ANSWER: msgspec.json.Decoder[PackAnswer] = msgspec.json.Decoder(PackAnswer)


async def packed(asked: PackAsked, environment: Mapping[str, str]) -> PackAnswer:
    """What comes of it. The process is ended where nobody waits for it any more."""
    command = (sys.executable, "-m", "ordito.server.outgoing.packer")
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environment),
        cwd="/",
        start_new_session=True,
    )
    try:
        given = msgspec.json.encode(asked)
        out, said = await asyncio.wait_for(process.communicate(given), 2 * asked.seconds + PATIENCE)
    except TimeoutError:
        return _failed(f"it took longer than {2 * asked.seconds:g} s", "leave out what is not needed")
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == -signal.SIGALRM:
        return _failed(f"it took longer than {2 * asked.seconds:g} s", "leave out what is not needed")
    if process.returncode or len(out) > MOST_ANSWER:
        text = said[-4_000:].decode("utf-8", "replace")
        raise RuntimeError(f"the process that packs ended with status {process.returncode}: {text}")
    return _ANSWER.decode(out)


def _failed(message: str, hint: str) -> NotPacked:
    return NotPacked("", Trouble(Failure("source-failed", message, hint)))
