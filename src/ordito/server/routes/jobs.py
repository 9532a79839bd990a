"""Routes about the jobs of all ensembles, and those that change one: cancelling and resuming it."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, select

from ordito.app.job.jobs import INTERRUPTED, RUNNING
from ordito.app.work_items import ResumeItem
from ordito.engine.messages import CANCELLED
from ordito.ensemble.backing import backing_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.ensemble.owner import CANCEL, NOW, ask
from ordito.instances.status import DEGRADED, OK
from ordito.results.jobs import JOBS
from ordito.server.answers import KeptAnswer
from ordito.server.call import TEXT, ApiCall, cursor_of, key_in
from ordito.server.database.tables import ENSEMBLES, PLANS
from ordito.server.live.topics import overall_cursor
from ordito.server.names import check_value
from ordito.server.permissions import Access, Permission
from ordito.server.places import directory_of, reads_of_row
from ordito.server.plans.store import Author, frozen_by
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, Fields, Reply, Route, Wanted
from ordito.source.reach import within


class Cancelling(Fields, frozen=True):
    """How a job is to end."""

    now: bool = False
    """Whether its running steps are ended."""


class JobAskedData(msgspec.Struct, frozen=True):
    """What was asked of a job."""

    job: str
    asked: str
    """``cancel``: the process that runs it was asked; ``close``: nobody runs it, and it is closed; ``resume``."""


async def _cancel(call: ApiCall) -> Reply:
    given: Cancelling = call.body
    directory, job = await _open_job(call)
    layout = Layout(Path(directory))
    kept = await call.begin()
    if kept is not None:
        # Asked a second time, it would end what runs.
        return kept
    try:
        by = Author(call.principal.kind, call.principal.id).shown
        how = NOW if given.now else CANCEL
        is_heard = await asyncio.to_thread(call.services.places.cancel, directory, job, how)
        if is_heard is None:
            is_heard = await asyncio.to_thread(ask, layout, job, how, by)
        if not is_heard:
            # Nobody listens: it was interrupted, or is being closed.
            await _must_be_free(layout)
            await _start(call, ResumeItem(directory, cancels=True, by=by))
    except (ApiProblem, EnsembleError, OSError):
        await call.let_go()
        raise
    found = JobAskedData(job, "cancel" if is_heard else "close")
    return await call.change("job.cancel", lambda _: Reply(found), about=job, detail="now" if given.now else "")


async def _resume(call: ApiCall) -> Reply:
    directory, job = await _open_job(call)
    now_frozen = partial(frozen_by, project=call.project, ensemble=call.ensemble, now=call.now)
    frozen = await call.services.database.read(now_frozen)
    if frozen is not None:
        raise ApiProblem("frozen", f"nothing begins or goes on here now: {frozen}", "end the freeze first")
    kept = await call.begin()
    if kept is not None:
        return kept
    try:
        await _must_be_free(Layout(Path(directory)))
        await _start(call, ResumeItem(directory))
    except (ApiProblem, EnsembleError, OSError):
        await call.let_go()
        raise
    return await call.change("job.resume", lambda _: Reply(JobAskedData(job, "resume")), about=job)


async def _start(call: ApiCall, item: ResumeItem) -> None:
    task = await call.services.plan_parts.task_of(item, call.project, call.ensemble)
    if not await call.services.runners.start(f"resume-{call.project}.{call.ensemble}", task):
        raise ApiProblem("locked", "somebody has just begun to work on this ensemble", "look at it again", again_in=2)


async def _must_be_free(layout: Layout) -> None:
    owner = await asyncio.to_thread(holder, layout)
    if owner is not None:
        hint = "wait until that command has ended"
        raise ApiProblem("locked", f"the ensemble is locked by {owner}", hint, again_in=5)


async def _open_job(call: ApiCall) -> tuple[str, str]:
    """The directory of the ensemble, and the whole id of the job that has not ended. Raises ``ApiProblem``."""
    named = partial(directory_of, project=call.project, ensemble=call.ensemble)
    directory = await call.services.database.read(named)
    wanted, layout = call.path["job"], Layout(Path(directory))
    found = await asyncio.to_thread(_unfinished, layout)
    if found and found.startswith(wanted):
        return directory, found
    if any(job.startswith(wanted) for job in await asyncio.to_thread(layout.job_ids)):
        hint = f"the job that has not ended is {found}" if found else "no job runs, and none was interrupted"
        raise ApiProblem("job-ended", f"job {wanted[:40]} has ended", hint)
    raise ApiProblem("unknown-job", f'there is no job "{wanted[:40]}"', "the list of jobs has their ids")


def _unfinished(layout: Layout) -> str:
    """The job that has not ended, "" for none. Raises ``EnsembleError``."""
    with within(layout.root):
        journal = backing_of(layout).read_journal(layout)
        if journal is None:
            return ""
        with journal:
            frame = journal.frame()
    return frame[0].id if frame is not None else ""


OUTCOMES = (RUNNING, INTERRUPTED, "failed", DEGRADED, CANCELLED, OK)


class JobsFields(Fields, frozen=True):
    """Which jobs are wanted."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    status: str = ""
    """How they ended, or ``running`` or ``interrupted``."""

    workflow: str = ""
    ensemble: str = ""
    """Of this ensemble only, as PROJECT/ENSEMBLE."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in what is told of them."""

    after: str = ""
    """The cursor with which the part before it ended, "" for the first part."""

    by: Annotated[str, msgspec.Meta(max_length=300)] = ""
    """Who has asked for them, as ``by`` of a job."""

    since: datetime | None = None
    """They began at this moment or later; without a time zone it is one in UTC."""

    until: datetime | None = None
    """They began before this moment."""

    sort: Literal["newest", "oldest"] = "newest"
    """Which of them come first."""

    fields: Wanted = ""
    """The fields of each item that are wanted, with commas between their names; "" for all."""


