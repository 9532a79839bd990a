"""Routes about one job: what it did and when, and what its operations printed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import LogPart, log_part, log_part_before
from ordito.results.answer import UseCase
from ordito.results.jobs import JOB, JobAsked
from ordito.results.log_search import LOG_FACETS, LOG_SEARCH, is_of
from ordito.results.report.report import JOB_REPORT, ReportAsked
from ordito.results.report.style import POLICY
from ordito.results.timeline import JOB_CHANGES, JOB_STEPS, TIMELINE
from ordito.server.call import ApiCall
from ordito.server.live.ensemble import whole_end
from ordito.server.live.topics import cursor_text
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, FARTHEST, Fields, Handler, Reply, Route
from ordito.server.routes.by_process import reads_of_call
from ordito.server.routes.ensembles import UNKNOWN, look_route
from ordito.source.reach import within

PRINTED = frozenset({JOB.name, JOB_STEPS.name, JOB_CHANGES.name})
"""The looks that say what was printed to those who may see that."""

LATEST = "latest"
"""Stands in a path for the latest job."""

LONGEST_WAIT = 30


def _look(use_case: UseCase[Any, Any]) -> Handler:
    """A handler that asks a look about the job that the path names; the cursor with its answer is one of that job."""

    async def handler(call: ApiCall) -> Reply:
        reads = await reads_of_call(call)
        job = await whole_id(call, reads)
        asked = _asked(call, job)
        if use_case.name in PRINTED and not call.may(Permission.LOGS, call.project, call.ensemble):
            asked = msgspec.structs.replace(asked, printed=False)
        end = whole_end(reads[0], job)
        found = await call.services.answers.ask(use_case.name, reads[0], asked, reads=reads, mark=str(end))
        cursor = cursor_text({f"job:{call.project}/{call.ensemble}/{job}": end})
        return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor}, gzip=found.gzip)

    return handler


def _asked(call: ApiCall, job: str) -> Any:
    if call.query.job:
        raise ApiProblem("malformed", 'the query has "job", which the path says already', "leave it out")
    return msgspec.structs.replace(call.query, job=job)


async def whole_id(call: ApiCall, reads: tuple[str, ...]) -> str:
    """The whole id of the job that the path names by its beginning, or as the latest. Raises ``ApiProblem``."""
    named = call.path["job"]
    if is_change_id(named) and Layout(Path(reads[0])).events(named).exists():
        return named
    asked = JobAsked("" if named == LATEST else named, 0)
    found = await call.services.answers.ask(JOB.name, reads[0], asked, reads=reads)
    return _job_id(found.body)


class _Head(msgspec.Struct):
    change_id: str = msgspec.field(name="changeId", default="")


class _Job(msgspec.Struct):
    job: _Head | str


def _job_id(body: bytes) -> str:
    """The whole id of a job, in the answer about it."""
    found = msgspec.json.decode(body, type=_Job).job
    return found if isinstance(found, str) else found.change_id


# ---------------------------------------------------------------------------------------------------- what was printed


class LogFields(Fields, frozen=True):
    """Which part of a log is wanted."""

    after: Annotated[int, msgspec.Meta(ge=0, le=FARTHEST)] = 0
    """The offset at which it begins: 0, or one that was given as ``next``."""

    before: Annotated[int, msgspec.Meta(ge=-1, le=FARTHEST)] | None = None
    """In place of ``after``, the offset at which it ends: one that was given as ``begin``, or -1 for the end."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1 << 20)] = 1 << 18
    """About how many bytes."""

    step: str = ""
    """The step, "" for all."""

    instance: str = ""
    """Of the steps of this instance, "" for all."""

    operation: str = ""
    """Of the steps of this operation, "" for all."""

    wait: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_WAIT)] = 0
    """The seconds to wait for something, if there is nothing yet."""


class LogPiece(msgspec.Struct, frozen=True):
    """What a step has printed."""

    step: str
    text: str
    offset: int
    """Where it begins in the log."""


class LogData(msgspec.Struct, frozen=True):
    """A part of what the operations of a job printed."""

    pieces: tuple[LogPiece, ...]
    begin: int
    """The offset at which it begins: what comes earlier is read with it as ``before``; 0 at the beginning."""

    next: int
    """The offset at which the rest begins. There may be more though this part is empty, if little was wanted."""

    complete: bool
    """Whether there is nothing more now."""

    size: int
    """The size of the whole log."""


async def _log(call: ApiCall) -> Reply:
    fields: LogFields = call.query
    if fields.before is not None and fields.after:
        raise ApiProblem("malformed", 'the query has "after" and "before"', "give one of them")
    path = await kept_log(call)
    found = await asyncio.to_thread(_part, path, fields)
    if not found.frames and fields.wait and fields.before is None:
        found = await _waited(call, path, fields)
    size = path.stat().st_size if path.exists() else 0
    pieces = (LogPiece(one.step, one.content.decode("utf-8", "replace"), one.begin) for one in found.frames)
    headers = {
        "Ordito-Next": str(found.end),
        "Ordito-Complete": str(found.end >= size).lower(),
        "Ordito-Cursor": cursor_text({f"log:{call.project}/{call.ensemble}/{path.stem}": found.end}),
    }
    return Reply(LogData(tuple(pieces), found.begin, found.end, found.end >= size, size), headers=headers)


