"""Runners: processes that carry out work items, and outlive the server. Each is known by a name and by a file, whose
lock it holds as long as it lives, and into which it writes its news."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from pathlib import Path

import msgspec

from ordito.server.processes.calls import NEWS, Began, ForkedTask, News, Run
from ordito.server.processes.link import Died, ForkLink, memory_file


class RunnerLook(msgspec.Struct, frozen=True):
    """How a runner is: whether it lives, and what it has told."""

    is_alive: bool
    news: tuple[News, ...] = ()

    @property
    def job(self) -> str:
        """The job that has begun, "" for none."""
        return next((one.job for one in self.news if isinstance(one, Began)), "")

    @property
    def end(self) -> News | None:
        """How it ended, None where it has not told."""
        return next((one for one in reversed(self.news) if not isinstance(one, Began)), None)


class ForkedRunners:
    """Runners on this machine, forked by the fork server."""

    def __init__(self, folder: Path, link: ForkLink) -> None:
        self._folder = folder
        self._link = link
        self.changed = asyncio.Event()
        """Is set when a runner has ended; to be cleared by who looks."""

        self._running: set[asyncio.Future[int]] = set()

    @property
    def count(self) -> int:
        """How many runners of this server live."""
        return len(self._running)

    async def start(self, name: str, task: ForkedTask) -> bool:
        """Start a runner; False where one of this name lives, or none can be started now."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        out = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # The lock goes over to the runner with the descriptor, and ends with the last process that has it.
            fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(out, 0)
            given = memory_file("item", msgspec.json.encode(task))
            try:
                ended = self._link.ask(Run(self._link.next_number(), task.item.directory), (given, out))
            finally:
                os.close(given)
        except (BlockingIOError, Died):
            return False
        finally:
            os.close(out)
        self._running.add(ended)
        ended.add_done_callback(self._ended)
        return True

    def look(self, name: str) -> RunnerLook:
        """How a runner is; one that never was is like one that has ended and told nothing."""
        try:
            handle = os.open(self._path(name), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return RunnerLook(is_alive=False)
        try:
            # Looked at before it is read: who has ended has told all.
            is_alive = _is_locked(handle)
            content = b""
            while piece := os.read(handle, 1 << 20):
                content += piece
        finally:
            os.close(handle)
        lines = content.split(b"\n")[:-1]
        found = []
        for line in lines:
            # A machine that went down leaves what was not on the disk yet.
            with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
                found.append(NEWS.decode(line))
        return RunnerLook(is_alive, tuple(found))

    def forget(self, name: str) -> None:
        """Remove what is kept of a runner that has ended."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.ndjson"

    def _ended(self, ended: asyncio.Future[int]) -> None:
        self._running.discard(ended)
        self.changed.set()


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False
