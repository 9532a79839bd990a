"""Routes about ensembles: which there are, and all that can be seen of one."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Row, delete, insert, select

from ordito.ensemble.job_format import moment
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.ensemble.logs import frames_from
from ordito.results.answer import UseCase
from ordito.results.description import DESCRIBE, DescribeAsked
from ordito.results.hosts import HOSTS
from ordito.results.jobs import JOB, JOBS, JobAsked
from ordito.results.policies import POLICIES
from ordito.results.services import SPEC
from ordito.results.status import REVISIONS, STATUS
from ordito.results.topology import WORKFLOW, WORKFLOWS, NamedAsked
from ordito.server.call import ApiCall
from ordito.server.database.places import directory_of
from ordito.server.database.tables import BINDINGS, ENSEMBLES
from ordito.server.names import Name
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, FARTHEST, PROJECT, Fields, Handler, ListPart, Reply, Route


class EnsembleData(msgspec.Struct, frozen=True):
    """An ensemble that the server knows."""

    project: str
    name: str
    created: str
    exists: bool
    """Whether its directory holds an ensemble now."""

    holder: str | None
    """Who works on it now, null for nobody."""

    allowed: tuple[str, ...]
    """What who asks may do with it."""


class NewEnsemble(Fields, frozen=True):
    """An ensemble that exists already on the machine of the server."""

    name: Name
    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
    """The absolute path of its directory."""


async def _directory(call: ApiCall) -> str:
    return await call.services.database.read(lambda c: directory_of(c, call.project, call.ensemble))


def _ensemble(call: ApiCall, row: Row[Any]) -> EnsembleData:
    layout = Layout(Path(row.directory))
    owner = holder(layout) if layout.exists else None
    allowed = tuple(sorted(call.principal.permissions(row.project, row.name)))
    worker = str(owner) if owner is not None else None
    return EnsembleData(row.project, row.name, moment(row.created), layout.exists, worker, allowed)


async def _list(call: ApiCall) -> Reply:
    asked = select(ENSEMBLES).order_by(ENSEMBLES.c.project, ENSEMBLES.c.name)
    if call.project:
        asked = asked.where(ENSEMBLES.c.project == call.project)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    seen = [row for row in rows if call.may(Permission.READ, row.project, row.name)]
    # Each is looked at on the disk.
    return Reply(ListPart(await asyncio.to_thread(lambda: tuple(_ensemble(call, row) for row in seen)), None))


def _row(connection: Connection, project: str, name: str) -> Row[Any]:
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == name)
    return connection.execute(select(ENSEMBLES).where(mine)).one()


async def _show(call: ApiCall) -> Reply:
    row = await call.services.database.read(lambda connection: _row(connection, call.project, call.ensemble))
    return Reply(_ensemble(call, row))


async def _add(call: ApiCall) -> Reply:
    given: NewEnsemble = call.body
    if Permission.ADMINISTER not in call.principal.on_server:
        await call.denied("a path of the server")
        hint = "ask an administrator of the server to add it"
        raise ApiProblem("forbidden", "a path of the server's machine is only for its administrators", hint)
    if not os.path.isabs(given.path) or not Layout(Path(given.path)).exists:  # noqa: PTH117
        hint = "name the directory that has its ensemble.yaml, from / on"
        raise ApiProblem("no-ensemble", f"{given.path} holds no ensemble", hint)

    def add(connection: Connection) -> Reply:
        mine = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == given.name)
        path = str(Path(given.path))
        if connection.execute(select(ENSEMBLES.c.name).where(mine)).first() is not None:
            raise ApiProblem("exists", f'there is an ensemble "{given.name}" already', "take another name")
        used = connection.execute(select(ENSEMBLES).where(ENSEMBLES.c.directory == path)).first()
        if used is not None:
            raise ApiProblem("exists", f"{path} is {used.project}/{used.name} already", "use that one")
        row = {"project": call.project, "name": given.name, "directory": path}
        connection.execute(insert(ENSEMBLES).values(**row, created=call.now))
        return Reply(_ensemble(call, _row(connection, call.project, given.name)))

    return await call.change("ensemble.add", add, about=given.name, detail=given.path)


async def _remove(call: ApiCall) -> Reply:
    def remove(connection: Connection) -> Reply:
        mine = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == call.ensemble)
        connection.execute(delete(ENSEMBLES).where(mine))
        bound = (BINDINGS.c.project == call.project) & (BINDINGS.c.ensemble == call.ensemble)
        connection.execute(delete(BINDINGS).where(bound))
        return Reply()

    return await call.change("ensemble.remove", remove, about=call.ensemble)


# ----------------------------------------------------------------------------------------------------------- looks


PRINTED = {STATUS.name: "outputs", JOB.name: "printed"}
"""The parameter of a look that asks for what was printed or given out: only for those who may see that."""


def _look(use_case: UseCase[Any, Any], *, keeps: bool = True, named: str = "") -> Handler:
    """A handler that asks a look. ``named`` is the parameter that the path has, under the same name."""
    printed = PRINTED.get(use_case.name, "")

    async def handler(call: ApiCall) -> Reply:
        asked = call.query
        if named and getattr(asked, named):
            raise ApiProblem("malformed", f'the query has "{named}", which the path says already', "leave it out")
        if named:
            asked = msgspec.structs.replace(asked, **{named: _meant(use_case, call.path[named])})
        if printed and not call.may(Permission.LOGS, call.project, call.ensemble):
            asked = msgspec.structs.replace(asked, **{printed: False})
        found = await call.services.answers.ask(use_case.name, await _directory(call), asked, keeps=keeps)
        return Reply(found.body, headers={"ETag": found.etag})

    return handler


LATEST = "latest"
"""Stands in a path for the latest job."""


def _meant(use_case: UseCase[Any, Any], name: str) -> str:
    return "" if use_case is JOB and name == LATEST else name


class _DescribeQuery(DescribeAsked, frozen=True):
    """Nothing besides the name in the path."""

    name: str = ""


class _WorkflowQuery(NamedAsked, frozen=True):
    """Nothing besides the name in the path."""

    name: str = ""


class LogFields(Fields, frozen=True):
    """Which part of a log is wanted."""

    after: Annotated[int, msgspec.Meta(ge=0, le=FARTHEST)] = 0
    """The offset at which it begins: 0, or one that was given as ``next``."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] = 1 << 18
    """About how many bytes."""

    step: str = ""
    """The step, "" for all."""


