"""Who works on an ensemble, and that somebody else cannot for now."""

from __future__ import annotations

import time

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout


class Owner(msgspec.Struct, frozen=True):
    """Who holds a lock: user, machine, process, what it does, and since when (seconds since the epoch)."""

    user: str = "somebody"
    machine: str = "an unknown machine"
    pid: int = 0
    command: str = ""
    since: float = 0.0

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since)) if self.since else "an unknown time"
        command = f" ({self.command})" if self.command else ""
        return f"{self.user} on {self.machine}, process {self.pid}{command}, since {since}"


class Locked(EnsembleError):
    """Another command works on the ensemble; ``owner`` is who, where that is known."""

    def __init__(self, layout: Layout, owner: Owner | None) -> None:
        who = f"by {owner}" if owner else "by another process"
        super().__init__(
            f"the ensemble {layout.root} is locked {who}",
            "wait until that command has ended, or give --wait-lock SECONDS to wait for it",
        )
        self.owner = owner
