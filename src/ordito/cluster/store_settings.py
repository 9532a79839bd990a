"""The settings of a store, which hold for all who work with it."""

from __future__ import annotations

from ordito.cluster.connecting import Connection
from ordito.model.settings import ASSUME_ENDED

LOST_AFTER = "lost_after"
"""For how many seconds a job waits for the machine on which an operation in doubt ran, or ``ASSUME_ENDED``."""

USUAL_LOST_AFTER = 300.0

PUT = "INSERT INTO ordito.setting (name, value) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


def lost_after_of(value: str | None) -> float | None:
    """The seconds that a value of ``LOST_AFTER`` says; None for that nothing is waited for: what ran under a guard
    counts as ended."""
    if value is None:
        return USUAL_LOST_AFTER
    return None if value == ASSUME_ENDED else float(value)


def put_lost_after(db: Connection, seconds: float | None) -> None:
    """Set ``LOST_AFTER``."""
    db.execute(PUT, (LOST_AFTER, ASSUME_ENDED if seconds is None else str(seconds)))


def get_lost_after(db: Connection) -> float | None:
    """See ``lost_after_of``."""
    row = db.execute("SELECT value FROM ordito.setting WHERE name = %s", (LOST_AFTER,)).fetchone()
    return lost_after_of(None if row is None else str(row[0]))
