"""What the database of a server holds that only the server's key opens, and what is done where that key is lost."""

from __future__ import annotations

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import ColumnElement, Connection, delete, select

from ordito.results.failure import Failure, Trouble
from ordito.server.database.tables import ANSWERS, PLANS, SCHEDULES, SOURCES, WEBHOOKS
from ordito.server.plans.states import OPEN, UNBEGUN, PlanState
from ordito.server.plans.store import move

NEEDS_REQUEST = OPEN - {PlanState.RUNNING}
"""The states of plans whose request is needed still: that of a job that runs is in its ensemble."""


class SealedThing(msgspec.Struct, frozen=True):
    """Something that is sealed: what it is, in words, and its bytes."""

    what: str
    content: bytes


def sealed_things(connection: Connection) -> list[SealedThing]:
    """What is needed of the sealed: all but answers that would be given again, which may be forgotten."""
    plans, turns, sources, webhooks = PLANS.c, SCHEDULES.c, SOURCES.c, WEBHOOKS.c
    asked = (
        (select(plans.id, plans.project, plans.ensemble, plans.request).where(_needed()), "the plan {0} of {1}/{2}"),
        (
            select(turns.name, turns.project, turns.ensemble, turns.request),
            "the schedule {0} of {1}/{2}",
        ),
        (select(sources.repository, sources.project, sources.ensemble, sources.secret), "the source {0} of {1}/{2}"),
        (select(webhooks.url, webhooks.project, webhooks.id, webhooks.secret), "the webhook to {0} of {1}"),
    )
    return [
        SealedThing(words.format(*row), row[3]) for query, words in asked for row in connection.execute(query).all()
    ]


def opens(key: bytes, things: list[SealedThing]) -> bool:
    """Whether a key is the one with which these were sealed."""
    try:
        sealer = Fernet(key)
        for thing in things[:1]:
            sealer.decrypt(thing.content)
    except (ValueError, InvalidToken):
        return False
    return True


def forget_sealed(connection: Connection, now: float) -> list[str]:
    """Remove what nobody can open any more; returns it in words. Plans that waited are discarded."""
    found = [thing.what for thing in sealed_things(connection)]
    message = "the server was restored without the key that opens what this plan was asked with"
    problem = msgspec.json.encode(Trouble(Failure("no-key", message, "ask for it again"))).decode()
    for plan, state in connection.execute(select(PLANS.c.id, PLANS.c.state).where(_needed())).all():
        to = PlanState.DISCARDED if state in UNBEGUN else PlanState.FAULTY
        move(connection, plan, to, now, problem=problem)
    for table in (ANSWERS, SCHEDULES, SOURCES, WEBHOOKS):
        connection.execute(delete(table))
    return found


def _needed() -> ColumnElement[bool]:
    return PLANS.c.state.in_(NEEDS_REQUEST)
