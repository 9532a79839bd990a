"""Routes about plans: asking for one, looking at it, approving, applying, discarding it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, insert, select, update

from ordito.base.sensitive import SHOWN
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import moment
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.answer import Asked, UseCase
from ordito.results.failure import NextStep, Trouble
from ordito.results.picture.plan import PLAN_TOPOLOGY, PlanTopologyAsked, PlanTopologyData
from ordito.results.plan import ChangeData, PlanHead, PlannedEdge, StepRow, WholePlan
from ordito.results.server_plans import AskedPlan, PlanReport, QueueData, WantedApprovals
from ordito.results.service_inputs import SERVICE_INPUTS, ServiceInputsAsked, ServiceInputsData
from ordito.results.topology import WORKFLOW, NamedAsked, WorkflowData
from ordito.server.call import NUMBER, TEXT, ApiCall, cursor_of, key_in
from ordito.server.database.tables import APPROVALS, PLANS
from ordito.server.identity.principal import USER
from ordito.server.live.topics import cursor_text, place_of_event
from ordito.server.names import check_value
from ordito.server.packages import package_path, seen_from_ensemble
from ordito.server.permissions import Access, Permission
from ordito.server.places import directory_of, reads_of
from ordito.server.plans.asked import AUTO, AskedOptions, asked_again, is_secret_name
from ordito.server.plans.files import DRAWN, REPORT, SAVED
from ordito.server.plans.files import SHOWN as SHOWN_PLAN
from ordito.server.plans.freshness import freshness
from ordito.server.plans.going_on import go_on, is_ready_to_go
from ordito.server.plans.states import MOVES, OPEN, UNBEGUN, WORKFLOW_PERMISSIONS, PlanState
from ordito.server.plans.store import (
    Author,
    PlanWanted,
    StoredRequest,
    about,
    approvals,
    ask_plan,
    author_of,
    frozen_by,
    move,
    people_behind,
    plan_row,
    problem,
    stored_request,
)
from ordito.server.problems import ApiProblem
from ordito.server.processes.plan_rows import PLAN_ROWS, PlanRowsAsked
from ordito.server.route import BASE, ENSEMBLE, Fields, ListPart, PageFields, Reply, TopologyQuery, route
from ordito.server.routes.by_process import ask_process, reads_of_call

LONGEST_WAIT = 30.0
MOST_LOOKED_AT = 5_000
"""How many plans are looked at for an inbox, the newest ones."""
DIGEST = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class ApprovalDecision(Fields, frozen=True):
    """An approval or a rejection of exactly the plan with this digest."""

    decision: Literal["approve", "reject"]
    digest: DIGEST
    comment: Annotated[str, msgspec.Meta(max_length=4_000)] = ""


class Applying(Fields, frozen=True):
    """That exactly the plan with this digest is to be carried out."""

    digest: DIGEST


ALL_OPEN = "open"


class AskedAgain(msgspec.Struct, frozen=True):
    """What a plan was asked for, to ask for it once more."""

    request: Mapping[str, object]
    """The request with its ``workflow``, without what was not given."""

    environment: str | None
    options: Mapping[str, object]
    apply: str
    bind: str
    comment: str
    withheld: tuple[str, ...]
    """The inputs whose values are left out: those that are sensitive, and those of which that is not known."""


class PlanFields(PageFields, frozen=True):
    """Which plans are wanted, the newest first."""

    state: str = ""
    """A state, or ``open`` for all that have not ended."""

    by: str = ""
    """Who has asked for them."""


PLAN_PARTS = (WholePlan, PlanHead, ListPart[ChangeData], ListPart[StepRow], ListPart[PlannedEdge])
"""What is answered by the part that is asked for."""


class PartFields(PageFields, frozen=True):
    """Which part of a plan is wanted."""

    part: Literal["", "head", "changes", "steps", "edges"] = ""
    """One of its lists by page, or the ``head``: all but its lists; "" for all of it."""


# ------------------------------------------------------------------------------------------------------ how it is shown


def shown(connection: Connection, call: ApiCall, row: Row[Any]) -> AskedPlan:
    """A plan, as who asks sees it."""
    known, state, of = about(row), PlanState(row.state), (row.project, row.ensemble)
    queue, needed = None, approvals(connection, row)
    if state in (PlanState.QUEUED, PlanState.STARTING):
        queue = QueueData(_place(connection, row), None, frozen_by(connection, *of, time.time()))
    return AskedPlan(
        id=row.id,
        project=row.project,
        ensemble=row.ensemble,
        workflow=row.workflow,
        state=state,
        by=author_of(row),
        created=moment(row.created),
        changed=moment(row.changed),
        expires=moment(row.expires),
        apply=row.apply,
        bind=row.bind,
        comment=row.comment,
        digest=row.digest,
        fresh="",
        totals=known.totals if row.about else None,
        risks=known.risks,
        findings=known.findings,
        approvals=needed,
        queue=queue,
        applied_by=row.applied,
        job=row.job or None,
        job_status=row.job_status,
        problem=_problem(call, row),
        allowed=tuple(_allowed(connection, call, row, needed.wanted)),
    )


def _problem(call: ApiCall, row: Row[Any]) -> Trouble | None:
    """Why a plan was not made or not carried out, with the requests that help."""
    found = problem(row)
    if found is None:
        return None
    known = {"project": row.project, "ensemble": row.ensemble, "plan": row.id}
    following = call.services.api.ways.with_requests(found.failure.next, known)
    return msgspec.structs.replace(found, failure=msgspec.structs.replace(found.failure, next=following))


def _allowed(connection: Connection, call: ApiCall, row: Row[Any], wanted: Sequence[WantedApprovals]) -> Iterator[str]:
    state, of = PlanState(row.state), (row.project, row.ensemble)
    may_approve = not _is_own(connection, call, row) or any(one.author_may for one in wanted)
    if state in (PlanState.READY, PlanState.WAITING) and may_approve and call.may(Permission.APPROVE, *of):
        yield "approve"
    if state is PlanState.READY and call.may(WORKFLOW_PERMISSIONS[row.workflow], *of):
        yield "apply"
    if state in UNBEGUN and (_is_author(call, row) or call.may(Permission.CONTROL, *of)):
        yield "discard"
    if state is PlanState.RUNNING and call.may(Permission.CONTROL, *of):
        yield "cancel"


def _place(connection: Connection, row: Row[Any]) -> int:
    here = (PLANS.c.project == row.project) & (PLANS.c.ensemble == row.ensemble) & (PLANS.c.state == PlanState.QUEUED)
    waiting = connection.execute(select(PLANS.c.id).where(here).order_by(PLANS.c.queued, PLANS.c.id)).scalars().all()
    return waiting.index(row.id) + 1 if row.id in waiting else 1


def _is_author(call: ApiCall, row: Row[Any]) -> bool:
    return (row.kind, row.who) == (call.principal.kind, call.principal.id)


def _is_own(connection: Connection, call: ApiCall, row: Row[Any]) -> bool:
    """Whether a plan is that of who asks: also where a schedule or a source that they have made has asked for it, or an
    account of which they hold a token; and where nobody knows whose it is."""
    behind = people_behind(connection, row)
    return behind is None or call.principal.id in behind or call.principal.behind in behind


async def _whole(call: ApiCall, plan: str, of: tuple[str, str]) -> AskedPlan:
    """A plan with what is found out from its ensemble."""

    def read(connection: Connection) -> tuple[AskedPlan, Row[Any], str]:
        row = plan_row(connection, of, plan)
        return shown(connection, call, row), row, directory_of(connection, *of)

    found, row, directory = await call.services.database.read(read)
    return await asyncio.to_thread(_compared, found, row, directory)


def _compared(found: AskedPlan, row: Row[Any], directory: str) -> AskedPlan:
    state = PlanState(row.state)
    try:
        if found.queue is not None:
            layout = Layout(Path(directory))
            owner = holder(layout) if layout.exists else None
            queue = msgspec.structs.replace(found.queue, holder=str(owner) if owner is not None else None)
            return msgspec.structs.replace(found, queue=queue)
        if state in (PlanState.READY, PlanState.WAITING):
            return msgspec.structs.replace(found, fresh=freshness(about(row).marks, directory))
    except EnsembleError:
        # Who asks for the ensemble is told why it cannot be read.
        return found
    return found


# ------------------------------------------------------------------------------------------------------------- asking


async def _ask(call: ApiCall) -> Reply:
    wanted: PlanWanted = call.body
    workflow = str(type(wanted.request).__struct_config__.tag)
    if wanted.apply == AUTO:
        await _must_apply(call, workflow)
    author = Author(call.principal.kind, call.principal.id, call.principal.made_by)
    of = (call.project, call.ensemble)

    def ask(connection: Connection) -> Reply:
        made = ask_plan(connection, call.services.sealer, author, of, wanted, call.now)
        row = plan_row(connection, of, made)
        if wanted.apply == AUTO:
            connection.execute(update(PLANS).where(PLANS.c.id == made).values(applied=author.shown))
        found = shown(connection, call, plan_row(connection, of, row.id))
        return Reply(found, headers={"Location": _path(call, made)})

    reply = await call.change("plan.ask", ask, about=workflow, detail=f"apply={wanted.apply} bind={wanted.bind}")
    call.services.keeper.wake()
    return await _waited(call, reply)


def _path(call: ApiCall, plan: str) -> str:
    return f"{BASE}/projects/{call.project}/ensembles/{call.ensemble}/plans/{plan}"


async def _must_apply(call: ApiCall, workflow: str) -> None:
    wanted = WORKFLOW_PERMISSIONS[workflow]
    if not call.may(wanted, call.project, call.ensemble):
        await call.denied(f"needs {wanted}")
        hint = f'ask the owners of the project "{call.project}" for a role that has it'
        raise ApiProblem("forbidden", f'carrying out "{workflow}" needs the permission "{wanted}"', hint)


async def _waited(call: ApiCall, reply: Reply) -> Reply:
    """Wait as long as the client prefers, at most until the plan needs somebody, or has ended."""
    seconds = _preferred(call.headers.get("prefer", ""))
    if not seconds or not isinstance(reply.data, AskedPlan | bytes):
        return reply
    data = reply.data if isinstance(reply.data, AskedPlan) else msgspec.json.decode(reply.data, type=AskedPlan)
    until, database = time.monotonic() + seconds, call.services.database
    while True:
        changed = database.changed
        found = await _whole(call, data.id, (data.project, data.ensemble))
        is_over = found.state in (PlanState.READY, PlanState.WAITING) or PlanState(found.state) not in OPEN
        left = until - time.monotonic()
        if is_over or left <= 0 or call.services.draining.is_set():
            return Reply(found, 200 if is_over else 202, reply.headers)
        waiting = [asyncio.create_task(one.wait()) for one in (changed, call.services.draining)]
        try:
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()


def _preferred(header: str) -> float:
    """The seconds that a client prefers to wait (RFC 7240)."""
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        if name.strip().lower() == "wait" and value.strip('" ').isdecimal():
            return min(LONGEST_WAIT, float(value.strip('" ')[:6]))
    return 0.0


# ------------------------------------------------------------------------------------------------------------ looking


async def _list(call: ApiCall) -> Reply:
    here = (PLANS.c.project == call.project) & (PLANS.c.ensemble == call.ensemble)
    return await _page(call, select(PLANS).where(here))


async def _page(call: ApiCall, asked: Any) -> Reply:
    fields: PlanFields = call.query
    check_value("state", fields.state, (ALL_OPEN, *PlanState))
    if fields.state == ALL_OPEN:
        asked = asked.where(PLANS.c.state.in_(OPEN))
    elif fields.state:
        asked = asked.where(PLANS.c.state == fields.state)
    if fields.by:
        asked = asked.where(PLANS.c.who == fields.by)
    if before := key_in(fields.after, TEXT):
        asked = asked.where(PLANS.c.id < before)

    def read(connection: Connection) -> ListPart[AskedPlan]:
        rows = connection.execute(asked.order_by(PLANS.c.id.desc()).limit(fields.limit + 1)).all()
        after = cursor_of(rows[fields.limit - 1].id) if len(rows) > fields.limit else None
        return ListPart(tuple(shown(connection, call, row) for row in rows[: fields.limit]), after)

    number = call.services.outbox.newest
    headers = {"Ordito-Cursor": cursor_text({f"plans:{call.project}/{call.ensemble}": place_of_event(number)})}
    return Reply(await call.services.database.read(read), headers=headers)


async def _inbox(call: ApiCall) -> Reply:
    """What waits for an approval of who asks, and their own plans that need them."""
    who = call.principal

    def read(connection: Connection) -> ListPart[AskedPlan]:
        ended = (PlanState.STALE, PlanState.REJECTED, PlanState.REFUSED)
        own = (PLANS.c.kind == who.kind) & (PLANS.c.who == who.id)
        mine_now = own & (
            (PLANS.c.state == PlanState.READY)
            | (PLANS.c.state.in_(ended) & (PLANS.c.changed > call.now - 7 * 24 * 3600.0))
        )
        asked = select(PLANS).where(mine_now | (PLANS.c.state == PlanState.WAITING))
        rows = connection.execute(asked.order_by(PLANS.c.id.desc()).limit(MOST_LOOKED_AT)).all()
        found = []
        for row in rows:
            of, state = (row.project, row.ensemble), PlanState(row.state)
            if not call.may(Permission.READ, *of):
                continue
            is_mine = (row.kind, row.who) == (who.kind, who.id) and state is not PlanState.WAITING
            is_over = state not in OPEN and row.changed < call.now - 7 * 24 * 3600.0
            waits = state is PlanState.WAITING and call.may(Permission.APPROVE, *of)
            if (is_mine and not is_over) or (waits and not _has_decided(connection, row, who.id)):
                found.append(shown(connection, call, row))
        return ListPart(tuple(found[:500]), None)

    number = call.services.outbox.newest
    headers = {"Ordito-Cursor": cursor_text({"inbox": place_of_event(number)})}
    return Reply(await call.services.database.read(read), headers=headers)


def _has_decided(connection: Connection, row: Row[Any], who: str) -> bool:
    mine = (APPROVALS.c.plan == row.id) & (APPROVALS.c.who == who) & (APPROVALS.c.digest == row.digest)
    return connection.execute(select(APPROVALS.c.plan).where(mine)).first() is not None


async def _show(call: ApiCall) -> Reply:
    number = call.services.outbox.newest
    found = await _whole(call, call.path["id"], (call.project, call.ensemble))
    topic = f"plan:{call.project}/{call.ensemble}/{found.id}"
    return Reply(found, headers={"Ordito-Cursor": cursor_text({topic: place_of_event(number)})})


async def _file_of(call: ApiCall, kind: str) -> bytes:
    row = await _row(call)
    found = await asyncio.to_thread(call.services.plan_files.read, row.id, kind)
    if found is None:
        raise _not_there(row)
    return found


def _not_there(row: Row[Any]) -> ApiProblem:
    hint = "read the plan: its state says how far it has come"
    return ApiProblem("forgotten" if row.state not in MOVES else "not-ready", "this is not there", hint)


async def _plan(call: ApiCall) -> Reply:
    fields: PartFields = call.query
    if not fields.part:
        return Reply(await _file_of(call, SHOWN_PLAN))
    if fields.part == "head":
        body = await _file_of(call, SHOWN_PLAN)
        return Reply(await asyncio.to_thread(msgspec.json.decode, body, type=PlanHead))
    begin = key_in(fields.after, NUMBER) or 0
    found = await _rows(call, fields.part, begin, fields.limit)
    if found is None:
        rows = await _from_query(call, PLAN_ROWS, PlanRowsAsked(msgspec.Raw(await _file_of(call, SHOWN_PLAN))))
        await asyncio.to_thread(call.services.plan_files.keep_rows, (await _row(call)).id, rows)
        found = await _rows(call, fields.part, begin, fields.limit)
        assert found is not None
    end = begin + fields.limit
    return Reply(ListPart(found[0], cursor_of(end) if end < found[1] else None))


async def _from_query(call: ApiCall, use_case: UseCase[Any, Any], asked: Asked) -> bytes:
    read = partial(reads_of, home=call.services.home, project=call.project, ensemble=call.ensemble)
    reads = await call.services.database.read(read)
    return await call.services.queries.ask(use_case.name, reads[0], msgspec.json.encode(asked), reads)


async def _rows(call: ApiCall, part: str, begin: int, limit: int) -> tuple[tuple[msgspec.Raw, ...], int] | None:
    row = await _row(call)
    return await asyncio.to_thread(call.services.plan_files.rows, row.id, part, begin, limit)


async def _row(call: ApiCall) -> Row[Any]:
    of = (call.project, call.ensemble)
    return await call.services.database.read(partial(plan_row, of=of, name=call.path["id"]))


async def _topology(call: ApiCall) -> Reply:
    fields: TopologyQuery = call.query
    drawn = msgspec.Raw(await _file_of(call, DRAWN))
    asked = PlanTopologyAsked(drawn=drawn, boxes=fields.boxes, open=fields.open)
    return Reply(await _from_query(call, PLAN_TOPOLOGY, asked))


async def _file(call: ApiCall) -> Reply:
    body = await _file_of(call, SAVED)
    name = f'attachment; filename="{call.path["id"]}.plan"'
    return Reply(body, headers={"Content-Disposition": name}, media=SAVED_MEDIA)


SAVED_MEDIA = "application/octet-stream"


async def _report(call: ApiCall) -> Reply:
    body = await _file_of(call, REPORT)
    await call.read("report.read", call.path["id"])
    report = msgspec.json.decode(body, type=dict[str, Any])
    return Reply(PlanReport(str(report["job"]), report))


# --------------------------------------------------------------------------------------------------- asking once more


async def _again(call: ApiCall) -> Reply:
    row = await _row(call)
    stored = stored_request(row, call.services.sealer)
    asked, options = stored.asked, msgspec.structs.asdict(stored.options)
    given = {*asked.inputs, *asked.texts}
    shown = {name for name, value in asked.inputs.items() if is_secret_name(value)}
    if given - shown:
        shown |= await _may_be_shown(call, row.workflow, stored)
    try:
        request = asked_again(row.workflow, asked)
    except msgspec.ValidationError:
        hint = "ask for it anew"
        raise ApiProblem("forgotten", "it was asked for in a way that is not taken any more", hint) from None
    if stored.package:
        request["package"] = stored.package
    if given & shown:
        request["inputs"] = {name: value for name, value in asked.inputs.items() if name in shown}
        request["input_texts"] = {name: text for name, text in asked.texts.items() if name in shown}
    found = AskedAgain(
        request=request,
        environment=asked.environment,
        options={name: options[name] for name in AskedOptions.__struct_fields__},
        apply=row.apply,
        bind=row.bind,
        comment=row.comment,
        withheld=tuple(sorted(given - shown)),
    )
    return Reply(found)


async def _may_be_shown(call: ApiCall, workflow: str, stored: StoredRequest) -> set[str]:
    """The inputs of which it is known that they are not sensitive."""
    asked = stored.asked
    try:
        if stored.package or workflow in ("deploy", "upgrade"):
            path = package_path(call.services.home, stored.package) if stored.package else None
            reads = await reads_of_call(call)
            about = ServiceInputsAsked(
                service=seen_from_ensemble(path, reads[0]) if path else "",
                environment=asked.environment,
                inputs=asked.inputs,
                input_texts=asked.texts,
            )
            body = await ask_process(call, SERVICE_INPUTS, about, (*reads, *([str(path)] if path else ())))
            known = msgspec.json.decode(body, type=ServiceInputsData).inputs
            return {one.input.name for one in known if not one.input.sensitive and one.value != SHOWN}
        if workflow == "workflow":
            body = await ask_process(call, WORKFLOW, NamedAsked(name=str(asked.fields.get("name", ""))))
            return {one.name for one in msgspec.json.decode(body, type=WorkflowData).inputs if not one.sensitive}
    except (ApiProblem, EnsembleError, OSError):
        # What cannot be read says nothing about its inputs.
        return set()
    return set()


# ---------------------------------------------------------------------------------------- approving, applying, leaving


OWN = (
    "nobody approves or rejects a plan of their own, nor one of an account whose token they have made",
    "somebody else who may approve has to look at it",
)
UNKNOWN_AUTHOR = (
    "an account has asked for this plan, and nobody knows who made its token: that was done by an earlier version",
    "make a new token of the account, and ask for it again; what an account has scheduled is to be saved again",
)


async def _decide(call: ApiCall) -> Reply:
    given: ApprovalDecision = call.body
    of, plan, who = (call.project, call.ensemble), call.path["id"], call.principal

    def decide(connection: Connection) -> Reply:
        row = plan_row(connection, of, plan)
        _must_be(row, (PlanState.READY, PlanState.WAITING), given.digest)
        if _is_own(connection, call, row) and not _author_may(connection, row):
            raise ApiProblem("own-plan", *(OWN if people_behind(connection, row) is not None else UNKNOWN_AUTHOR))
        if who.kind != USER:
            raise ApiProblem("forbidden", "only users approve and reject", "sign in as a user")
        mine = (APPROVALS.c.plan == plan) & (APPROVALS.c.who == who.id)
        connection.execute(delete(APPROVALS).where(mine))
        values = {"digest": given.digest, "decision": given.decision, "comment": given.comment}
        connection.execute(insert(APPROVALS).values(plan=plan, who=who.id, **values, created=call.now))
        if given.decision == "reject":
            move(connection, plan, PlanState.REJECTED, call.now)
        elif row.state == PlanState.WAITING and is_ready_to_go(connection, row):
            go_on(connection, plan, PlanState.QUEUED, call.now)
        return Reply(shown(connection, call, plan_row(connection, of, plan)))

    try:
        reply = await call.change(f"plan.{given.decision}", decide, about=plan, detail=given.digest)
    except ApiProblem as problem:
        if problem.code in ("own-plan", "forbidden"):
            await call.denied(f"{plan}: {problem.code}")
        raise
    call.services.keeper.wake()
    return reply


def _author_may(connection: Connection, row: Row[Any]) -> bool:
    return any(one.author_may for one in approvals(connection, row).wanted)


def _must_be(row: Row[Any], states: tuple[PlanState, ...], digest: str) -> None:
    if PlanState(row.state) not in states:
        hint = "read the plan: its state says how far it has come"
        raise ApiProblem("not-ready", f"this plan is {row.state}, not {' or '.join(states)}", hint)
    if row.digest != digest:
        hint = "read the plan again, and decide about that"
        raise ApiProblem("changed", "this is not the digest of the plan", hint)


async def _take_back(call: ApiCall) -> Reply:
    of, plan, who = (call.project, call.ensemble), call.path["id"], call.principal.id

    def take_back(connection: Connection) -> Reply:
        row = plan_row(connection, of, plan)
        if PlanState(row.state) not in (PlanState.READY, PlanState.WAITING):
            raise ApiProblem("not-ready", f"this plan is {row.state}: nothing can be taken back", "look at its job")
        connection.execute(delete(APPROVALS).where((APPROVALS.c.plan == plan) & (APPROVALS.c.who == who)))
        return Reply()

    return await call.change("plan.take-back", take_back, about=plan)


async def _apply(call: ApiCall) -> Reply:
    given: Applying = call.body
    of, plan = (call.project, call.ensemble), call.path["id"]
    row = await call.services.database.read(partial(plan_row, of=of, name=plan))
    await _must_apply(call, about(row).workflow or row.workflow)
    if row.state == PlanState.READY and row.digest == given.digest:
        await _refuse_stale(call, row)
    who = Author(call.principal.kind, call.principal.id).shown

    def apply(connection: Connection) -> Reply:
        row = plan_row(connection, of, plan)
        _must_be(row, (PlanState.READY,), given.digest)
        to = PlanState.QUEUED if is_ready_to_go(connection, row) else PlanState.WAITING
        go_on(connection, plan, to, call.now, applied=who)
        return Reply(shown(connection, call, plan_row(connection, of, plan)))

    reply = await call.change("plan.apply", apply, about=plan, detail=given.digest)
    call.services.keeper.wake()
    return await _waited(call, reply)


async def _refuse_stale(call: ApiCall, row: Row[Any]) -> None:
    """Refuse what cannot be carried out any more, as far as that is seen without planning again."""
    directory = await call.services.database.read(partial(directory_of, project=call.project, ensemble=call.ensemble))
    if await asyncio.to_thread(freshness, about(row).marks, directory) == "stale":
        await call.services.database.write(lambda c: move(c, row.id, PlanState.STALE, call.now))
        hint = "ask for it again, look at the new plan, and apply that"
        said = "what the user gives to the ensemble has changed since it was made"
        again = NextStep("make it anew, and look at it", ("plan", row.workflow))
        raise ApiProblem("stale-plan", said, hint, following=(again,))


async def _discard(call: ApiCall) -> Reply:
    of, plan = (call.project, call.ensemble), call.path["id"]
    row = await call.services.database.read(partial(plan_row, of=of, name=plan))
    if not _is_author(call, row) and not call.may(Permission.CONTROL, *of):
        await call.denied(f"needs {Permission.CONTROL}")
        hint = f'ask the owners of the project "{call.project}" for a role that has "control"'
        raise ApiProblem("forbidden", "only its author, and who may control, can discard a plan", hint)

    def discard(connection: Connection) -> Reply:
        row = plan_row(connection, of, plan)
        if PlanState(row.state) not in UNBEGUN:
            hint = "cancel its job" if row.state == PlanState.RUNNING else "there is nothing to discard"
            raise ApiProblem("not-ready", f"this plan is {row.state}", hint)
        move(connection, plan, PlanState.DISCARDED, call.now)
        return Reply(shown(connection, call, plan_row(connection, of, plan)))

    return await call.change("plan.discard", discard, about=plan)


_PLANS, _PLAN = ENSEMBLE + "/plans", ENSEMBLE + "/plans/{id}"
_READ, _UNKNOWN = Permission.READ, ("unknown-plan",)

TABLE = (
    route("POST", _PLANS, Permission.PLAN, "Ask for a plan; with `apply: auto` also for its job.", _ask,
          body=PlanWanted, answers=(AskedPlan,), status=202, keyed=True, problems=("forbidden",), verb="plan"),
    route("GET", _PLANS, _READ, "The plans of an ensemble, the newest first.", _list, query=PlanFields,
          answers=(ListPart[AskedPlan],), problems=("bad-cursor",), verb="plans list"),
    route("GET", BASE + "/inbox", Access.ME, "What waits for my approval, and my plans that need me.", _inbox,
          answers=(ListPart[AskedPlan],), verb="plans list"),
    route("GET", _PLAN, _READ, "A plan: how far it has come, its risks, approvals, place, job.", _show,
          answers=(AskedPlan,), problems=_UNKNOWN, verb="plans show"),
    route("GET", _PLAN + "/plan", _READ, "What the plan does: all of it, or a part of one of its lists.", _plan,
          query=PartFields, answers=PLAN_PARTS, verb="plans show",
          problems=(*_UNKNOWN, "not-ready", "forgotten", "bad-cursor")),
    route("GET", _PLAN + "/topology", _READ, "What the plan changes, as a picture.", _topology, query=TopologyQuery,
          answers=(PlanTopologyData,), problems=(*_UNKNOWN, "not-ready", "forgotten"), verb="plans show"),
    route("GET", _PLAN + "/request", Permission.PLAN, "What was asked for, to ask for it once more; without secrets.",
          _again, answers=(AskedAgain,), problems=(*_UNKNOWN, "forgotten"), verb="plans show"),
    route("GET", _PLAN + "/file", _READ, "The plan as a file for `ordito deploy FILE`; no secret is in it.", _file,
          problems=(*_UNKNOWN, "not-ready", "forgotten"), media=SAVED_MEDIA, verb="plans show"),
    route("GET", _PLAN + "/report", Permission.LOGS, "How the job of the plan ended.", _report,
          answers=(PlanReport,), problems=(*_UNKNOWN, "not-ready", "forgotten"), verb="plans show"),
    route("POST", _PLAN + "/approvals", Permission.APPROVE, "Approve or reject a plan of somebody else.", _decide,
          body=ApprovalDecision, answers=(AskedPlan,), keyed=True, verb="plans approve",
          problems=(*_UNKNOWN, "own-plan", "not-ready", "changed", "forbidden")),
    route("DELETE", _PLAN + "/approvals/mine", Permission.APPROVE, "Take one's approval back.", _take_back,
          status=204, problems=(*_UNKNOWN, "not-ready"), verb="plans approve"),
    route("POST", _PLAN + "/apply", Permission.PLAN, "Carry out a plan, which its workflow permits.", _apply,
          body=Applying, answers=(AskedPlan,), status=202, keyed=True, verb="plans apply",
          problems=(*_UNKNOWN, "forbidden", "not-ready", "changed", "stale-plan")),
    route("POST", _PLAN + "/discard", Permission.PLAN, "Discard a plan that has not begun: one's own, or by control.",
          _discard, answers=(AskedPlan,), keyed=True, problems=(*_UNKNOWN, "forbidden", "not-ready"),
          verb="plans discard"),
)  # fmt: skip