def _part(path: Path, fields: LogFields) -> LogPart:
    wanted = partial(is_of, step=fields.step, instance=fields.instance, operation=fields.operation)
    with within(path.parents[2]):
        if fields.before is not None:
            return log_part_before(path, None if fields.before < 0 else fields.before, fields.limit, wanted)
        return log_part(path, fields.after, fields.limit, wanted)


async def _waited(call: ApiCall, path: Path, fields: LogFields) -> LogPart:
    """What there is as soon as there is something, at the latest after the time that is asked for."""
    tail, until = call.services.topics.tail(path, keeps=False), time.monotonic() + fields.wait
    try:
        while True:
            changed = tail.changed
            found = await asyncio.to_thread(_part, path, fields)
            left = until - time.monotonic()
            if found.frames or left <= 0 or call.services.draining.is_set():
                return found
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), min(left, 1.0))
    finally:
        call.services.topics.leave(tail)


async def kept_log(call: ApiCall) -> Path:
    """The log of a job, whose reading is written down. Raises ``ApiProblem`` if it is not kept any more."""
    # Who asks for a job that is not known, or whose output is not kept, is told so as ever.
    reads = await reads_of_call(call)
    job = await whole_id(call, reads)
    layout = Layout(Path(reads[0]))
    path = layout.log(job)
    if not path.exists() and not layout.events(job).exists():
        hint = "its record says what it did: `ordito jobs show`"
        raise ApiProblem("forgotten", f"what the operations of job {job} printed is not kept any more", hint)
    await call.read("logs.read", job)
    return path


def _of_log(use_case: UseCase[Any, Any]) -> Handler:
    async def handler(call: ApiCall) -> Reply:
        path = await kept_log(call)
        asked = _asked(call, path.stem)
        reads = await reads_of_call(call)
        mark = str(path.stat().st_size) if path.exists() else ""
        found = await call.services.answers.ask(use_case.name, reads[0], asked, reads=reads, mark=mark)
        return Reply(found.body, headers={"ETag": found.etag}, gzip=found.gzip)

    return handler


HTML = "text/html; charset=utf-8"


async def _report(call: ApiCall) -> Reply:
    reads = await reads_of_call(call)
    job = await whole_id(call, reads)
    log = Layout(Path(reads[0])).log(job)
    mark = f"{whole_end(reads[0], job)} {log.stat().st_size if log.exists() else 0}"
    found = await call.services.answers.ask(JOB_REPORT.name, reads[0], ReportAsked(job), reads=reads, mark=mark)
    await call.read("report.read", job)
    headers = {
        "ETag": found.etag,
        # It has a style of its own, and is not to be taken for a page of this server.
        "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'; sandbox",
        "Content-Disposition": f'inline; filename="{job}.html"',
    }
    return Reply(found.body, headers=headers, media=HTML, gzip=found.gzip)


UNKNOWN_JOB = ("unknown-job", "ambiguous-job", "no-jobs")


def _route(path: str, use_case: UseCase[Any, Any], summary: str, **more: Any) -> Route:
    problems = (*UNKNOWN_JOB, "no-record", *more.pop("problems", ()))
    fields = {"handler": _look(use_case), "verb": "jobs show", **more}
    return look_route(f"/jobs/{{job}}{path}", use_case, summary, problems=problems, **fields)


def _log_route(path: str, use_case: UseCase[Any, Any], summary: str) -> Route:
    return _route(path, use_case, summary, handler=_of_log(use_case), access=Permission.LOGS, verb="jobs logs",
                  problems=("forgotten",))  # fmt: skip


TABLE = (
    _route("", JOB, "A job, or the `latest`: its record, or its progress."),
    _route("/timeline", TIMELINE, "When everything in a job happened, in columns."),
    _route("/steps", JOB_STEPS, "The steps of a job, with their attempts, reasons, and what they wait for."),
    _route("/changes", JOB_CHANGES, "What the tasks of a job did, so far if it goes on, and what that changed."),
    Route(method="GET", path=ENSEMBLE + "/jobs/{job}/log", access=Permission.LOGS, handler=_log, query=LogFields,
          summary="What the operations of a job printed, forwards or backwards.", answers=(LogData,), verb="jobs logs",
          problems=(*UNKNOWN, *UNKNOWN_JOB, "forgotten")),
    Route(method="GET", path=ENSEMBLE + "/jobs/{job}/report.html", access=Permission.LOGS, handler=_report, media=HTML,
          summary="A page about a job that needs neither a network nor scripts.", verb="jobs report",
          problems=(*UNKNOWN, *UNKNOWN_JOB, "no-record", "no-ensemble", "ensemble", "too-costly")),
    _log_route("/log/search", LOG_SEARCH, "Lines of the log in which a text is found."),
    _log_route("/log/facets", LOG_FACETS, "How much each step, instance and operation has printed."),
)  # fmt: skip
