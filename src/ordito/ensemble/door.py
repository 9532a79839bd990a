"""The door of a running job: how another process asks it to end.

It is a named pipe in `.ordito/`. While the job runs it holds the pipe open for reading; so who can open it for writing
has found that very job's process, whatever process ids are given out meanwhile, and nobody has to look again and again.
A request is one line: the job's id, and ``cancel`` or ``now``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from types import TracebackType

from ordito.ensemble.errors import explained
from ordito.ensemble.layout import Layout

CANCEL = "cancel"
NOW = "now"

LONGEST = 4_096


class Door:
    """The job's side, as a context; only for who holds the ensemble's lock. ``handle`` can be read when somebody has
    asked, -1 where the file system knows no named pipes: then nobody can ask."""

    def __init__(self, layout: Layout, job: str) -> None:
        self._path = layout.door
        self._job = job
        self._rest = b""
        self.handle = -1

    def __enter__(self) -> Door:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
            os.mkfifo(self._path, 0o600)
            # For writing too, so that the pipe does not end with whoever asks first.
            self.handle = os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def requests(self) -> list[str]:
        """What was asked of this job since the last call: ``CANCEL`` and ``NOW``."""
        with contextlib.suppress(BlockingIOError):
            self._rest += os.read(self.handle, LONGEST)
        *lines, self._rest = self._rest[-LONGEST:].split(b"\n")
        asked = [line.decode("utf-8", "replace").split() for line in lines]
        return [words[1] for words in asked if len(words) == 2 and words[0] == self._job and words[1] in (CANCEL, NOW)]


def ask(layout: Layout, job: str, request: str) -> bool:
    """Ask the process that runs a job; whether there is one that hears it. Raises ``EnsembleError``."""
    with explained("write to", layout.door):
        try:
            handle = os.open(layout.door, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENXIO, errno.ELOOP):
                return False
            raise
        try:
            if not stat.S_ISFIFO(os.fstat(handle).st_mode):
                return False
            # So few bytes are written at once, or not at all.
            os.write(handle, f"{job} {request}\n".encode())
        finally:
            os.close(handle)
    return True
