"""The outbox: what the server itself has to tell, written in the transaction of what it tells."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from sqlalchemy import Connection, delete, insert

from ordito.server.database.tables import EVENTS

KEPT_FOR = 7 * 24 * 3600.0
"""Seconds for which events are kept."""


class ServerEvent(msgspec.Struct, frozen=True):
    """Something that the server tells: which ``topic`` it belongs to, as in ``plan:pl_01K...``, its ``type``, as in
    ``plan.changed``, and what it says. No value of an input or of a secret is in it."""

    topic: str
    type: str
    project: str = ""
    ensemble: str = ""
    fields: Mapping[str, object] = {}


def tell(connection: Connection, event: ServerEvent, now: float) -> int:
    """Write an event, and return its number."""
    body = {"topic": event.topic, "type": event.type, "project": event.project, "ensemble": event.ensemble}
    text = msgspec.json.encode({**body, **event.fields}).decode()
    made = connection.execute(insert(EVENTS).values(**body, body=text, created=now))
    key = made.inserted_primary_key
    assert key is not None
    return int(key[0])


def forget_events(connection: Connection, now: float) -> None:
    """Forget events that are too old."""
    connection.execute(delete(EVENTS).where(EVENTS.c.created < now - KEPT_FOR))
