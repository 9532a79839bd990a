"""A worker: takes items of its pool, and carries each out in a process of its own.

It renews its lease, lets in what waits, looks for what others have left behind, and starts the successor of a runner
that has ended too early. Whether an item is done is decided by its row in the store, never by what is delivered.
"""

from __future__ import annotations

import fcntl
import math
import os
import random
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from ordito import __version__
from ordito.cluster.admission import admit
from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.dispatch import Delivery, Dispatch, shares
from ordito.cluster.holding import place_id
from ordito.cluster.items import ATTENTION, DEFAULT_POOL, QUEUED, claim, taken_over
from ordito.cluster.keys import PoolKey
from ordito.cluster.leases import (
    BOOT,
    HANDED_OVER,
    LEASE,
    WorkerLease,
    WorkerLost,
    WorkerRow,
    declare_lost,
    holder,
    release,
)
from ordito.cluster.takeover import EVERY, take_over
from ordito.cluster.worker_forks import Forks, Runner
from ordito.cluster.worker_runner import (
    DONE,
    HELD,
    STALE,
    Cancel,
    LaunchLimit,
    RunnerTask,
    Suspend,
)
from ordito.ensemble.errors import EnsembleError

T = TypeVar("T")

KEEPING = 0.5
"""Seconds between two looks at what the store wants of this worker: that it drains, that jobs are ended."""

AGAIN = 1.0
"""Seconds after which an item arrives again that found no slot."""

OF_OTHERS = 5.0
"""Seconds after which an item arrives again whose ensemble somebody else holds, or for which there is no room on the
disk."""

SUSPENDING = 60.0
"""Seconds after which a runner that was told to leave its job is ended."""

SUCCESSION = 60.0
"""Seconds within which the runners of a former worker of the same home have ended, which notice its end at once."""

LEAST_DISK = 1 << 30
"""Bytes of room that the home of a worker has to have."""

DRAINED = "drained"
"""Why a tenure has ended whose process was killed while its worker was draining."""

MACHINE = Path("/etc/machine-id")

