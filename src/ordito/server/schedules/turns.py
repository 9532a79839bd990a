"""The turns of schedules: each asks for a plan, as somebody who made the schedule and still may."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Connection, Row, select, update

from ordito.ensemble.errors import EnsembleError
from ordito.instances.records import MISSED
from ordito.instances.status import ABSENT
from ordito.results.drift import BROKEN, NOBODY_KNOWS
from ordito.results.status import STATUS, StatusAsked
from ordito.server.answers import Answers
from ordito.server.database.audit import DENIED, DONE, FAILED, Deed, write_down
from ordito.server.database.database import Database
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import PLANS, SCHEDULES
from ordito.server.identity.principal import principal_of
from ordito.server.places import reads_of
from ordito.server.plans.asked import AUTO, kind_of
from ordito.server.plans.states import OPEN, WORKFLOW_PERMISSIONS, PlanState
from ordito.server.plans.store import Author, PlanWanted, ask_plan, move
from ordito.server.problems import ApiProblem
from ordito.server.schedules.clock import due_turn, next_turn

_LOG = logging.getLogger(__name__)

KIND = "schedule"
"""The kind of principal that acts."""

HEAL = "heal"


class TurnOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a turn."""

    said: str = ""
    """Why no plan was asked for, "" where one was."""

    plan: str = ""
    tried: tuple[str, ...] = ()
    """The instances for which a turn has asked to heal them so far; there may be more."""


def outcome_of(row: Row[Any]) -> TurnOutcome:
    """What came of the last turn."""
    return msgspec.json.decode(row.outcome, type=TurnOutcome) if row.outcome else TurnOutcome()


def sealed(wanted: PlanWanted, sealer: Fernet) -> bytes:
    """What is to be asked for, as it is kept: it may hold values of inputs."""
    return sealer.encrypt(msgspec.json.encode(wanted))


def wanted_by(row: Row[Any], sealer: Fernet) -> PlanWanted:
    """What is to be asked for."""
    return msgspec.json.decode(sealer.decrypt(row.request), type=PlanWanted)


def heals_unwell(wanted: PlanWanted) -> bool:
    """Whether what the last check found unwell is to be healed, whatever that is."""
    return kind_of(wanted.request) == HEAL and not wanted.request.names


def _pause(connection: Connection, schedule: str) -> None:
    connection.execute(update(SCHEDULES).where(SCHEDULES.c.id == schedule).values(paused=True))


