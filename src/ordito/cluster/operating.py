"""Seeing and operating workers and queues: what is in the store, and what is asked of those who look there."""

from __future__ import annotations

import msgspec

from ordito.cluster.connecting import Connection
from ordito.cluster.dispatch import CLASSES
from ordito.cluster.store import Store
from ordito.ensemble.errors import EnsembleError

WORKERS = """
SELECT w.id, w.name, w.pool, w.state, w.slots,
       (SELECT count(*) FROM ordito.item i WHERE i.worker = w.id AND i.state = 'queued')::int,
       w.version, extract(epoch FROM w.lease_until - clock_timestamp())::float8
FROM ordito.worker w ORDER BY w.name, w.started
"""

QUEUES = """
SELECT i.pool, i.class, count(*) FILTER (WHERE i.state = 'waiting')::int,
       count(*) FILTER (WHERE i.state = 'queued' AND i.worker = '')::int,
       count(*) FILTER (WHERE i.state = 'queued' AND i.worker <> '')::int,
       count(*) FILTER (WHERE i.state = 'attention')::int,
       coalesce(extract(epoch FROM clock_timestamp() - min(i.at) FILTER (
         WHERE i.state = 'waiting' OR i.state = 'queued' AND i.worker = '')), 0)::float8,
       coalesce(bool_or(p.is_held), false),
       EXISTS (SELECT FROM ordito.worker w WHERE w.pool = i.pool
               AND w.lease_until > clock_timestamp() - interval '60 seconds')
FROM ordito.item i LEFT JOIN ordito.pool p ON p.name = i.pool WHERE i.state <> 'done' GROUP BY i.pool, i.class
"""

LOST = """
SELECT count(*) FILTER (WHERE why = 'taken over')::int, count(*)::int FROM ordito.tenure
WHERE ended > clock_timestamp() - interval '1 hour'
"""

ATTENTION = "SELECT id, ensemble, pool FROM ordito.item WHERE state = 'attention' ORDER BY at LIMIT 100"

FORGET = "DELETE FROM ordito.worker WHERE name = %(name)s AND lease_until < clock_timestamp() AND cleared"


LOSE = """
UPDATE ordito.worker SET is_off = true, cleared = cleared AND state IN ('ended', 'lost'),
  state = CASE WHEN state = 'ended' THEN state ELSE 'lost' END,
  lease_until = least(lease_until, clock_timestamp())
WHERE name = %(name)s
"""
"""Also of those that have ended: operations of theirs may be in doubt."""


class WorkerLook(msgspec.Struct, frozen=True):
    """How a worker is."""

    id: str
    name: str
    pool: str
    state: str
    """``ready``, ``draining``, ``ended``, ``lost``, or ``silent`` where its lease has run out."""

    slots: int
    busy: int
    version: str
    lease: float
    """The seconds for which its lease goes on, negative for those since when it has ended."""


class QueueLook(msgspec.Struct, frozen=True):
    """The items of one class of a pool that are not done."""

    pool: str
    klass: str
    waiting: int
    """Not let into the queues yet."""

    queued: int
    running: int
    attention: int
    """Items that were taken over again and again without getting on."""

    oldest: float
    """For how many seconds the oldest one waits that nobody has claimed."""

    is_held: bool
    has_workers: bool
    """Whether a worker of the pool has lived within the last minute; nothing else is started for its items."""


def workers(store: Store) -> list[WorkerLook]:
    """All workers that the store knows. Raises ``EnsembleError``."""
    with store.connection() as db:
        found = [WorkerLook(*row) for row in db.execute(WORKERS)]
    live = ("ready", "draining")
    return [
        msgspec.structs.replace(one, state="silent") if one.state in live and one.lease < 0 else one for one in found
    ]


def queues(store: Store) -> list[QueueLook]:
    """All classes of pools that have items which are not done. Raises ``EnsembleError``."""
    with store.connection() as db:
        found = [QueueLook(*row) for row in db.execute(QUEUES)]
    return sorted(found, key=lambda one: (one.pool, CLASSES.index(one.klass)))


def last_hour(store: Store) -> tuple[int, int]:
    """How many ensembles were taken over within the last hour, of how many that were given back in any way. Raises
    ``EnsembleError``."""
    with store.connection() as db:
        row = db.execute(LOST).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def stuck(store: Store) -> list[tuple[str, str, str]]:
    """The first hundred items that need attention: item, ensemble, pool. Raises ``EnsembleError``."""
    with store.connection() as db:
        return [(str(item), str(ensemble), str(pool)) for item, ensemble, pool in db.execute(ATTENTION)]


def drain(store: Store, name: str) -> None:
    """Let a worker take no more items and hand over what it carries out. Raises ``EnsembleError``."""
    _change(
        store, name, "state = 'draining'", "state = 'ready' AND lease_until > clock_timestamp()", "that takes items"
    )


def lose(store: Store, name: str) -> None:
    """Say that a worker is off, and nothing of it runs any more: it is taken over at once, and can never come back
    under its id. Raises ``EnsembleError``."""
    with store.connection() as db:
        _check_known(db, name)
        db.execute(LOSE, {"name": name})


def forget(store: Store, name: str) -> int:
    """Remove the rows of workers of a name that have ended, and whose items were all delivered anew; how many. Raises
    ``EnsembleError``."""
    with store.connection() as db:
        _check_known(db, name)
        done = db.execute(FORGET, {"name": name}).rowcount
    if not done:
        raise EnsembleError(
            f"worker {name} has not ended, or is not taken over yet",
            "see `ordito workers list`; `ordito workers drain` ends it",
        )
    return done


def hold(store: Store, pool: str, *, is_held: bool) -> None:
    """Let no more items of a pool into its queues, or let them in again; what is there goes on. Raises
    ``EnsembleError``."""
    with store.connection() as db:
        db.execute(
            "INSERT INTO ordito.pool (name, is_held) VALUES (%s, %s)"
            " ON CONFLICT (name) DO UPDATE SET is_held = excluded.is_held",
            (pool, is_held),
        )


def _change(store: Store, name: str, change: str, condition: str, what: str) -> None:
    with store.connection() as db:
        query = f"UPDATE ordito.worker SET {change} WHERE name = %s AND {condition}"
        if db.execute(query.encode(), (name,)).rowcount:
            return
        _check_known(db, name)
    raise EnsembleError(f"there is no worker {name} {what}", "see `ordito workers list`")


def _check_known(db: Connection, name: str) -> None:
    if db.execute("SELECT 1 FROM ordito.worker WHERE name = %s", (name,)).fetchone() is None:
        raise EnsembleError(f"there is no worker {name}", "see `ordito workers list`")
