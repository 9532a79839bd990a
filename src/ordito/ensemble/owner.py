"""Who works on an ensemble, and that somebody else cannot for now."""

from __future__ import annotations

import getpass
import os
import time
from pathlib import Path

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout


class Owner(msgspec.Struct, frozen=True):
    """Who holds a lock: user, machine, process, what it does, and since when (seconds since the epoch).

    Of a lock that clones share also the ``job`` (once there is one), the ``place`` of the clone, and what tells the
    process from others of that number: its ``space`` of numbers, and when in it the process was ``started``.
    """

    user: str = "somebody"
    machine: str = "an unknown machine"
    pid: int = 0
    command: str = ""
    since: float = 0.0
    job: str = ""
    place: str = ""
    space: str = ""
    started: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether that very process is known to run on this machine."""
        return bool(self.space) and self.space == process_space() and start_of(self.pid) == self.started != ""

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since)) if self.since else "an unknown time"
        command = f" ({self.command})" if self.command else ""
        job = f", job {self.job}" if self.job else ""
        place = f", in {self.place}" if self.place else ""
        return f"{self.user} on {self.machine}, process {self.pid}{command}{job}, since {since}{place}"


class Locked(EnsembleError):
    """Another command works on the ensemble; ``owner`` is who, where that is known."""

    def __init__(self, layout: Layout, owner: Owner | None) -> None:
        who = f"by {owner}" if owner else "by another process"
        super().__init__(
            f"the ensemble {layout.root} is locked {who}",
            "wait until that command has ended, or give --wait-lock SECONDS to wait for it",
        )
        self.owner = owner


class SharedLocked(Locked):
    """Another clone of the ensemble works; ``owner`` is who."""

    def __init__(self, remote: str, owner: Owner) -> None:
        EnsembleError.__init__(
            self,
            f"the ensemble is locked in {remote} by {owner}",
            "wait until that command has ended, or give --wait-lock SECONDS to wait for it; if it was killed: "
            "`ordito jobs resume` in its clone, or `ordito jobs unlock --remote`",
        )
        self.owner = owner


def current_user() -> str:
    """The name of this process's user, or the number of one who has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def process_space() -> str:
    """What numbers of processes mean something in: this start of this machine, and the container; "" if unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return ""


def start_of(pid: int) -> str:
    """When a process was started, in the kernel's own measure; "" where there is none."""
    try:
        found = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return ""
    return found.rpartition(b")")[2].split()[19].decode()