class KnownJob(msgspec.Struct, frozen=True):
    """A job of an ensemble."""

    project: str
    ensemble: str
    id: str
    workflow: str
    outcome: str
    start: str
    seconds: float | None
    summary: str
    by: str = ""
    """Who has asked for it, "" where it was not begun by a plan of this server."""


class KnownJobs(msgspec.Struct, frozen=True):
    """The newest jobs of all ensembles that one may see, or the oldest."""

    items: tuple[KnownJob, ...]
    missing: tuple[str, ...]
    """The ensembles that could not be asked in time, or cannot be read."""

    next: str | None
    """The cursor of the rest, null at the end."""


class _ListedJob(msgspec.Struct, frozen=True):
    id: str
    workflow: str
    outcome: str
    start: str
    seconds: float | None
    summary: str


class _Lines(msgspec.Struct):
    jobs: tuple[_ListedJob, ...]


_LINES = msgspec.json.Decoder(_Lines)


async def _jobs(call: ApiCall) -> Reply:
    fields: JobsFields = call.query
    check_value("status", fields.status, OUTCOMES)
    services = call.services
    behind = key_in(fields.after, TEXT)
    # Before they are read: who follows from here on may be told a thing twice, and misses nothing.
    cursor = overall_cursor(services.outbox.newest)
    rows = await services.database.read(lambda connection: connection.execute(select(ENSEMBLES)).all())
    seen = [row for row in rows if call.may(Permission.READ, row.project, row.name)]
    seen = [row for row in seen if fields.ensemble in ("", f"{row.project}/{row.name}")]
    there = await asyncio.to_thread(lambda: [row for row in seen if Layout(Path(row.directory)).exists])
    reads = [reads_of_row(row, services.home) for row in there]
    answers = await services.answers.of_many(JOBS.name, reads, PATIENCE)
    known = list(zip([(row.project, row.name) for row in there], answers, strict=True))
    authors = await services.database.read(partial(_authors, of={one for one, _ in known}))
    found = await asyncio.to_thread(_first, known, authors, fields, behind)
    return Reply(found, headers={"Ordito-Cursor": cursor})


Authors = Mapping[tuple[str, str, str], str]
"""Who has asked for the jobs of plans, by project, ensemble and job: two ensembles can have jobs of one id."""


