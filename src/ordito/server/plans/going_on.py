"""How plans go on, each step written at once: made, held against the rules, waiting, queued, refused."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, update

from ordito.results.failure import Failure, Trouble
from ordito.server.database.tables import ENSEMBLES, PLANS
from ordito.server.identity.principal import principal_of
from ordito.server.permissions import Permission
from ordito.server.plans.asked import AUTO, LATEST
from ordito.server.plans.rules import is_as_strict, wanted_by
from ordito.server.plans.states import WORKFLOW_PERMISSIONS, PlanState
from ordito.server.plans.store import (
    Author,
    PlanAbout,
    about,
    answering,
    approvals,
    is_approved,
    move,
    people_behind,
    plan_row,
    wanted_before,
)
from ordito.server.problems import ApiProblem

MOST_ATTEMPTS = 3
"""How often something is tried whose process ends without an answer."""

NEEDS_EXACT = Failure(
    "needs-exact",
    "a rule asks for approvals of such plans",
    "ask for it with bind: exact, so that what was approved is what is carried out",
)


def keep_package(connection: Connection, row: Row[Any], package: str) -> None:
    """Keep which package an ensemble is made of from now on."""
    mine = (ENSEMBLES.c.project == row.project) & (ENSEMBLES.c.name == row.ensemble)
    connection.execute(update(ENSEMBLES).where(mine).values(package=package))


def write_made(connection: Connection, row: Row[Any], empty: bool, known: PlanAbout) -> None:
    """Write that a plan was made, and go on with it as far as nobody has to say anything."""
    now = time.time()
    digest = known.exact.digest if known.exact is not None else ""
    values = {"digest": digest, "about": msgspec.json.encode(known).decode(), "attempts": 0}
    if empty:
        move(connection, row.id, PlanState.EMPTY, now, **values)
        return
    of = (row.project, row.ensemble)
    wanted = wanted_by(connection, *of, known.workflow or row.workflow, known.environment, known.risks)
    if wanted and row.bind == LATEST:
        move(connection, row.id, PlanState.REFUSED, now, **values, problem=problem_text(NEEDS_EXACT))
        return
    values["wanted"] = msgspec.json.encode(wanted).decode()
    if move(connection, row.id, PlanState.READY, now, **values) and row.apply == AUTO:
        go_on(connection, row.id, PlanState.WAITING if wanted else PlanState.QUEUED, now)


def wanted_now(connection: Connection, row: Row[Any], changed_by: frozenset[str] = frozenset()) -> str:
    """The approvals that a plan needs by the rules of now, as they are kept with it. Those that it needed by earlier
    rules it needs still if these were changed by who is behind the plan; ``changed_by`` has the ids of whoever changes
    them right now."""
    known, of = about(row), (row.project, row.ensemble)
    found = wanted_by(connection, *of, known.workflow or row.workflow, known.environment, known.risks)
    behind = people_behind(connection, row)
    is_own = bool(changed_by) and (behind is None or not behind.isdisjoint(changed_by))
    before = wanted_before(row)
    if changed_by and not is_own:
        # Somebody else has looked at the rules since: these count.
        before = ()
    kept = tuple(
        msgspec.structs.replace(one, kept=True)
        for one in before
        if (one.kept or is_own) and not any(is_as_strict(new, one) for new in found)
    )
    return msgspec.json.encode((*found, *kept)).decode()


def may_go_on(connection: Connection, row: Row[Any]) -> bool:
    """Whether a plan whose turn it is may begin: who has applied it may still do that, and the approvals that it needs
    by the rules of now are there, from people who still may approve."""
    return (
        may_apply(connection, row)
        and wanted_now(connection, row) == row.wanted
        and is_ready_to_go(connection, plan_row(connection, (row.project, row.ensemble), row.id))
    )


def hold_back(connection: Connection, row: Row[Any]) -> None:
    """Let a plan that may not begin wait for what is missing, or refuse it."""
    now = time.time()
    if not may_apply(connection, row):
        failure = Failure("forbidden", f"{row.applied} may not carry this out any more", "let somebody else ask for it")
        move(connection, row.id, PlanState.REFUSED, now, problem=problem_text(failure))
        return
    renew_wanted(connection, row, now)


def renew_wanted(connection: Connection, row: Row[Any], now: float, changed_by: frozenset[str] = frozenset()) -> None:
    """Hold a plan that has not begun against the rules of now: it goes on, or waits for approvals. ``changed_by`` has
    the ids of whoever changes the rules."""
    wanted = wanted_now(connection, row, changed_by)
    connection.execute(update(PLANS).where(PLANS.c.id == row.id).values(wanted=wanted))
    is_ready = is_ready_to_go(connection, plan_row(connection, (row.project, row.ensemble), row.id))
    state = PlanState(row.state)
    if is_ready and state is PlanState.WAITING:
        go_on(connection, row.id, PlanState.QUEUED, now)
    elif not is_ready and state is PlanState.QUEUED:
        if row.bind == LATEST:
            move(connection, row.id, PlanState.REFUSED, now, problem=problem_text(NEEDS_EXACT))
        else:
            move(connection, row.id, PlanState.WAITING, now)


def may_apply(connection: Connection, row: Row[Any]) -> bool:
    """Whether who has applied a plan may still do that: as who answers for a schedule or a git source, where one of
    these has asked."""
    workflow = about(row).workflow or row.workflow
    is_own = row.applied == Author(row.kind, row.who).shown
    applied = answering(connection, row, row.who) if is_own else row.applied.removeprefix("account ")
    who = principal_of(connection, applied)
    permission = WORKFLOW_PERMISSIONS.get(workflow, Permission.OPERATE)
    return who is not None and permission in who.permissions(row.project, row.ensemble)


def go_on(connection: Connection, plan: str, to: PlanState, now: float, **values: object) -> bool:
    """Let a plan that is to be applied wait for approvals, or for its turn."""
    queued = {"queued": now} if to is PlanState.QUEUED else {}
    return move(connection, plan, to, now, **queued, **values)


def write_not_made(connection: Connection, row: Row[Any], problem: ApiProblem) -> None:
    """Write why a plan was not made, or let it be made again."""
    now = time.time()
    failure = Failure(problem.code, problem.detail, problem.hint, problem.next)
    is_faulty = problem.code in ("internal", "too-costly")
    if problem.code == "busy" or (problem.code == "internal" and row.attempts + 1 < MOST_ATTEMPTS):
        # It stays in its state, and is made again.
        connection.execute(update(PLANS).where(PLANS.c.id == row.id).values(attempts=row.attempts + 1))
        return
    to = PlanState.FAULTY if is_faulty else PlanState.REFUSED
    move(connection, row.id, to, now, problem=problem_text(failure, problem.diagnostics), attempts=0)


def problem_text(failure: Failure, diagnostics: Sequence[Any] = ()) -> str:
    """A problem as it is kept with a plan."""
    return msgspec.json.encode(Trouble(failure, tuple(diagnostics))).decode()


def approvers(connection: Connection, row: Row[Any]) -> tuple[str, ...]:
    """Who has approved a plan."""
    return tuple(one.who for one in approvals(connection, row).given if one.decision == "approve")


def is_ready_to_go(connection: Connection, row: Row[Any]) -> bool:
    """Whether a plan needs no approval any more."""
    return is_approved(approvals(connection, row))
