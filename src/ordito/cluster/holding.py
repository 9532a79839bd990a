"""How a process holds an ensemble of a store: as a worker whose lease is renewed, under an epoch of its own."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import msgspec

from ordito import __version__
from ordito.cluster import leases
from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import LEASE, LeaseHolder, WorkerLease, WorkerLost, WorkerRow
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.git.sharing import asks_for_lock
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import DirectoryLock
from ordito.ensemble.owner import Locked, current_user, process_space, start_of
from ordito.ensemble.sqlite import OLDEST, VERSION
from ordito.source.new_files import fresh_name

PAUSE = 0.25
"""Seconds between two attempts to take an ensemble, and between two to renew a lease that could not be renewed."""


class Worker(Protocol):
    """The worker for which a process takes ensembles."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def epoch(self) -> int:
        """That in which the ensemble is held for it already, by somebody who gives it back; 0 where it is to be
        taken."""

    def begin(self) -> None:
        """Be alive from now on. Raises ``EnsembleError``."""

    @property
    def may_launch(self) -> bool:
        """Whether operations may be started now: its lease has surely not run out."""

    @property
    def is_guarded(self) -> bool:
        """Whether a guard ends what it has at work once it is gone."""

    def sure(self) -> bool:
        """Wait until its lease has surely not run out, or it was declared lost. Returns whether the lease may not have
        run out meanwhile."""

    def end(self) -> None:
        """Be alive no more."""


class OwnWorker:
    """This process as a worker of its own, whose lease a thread renews."""

    epoch = 0
    is_guarded = False

    def __init__(self, address: str, lease: float = LEASE, place: str = "") -> None:
        """``place`` is the id of its home."""
        self._address = address
        self._seconds = lease
        name = f"{current_user()}@{socket.gethostname()}"
        self.id = f"{name}:{os.getpid()}:{start_of(os.getpid())}:{secrets.token_hex(4)}"
        self._row = WorkerRow(
            id=self.id,
            name=name,
            machine=_machine(),
            boot=process_space(),
            place=place,
            version=__version__,
            formats=(OLDEST, VERSION),
        )
        self._lease: WorkerLease | None = None
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._renewed = threading.Condition()
        self._lost = False

    def begin(self) -> None:
        """See ``Worker``."""
        if self._lease is None:
            self._lease = WorkerLease(self._address, self._row, self._seconds)
            self._thread = threading.Thread(target=self._renew, args=(self._lease,), name="lease", daemon=True)
            self._thread.start()

    @property
    def may_launch(self) -> bool:
        """See ``Worker``."""
        lease = self._lease
        return lease is not None and lease.may_launch and not self._lost

    def sure(self) -> bool:
        """See ``Worker``."""
        lease = self._lease
        if lease is None:
            return False
        with self._renewed:
            if lease.may_launch and not self._lost:
                return True
            self._renewed.wait_for(lambda: self._lost or lease.may_launch)
            return False

    def end(self) -> None:
        """See ``Worker``."""
        lease, thread, self._lease = self._lease, self._thread, None
        if lease is not None and thread is not None:
            self._ended.set()
            thread.join()
            self._ended.clear()
            with suppress(EnsembleError):
                lease.leave()
            lease.close()

    def _renew(self, lease: WorkerLease) -> None:
        pause = lease.every
        while not self._ended.wait(pause):
            try:
                lease.renew()
                pause = lease.every
            except WorkerLost:
                self._tell(is_lost=True)
                return
            except EnsembleError:
                # The store is away: the lease is renewed as soon as it is back.
                pause = PAUSE
            else:
                self._tell(is_lost=False)

    def _tell(self, *, is_lost: bool) -> None:
        with self._renewed:
            self._lost = is_lost
            self._renewed.notify_all()


class StoreLocked(Locked):
    """Another process holds the ensemble of a store."""

    def __init__(self, shown: str, held: LeaseHolder | None) -> None:
        alive = held is not None and held.is_alive
        who = f"by {held.name}" if held is not None and held.name else "by another process"
        hint = (
            "wait until that job has ended, or give --wait-lock SECONDS to wait for it; if that process is gone, its"
            f" lease ends by itself, within {LEASE:.0f} s"
        )
        EnsembleError.__init__(self, f"the ensemble {shown} is held {who}", hint if alive else "try again")
        self.owner = None


