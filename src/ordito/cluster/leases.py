"""Who may write an ensemble: a worker's lease, and the epoch under which a runner of it has taken the ensemble.

The lease is one row a worker. Only PostgreSQL's clock says when it ends. The worker counts its own part with a clock
that goes on while the machine sleeps, from the moment at which it asked for the last renewal that succeeded: it ends
before anybody else may think that the lease has ended. The epoch is what protects the rows: whoever takes an ensemble
raises it, and with an older one nothing can be written any more.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import psycopg
from psycopg.types.numeric import Int8

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.ensemble.errors import EnsembleError

LEASE = 30.0
"""Seconds for which a worker is believed to live after each renewal."""

EVERY = 1 / 3
"""The part of a lease after which it is renewed."""

LAUNCHING = 2 / 3
"""The part of a lease for which a worker starts operations after it has asked for its last renewal."""

REGISTER = """
INSERT INTO ordito.worker
  (id, name, machine, boot, place, is_guarded, pool, reaches, slots, version, formats, lease_until)
VALUES (%(id)s, %(name)s, %(machine)s, %(boot)s, %(place)s, %(is_guarded)s, %(pool)s, %(reaches)s, %(slots)s,
        %(version)s, int4range(%(oldest)s, %(newest)s, '[]'), clock_timestamp() + %(lease)s * interval '1 second')
"""

RENEW = """
UPDATE ordito.worker SET lease_until = clock_timestamp() + %(lease)s * interval '1 second', cleared = false
WHERE id = %(me)s AND state <> 'lost' RETURNING 1
"""

LEAVE = """
UPDATE ordito.worker SET state = 'ended', lease_until = clock_timestamp(), cleared = false
WHERE id = %(me)s AND state <> 'lost' RETURNING 1
"""

DECLARE_LOST = (
    "UPDATE ordito.worker SET state = 'lost', lease_until = clock_timestamp(), cleared = false"
    " WHERE id = %(worker)s RETURNING 1"
)

TAKE = """
WITH me AS (
  SELECT id, machine, boot, place, is_guarded FROM ordito.worker
  WHERE id = %(me)s AND state <> 'lost' AND lease_until > clock_timestamp()
), taken AS (
  UPDATE ordito.ensemble SET epoch = epoch + 1, holder = me.id, item = %(item)s FROM me
  WHERE ensemble.id = %(ensemble)s AND (
    holder IS NULL OR (holder = me.id AND epoch = %(ended)s)
    OR NOT EXISTS (SELECT FROM ordito.worker w WHERE w.id = holder AND w.lease_until > clock_timestamp()))
  RETURNING ensemble.id AS ensemble, epoch
), former AS (
  UPDATE ordito.tenure SET ended = clock_timestamp(), why = 'taken over' FROM taken
  WHERE tenure.ensemble = taken.ensemble AND tenure.epoch < taken.epoch AND ended IS NULL
)
INSERT INTO ordito.tenure (ensemble, epoch, worker, machine, boot, place, is_guarded, runner)
SELECT taken.ensemble, taken.epoch, me.id, me.machine, me.boot, me.place, me.is_guarded, %(runner)s FROM taken, me
RETURNING epoch
"""

TAKEN = """
SELECT t.epoch FROM ordito.tenure t JOIN ordito.ensemble e ON e.id = t.ensemble AND e.epoch = t.epoch
WHERE t.ensemble = %(ensemble)s AND t.runner = %(runner)s
"""

RELEASE = """
WITH given AS (
  UPDATE ordito.ensemble SET holder = NULL, item = ''
  WHERE id = %(ensemble)s AND epoch = %(epoch)s AND holder = %(me)s RETURNING id, epoch
)
UPDATE ordito.tenure SET ended = clock_timestamp(), why = %(why)s FROM given
WHERE tenure.ensemble = given.id AND tenure.epoch = given.epoch RETURNING 1
"""

HANDED_OVER = "handed over"
"""Why a tenure has ended whose process has left its job to others, and ended everything that it ran itself."""

HOLDER = """
SELECT e.holder, e.epoch, e.item, coalesce(w.name, ''), coalesce(w.machine, ''), coalesce(w.boot, ''),
       coalesce(w.lease_until > clock_timestamp(), false)
