"""A runner of a worker: a process that takes the lease of an ensemble, carries out one item, and ends.

It ends with its worker, whose end of their socket it holds the other end of; the operations that it has started go on,
and its successor finds them. It imports nothing of what dispatches.
"""

from __future__ import annotations

import mmap
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.items import ItemState, Tenure, finish, state_of
from ordito.cluster.leases import HANDED_OVER, release, since_boot, take
from ordito.ensemble.journal_database import Fenced

LONGEST = 1 << 16
"""The longest message, in bytes."""

LIMIT = struct.Struct("d")


class RunnerTask(msgspec.Struct, frozen=True):
    """What a runner is given."""

    address: str
    """Of the store."""

    item: str
    number: int
    """Of the delivery."""

    worker: str
    ended: int
    """The epoch in which an earlier runner of this worker, which has ended, has held the ensemble; else 0."""

    home: str
    """The directory of the worker."""

    key: str = ""
    """The file with the key of its pool, "" for none."""

    is_guarded: bool = False
    """Whether the worker runs under its guard."""


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """Asks whether the runner is there."""


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """The job is to be ended; ``how`` is what the item says of it."""

    how: str


class Suspend(msgspec.Struct, frozen=True, tag="suspend"):
    """The job is to be left as it is, for another worker."""


class Pong(msgspec.Struct, frozen=True, tag="pong"):
    """The runner is there."""


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """What has become of the delivery."""

    how: str
    """``DONE``, ``HANDED_OVER`` (not done, and the ensemble is given back), ``HELD`` or ``STALE``."""


DONE = "done"
HELD = "held"
"""Somebody who lives holds the ensemble."""
STALE = "stale"
"""Nothing is to be done any more, or by a later delivery."""

_ASKED: msgspec.json.Decoder[Ping | Cancel | Suspend] = msgspec.json.Decoder(Ping | Cancel | Suspend)


class LaunchLimit:
    """Until when a worker and its runners may launch operations, by the clock since boot: a number in memory that they
    share, which the worker writes after each renewal of its lease."""

    def __init__(self, handle: int) -> None:
        self._memory = mmap.mmap(handle, LIMIT.size)

    @staticmethod
    def handle() -> int:
        """A new one, as a descriptor that children inherit if it is passed on."""
        found = os.memfd_create("launches-until", os.MFD_CLOEXEC)
        os.ftruncate(found, LIMIT.size)
        return found

    @property
    def until(self) -> float:
        """Until when, by the clock since boot."""
        return float(LIMIT.unpack_from(self._memory, 0)[0])

    def put(self, until: float) -> None:
        """Let operations be launched until a moment."""
        LIMIT.pack_into(self._memory, 0, until)

    def is_open(self) -> bool:
        """Whether operations may be launched now."""
        return since_boot() < self.until


class HeldItem:
    """An item whose ensemble this process holds."""

    def __init__(self, task: RunnerTask, item: ItemState, epoch: int, may_launch: Callable[[], bool]) -> None:
        self.task = task
        self.item = item
        self.tenure = Tenure(item.ensemble, task.worker, epoch)
        self.may_launch = may_launch
        """To be asked right before an operation is launched."""

        self._lock = threading.Lock()
        self._asked: Cancel | Suspend | None = Cancel(item.cancel) if item.cancel else None
        self._listener: Callable[[Cancel | Suspend], None] | None = None

    @property
    def home(self) -> Path:
        """The directory of the worker."""
        return Path(self.task.home)

    def listen(self, listener: Callable[[Cancel | Suspend], None]) -> None:
        """Hear in another thread that the job is to be ended or left, also where that was said before."""
        with self._lock:
            self._listener = listener
            asked = self._asked
        if asked is not None:
            listener(asked)

    def ask(self, asked: Cancel | Suspend) -> None:
        """Say that the job is to be ended or left."""
        with self._lock:
            self._asked = asked
            listener = self._listener
        if listener is not None:
            listener(asked)


class ItemEnd(msgspec.Struct, frozen=True):
    """How an item has ended."""

    is_done: bool = True
    """False where its job was left for another worker."""

    job: str = ""
    outcome: bytes | None = None


class RunItem(Protocol):
    """Carries out an item whose ensemble this process holds. A job of it that exists already (by ``origin``) is gone on
    with, one that is closed is not begun again. Raises ``Fenced`` where the ensemble was taken over; any other error is
    a fault, after which another process tries again."""

    def __call__(self, held: HeldItem) -> ItemEnd:
        """Carry it out."""


def run_delivery(channel: socket.socket, limit: LaunchLimit, run_item: RunItem) -> None:
    """Carry out the delivery that comes over a socket, and say over it what became of it."""
    first = channel.recv(LONGEST)
    if not first:
        return
    control = _Control(channel)
    control.start()
    control.tell(Ended(_outcome(msgspec.json.decode(first, type=RunnerTask), limit, run_item, control)))


class _Control(threading.Thread):
    """Hears what the worker says; its end is the end of this process."""

    def __init__(self, channel: socket.socket) -> None:
        super().__init__(daemon=True)
        self._channel = channel
        self._lock = threading.Lock()
        self._held: HeldItem | None = None
        self._early: list[Cancel | Suspend] = []

    def tell(self, news: Pong | Ended) -> None:
        try:
            self._channel.send(msgspec.json.encode(news))
        except OSError:
            os._exit(1)

    def hold(self, held: HeldItem) -> None:
        """Hand on what is asked to whoever carries the item out."""
        with self._lock:
            self._held = held
            early, self._early = self._early, []
        for asked in early:
            held.ask(asked)

    def run(self) -> None:
        while message := self._hear():
            asked = _ASKED.decode(message)
            if isinstance(asked, Ping):
                self.tell(Pong())
                continue
            with self._lock:
                held = self._held
                if held is None:
                    self._early.append(asked)
            if held is not None:
                held.ask(asked)
        # Nothing may be written or started without a worker that renews the lease.
        os._exit(1)

    def _hear(self) -> bytes:
        try:
            return self._channel.recv(LONGEST)
        except OSError:
            return b""


def _outcome(task: RunnerTask, limit: LaunchLimit, run_item: RunItem, control: _Control) -> str:
    link = StoreConnection(task.address)
    found = state_of(link, task.item)
    if not _is_current(found, task) or found is None:
        return STALE
    epoch = take(link, found.ensemble, task.worker, task.item, ended=task.ended)
    if not epoch:
        return HELD
    # Whoever has held it before may have done it meanwhile.
    found = state_of(link, task.item)
    if found is None or not _is_current(found, task):
        if found is not None:
            release(link, found.ensemble, task.worker, epoch, STALE)
        return STALE
    held = HeldItem(task, found, epoch, limit.is_open)
    control.hold(held)
    end = run_item(held)
    if end.is_done:
        finish(link, task.item, held.tenure, end.job, end.outcome)
        return DONE
    if not release(link, found.ensemble, task.worker, epoch, HANDED_OVER):
        raise Fenced(f"ensemble {found.ensemble} was taken over by another worker", "nothing needs to be done")
    return HANDED_OVER


def _is_current(found: ItemState | None, task: RunnerTask) -> bool:
    return found is not None and found.state == "queued" and found.delivery == task.number
