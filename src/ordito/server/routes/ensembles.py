"""Routes about all that can be seen of an ensemble."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import frames_from
from ordito.results.answer import UseCase
from ordito.results.description import DESCRIBE, DescribeAsked
from ordito.results.hosts import HOSTS
from ordito.results.instances import INSTANCES, NODES
from ordito.results.jobs import JOB, JOBS, JobAsked
from ordito.results.picture.topology import TOPOLOGY
from ordito.results.policies import POLICIES
from ordito.results.services import SPEC
from ordito.results.status import REVISIONS, STATUS
from ordito.results.timeline import JOB_CHANGES, JOB_STEPS, TIMELINE
from ordito.results.topology import WORKFLOW, WORKFLOWS, NamedAsked
from ordito.server.call import ApiCall
from ordito.server.live.ensemble import present_place, whole_end
from ordito.server.live.topics import cursor_text
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, FARTHEST, Fields, Handler, Reply, Route
from ordito.source.reach import within


async def _reads(call: ApiCall) -> tuple[str, ...]:
    """What may be read to answer: the directory of the ensemble first."""
    return await call.services.database.read(lambda c: reads_of(c, call.services.home, call.project, call.ensemble))


# ----------------------------------------------------------------------------------------------------------- looks


PRINTED = {STATUS.name: "outputs", **dict.fromkeys((JOB.name, JOB_STEPS.name, JOB_CHANGES.name), "printed")}
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
        # Before it is read: a stream that begins here may tell a thing twice, and leaves nothing out.
        cursor = cursor_text({_topic(call): present_place(reads[0]).text})
        found = await call.services.answers.ask(use_case.name, reads[0], asked, keeps=keeps, reads=reads)
        return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor})

    return handler


def _topic(call: ApiCall) -> str:
    """The topic of the ensemble that the path names."""
    return f"ensemble:{call.project}/{call.ensemble}"


def _of_job(use_case: UseCase[Any, Any]) -> Handler:
    """A handler that asks a look about the job that the path names; the cursor with its answer is one of that job."""
    printed = PRINTED.get(use_case.name, "")

    async def handler(call: ApiCall) -> Reply:
        asked = call.query
        if asked.job:
            raise ApiProblem("malformed", 'the query has "job", which the path says already', "leave it out")
        reads = await _reads(call)
        job = await _whole_id(call, reads)
        asked = msgspec.structs.replace(asked, job=job)
        if printed and not call.may(Permission.LOGS, call.project, call.ensemble):
            asked = msgspec.structs.replace(asked, **{printed: False})
        end = whole_end(reads[0], job)
        found = await call.services.answers.ask(use_case.name, reads[0], asked, reads=reads, mark=str(end))
        cursor = cursor_text({f"job:{call.project}/{call.ensemble}/{job}": end})
        return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor})

    return handler


async def _whole_id(call: ApiCall, reads: tuple[str, ...]) -> str:
    """The whole id of the job that the path names by its beginning, or as the latest. Raises ``ApiProblem``."""
    named = call.path["job"]
    if is_change_id(named) and Layout(Path(reads[0])).events(named).exists():
        return named
    found = await call.services.answers.ask(JOB.name, reads[0], JobAsked(_meant(JOB, named), 0), reads=reads)
    return _job_id(found.body)


LATEST = "latest"
"""Stands in a path for the latest job."""


def _meant(use_case: UseCase[Any, Any], name: str) -> str:
    return "" if use_case is JOB and name == LATEST else name


class _DescribeQuery(DescribeAsked, frozen=True):
    """Nothing besides the name in the path."""

    name: str = ""


class _InstanceQuery(Fields, frozen=True):
    """Nothing besides the name in the path."""


async def _instance(call: ApiCall) -> Reply:
    reads = await _reads(call)
    cursor = cursor_text({_topic(call): present_place(reads[0]).text})
    asked = DescribeAsked(f"instance:{call.path['name']}", MOST_CHANGES)
    found = await call.services.answers.ask(DESCRIBE.name, reads[0], asked, reads=reads)
    return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor})


MOST_CHANGES = 20
"""How many of the last changes of an instance are told."""


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
    job = await _whole_id(call, (directory,))
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


_READ = Permission.READ
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
        **{
            "access": _READ,
            "query": use_case.asked,
            "verb": use_case.name,
            "handler": _look(use_case, named=named, keeps=keeps),
            **more,
        },
    )


def _job_route(path: str, use_case: UseCase[Any, Any], summary: str, **more: Any) -> Route:
    problems = ("unknown-job", "ambiguous-job", "no-jobs", "no-record", *more.pop("problems", ()))
    return _look_route(f"/jobs/{{job}}{path}", use_case, summary, handler=_of_job(use_case), problems=problems, **more)


TABLE = (
    _look_route("/status", STATUS, "What exists, with the status of each instance."),
    _look_route("/topology", TOPOLOGY, "What exists as a picture: boxes, lines, states in columns.",
                verb="status"),
    _look_route("/nodes", NODES, "The nodes, with how their instances are.", verb="status"),
    _look_route("/instances", INSTANCES, "The instances, by page.", verb="status"),
    _look_route("/instances/{name}", DESCRIBE, "All that is known about an instance, with its last changes.",
                handler=_instance, query=_InstanceQuery, problems=("unknown-name",)),
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
    _job_route("/timeline", TIMELINE, "When everything in a job happened, in columns.", verb="jobs show"),
    _job_route("/steps", JOB_STEPS, "The steps of a job, with their attempts, reasons, and what they wait for.",
               verb="jobs show"),
    _job_route("/changes", JOB_CHANGES, "What the tasks of a job did, and what that changed.", verb="jobs show",
               problems=("unfinished-job",)),
    _look_route("/jobs/{job}", JOB, "A job, or the `latest`: its record, or its progress.", named="job",
                problems=("unknown-job", "ambiguous-job", "no-record")),
    _route("GET", ENSEMBLE + "/jobs/{job}/log", Permission.LOGS, "What the operations of a job printed.", _log,
           query=LogFields, answers=(LogData,), verb="jobs logs",
           problems=(*_UNKNOWN, "unknown-job", "ambiguous-job", "forgotten")),
)  # fmt: skip