class LogPiece(msgspec.Struct, frozen=True):
    """What a step has printed."""

    step: str
    text: str


class LogData(msgspec.Struct, frozen=True):
    """A part of what the operations of a job printed."""

    pieces: tuple[LogPiece, ...]
    next: int
    """The offset at which the rest begins."""

    complete: bool
    """Whether there is nothing more now."""


async def _log(call: ApiCall) -> Reply:
    fields: LogFields = call.query
    directory = await _directory(call)
    # Who asks for a job that is not known, or whose output is not kept, is told so as ever.
    asked = JobAsked(_meant(JOB, call.path["job"]), 0)
    found = await call.services.answers.ask(JOB.name, directory, asked)
    job = _job_id(found.body)
    layout = Layout(Path(directory))
    path = layout.log(job)
    if not path.exists() and not layout.events(job).exists():
        hint = "its record says what it did: `ordito jobs show`"
        raise ApiProblem("forgotten", f"what the operations of job {job} printed is not kept any more", hint)
    frames = list(frames_from(path, fields.after, fields.limit))
    end = frames[-1].end if frames else fields.after
    pieces = tuple(
        LogPiece(frame.step, frame.content.decode("utf-8", "replace"))
        for frame in frames
        if not fields.step or frame.step == fields.step
    )
    is_whole = not path.exists() or end >= path.stat().st_size
    return Reply(LogData(pieces, end, is_whole))


