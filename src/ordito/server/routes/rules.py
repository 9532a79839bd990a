"""Routes about what keeps plans from being carried out: rules that ask for approvals, and freezes."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, delete, insert, select

from ordito.ensemble.job_format import moment
from ordito.server.call import ApiCall, tagged
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import FREEZES, PLANS, RULES
from ordito.server.permissions import Access, Permission
from ordito.server.plans.asked import WORKFLOWS
from ordito.server.plans.going_on import renew_wanted
from ordito.server.plans.rules import Rules, check_rules, rules_of
from ordito.server.plans.states import PlanState
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, PROJECT, Fields, ListPart, Reply, route

UNBEGUN_BUT_MADE = (PlanState.READY, PlanState.WAITING, PlanState.QUEUED)
"""The states of plans that are held against other rules."""


async def _rules(call: ApiCall) -> Reply:
    return tagged(await call.services.database.read(lambda c: rules_of(c, call.project, call.ensemble)))


async def _set_rules(call: ApiCall) -> Reply:
    given: Rules = call.body
    check_rules(given, WORKFLOWS)

    def change(connection: Connection) -> Reply:
        call.must_match(rules_of(connection, call.project, call.ensemble))
        mine = (RULES.c.project == call.project) & (RULES.c.ensemble == call.ensemble)
        connection.execute(delete(RULES).where(mine))
        if given.rules:
            body = msgspec.json.encode(given).decode()
            connection.execute(insert(RULES).values(project=call.project, ensemble=call.ensemble, body=body))
        changed_by = frozenset({call.principal.id, call.principal.behind} - {""})
        about = (PLANS.c.project == call.project) & PLANS.c.state.in_(UNBEGUN_BUT_MADE)
        about = about & (PLANS.c.ensemble == call.ensemble) if call.ensemble else about
        for row in connection.execute(select(PLANS).where(about)).all():
            renew_wanted(connection, row, call.now, changed_by)
        return tagged(given)

    reply = await call.change("rules.set", change, detail=f"{len(given.rules)} rules")
    call.services.keeper.wake()
    return reply


class NewFreeze(Fields, frozen=True):
    """That nothing is to begin, and why."""

    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
    hours: Annotated[float, msgspec.Meta(gt=0, le=24 * 366)] | None = None
    """When it ends by itself, null for not."""


class FreezeData(msgspec.Struct, frozen=True):
    """Something in which nothing begins now."""

    project: str
    """"" for the whole server."""

    ensemble: str
    """"" for all of the project."""

    reason: str
    by: str
    since: str
    until: str | None


async def _freezes(call: ApiCall) -> Reply:
    def read(connection: Connection) -> tuple[FreezeData, ...]:
        lasts = (FREEZES.c.until == 0.0) | (FREEZES.c.until > call.now)
        rows = connection.execute(select(FREEZES).where(lasts).order_by(FREEZES.c.project, FREEZES.c.ensemble))
        return tuple(
            FreezeData(
                row.project,
                row.ensemble,
                row.reason,
                row.who,
                moment(row.created),
                moment(row.until) if row.until else None,
            )
            for row in rows
            if not row.project or call.may(Permission.READ, row.project, row.ensemble)
        )

    return Reply(ListPart(await call.services.database.read(read), None))


async def _freeze(call: ApiCall) -> Reply:
    given: NewFreeze = call.body
    until = call.now + given.hours * 3600.0 if given.hours is not None else 0.0
    row = {"project": call.project, "ensemble": call.ensemble}

    def change(connection: Connection) -> Reply:
        connection.execute(delete(FREEZES).where(_here(call)))
        who = call.principal.id
        connection.execute(insert(FREEZES).values(**row, reason=given.reason, who=who, until=until, created=call.now))
        _tell(connection, call, given.reason)
        ends = moment(until) if until else None
        return Reply(FreezeData(call.project, call.ensemble, given.reason, who, moment(call.now), ends))

    return await call.change("freeze", change, detail=given.reason)


async def _thaw(call: ApiCall) -> Reply:
    def change(connection: Connection) -> Reply:
        if not connection.execute(delete(FREEZES).where(_here(call))).rowcount:
            hint = "the list of freezes has them: one of the project or of the server is ended there"
            raise ApiProblem("unknown-freeze", "nothing is frozen here", hint)
        _tell(connection, call, None)
        return Reply()

    reply = await call.change("thaw", change)
    call.services.keeper.wake()
    return reply


def _here(call: ApiCall) -> Any:
    return (FREEZES.c.project == call.project) & (FREEZES.c.ensemble == call.ensemble)


def _tell(connection: Connection, call: ApiCall, reason: str | None) -> None:
    topic = f"ensemble:{call.project}/{call.ensemble}" if call.ensemble else "freeze"
    event = ServerEvent(topic, "freeze.changed", call.project, call.ensemble, {"reason": reason})
    tell(connection, event, call.now)


_READ, _CONTROL, _CONFIGURE = Permission.READ, Permission.CONTROL, Permission.CONFIGURE
_CHANGED = ("match-required", "changed", "unknown-workflow", "unknown-role")

TABLE = (
    route("GET", PROJECT + "/rules", _READ, "Which plans of a project need approvals.", _rules, answers=(Rules,)),
    route("PUT", PROJECT + "/rules", _CONFIGURE, "Set the rules of a project: all of them.", _set_rules, body=Rules,
          answers=(Rules,), problems=_CHANGED),
    route("GET", ENSEMBLE + "/rules", _READ, "Which plans of an ensemble need approvals besides.", _rules,
          answers=(Rules,)),
    route("PUT", ENSEMBLE + "/rules", _CONFIGURE, "Set the rules of an ensemble: all of them.", _set_rules, body=Rules,
          answers=(Rules,), problems=_CHANGED),
    route("GET", BASE + "/freeze", Access.ME, "Where nothing begins now.", _freezes,
          answers=(ListPart[FreezeData],)),
    route("PUT", BASE + "/freeze", Permission.ADMINISTER, "Let nothing begin on the whole server.", _freeze,
          body=NewFreeze, answers=(FreezeData,)),
    route("DELETE", BASE + "/freeze", Permission.ADMINISTER, "End the freeze of the server.", _thaw, status=204,
          problems=("unknown-freeze",)),
    route("PUT", PROJECT + "/freeze", _CONTROL, "Let nothing begin in a project.", _freeze, body=NewFreeze,
          answers=(FreezeData,)),
    route("DELETE", PROJECT + "/freeze", _CONTROL, "End the freeze of a project.", _thaw, status=204,
          problems=("unknown-freeze",)),
    route("PUT", ENSEMBLE + "/freeze", _CONTROL, "Let nothing begin in an ensemble.", _freeze, body=NewFreeze,
          answers=(FreezeData,)),
    route("DELETE", ENSEMBLE + "/freeze", _CONTROL, "End the freeze of an ensemble.", _thaw, status=204,
          problems=("unknown-freeze",)),
)  # fmt: skip