class Schedules:
    """Takes the turns of schedules."""

    def __init__(
        self,
        home: Path,
        database: Database,
        answers: Answers,
        sealer: Fernet,
        wake: Callable[[], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``wake`` tells the keeper of plans that there is something to do."""
        self._home = home
        self._database = database
        self._answers = answers
        self._sealer = sealer
        self._wake = wake
        self._clock = clock

    async def round(self) -> None:
        """Take the turns that are due, and go on with those that are not done yet."""
        now = self._clock()
        for do, rows in (
            (self._take, await self._database.read(lambda connection: _due(connection, now))),
            (self._go_on, await self._database.read(_going_on)),
        ):
            for row in rows:
                try:
                    await do(row, now)
                except (msgspec.MsgspecError, InvalidToken) as error:
                    # What cannot be read, with another key perhaps, holds up no other one.
                    _LOG.error("schedule %s cannot take its turn: %s", row.id, error)
                    await self._database.write(partial(_pause, schedule=row.id))

    async def _take(self, row: Row[Any], now: float) -> None:
        wanted = wanted_by(row, self._sealer)
        names: Sequence[str] = ()
        said = ""
        if due_turn(row.cron, row.zone, now) is None:
            said = "missed: the server did not run then, and an hour later it was too late"
        elif heals_unwell(wanted):
            names, said = await self._unwell(row, ())

        def take(connection: Connection) -> None:
            following = next_turn(row.cron, row.zone, now)
            values = {"last": now, "next": following if following is not None else 0.0}
            is_mine = (SCHEDULES.c.id == row.id) & (SCHEDULES.c.next == row.next) & ~SCHEDULES.c.paused
            if following is None:
                values["paused"] = True
            # Somebody may have changed it meanwhile.
            if connection.execute(update(SCHEDULES).where(is_mine).values(**values)).rowcount:
                _write(connection, row, self._asked(connection, row, _for(wanted, names), said, now), now)

        await self._database.write(take)
        self._wake()

    async def _go_on(self, row: Row[Any], now: float) -> None:
        """Ask for the healing of the next instance, once the one before has ended: what requires it may then be ok."""
        before = outcome_of(row)
        names, said = await self._unwell(row, before.tried)
        wanted = _for(wanted_by(row, self._sealer), names)

        def go_on(connection: Connection) -> None:
            if not names:
                outcome = TurnOutcome(plan=before.plan)
            else:
                outcome = self._asked(connection, row, wanted, said, now)
            tried = (*before.tried, *outcome.tried) if outcome.tried else ()
            _write(connection, row, msgspec.structs.replace(outcome, tried=tried), now)

        await self._database.write(go_on)
        self._wake()

    async def _unwell(self, row: Row[Any], without: Collection[str]) -> tuple[Sequence[str], str]:
        """The first instance that is to be healed, and what is to be said if there is none."""
        of = (row.project, row.ensemble)
        try:
            reads = await self._database.read(lambda connection: reads_of(connection, self._home, *of))
            found = await self._answers.ask(STATUS.name, reads[0], StatusAsked(outputs=False), reads=reads)
        except ApiProblem as problem:
            return (), f"the status cannot be read: {problem.detail}"
        except EnsembleError as error:
            return (), f"the status cannot be read: {ApiProblem.of_error(error, reads[0]).detail}"
        names = [name for name in to_heal(found.body) if name not in without]
        return names[:1], "" if names else "nothing is to be healed"

    def _asked(self, connection: Connection, row: Row[Any], wanted: PlanWanted, said: str, now: float) -> TurnOutcome:
        workflow, name = kind_of(wanted.request), f"{row.project}/{row.ensemble}/{row.name}"
        if said:
            return TurnOutcome(said)
        who = principal_of(connection, row.who)
        needed = WORKFLOW_PERMISSIONS[workflow]
        if who is None or needed not in who.permissions(row.project, row.ensemble):
            said = f'refused: {row.who}, who made it, has no longer the permission "{needed}"'
            _deed(connection, row, DENIED, said, now)
            event = ServerEvent(f"ensemble:{row.project}/{row.ensemble}", "schedule.refused", row.project, row.ensemble)
            tell(connection, msgspec.structs.replace(event, fields={"schedule": row.name}), now)
            return TurnOutcome(said)
        before = _open_plan(connection, name)
        if before is not None and before.state != PlanState.READY:
            return TurnOutcome(f"left out: the plan of the turn before, {before.id}, is {before.state}")
        author = Author(KIND, name, row.made_by or row.who)
        try:
            plan = ask_plan(connection, self._sealer, author, (row.project, row.ensemble), wanted, now)
        except ApiProblem as problem:
            said = f"refused: {problem.detail}"
            _deed(connection, row, FAILED, said, now)
            return TurnOutcome(said)
        if before is not None:
            move(connection, before.id, PlanState.DISCARDED, now)
        if wanted.apply == AUTO:
            connection.execute(update(PLANS).where(PLANS.c.id == plan).values(applied=author.shown))
        _deed(connection, row, DONE, plan, now)
        is_first = heals_unwell(wanted_by(row, self._sealer))
        return TurnOutcome(plan=plan, tried=tuple(wanted.request.names) if is_first else ())


def broken(status: bytes) -> list[str]:
    """The instances of a status that are not ok, in the order in which they were made."""
    instances = msgspec.json.decode(status, type=_TurnStatus).instances
    return [name for name, one in instances.items() if one.local in BROKEN and one.counts]


def drifted(status: bytes) -> list[str]:
    """The instances of a status that differ from how they were left."""
    instances = msgspec.json.decode(status, type=_TurnStatus).instances
    return [name for name, one in instances.items() if one.drift and one.counts]


def to_heal(status: bytes) -> list[str]:
    """The instances of a status that are not ok and can be healed, required ones first. What is hosted on something
    absent comes back with its host."""
    instances = msgspec.json.decode(status, type=_TurnStatus).instances
    absent = {name for name, one in instances.items() if one.local == ABSENT}
    found = ((name, instances[name]) for name in broken(status))
    return [name for name, one in found if one.host not in absent and one.status_reason not in NOBODY_KNOWS]


class _Instance(msgspec.Struct):
    local: str = ""
    host: str = ""
    status_reason: str = ""
    orphaned: bool = False
    drift: bool = False

    @property
    def counts(self) -> bool:
        """Whether it exists, or is missed."""
        return self.local != ABSENT or (self.status_reason in MISSED and not self.orphaned)


class _TurnStatus(msgspec.Struct):
    instances: dict[str, _Instance] = {}


def _for(wanted: PlanWanted, names: Sequence[str]) -> PlanWanted:
    if not names:
        return wanted
    return msgspec.structs.replace(wanted, request=msgspec.structs.replace(wanted.request, names=tuple(names)))


def _due(connection: Connection, now: float) -> list[Row[Any]]:
    asked = select(SCHEDULES).where(~SCHEDULES.c.paused, SCHEDULES.c.next <= now).order_by(SCHEDULES.c.next)
    return list(connection.execute(asked).all())


def _going_on(connection: Connection) -> list[Row[Any]]:
    """The schedules whose turn has asked for something that has ended, and that may have more to ask for."""
    rows = connection.execute(select(SCHEDULES).where(~SCHEDULES.c.paused, SCHEDULES.c.outcome.contains("tried"))).all()
    return [row for row in rows if _has_ended(connection, outcome_of(row).plan)]


def _has_ended(connection: Connection, plan: str) -> bool:
    state = connection.execute(select(PLANS.c.state).where(PLANS.c.id == plan)).scalar()
    return state is None or state not in OPEN


def _open_plan(connection: Connection, name: str) -> Row[Any] | None:
    mine = (PLANS.c.kind == KIND) & (PLANS.c.who == name) & PLANS.c.state.in_(OPEN)
    return connection.execute(select(PLANS).where(mine).order_by(PLANS.c.id.desc()).limit(1)).one_or_none()


def _write(connection: Connection, row: Row[Any], outcome: TurnOutcome, now: float) -> None:
    text = msgspec.json.encode(outcome).decode()
    connection.execute(update(SCHEDULES).where(SCHEDULES.c.id == row.id).values(outcome=text))
    at = f"ensemble:{row.project}/{row.ensemble}"
    fields = {"schedule": row.name, "plan": outcome.plan or None, "said": outcome.said}
    tell(connection, ServerEvent(at, "schedule.changed", row.project, row.ensemble, fields), now)


def _deed(connection: Connection, row: Row[Any], outcome: str, detail: str, now: float) -> None:
    name = f"{row.project}/{row.ensemble}/{row.name}"
    deed = Deed(name, KIND, "", "", "schedule.turn", row.project, row.ensemble, row.name, outcome, detail)
    write_down(connection, deed, now)
