"""Routes that change a running or interrupted job: cancelling and resuming it."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ordito.app.work_items import ResumeItem
from ordito.ensemble.journal import read_journal
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.ensemble.owner import CANCEL, NOW, ask
from ordito.server.call import ApiCall
from ordito.server.permissions import Permission
from ordito.server.places import directory_of
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Fields, Reply, Route


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
    is_held = await asyncio.to_thread(holder, layout) is not None
    found = JobAskedData(job, "cancel" if is_held else "close")
    reply = await call.change("job.cancel", lambda _: Reply(found), about=job, detail="now" if given.now else "")
    if _is_repeated(reply):
        # Asked a second time, it would end what runs.
        return reply
    if is_held:
        await asyncio.to_thread(ask, layout, job, NOW if given.now else CANCEL)
    else:
        await _start(call, ResumeItem(directory, cancels=True))
    return reply


async def _resume(call: ApiCall) -> Reply:
    directory, job = await _open_job(call)
    await _must_be_free(Layout(Path(directory)))
    reply = await call.change("job.resume", lambda _: Reply(JobAskedData(job, "resume")), about=job)
    if not _is_repeated(reply):
        await _start(call, ResumeItem(directory))
    return reply


def _is_repeated(reply: Reply) -> bool:
    return "Idempotency-Replayed" in reply.headers


async def _start(call: ApiCall, item: ResumeItem) -> None:
    task = await call.services.keeper.task_of(item, call.project, call.ensemble)
    if not call.services.runners.start(f"resume-{call.project}-{call.ensemble}", task):
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
    journal = read_journal(layout)
    if journal is None:
        return ""
    with journal:
        frame = journal.frame()
    return frame[0].id if frame is not None else ""


_JOB = ENSEMBLE + "/jobs/{job}"
_PROBLEMS = ("unknown-project", "unknown-ensemble", "unknown-job", "job-ended", "locked", "ensemble")


def _route(path: str, summary: str, handler: Any, body: type[Fields], verb: str) -> Route:
    return Route(method="POST", path=_JOB + path, access=Permission.CONTROL, summary=summary, handler=handler,
                 body=body, answers=(JobAskedData,), status=202, keyed=True, problems=_PROBLEMS, verb=verb)  # fmt: skip


TABLE = (
    _route("/cancel", "Cancel a job: the running steps finish, or end now.", _cancel, Cancelling, "jobs cancel"),
    _route("/resume", "Go on with an interrupted job.", _resume, Fields, "jobs resume"),
)