def _authors(connection: Connection, of: Set[tuple[str, str]]) -> Authors:
    """Those of the jobs of some ensembles."""
    asked = select(PLANS.c.project, PLANS.c.ensemble, PLANS.c.job, PLANS.c.kind, PLANS.c.who).where(PLANS.c.job != "")
    if len(of) == 1:
        [(project, ensemble)] = of
        asked = asked.where(PLANS.c.project == project, PLANS.c.ensemble == ensemble)
    rows = (row for row in connection.execute(asked) if (row.project, row.ensemble) in of)
    return {(row.project, row.ensemble, row.job): Author(row.kind, row.who).shown for row in rows}


def _first(
    answers: Sequence[tuple[tuple[str, str], object]],
    authors: Authors,
    fields: JobsFields,
    behind: str | None,
) -> KnownJobs:
    """The first jobs in the lists of ensembles, of which each may be very long, or those behind a place."""
    found: list[KnownJob] = []
    missing, is_newest = [], fields.sort == "newest"
    for (project, name), answer in answers:
        if not isinstance(answer, KeptAnswer):
            missing.append(f"{project}/{name}")
            continue
        lines = (line for line in _LINES.decode(answer.body).jobs if _fits(line, project, name, authors, fields))
        further = (line for line in lines if behind is None or _is_behind(line, behind, is_newest))
        first = (heapq.nlargest if is_newest else heapq.nsmallest)(fields.limit + 1, further, key=_place)
        found += [
            KnownJob(project, name, **msgspec.structs.asdict(line), by=authors.get((project, name, line.id), ""))
            for line in first
        ]
    found.sort(key=_place, reverse=is_newest)
    items = tuple(found[: fields.limit])
    after = cursor_of(_place(items[-1])) if len(found) > fields.limit else None
    return KnownJobs(items, tuple(missing), after)


def _is_behind(line: _ListedJob, place: str, is_newest: bool) -> bool:
    return _place(line) < place if is_newest else _place(line) > place


def _place(job: _ListedJob | KnownJob) -> str:
    """Where a job stands in the list, by when it began."""
    return f"{job.start} {job.id}"


def _fits(line: _ListedJob, project: str, ensemble: str, authors: Authors, fields: JobsFields) -> bool:
    by = authors.get((project, ensemble, line.id), "")
    if fields.by not in ("", by):
        return False
    text = fields.q.casefold()
    if text and text not in f"{project}/{ensemble} {line.id} {line.workflow} {line.summary} {by}".casefold():
        return False
    is_so = fields.status in ("", line.outcome) and fields.workflow in ("", line.workflow)
    return is_so and ((fields.since is None and fields.until is None) or _is_then(line.start, fields))


def _is_then(start: str, fields: JobsFields) -> bool:
    try:
        began = datetime.fromisoformat(start)
    except ValueError:
        return False
    is_late = fields.since is None or began >= _in_utc(fields.since)
    return is_late and (fields.until is None or began < _in_utc(fields.until))


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


_JOB = ENSEMBLE + "/jobs/{job}"
PATIENCE = 5.0
"""Seconds to wait for ensembles that have to be asked."""

_PROBLEMS = ("frozen", "unknown-project", "unknown-ensemble", "unknown-job", "job-ended", "locked", "ensemble")


def _route(path: str, summary: str, handler: Any, body: type[Fields], verb: str) -> Route:
    return Route(method="POST", path=_JOB + path, access=Permission.CONTROL, summary=summary, handler=handler,
                 body=body, answers=(JobAskedData,), status=202, keyed=True, problems=_PROBLEMS, verb=verb)  # fmt: skip


TABLE = (
    Route(
        method="GET",
        path=BASE + "/jobs",
        access=Access.ME,
        summary="The newest jobs of all ensembles that I see, or the oldest.",
        handler=_jobs,
        query=JobsFields,
        answers=(KnownJobs,),
        verb="jobs list",
        problems=("bad-cursor",),
    ),
    _route("/cancel", "Cancel a job: the running steps finish, or end now.", _cancel, Cancelling, "jobs cancel"),
    _route("/resume", "Go on with an interrupted job.", _resume, Fields, "jobs resume"),
)
