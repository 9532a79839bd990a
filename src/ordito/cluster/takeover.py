"""Takeover: what workers had claimed whose lease has ended is delivered anew, to whoever is free.

Every worker looks that has itself renewed without a gap for a whole lease. Several may look at one time, and each may
be killed at any moment: a delivery is ended first, and its successor made in the transaction that counts it up, so it
is made once; who is dead counts as cleared only when all of it is done.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ordito.cluster.connecting import Connection
from ordito.cluster.dispatch import Delivery, Dispatch, redelivered
from ordito.cluster.items import QUEUED, taken_over

EVERY = 5.0
"""Seconds between two looks of a worker, with some chance in it."""

AT_ONCE = 10
"""So many workers are looked at at most, with one look."""

DEAD = """
SELECT id, pool FROM ordito.worker
WHERE NOT cleared AND lease_until < clock_timestamp() AND (%(only)s = '' OR id = %(only)s)
ORDER BY lease_until LIMIT %(most)s FOR UPDATE SKIP LOCKED
"""

CLAIMED = """
SELECT i.id, i.delivery FROM ordito.item i WHERE i.state = 'queued' AND i.worker = %(worker)s
"""

CLEARED = """
UPDATE ordito.worker SET cleared = true WHERE id = %(worker)s AND lease_until < clock_timestamp()
  AND NOT EXISTS (SELECT FROM ordito.item WHERE worker = %(worker)s AND state = 'queued')
"""


class _Dead(msgspec.Struct, frozen=True):
    worker: str
    pool: str
    claimed: tuple[tuple[str, int], ...]


def take_over(dispatch: Dispatch, only: str = "") -> list[str]:
    """Deliver anew what workers had claimed that live no more, or what ``only`` one of them had: the items that are on
    their way again. Raises ``EnsembleError``; then the next look does what is left."""
    found: list[_Dead] = []

    def look(db: Connection) -> Iterable[Delivery]:
        for worker, pool in db.execute(DEAD, {"most": AT_ONCE, "only": only}).fetchall():
            claimed = db.execute(CLAIMED, {"worker": worker}).fetchall()
            found.append(_Dead(worker, pool, tuple((item, number) for item, number in claimed)))
        return ()

    dispatch.submit(look)
    done: list[str] = []
    for dead in found:
        # A worker may have ended after a delivery was claimed, and before it could say so in the store.
        queued = ((one.item, one.number) for one in dispatch.queued(dead.pool) if one.worker == dead.worker)
        for item, number in sorted({*dead.claimed, *queued}):
            if count_and_redeliver(dispatch, item, number):
                done.append(item)
        dispatch.submit(lambda db, dead=dead: _cleared(db, dead))  # type: ignore[misc]
    return done


def count_and_redeliver(dispatch: Dispatch, item: str, number: int) -> bool:
    """End a delivery whose worker or runner is gone, and make the next one, unless the item needs attention."""
    dispatch.cancel(item, number)

    def again(db: Connection) -> Iterable[Delivery]:
        return redelivered(db, item, number) if taken_over(db, item, number) == QUEUED else ()

    return bool(dispatch.submit(again))


def _cleared(db: Connection, dead: _Dead) -> Iterable[Delivery]:
    db.execute(CLEARED, {"worker": dead.worker})
    return ()
