"""Who holds the lock of an ensemble, the errors for others, and how to send a request to a running job."""

from __future__ import annotations

import contextlib
import errno
import getpass
import os
import stat
import time
from pathlib import Path
from types import TracebackType

import msgspec

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.layout import Layout


class LockOwner(msgspec.Struct, frozen=True):
    """Who holds a lock. The last four fields are set for a lock that clones share."""

    user: str = "somebody"
    machine: str = "an unknown machine"
    pid: int = 0
    """The id of the process."""
    command: str = ""
    """What it does."""
    since: float = 0.0
    """Since when, in seconds since the epoch."""
    job: str = ""
    """The job, once there is one."""
    place: str = ""
    """The path of the clone."""
    space: str = ""
    """The ``process_space`` in which the process id is unique."""
    started: str = ""
    """When the process was started, see ``start_of``: another process may have the same id later."""

    @property
    def is_alive(self) -> bool:
        """Whether this process is known to run on this machine."""
        return bool(self.space) and self.space == process_space() and start_of(self.pid) == self.started != ""

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since)) if self.since else "an unknown time"
        command = f" ({self.command})" if self.command else ""
        job = f", job {self.job}" if self.job else ""
        place = f", in {self.place}" if self.place else ""
        return f"{self.user} on {self.machine}, process {self.pid}{command}{job}, since {since}{place}"


class Locked(EnsembleError):
    """Another command holds the lock of the ensemble; ``owner`` says who, where that is known."""

    def __init__(self, layout: Layout, owner: LockOwner | None) -> None:
        who = f"by {owner}" if owner else "by another process"
        super().__init__(
            f"the ensemble {layout.root} is locked {who}",
            "wait until that command has ended, or give --wait-lock SECONDS to wait for it",
        )
        self.owner = owner


class SharedLocked(Locked):
    """Another clone holds the lock of the ensemble; ``owner`` says who."""

    def __init__(self, remote: str, owner: LockOwner) -> None:
        EnsembleError.__init__(
            self,
            f"the ensemble is locked in {remote} by {owner}",
            "wait until that command has ended, or give --wait-lock SECONDS to wait for it; if it was killed: "
            "`ordito jobs resume` in its clone, or `ordito jobs unlock --remote`",
        )
        self.owner = owner


def current_user() -> str:
    """The name of this process's user, or the number of a user without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def process_space() -> str:
    """Where process ids are unique: this boot of this machine, and the container; "" if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def start_of(pid: int) -> str:
    """When a process was started, in units of the kernel; "" where there is no such process."""
    try:
        found = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return found.rpartition(b")")[2].split()[19].decode()


# The door of a running job: how another process asks it to end.
#
# It is a named pipe in `.ordito/`. While the job runs it holds the pipe open for reading; so who can open it for
# writing has found that very job's process, whatever process ids are given out meanwhile, and nobody has to look
# again and again. A request is one line: the job's id, ``cancel``, ``now`` or ``suspend``, and who asks.

CANCEL = "cancel"
NOW = "now"
SUSPEND = "suspend"
REQUESTS = frozenset({CANCEL, NOW, SUSPEND})

LONGEST = 4_096
LONGEST_NAME = 300


class DoorRequest(msgspec.Struct, frozen=True):
    """What a running job is asked for."""

    what: str
    """``CANCEL``, ``NOW`` or ``SUSPEND``."""

    by: str = ""
    """Who asks."""


class Door:
    """The named pipe through which a running job gets requests, as a context; only for the holder of the ensemble's
    lock. ``handle`` becomes readable with a request; it is -1 where the file system has no named pipes."""

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

    def requests(self) -> list[DoorRequest]:
        """The requests since the last call."""
        with contextlib.suppress(BlockingIOError):
            self._rest += os.read(self.handle, LONGEST)
        *lines, self._rest = self._rest[-LONGEST:].split(b"\n")
        asked = [line.decode("utf-8", "replace").split(maxsplit=2) for line in lines]
        mine = (words[1:] for words in asked if words[:1] == [self._job])
        return [DoorRequest(*said) for said in mine if said and said[0] in REQUESTS]


def ask(layout: Layout, job: str, request: str, by: str = "") -> bool:
    """Send a request to the process that runs a job, by whom it is made; returns whether there is one that gets it.
    Raises ``EnsembleError``."""
    who = " ".join(by.split())[:LONGEST_NAME]
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
            os.write(handle, f"{job} {request} {who}\n".encode("utf-8", "replace"))
        finally:
            os.close(handle)
    return True
