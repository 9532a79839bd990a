"""Work items in the store: rows that wait, are queued, and are done. Deliveries come and go; the row is what counts.

An item is `waiting` until admission lets it into the queues, `queued` until it is done, and `done`. One that was taken
over again and again without getting on needs `attention`, and is not delivered any more.
"""

from __future__ import annotations

from typing import Any

import msgspec
from psycopg.types.numeric import Int8

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import Fenced

DEFAULT_POOL = "default"

QUEUED, ATTENTION = "queued", "attention"

MOST_TAKEOVERS = 3
"""So many takeovers within ``TAKEOVERS_WITHIN`` seconds, without a new record, and an item needs attention."""

TAKEOVERS_WITHIN = 600.0

ADD = f"""
INSERT INTO ordito.item (id, project, ensemble, kind, request, class, by, pool)
SELECT %(id)s, e.project, e.id, %(kind)s, %(request)s, %(klass)s, %(by)s,
       coalesce(nullif(%(pool)s, ''), e.labels ->> 'pool', p.labels ->> 'pool', '{DEFAULT_POOL}')
FROM ordito.ensemble e LEFT JOIN ordito.project p ON p.id = e.project WHERE e.id = %(ensemble)s
ON CONFLICT (id) DO NOTHING
"""

CLAIM = """
UPDATE ordito.item SET worker = %(worker)s WHERE id = %(item)s AND delivery = %(number)s AND state = 'queued'
RETURNING ensemble, class
"""

COUNT_UP = """
UPDATE ordito.item SET delivery = delivery + 1, worker = ''
WHERE id = %(item)s AND delivery = %(number)s AND state = 'queued' RETURNING ensemble, pool, class
"""

TAKEN_OVER = f"""
WITH now AS (
  SELECT i.id, e.job || ':' || coalesce(
    (SELECT max(r.number) FROM ordito.record r WHERE r.ensemble = e.id AND r.job = e.job), -1) AS progress
  FROM ordito.item i JOIN ordito.ensemble e ON e.id = i.ensemble
  WHERE i.id = %(item)s AND i.delivery = %(number)s AND i.state = 'queued' FOR UPDATE OF i
), counted AS (
  SELECT now.id, now.progress,
    i.progress = now.progress AND i.since > clock_timestamp() - interval '{TAKEOVERS_WITHIN} seconds' AS is_again
  FROM now JOIN ordito.item i USING (id)
)
UPDATE ordito.item i SET progress = counted.progress,
  takeovers = CASE WHEN is_again THEN takeovers + 1 ELSE 1 END,
  since = CASE WHEN is_again THEN since ELSE clock_timestamp() END,
  state = CASE WHEN is_again AND takeovers + 1 >= {MOST_TAKEOVERS} THEN 'attention' ELSE state END
FROM counted WHERE i.id = counted.id RETURNING i.state
"""

FINISH = """
WITH given AS (
  UPDATE ordito.ensemble SET holder = NULL, item = ''
  WHERE id = %(ensemble)s AND epoch = %(epoch)s AND holder = %(me)s RETURNING id, epoch
), former AS (
  UPDATE ordito.tenure SET ended = clock_timestamp(), why = 'done' FROM given
  WHERE tenure.ensemble = given.id AND tenure.epoch = given.epoch
)
UPDATE ordito.item SET state = 'done', worker = '', job = %(job)s, outcome = %(outcome)s FROM given
WHERE item.id = %(item)s RETURNING 1
"""


class NewItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is to be done with an ensemble."""

    id: str
    ensemble: str
    kind: str
    request: bytes
    klass: str = "normal"
    by: str = ""
    """Who has asked for it."""

    pool: str = ""
    """Which workers are to do it; by default what the labels of the ensemble say, then those of its project."""


class Tenure(msgspec.Struct, frozen=True):
    """An ensemble as a worker holds it."""

    ensemble: str
    worker: str
    epoch: int


class ItemState(msgspec.Struct, frozen=True):
    """How an item is."""

    ensemble: str
    kind: str
    request: bytes
    state: str
    delivery: int
    cancel: str
    """How its job is to be ended, "" where it is not."""


def add_item(db: Connection, item: NewItem) -> bool:
    """Add an item, which waits from now on. Returns False where there is one of its id. Raises ``EnsembleError`` for an
    unknown ensemble."""
    given = msgspec.structs.asdict(item)
    ensemble = item.ensemble
    if db.execute(ADD, given).rowcount:
        return True
    if db.execute("SELECT 1 FROM ordito.ensemble WHERE id = %s", (ensemble,)).fetchone() is None:
        raise EnsembleError(f"there is no ensemble {ensemble} in the store", "see `ordito store status`")
    return False


def claim(link: StoreConnection, item: str, number: int, worker: str) -> tuple[str, str] | None:
    """Say that a worker carries out a delivery: the ensemble and the class, None where it is not the latest one of an
    item that is queued."""
    given = {"item": item, "number": number, "worker": worker}
    found: tuple[Any, ...] | bool = link.ask(
        "claim an item in", lambda db: db.execute(CLAIM, given).fetchone() or False, lambda _: None
    )
    return None if isinstance(found, bool) else (str(found[0]), str(found[1]))


def counted_up(db: Connection, item: str, number: int) -> tuple[str, str, str] | None:
    """Let the delivery ``number`` of an item be followed by another one: ensemble, pool and class; None where it was
    not the latest one, or the item is not queued."""
    row = db.execute(COUNT_UP, {"item": item, "number": number}).fetchone()
    return None if row is None else (str(row[0]), str(row[1]), str(row[2]))


def taken_over(db: Connection, item: str, number: int) -> str:
    """Count that whoever carried out a delivery is gone: the state of the item from now on, ``QUEUED`` or
    ``ATTENTION``; "" where it was not to be carried out any more, or by a later delivery."""
    row = db.execute(TAKEN_OVER, {"item": item, "number": number}).fetchone()
    return "" if row is None else str(row[0])


def state_of(link: StoreConnection, item: str) -> ItemState | None:
    """How an item is, None where there is none."""
    query = "SELECT ensemble, kind, request, state, delivery, cancel FROM ordito.item WHERE id = %s"
    found: tuple[Any, ...] | bool = link.ask(
        "read", lambda db: db.execute(query, (item,)).fetchone() or False, lambda _: None
    )
    return None if isinstance(found, bool) else ItemState(*found)


def end_of(link: StoreConnection, item: str) -> tuple[str, bytes]:
    """The state of an item, and its outcome once it is done. Raises ``EnsembleError`` where there is none."""
    query = "SELECT state, outcome FROM ordito.item WHERE id = %s"
    found: tuple[Any, ...] | bool = link.ask(
        "read", lambda db: db.execute(query, (item,)).fetchone() or False, lambda _: None
    )
    if isinstance(found, bool):
        raise _unknown(item)
    return str(found[0]), bytes(found[1] or b"")


def cancel_item(db: Connection, item: str, how: str) -> None:
    """Let the job of an item be ended, ``cancel`` or ``now``; one without a job ends without one. Raises
    ``EnsembleError`` where there is no such item that has not ended."""
    query = "UPDATE ordito.item SET cancel = %s WHERE id = %s AND state <> 'done'"
    if not db.execute(query, (how, item)).rowcount:
        raise _unknown(item)


def cancel_item_of(link: StoreConnection, ensemble: str, how: str) -> bool:
    """Let the job of an ensemble be ended that a worker carries out for an item; returns whether there is one. Raises
    ``EnsembleError``."""
    query = (
        "UPDATE ordito.item SET cancel = %s FROM ordito.ensemble e"
        " WHERE e.id = %s AND e.holder IS NOT NULL AND item.id = e.item AND item.state <> 'done'"
    )
    return link.ask("use", lambda db: db.execute(query, (how, ensemble)).rowcount > 0, lambda _: None)


def _unknown(item: str) -> EnsembleError:
    return EnsembleError(f"there is no item {item} in the store that waits or runs", "see `ordito queue list`")


def finish(
    link: StoreConnection,
    item: str,
    held: Tenure,
    job: str = "",
    outcome: bytes | None = None,
) -> None:
    """An item is done, and its ensemble is given back, at one time. Raises ``Fenced`` where somebody else holds it."""
    ensemble = held.ensemble
    key = {"item": item, "ensemble": ensemble, "me": held.worker, "epoch": Int8(held.epoch)}
    given = {**key, "job": job, "outcome": outcome}

    def answered(db: Connection) -> bool | None:
        row = db.execute("SELECT 1 FROM ordito.item WHERE id = %s AND state = 'done'", (item,)).fetchone()
        return None if row is None else True

    if not link.ask("end an item in", lambda db: db.execute(FINISH, given).rowcount > 0, answered):
        raise Fenced(
            f"ensemble {ensemble} was taken over by another worker: item {item} is its business now",
            "nothing needs to be done: the other worker carries the job on",
        )