STATE = "SELECT state FROM ordito.worker WHERE id = %(me)s"
CANCELLED = "SELECT id, cancel FROM ordito.item WHERE worker = %(me)s AND state = 'queued' AND cancel <> ''"
DRAINING = "UPDATE ordito.worker SET state = 'draining' WHERE id = %(me)s AND state = 'ready'"
POOL = "INSERT INTO ordito.pool (name) VALUES (%(pool)s) ON CONFLICT DO NOTHING"


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a worker is to be."""

    address: str
    """Of the store."""

    home: Path
    entry: str
    """What carries out items (``RunItem``), "module:function"."""

    name: str = ""
    """By default the name of the machine."""

    pool: str = DEFAULT_POOL
    reaches: tuple[str, ...] = ()
    slots: int = 1
    key: str = ""
    lease: float = LEASE
    finish: float = 0.0
    """Seconds for which jobs may go on, once the worker drains."""

    least_disk: int = LEAST_DISK
    """It takes no items while its home has less room, in bytes."""

    version: str = ""
    formats: tuple[int, int] = (0, 0)
    limit: int = -1
    """The descriptor of the ``LaunchLimit`` that its guard looks at, negative for none."""

    is_guarded: bool = False
    """Whether it runs under its guard."""

    variables: Mapping[str, str] = {}
    """The environment of runners."""


class Log(Protocol):
    """Where a worker says what happens."""

    def __call__(self, text: str) -> None:
        """Say it."""


class Worker:
    """A worker. One of a home at a time."""

    def __init__(self, settings: WorkerSettings, dispatch: Dispatch, log: Log) -> None:
        """Waits until what a former worker has left in this home has ended. Raises ``EnsembleError``."""
        self._settings = settings
        self._dispatch = dispatch
        self._log = log
        self._home = _Home(settings.home)
        self._place = place_id(settings.home)
        self._link = StoreConnection(settings.address)
        self._link_lock = threading.Lock()
        former = self._home.former
        if former and self._ask(lambda link: declare_lost(link, former)):
            # It is gone for certain, so nobody has to wait for its lease.
            take_over(dispatch, former)
        self._me = f"w_{secrets.token_hex(8)}"
        self._home.belongs_to(self._me)
        name = settings.name or socket.gethostname()
        self._lease = WorkerLease(settings.address, self._row(name), settings.lease)
        handle = settings.limit if settings.limit >= 0 else LaunchLimit.handle()
        self._limit = LaunchLimit(handle)
        self._limit.put(self._lease.launches_until)
        self._forks = Forks(settings.entry, (self._home.handle,), handle, settings.variables)
        self._slots = _Slots(settings.slots)
        self._running: dict[str, _Running] = {}
        self._running_lock = threading.Lock()
        self._asked_to_drain = threading.Event()
        self._is_over = threading.Event()
        self._lost: WorkerLost | None = None
        self._has_room = threading.Event()

    def run(self) -> None:
        """Take items until the worker is drained. Raises ``WorkerLost`` where it was declared lost: it is to begin anew
        then, in another process; and ``EnsembleError``."""
        pool = {"pool": self._settings.pool}
        self._ask(lambda link: link.ask("use", lambda db: db.execute(POOL, pool).rowcount, lambda _: None))
        beside = (self._renew, self._admit, self._look, self._keep, self._run_errands)
        threads = [threading.Thread(target=work, daemon=True) for work in beside]
        for thread in threads:
            thread.start()
        serving = self._dispatch.serve(self._settings.pool, self._me, self._settings.slots, self.carry_out)
        self._log(f"worker {self._lease.worker.name} ({self._me}) takes items of pool {self._settings.pool}")
        self._asked_to_drain.wait()
        if self._lost is None:
            self._log("draining: no more items are taken")
            threading.Thread(target=self._suspend_all, daemon=True).start()
            serving.stop()
        self._is_over.set()
        if self._lost is not None:
            self._kill_all()
            raise self._lost
        # Nothing is at work any more, so its guard needs no sign of life.
        self._limit.put(math.inf)
        self._lease.leave()
        self._forks.close()
        self._home.left()
        self._log("drained")

    def drain(self) -> None:
        """Take no more items, and hand over those that are carried out."""
        self._asked_to_drain.set()

    def drain_on(self, number: signal.Signals) -> None:
        """Drain when this process gets a signal."""
        # In a thread: the main one may be about to wait for it.
        signal.signal(number, lambda *_: threading.Thread(target=self.drain, daemon=True).start())

    def carry_out(self, item: str, number: int) -> None:
        """Carry out a delivery, until it is of no more use."""
        found = self._insist(lambda: self._ask(lambda link: claim(link, item, number, self._me)))
        if found is None:
            return
        ensemble, klass = found
        delay = self._reason_to_wait(klass)
        if delay:
            self._again(item, number, delay)
            return
        try:
            running = self._enter(item, number)
            try:
                self._carry_out(running, ensemble)
            finally:
                self._leave(running)
        finally:
            self._slots.give_back(klass)
            self._has_room.set()

    def _reason_to_wait(self, klass: str) -> float:
        """Seconds after which an item is to come again, 0 where it has a slot now."""
        if shutil.disk_usage(self._settings.home).free < self._settings.least_disk:
            self._log(f"there is no room in {self._settings.home}: no items are taken until there is")
            return OF_OTHERS
        if self._asked_to_drain.is_set() or not self._slots.take(klass):
            return AGAIN
        return 0.0

    def _carry_out(self, running: _Running, ensemble: str) -> None:
        """Start one runner after the other, until one has brought the delivery to an end."""
        ended = 0
        while not running.is_over:
            task = RunnerTask(
                self._settings.address,
                running.item,
                running.number,
                self._me,
                ended,
                str(self._settings.home),
                self._settings.key,
                self._settings.is_guarded,
            )
            try:
                runner = self._forks.start(task)
            except EnsembleError as error:
                self._log(f"item {running.item}: {error.message}")
                time.sleep(AGAIN)
                continue
            running.begins(runner, is_draining=self._is_suspending())
            how = runner.wait()
            if how in (DONE, STALE) or running.is_over:
                return
            if how == HANDED_OVER:
                self._again(running.item, running.number, 0.0)
                return
            if how == HELD:
                self._again(running.item, running.number, OF_OTHERS)
                return
            self._log(f"item {running.item}: its process has ended too early")
            ended = self._epoch_of(running.item, ensemble)
            state = self._count_end(running)
            if state == ATTENTION:
                self._log(f"item {running.item} needs attention: it does not get on")
                self._let_go(ensemble, ended, ATTENTION)
            elif state == QUEUED and self._asked_to_drain.is_set():
                self._let_go(ensemble, ended, DRAINED)
                self._again(running.item, running.number, 0.0)
            if state != QUEUED or self._asked_to_drain.is_set():
                return

    def _epoch_of(self, item: str, ensemble: str) -> int:
        """The epoch in which a runner of this worker that has ended still holds an ensemble, 0 where it does not."""
        found = self._insist(lambda: self._ask(lambda link: holder(link, ensemble)))
        return found.epoch if found is not None and (found.worker, found.item) == (self._me, item) else 0

    def _count_end(self, running: _Running) -> str:
        """Count that a runner has ended too early: how the item is from now on, see ``taken_over``."""

        def count() -> str:
            counted: list[str] = []

            def choose(db: Connection) -> Iterable[Delivery]:
                counted.append(taken_over(db, running.item, running.number))
                return ()

            self._dispatch.submit(choose)
            return counted[0]

        return self._insist(count)

    def _let_go(self, ensemble: str, epoch: int, why: str) -> None:
        if epoch:
            self._insist(lambda: self._ask(lambda link: release(link, ensemble, self._me, epoch, why)))

    def _again(self, item: str, number: int, delay: float) -> None:
        self._insist(lambda: self._dispatch.redeliver(item, number, delay))

    def _enter(self, item: str, number: int) -> _Running:
        """Note that an item is carried out here; an earlier delivery of it is over, and its runner ended."""
        mine = _Running(item, number)
        with self._running_lock:
            former = self._running.get(item)
            self._running[item] = mine
        if former is not None:
            former.end()
            former.has_left.wait()
        return mine

    def _leave(self, running: _Running) -> None:
        with self._running_lock:
            if self._running.get(running.item) is running:
                del self._running[running.item]
        running.has_left.set()

    # ------------------------------------------------------------------------------------------- what goes on beside

    def _renew(self) -> None:
        pause = self._lease.every
        while not self._is_over.wait(pause):
            try:
                self._lease.renew()
            except WorkerLost as error:
                self._lost = error
                self._asked_to_drain.set()
                return
            except EnsembleError as error:
                self._log(error.message)
                pause = self._lease.every / 4
                continue
            self._limit.put(self._lease.launches_until)
            pause = self._lease.every

    def _admit(self) -> None:
        while not self._is_over.is_set():
            if not self._asked_to_drain.is_set():
                self._try(lambda: admit(self._dispatch, self._settings.pool))
            self._has_room.wait(AGAIN * random.uniform(0.8, 1.2))
            self._has_room.clear()

    def _look(self) -> None:
        while not self._is_over.wait(min(EVERY, self._settings.lease / 3) * random.uniform(0.8, 1.2)):
            if self._lease.may_declare:
                for item in self._try(lambda: take_over(self._dispatch)) or ():
                    self._log(f"item {item} is taken over: its worker lives no more")

    def _keep(self) -> None:
        link = StoreConnection(self._settings.address, patience=0.0)
        told: set[tuple[str, str]] = set()
        me = {"me": self._me}
        while not self._is_over.wait(KEEPING):
            try:
                state = link.ask("read", lambda db: db.execute(STATE, me).fetchone(), lambda _: None)
                cancelled = link.ask("read", lambda db: db.execute(CANCELLED, me).fetchall(), lambda _: None)
                if self._asked_to_drain.is_set():
                    link.ask("use", lambda db: db.execute(DRAINING, me).rowcount, lambda _: None)
            except EnsembleError:
                # The renewal says so.
                continue
            if state is not None and state[0] == "draining":
                self._asked_to_drain.set()
            for item, how in cancelled:
                running = self._running.get(item)
                if running is not None and (item, how) not in told:
                    told.add((item, how))
                    running.tell(Cancel(how))
        link.close()

    def _run_errands(self) -> None:
        """Answer what is asked about operations that ran in this home, until the worker has ended."""
        from ordito.cluster.errands import carry_out_errands

        link = StoreConnection(self._settings.address, patience=0.0)
        key = PoolKey(self._settings.key)
        while not self._is_over.wait(KEEPING):
            self._try(lambda: carry_out_errands(link, self._settings.home, self._place, key))
        link.close()

    def _is_suspending(self) -> bool:
        return self._asked_to_drain.is_set() and self._settings.finish <= 0.0

    def _suspend_all(self) -> None:
        if self._is_over.wait(self._settings.finish):
            return
        for running in self._at_work():
            running.tell(Suspend())
        if self._is_over.wait(SUSPENDING):
            return
        self._kill_all()

    def _kill_all(self) -> None:
        for running in self._at_work():
            running.kill()

    def _at_work(self) -> list[_Running]:
        with self._running_lock:
            return list(self._running.values())

    # ------------------------------------------------------------------------------------------------------ the store

    def _ask(self, question: Callable[[StoreConnection], T]) -> T:
        with self._link_lock:
            return question(self._link)

    def _insist(self, work: Callable[[], T]) -> T:
        """Do something that has to be done, however long the store is away."""
        while True:
            try:
                return work()
            except EnsembleError as error:
                self._log(error.message)
                time.sleep(AGAIN)

    def _try(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except EnsembleError as error:
            self._log(error.message)
            return None

    def _row(self, name: str) -> WorkerRow:
        given = self._settings
        return WorkerRow(
            id=self._me,
            name=name,
            machine=_first_line(MACHINE) or name,
            boot=_first_line(Path(BOOT)),
            place=self._place,
            is_guarded=given.is_guarded,
            pool=given.pool,
            reaches=given.reaches,
            slots=given.slots,
            version=given.version,
            formats=given.formats,
        )


class _Running:
    """An item that is carried out here."""

    def __init__(self, item: str, number: int) -> None:
        self.item = item
        self.number = number
        self.is_over = False
        """Whether a later delivery of it is here."""

        self.has_left = threading.Event()
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._said: list[Cancel | Suspend] = []

    def begins(self, runner: Runner, *, is_draining: bool) -> None:
        """Another runner carries it out, which hears all that was said before."""
        with self._lock:
            self._runner = runner
            said = list(self._said)
        for one in said:
            runner.tell(one)
        if is_draining:
            runner.tell(Suspend())
        if self.is_over:
            runner.kill()

    def tell(self, said: Cancel | Suspend) -> None:
        with self._lock:
            self._said.append(said)
            runner = self._runner
        if runner is not None:
            runner.tell(said)

    def end(self) -> None:
        """A later delivery is here: its runner must not go on beside another one."""
        self.is_over = True
        self.kill()

    def kill(self) -> None:
        with self._lock:
            runner = self._runner
        if runner is not None:
            runner.kill()


class _Slots:
    """The slots of a worker, of which items of each class get no more than their share."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._shares = dict(shares(slots))
        self._lock = threading.Lock()

    def take(self, klass: str) -> bool:
        with self._lock:
            if self._free <= 0 or self._shares[klass] <= 0:
                return False
            self._free -= 1
            self._shares[klass] -= 1
            return True

    def give_back(self, klass: str) -> None:
        with self._lock:
            self._free += 1
            self._shares[klass] += 1