class ForkedWorker:
    """The worker that has forked this process to work on one ensemble: it renews its lease itself, and ends this
    process if it is declared lost."""

    def __init__(self, worker: str, epoch: int, may_launch: Callable[[], bool], *, is_guarded: bool = False) -> None:
        """``epoch`` is that in which this process holds the ensemble; ``may_launch`` tells whether operations may be
        started now."""
        self.id = worker
        self.epoch = epoch
        self.is_guarded = is_guarded
        self._may_launch = may_launch

    def begin(self) -> None:
        """See ``Worker``. It lives already."""

    @property
    def may_launch(self) -> bool:
        """See ``Worker``."""
        return self._may_launch()

    def sure(self) -> bool:
        """See ``Worker``."""
        is_sure = True
        while not self._may_launch():
            is_sure = False
            time.sleep(PAUSE)
        return is_sure

    def end(self) -> None:
        """See ``Worker``. It lives on."""


class Wanted(msgspec.Struct, frozen=True):
    """An ensemble that a process is to hold."""

    id: str
    shown: str
    """How messages call it."""


class LeaseLock:
    """Holds an ensemble of a store, see ``EnsembleLock``, and the directory in which this process works on it."""

    is_shared = False

    def __init__(
        self,
        layout: Layout,
        link: StoreConnection,
        worker: Worker,
        wanted: Wanted,
        command: str,
        wait: float,
    ) -> None:
        self._layout = layout
        self._link = link
        self._worker = worker
        self._ensemble = wanted.id
        self._shown = wanted.shown
        self._wait = wait
        self._local = DirectoryLock(layout, command=command, wait=wait)
        self.epoch = 0
        """That under which the ensemble is held, 0 where it is not."""

    def take(self) -> None:
        """See ``EnsembleLock``."""
        self._local.__enter__()
        try:
            self._worker.begin()
            self.epoch = self._worker.epoch or self._take()
            leases.make_log_days(self._link)
        except BaseException:
            self._worker.end()
            self._local.__exit__(None, None, None)
            raise

    def _take(self) -> int:
        give_up = time.monotonic() + self._wait
        while True:
            epoch = leases.take(self._link, self._ensemble, self._worker.id)
            if epoch:
                return epoch
            found = leases.holder(self._link, self._ensemble)
            if found is not None and _has_ended_here(found):
                leases.declare_lost(self._link, found.worker)
            elif time.monotonic() >= give_up:
                raise StoreLocked(self._shown, found)
            else:
                time.sleep(PAUSE)

    def check_current(self) -> None:
        """See ``EnsembleLock``. The store is what others have done."""
        if asks_for_lock(self._layout):
            raise EnsembleError(
                f"{self._shown}: its ensemble.yaml says `lock: git`, and an ensemble of a store shares nothing by git",
                "take that out of the user's part: export the ensemble, change it, and import it again",
            )

    def name_job(self, job: str) -> None:
        """See ``EnsembleLock``. The row of the ensemble names it."""

    def keep(self) -> None:
        """See ``EnsembleLock``. Nobody begins with anything but the rows."""

    def publish(self, kept: KeptCommits) -> KeptCommits:
        """See ``EnsembleLock``. The job's own transaction has published it."""
        return kept

    def abandon(self) -> None:
        """See ``EnsembleLock``."""
        with suppress(EnsembleError):
            self._give_back("nothing begun")

    def release(self, *, is_finished: bool, may_fail: bool) -> None:
        """See ``EnsembleLock``."""
        try:
            self._give_back("ended" if is_finished else "interrupted")
        except EnsembleError:
            if may_fail:
                raise

    def _give_back(self, why: str) -> None:
        epoch, self.epoch = self.epoch, 0
        try:
            if epoch and not self._worker.epoch:
                leases.release(self._link, self._ensemble, self._worker.id, epoch, why)
        finally:
            self._worker.end()
            self._local.__exit__(None, None, None)


def place_id(home: Path) -> str:
    """The id of a home, made when there is none: what ran in it is asked for by that, whatever the machine is called
    and however often it was started since. Raises ``EnsembleError``."""
    path = home / "place"
    with explained("read", path):
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            fresh = fresh_name(path)
            fresh.write_text(f"{secrets.token_hex(8)}\n", encoding="ascii")
            # Several processes may do it at one time: the first one counts.
            with suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        return path.read_text(encoding="ascii").strip()


def _machine() -> str:
    """The id of this machine."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with suppress(OSError):
            if found := Path(path).read_text(encoding="ascii").strip():
                return found
    return socket.gethostname()


def _has_ended_here(held: LeaseHolder) -> bool:
    """Whether the holder was a process of this boot of this machine, and is gone."""
    parts = held.worker.split(":")
    if len(parts) != 4 or not held.boot or held.boot != process_space():
        return False
    return start_of(int(parts[1])) != parts[2]