FROM ordito.ensemble e LEFT JOIN ordito.worker w ON w.id = e.holder WHERE e.id = %(ensemble)s AND e.holder IS NOT NULL
"""

BOOT = "/proc/sys/kernel/random/boot_id"


def since_boot() -> float:
    """Seconds since this machine was started, those in which it slept included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class WorkerRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker says of itself when it begins."""

    id: str
    """Another one at each start: whoever was declared lost never comes back under the same id."""
    name: str
    machine: str
    """The id of the machine."""
    boot: str
    """The id of its present boot."""
    place: str = ""
    """The id of its home."""
    is_guarded: bool = False
    """Whether a guard ends everything that it has started where it cannot renew its lease, or is gone."""
    pool: str = ""
    reaches: tuple[str, ...] = ()
    """The sites that it reaches."""
    slots: int = 1
    """How many jobs it runs at one time."""
    version: str = ""
    """The version of Ordito."""
    formats: tuple[int, int] = (0, 0)
    """The oldest and the newest format of journals that it reads."""


class LeaseHolder(msgspec.Struct, frozen=True):
    """Who holds an ensemble."""

    worker: str
    epoch: int
    item: str
    name: str
    machine: str
    boot: str
    is_alive: bool
    """Whether the lease of that worker has not ended."""


class WorkerLost(EnsembleError):
    """Somebody has declared this worker lost: it begins anew under another id."""


class WorkerLease:
    """The lease of this worker, on a connection of its own. A store that is away is waited for only for a moment."""

    def __init__(
        self, address: str, worker: WorkerRow, lease: float = LEASE, clock: Callable[[], float] = since_boot
    ) -> None:
        """``lease`` is in seconds. Raises ``EnsembleError`` where the worker cannot be registered."""
        self._link = StoreConnection(address, patience=lease * EVERY / 2)
        self._worker = worker
        self._lease = lease
        self._clock = clock
        asked = clock()
        oldest, newest = worker.formats
        row = {**msgspec.structs.asdict(worker), "reaches": list(worker.reaches), "oldest": oldest, "newest": newest}
        _ask(self._link, "register a worker in", REGISTER, {**row, "lease": lease})
        self._asked = self._unbroken_since = asked

    @property
    def worker(self) -> WorkerRow:
        """What the worker has said of itself."""
        return self._worker

    @property
    def every(self) -> float:
        """The seconds after which it is to be renewed again."""
        return self._lease * EVERY

    @property
    def launches_until(self) -> float:
        """Until when operations may be started, by the clock since boot: runners compare with it right before."""
        return self._asked + self._lease * LAUNCHING

    @property
    def may_launch(self) -> bool:
        """Whether operations may be started now."""
        return self._clock() < self.launches_until

    @property
    def may_declare(self) -> bool:
        """Whether this worker may look for others that live no more: it has renewed without a gap for a whole lease. So
        whoever comes back first after an outage does not take everything from those that are late."""
        now = self._clock()
        return now < self._asked + self._lease and now >= self._unbroken_since + self._lease

    def renew(self) -> None:
        """Say that the worker lives. Raises ``WorkerLost``, and ``EnsembleError`` where the store cannot be reached."""
        asked = self._clock()
        if not _ask(self._link, "renew a lease in", RENEW, {"me": self._worker.id, "lease": self._lease}):
            raise WorkerLost(
                f"worker {self._worker.name} was declared lost: it was silent for longer than its lease",
                "nothing needs to be done: it begins anew under another id",
            )
        if asked >= self._asked + self._lease:
            self._unbroken_since = asked
        self._asked = asked

    def leave(self) -> None:
        """End the lease: what the worker holds may be taken at once. Raises ``EnsembleError``."""
        _ask(self._link, "end a lease in", LEAVE, {"me": self._worker.id})
        self._asked = -self._lease

    def close(self) -> None:
        """Let go of the connection; the lease runs out by itself."""
        self._link.close()


def take(link: StoreConnection, ensemble: str, worker: str, item: str = "", *, ended: int = 0) -> int:
    """Take an ensemble for a worker: one that is free, whose holder lives no more, or that this worker holds in the
    epoch ``ended``, whose runner has ended. Returns the new epoch, 0 where somebody else holds it. Raises
    ``EnsembleError``.
    """
    runner = secrets.token_hex(8)
    given = {"me": worker, "ensemble": ensemble, "item": item, "ended": Int8(ended), "runner": runner}

    def answered(db: Connection) -> int | None:
        row = db.execute(TAKEN, given).fetchone()
        return None if row is None else int(row[0])

    def work(db: Connection) -> int:
        row = db.execute(TAKE, given).fetchone()
        return 0 if row is None else int(row[0])

    return link.ask("take an ensemble in", work, answered)


MAKE_DAYS = """
SELECT ordito.make_log_day(today + n) FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS today) t,
generate_series(0, 1) AS n WHERE to_regclass('ordito.log_chunk_' || to_char(today + n, 'YYYYMMDD')) IS NULL
"""


def make_log_days(link: StoreConnection) -> None:
    """Make the tables for what is printed by jobs that begin today or tomorrow; without them it goes into a common one.
    Raises ``EnsembleError``."""

    def work(db: Connection) -> bool:
        # Somebody else may make the same one at the same moment, or have put such rows into the common one.
        with suppress(psycopg.errors.DuplicateTable, psycopg.errors.UniqueViolation, psycopg.errors.CheckViolation):
            db.execute(MAKE_DAYS)
        return True

    link.ask("use", work, lambda _: None)


def release(link: StoreConnection, ensemble: str, worker: str, epoch: int, why: str) -> bool:
    """Give an ensemble back; ``why`` the tenure has ended. Returns whether it was still this worker's in this epoch.
    Raises ``EnsembleError``."""
    given = {"me": worker, "ensemble": ensemble, "epoch": Int8(epoch), "why": why}
    return _ask(link, "give an ensemble back to", RELEASE, given)


def declare_lost(link: StoreConnection, worker: str) -> bool:
    """Declare a worker lost, which must be known to have ended: what it holds may be taken, and it cannot come back
    under its id. Returns whether there is such a worker. Raises ``EnsembleError``."""
    return _ask(link, "declare a worker lost in", DECLARE_LOST, {"worker": worker})


def holder(link: StoreConnection, ensemble: str) -> LeaseHolder | None:
    """Who holds an ensemble, None where nobody does. Raises ``EnsembleError``."""

    def work(db: Connection) -> tuple[Any, ...] | None:
        return db.execute(HOLDER, {"ensemble": ensemble}).fetchone()

    found = link.ask("read", work, lambda _: None)
    return None if found is None else LeaseHolder(*found)


def _ask(link: StoreConnection, doing: str, query: str, given: dict[str, Any]) -> bool:
    """Whether a statement has changed a row. It may be executed again where its answer was lost."""
    return link.ask(doing, lambda db: db.execute(query.encode(), given).rowcount > 0, lambda _: None)