class _Home:
    """The directory of a worker. Its lock is inherited by runners: who has it knows that none of an earlier worker is
    left."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._of = folder / "worker"
        self.handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        give_up = time.monotonic() + SUCCESSION
        while True:
            try:
                fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise EnsembleError(
                        f"another worker has its home in {folder}", "give each worker a home of its own: --home"
                    ) from None
            time.sleep(0.05)
        self.former = _first_line(self._of)
        """The worker that was here and did not leave, "" for none."""

    def belongs_to(self, worker: str) -> None:
        self._of.write_text(f"{worker}\n")

    def left(self) -> None:
        self._of.unlink(missing_ok=True)


def _first_line(path: Path) -> str:
    try:
        return path.read_text().partition("\n")[0].strip()
    except OSError:
        return ""


def to_stderr(text: str) -> None:
    """The log of a worker that runs by itself."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main(handle: int, poll: str) -> None:
    """Be a worker, by its settings as JSON in a file in memory. One that was declared lost begins anew, in the same
    process."""
    from ordito.cluster.dbos import DbosDispatch
    from ordito.cluster.worker_guard import end_with_parent

    text = os.pread(handle, os.fstat(handle).st_size, 0)
    settings = msgspec.json.decode(text, type=WorkerSettings, dec_hook=lambda kind, value: kind(value))
    if settings.is_guarded:
        end_with_parent()
    settings = msgspec.structs.replace(settings, variables=dict(os.environ), version=__version__)
    try:
        worker = Worker(settings, DbosDispatch(settings.address, float(poll)), to_stderr)
        for number in (signal.SIGTERM, signal.SIGINT):
            worker.drain_on(number)
        worker.run()
    except WorkerLost as error:
        to_stderr(f"{error.message}; it begins anew")
        os.execv(sys.executable, [sys.executable, "-m", "ordito.cluster.worker", str(handle), poll])
    except EnsembleError as error:
        raise SystemExit(f"{error.message}; {error.hint}") from None


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
