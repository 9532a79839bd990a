"""Routes about schedules: what is asked of an ensemble by the clock."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, func, insert, select, update

from ordito.ensemble.job_format import moment
from ordito.results.schedules import ScheduleLine
from ordito.server.call import ApiCall, tag_of
from ordito.server.database.tables import SCHEDULES
from ordito.server.names import Name, Text
from ordito.server.permissions import Permission
from ordito.server.plans.asked import ASKED, AskedOptions, kind_of, request_of
from ordito.server.plans.states import WORKFLOW_PERMISSIONS
from ordito.server.plans.store import PlanWanted
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Fields, ListPart, Reply, Route
from ordito.server.schedules.clock import UTC, check_clock, next_turn
from ordito.server.schedules.turns import outcome_of, sealed, wanted_by

MOST = 100
"""Schedules of one ensemble."""

Cron = Annotated[str, msgspec.Meta(min_length=9, max_length=200)]
Zone = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
Apply = Literal["ask", "auto"]


class NewSchedule(Fields, frozen=True, kw_only=True):
    """A schedule to be made."""

    name: Name
    cron: Cron
    """Minute, hour, day of the month, month, day of the week, as in ``30 3 * * mon-fri``."""

    zone: Zone = UTC
    """The time zone, as in ``Europe/Berlin``."""

    request: ASKED
    """What is asked for at each turn, as of a plan. ``heal`` without names heals what is recorded as not ok."""

    environment: Text | None = None
    options: AskedOptions = AskedOptions()
    apply: Apply = "ask"
    """``ask`` to make a plan only, which shows what differs; ``auto`` to carry it out as far as the rules allow it."""

    paused: bool = False


class ScheduleChange(Fields, frozen=True, kw_only=True):
    """What is to be different; what is left out stays as it is. Who changes a schedule answers for it from then on."""

    cron: Cron | None = None
    zone: Zone | None = None
    request: ASKED | None = None
    options: AskedOptions | None = None
    apply: Apply | None = None
    paused: bool | None = None


class ScheduleData(ScheduleLine, frozen=True, kw_only=True):
    """A schedule."""

    options: AskedOptions


def _data(row: Row[Any], call: ApiCall) -> ScheduleData:
    wanted, outcome = wanted_by(row, call.services.sealer), outcome_of(row)
    request = msgspec.to_builtins(wanted.request)
    inputs = {**request.pop("inputs", {}), **request.pop("input_texts", {})}
    return ScheduleData(
        id=row.id,
        name=row.name,
        cron=row.cron,
        zone=row.zone,
        workflow=kind_of(wanted.request),
        request=request,
        inputs=tuple(inputs),
        environment=wanted.environment,
        options=wanted.options,
        apply=wanted.apply,
        paused=row.paused,
        by=row.who,
        created=moment(row.created),
        next=None if row.paused else moment(row.next),
        last=moment(row.last) if row.last else None,
        said=outcome.said,
        plan=outcome.plan or None,
    )


def _settings(found: ScheduleData) -> ScheduleData:
    """What somebody has set of a schedule: its turns do not count as changes."""
    return msgspec.structs.replace(found, next=None, last=None, said="", plan=None)


def _tagged(found: ScheduleData) -> Reply:
    return Reply(found, headers={"ETag": tag_of(_settings(found))})


def _row(connection: Connection, call: ApiCall) -> Row[Any]:
    mine = (SCHEDULES.c.project == call.project) & (SCHEDULES.c.ensemble == call.ensemble)
    row = connection.execute(select(SCHEDULES).where(mine, SCHEDULES.c.id == call.path["id"])).one_or_none()
    if row is None:
        hint = "the list of schedules has them"
        raise ApiProblem("unknown-schedule", f'there is no schedule "{call.path["id"][:40]}" of this ensemble', hint)
    return row


async def _list(call: ApiCall) -> Reply:
    mine = (SCHEDULES.c.project == call.project) & (SCHEDULES.c.ensemble == call.ensemble)
    asked = select(SCHEDULES).where(mine).order_by(SCHEDULES.c.name)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    return Reply(ListPart(tuple(_data(row, call) for row in rows), None))


async def _show(call: ApiCall) -> Reply:
    return _tagged(_data(await call.services.database.read(lambda connection: _row(connection, call)), call))


async def _must_apply(call: ApiCall, workflow: str) -> None:
    """Who may not apply a workflow may not have the clock do it."""
    needed = WORKFLOW_PERMISSIONS[workflow]
    if not call.may(needed, call.project, call.ensemble):
        await call.denied(f"needs {needed}")
        hint = f'ask the owners of the project "{call.project}" for a role that has it'
        raise ApiProblem("forbidden", f'a schedule of "{workflow}" needs the permission "{needed}"', hint)


def _first(cron: str, zone: str, now: float) -> float:
    found = next_turn(cron, zone, now)
    if found is None:
        raise ApiProblem("bad-schedule", f'"{cron}" has no turn any more', "write days that come")
    return found


async def _make(call: ApiCall) -> Reply:
    given: NewSchedule = call.body
    check_clock(given.cron, given.zone)
    await _must_apply(call, kind_of(given.request))
    request_of(given.request, given.environment)
    wanted = PlanWanted(
        request=given.request,
        environment=given.environment,
        options=given.options,
        apply=given.apply,
        comment=f"schedule {given.name}",
    )

    def make(connection: Connection) -> Reply:
        mine = (SCHEDULES.c.project == call.project) & (SCHEDULES.c.ensemble == call.ensemble)
        if connection.execute(select(SCHEDULES.c.id).where(mine, SCHEDULES.c.name == given.name)).first() is not None:
            raise ApiProblem("exists", f'there is a schedule "{given.name}" already', "take another name")
        if (connection.execute(select(func.count()).select_from(SCHEDULES).where(mine)).scalar() or 0) >= MOST:
            raise ApiProblem("limit-reached", f"an ensemble has at most {MOST} schedules", "remove one of them")
        row: dict[str, object] = {"id": f"sc_{secrets.token_hex(8)}", "project": call.project}
        row |= {"ensemble": call.ensemble, "name": given.name, "cron": given.cron, "zone": given.zone}
        row |= {"request": sealed(wanted, call.services.sealer), "apply": given.apply, "paused": given.paused}
        row |= {
            "who": call.principal.id,
            "made_by": call.principal.made_by,
            "created": call.now,
            "last": 0.0,
            "outcome": "",
        }
        connection.execute(insert(SCHEDULES).values(**row, next=_first(given.cron, given.zone, call.now)))
        return _tagged(_data(connection.execute(select(SCHEDULES).where(SCHEDULES.c.id == row["id"])).one(), call))

    detail = f"{given.cron} {given.zone} {kind_of(given.request)} apply={given.apply}"
    return await call.change("schedule.make", make, about=given.name, detail=detail)


async def _change(call: ApiCall) -> Reply:
    given: ScheduleChange = call.body
    row = await call.services.database.read(lambda connection: _row(connection, call))
    before = wanted_by(row, call.services.sealer)
    changed = {name: value for name in ("request", "options", "apply") if (value := getattr(given, name)) is not None}
    wanted = msgspec.structs.replace(before, **changed)
    cron, zone = given.cron or row.cron, given.zone or row.zone
    check_clock(cron, zone)
    await _must_apply(call, kind_of(wanted.request))
    request_of(wanted.request, wanted.environment)

    def change(connection: Connection) -> Reply:
        now = _row(connection, call)
        call.must_match(_settings(_data(now, call)))
        if (now.request, now.cron, now.zone) != (row.request, row.cron, row.zone):
            raise ApiProblem("changed", "somebody else has just changed it", "read it again, and change that")
        paused = row.paused if given.paused is None else given.paused
        values = {"cron": cron, "zone": zone, "request": sealed(wanted, call.services.sealer), "apply": wanted.apply}
        # What was to be done while it was paused is not made up for.
        values |= {
            "paused": paused,
            "who": call.principal.id,
            "made_by": call.principal.made_by,
            "next": _first(cron, zone, call.now),
        }
        connection.execute(update(SCHEDULES).where(SCHEDULES.c.id == row.id).values(**values))
        return _tagged(_data(_row(connection, call), call))

    told = ", ".join(name for name in ScheduleChange.__struct_fields__ if getattr(given, name) is not None)
    return await call.change("schedule.change", change, about=row.name, detail=told)


async def _remove(call: ApiCall) -> Reply:
    def remove(connection: Connection) -> Reply:
        connection.execute(delete(SCHEDULES).where(SCHEDULES.c.id == _row(connection, call).id))
        return Reply()

    return await call.change("schedule.remove", remove, about=call.path["id"])


def _route(method: str, path: str, summary: str, handler: Any, **more: Any) -> Route:
    return Route(method=method, path=path, access=Permission.CONFIGURE, summary=summary, handler=handler, **more)


_ALL = ENSEMBLE + "/schedules"
_ONE = _ALL + "/{id}"
_HERE = ("unknown-project", "unknown-ensemble")
_WRONG = ("bad-schedule", "unknown-zone", "forbidden")

TABLE = (
    _route("GET", _ALL, "The schedules of an ensemble.", _list, answers=(ListPart[ScheduleData],), problems=_HERE),
    _route("POST", _ALL, "Make a schedule: what is asked for by the clock.", _make, body=NewSchedule,
           answers=(ScheduleData,), status=201, keyed=True, problems=(*_HERE, *_WRONG, "exists", "limit-reached")),
    _route("GET", _ONE, "A schedule.", _show, answers=(ScheduleData,), problems=(*_HERE, "unknown-schedule")),
    _route("PATCH", _ONE, "Change a schedule, pause it, or let it go on.", _change, body=ScheduleChange,
           answers=(ScheduleData,),
           problems=(*_HERE, *_WRONG, "unknown-schedule", "match-required", "changed")),
    _route("DELETE", _ONE, "Remove a schedule.", _remove, status=204, problems=(*_HERE, "unknown-schedule")),
)  # fmt: skip