class _Head(msgspec.Struct):
    change_id: str = msgspec.field(name="changeId", default="")


class _Job(msgspec.Struct):
    job: _Head | str


def _job_id(body: bytes) -> str:
    """The whole id of a job, in the answer about it."""
    found = msgspec.json.decode(body, type=_Job).job
    return found if isinstance(found, str) else found.change_id


def _route(method: str, path: str, access: Permission, summary: str, handler: Any, **more: Any) -> Route:
    return Route(method=method, path=path, access=access, summary=summary, handler=handler, **more)


_READ, _CONFIGURE = Permission.READ, Permission.CONFIGURE
_UNKNOWN = ("unknown-project", "unknown-ensemble")


def _look_route(
    path: str,
    use_case: UseCase[Any, Any],
    summary: str,
    *,
    named: str = "",
    keeps: bool = True,
    problems: tuple[str, ...] = (),
    **more: Any,
) -> Route:
    return Route(
        method="GET",
        path=ENSEMBLE + path,
        summary=summary,
        answers=use_case.results,
        problems=(*_UNKNOWN, "no-ensemble", "ensemble", "too-costly", *problems),
        verb=use_case.name,
        handler=_look(use_case, named=named, keeps=keeps),
        **{"access": _READ, "query": use_case.asked, **more},
    )


TABLE = (
    _route("GET", BASE + "/ensembles", _READ, "The ensembles that I see.", _list, answers=(ListPart[EnsembleData],)),
    _route("GET", PROJECT + "/ensembles", _READ, "The ensembles of a project that I may see.", _list,
           answers=(ListPart[EnsembleData],), problems=("unknown-project",)),
    _route("POST", PROJECT + "/ensembles", _CONFIGURE, "Add an ensemble that exists on the server's machine.", _add,
           body=NewEnsemble, answers=(EnsembleData,), status=201, keyed=True,
           problems=("unknown-project", "forbidden", "no-ensemble", "exists")),
    _route("GET", ENSEMBLE, _READ, "An ensemble.", _show, answers=(EnsembleData,), problems=_UNKNOWN),
    _route("DELETE", ENSEMBLE, _CONFIGURE, "Let the server forget an ensemble; its directory stays as it is.", _remove,
           status=204, problems=_UNKNOWN),
    _look_route("/status", STATUS, "What exists, with the status of each instance."),
    _look_route("/nodes/{name}", DESCRIBE, "All that is known about a node or an instance.", query=_DescribeQuery,
                named="name", problems=("unknown-name", "ambiguous-name")),
    _look_route("/revisions", REVISIONS, "What was deployed, and when."),
    _look_route("/workflows", WORKFLOWS, "The workflows of the deployed service."),
    _look_route("/workflows/{name}", WORKFLOW, "A workflow: its inputs and steps.", query=_WorkflowQuery, named="name",
                problems=("unknown-workflow",)),
    _look_route("/policies", POLICIES, "What triggers wait for, and did."),
    _look_route("/policies/{name}", POLICIES, "One policy.", named="name",
                problems=("unknown-policy",)),
    _look_route("/hosts", HOSTS, "The hosts of the inventory, and who uses them.", keeps=False),
    _look_route("/spec/evaluated", SPEC, "What the user's part of the ensemble comes to.", keeps=False,
                access=Permission.PLAN),
    _look_route("/jobs", JOBS, "The jobs, the latest first."),
    _look_route("/jobs/{job}", JOB, "A job, or the `latest`: its record, or its progress.", named="job",
                problems=("unknown-job", "ambiguous-job", "no-record")),
    _route("GET", ENSEMBLE + "/jobs/{job}/log", Permission.LOGS, "What the operations of a job printed.", _log,
           query=LogFields, answers=(LogData,), verb="jobs logs",
           problems=(*_UNKNOWN, "unknown-job", "ambiguous-job", "forgotten")),
)  # fmt: skip
