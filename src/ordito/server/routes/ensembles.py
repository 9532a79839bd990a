"""Routes about all that can be seen of an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from ordito.ensemble.layout import Layout
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
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, FARTHEST, Fields, Handler, Reply, Route
from ordito.source.reach import within


async def _reads(call: ApiCall) -> tuple[str, ...]:
    """What may be read to answer: the directory of the ensemble first."""
    return await call.services.database.read(lambda c: reads_of(c, call.services.home, call.project, call.ensemble))


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
        reads = await _reads(call)
        found = await call.services.answers.ask(use_case.name, reads[0], asked, keeps=keeps, reads=reads)
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
    directory = (await _reads(call))[0]
    # Who asks for a job that is not known, or whose output is not kept, is told so as ever.
    asked = JobAsked(_meant(JOB, call.path["job"]), 0)
    found = await call.services.answers.ask(JOB.name, directory, asked)
    job = _job_id(found.body)
    layout = Layout(Path(directory))
    path = layout.log(job)
    if not path.exists() and not layout.events(job).exists():
        hint = "its record says what it did: `ordito jobs show`"
        raise ApiProblem("forgotten", f"what the operations of job {job} printed is not kept any more", hint)
    if not fields.after:
        # Who reads on has been written down already.
        await call.read("logs.read", job)
    with within(directory):
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
