"""Jobs: how one ended, what was done in it, what happened, what operations printed; and what the records of all jobs
give. These are the results of the verbs that run jobs, and of `ordito jobs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.base.sensitive import encode_hook, shown
from ordito.ensemble.job_format import ConfigChange, JobHead
from ordito.ensemble.job_history import JobLine
from ordito.ensemble.rebuilding import StatusDifference
from ordito.ensemble.replay import Clash, Fork, Problem
from ordito.results.answer import Asked, Result, ResultData, UseCase
from ordito.results.status import UnfinishedJobData, unfinished_job_data
from ordito.work.events import StepFailed, rounded

if TYPE_CHECKING:
    from ordito.app.job.jobs import HeldLock
    from ordito.app.job.replay import ReplayResult
    from ordito.app.job.report import JobReport
    from ordito.ensemble.job_history import JobList, RecordedJob
    from ordito.ensemble.keeping import KeptCommits

# How a job ended.


class HealedData(msgspec.Struct, frozen=True):
    """What a healing has come to for one instance."""

    healing: str
    """What was done, or ``failed``."""

    local: str
    """Its status before."""

    state: str
    reason: str | UnsetType = UNSET
    """Why its status could not be found out."""

    unlinked: tuple[str, ...] | UnsetType = UNSET
    """The operations that establish its relationships and have failed."""


class JobEndData(Result, frozen=True, kw_only=True):
    """How a job ended: the result of the commands that run one."""

    job: str
    workflow: str
    status: str
    """``ok``, ``degraded``, ``failed`` or ``cancelled``."""

    seconds: float
    succeeded: int
    """How many steps succeeded, those included that did nothing."""

    no_op: int
    failed: int
    skipped: int
    warnings: Mapping[str, tuple[str, ...]] | UnsetType = UNSET
    """Warnings by the ids of steps."""

    handled: bool | UnsetType = UNSET
    """True if the workflow has handled each failure successfully."""

    rollback: str | UnsetType = UNSET
    """``complete`` or ``incomplete``, if it was rolled back."""

    remains: tuple[str, ...] | UnsetType = UNSET
    """What was not undone then, for people."""

    again: tuple[str, ...] | UnsetType = UNSET
    """The instances that were removed and created again."""

    failures: tuple[StepFailed, ...]
    outputs: Mapping[str, object]
    """The outputs of what is deployed now."""

    commit: str
    """The commit of the ensemble's own files, "" for none."""

    commits: Mapping[str, str]
    """Those of the files from which the job was made, by the path of their tree from the ensemble."""

    not_committed: tuple[str, ...]
    """What is not committed, and why."""

    not_shared: str
    """Why other clones do not have them yet, though they should."""

    different: tuple[str, ...] | UnsetType = UNSET
    """What a rollback to a revision has left different from it, for people."""

    kept: tuple[str, ...] | UnsetType = UNSET
    """The instances that undeploying has kept."""

    instances: Mapping[str, HealedData] | UnsetType = UNSET
    """What a healing has come to, by instance."""


class NoJobData(Result, frozen=True, kw_only=True):
    """There was nothing to do, so that no job was begun."""

    job: str | None = None
    workflow: str | UnsetType = UNSET
    status: str = "ok"
    outputs: Mapping[str, object] | UnsetType = UNSET
    """The outputs of what is deployed."""

    changed_inputs: tuple[str, ...] | UnsetType = UNSET
    """Inputs with new values on which no operation depends."""

    kept: tuple[str, ...] | UnsetType = UNSET
    """The instances that are kept."""

    instances: Mapping[str, HealedData] | UnsetType = UNSET
    """What a healing has come to, by instance."""


class HealingsData(Result, frozen=True):
    """How several healings ended, each a job of its own."""

    workflow: str
    jobs: tuple[JobEndData, ...]
    instances: Mapping[str, HealedData]
    """What they have come to, by instance."""


class CancellingData(Result, frozen=True):
    """A job that another process runs was told to end."""

    job: str
    status: str


def job_end_data(report: JobReport) -> JobEndData:
    """How a job ended."""
    rollback = report.rollback
    plain = {
        "job": report.job,
        "workflow": report.workflow,
        "status": report.status,
        "seconds": round(report.seconds, 3),
        "succeeded": report.counts.succeeded,
        "no_op": report.counts.no_op,
        "failed": report.counts.failed,
        "skipped": report.counts.skipped,
        **({"warnings": report.warnings} if report.warnings else {}),
        **({"handled": True} if report.causes.handled else {}),
        **({"rollback": rollback.outcome, "remains": rollback.remains} if rollback.outcome else {}),
        **({"again": rollback.again} if rollback.again else {}),
        "failures": msgspec.to_builtins([rounded(failed) for failed in report.failures], enc_hook=encode_hook),
        "outputs": shown(report.after.outputs),
        **commits_data(report.files.kept),
    }
    return msgspec.convert(plain, JobEndData)


def shown_outputs(outputs: Mapping[str, object]) -> Mapping[str, object]:
    """Outputs without sensitive values."""
    found = shown(outputs)
    assert isinstance(found, Mapping)
    return found


def commits_data(kept: KeptCommits) -> dict[str, object]:
    """What came of the files of a job in git, as fields of a result."""
    return {
        "commit": kept.own,
        "commits": dict(kept.commits),
        "not_committed": kept.problems,
        "not_shared": kept.sharing,
    }


# What was done in jobs, what happened, and what was printed.


class JobListData(ResultData, frozen=True, tag="ordito.jobs-list/1"):
    """All jobs, the oldest first."""

    jobs: tuple[JobLine, ...]
    problems: tuple[str, ...]
    """What is wrong with the list."""


class RecordedJobData(Result, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The record of a job, with all its tasks."""

    format: str
    job: JobHead
    status: Mapping[str, object] = {}
    """The new values in `ensemble.yaml` that belong to no instance."""

    form: Mapping[str, object] = {}
    """What the job has deployed."""

    skipped: Mapping[str, str] = {}
    """The steps that were not run, and why."""

    parts: tuple[str, ...] = ()
    """The files that hold the tasks of a large job."""

    changes: tuple[ConfigChange, ...]


class JobLogData(ResultData, frozen=True, tag="ordito.jobs-logs/1"):
    """What the operations of a job have printed, in pieces of whole lines."""

    job: str
    output: tuple[Mapping[str, str], ...]
    """The ``step`` and the ``text``."""


class JobEventsData(ResultData, frozen=True, tag="ordito.jobs-events/1"):
    """The events of a job."""

    job: str
    events: tuple[Mapping[str, object], ...]
    """Each as on the page on events, in the order in which they happened."""


def job_list_data(found: JobList) -> JobListData:
    """All jobs."""
    return JobListData(found.jobs, found.problems)


def recorded_job_data(found: RecordedJob, most: int | None = None) -> RecordedJobData:
    """The record of a job, with all its changes, or with the first ``most`` that tasks have made."""
    plain = msgspec.to_builtins(found.file, enc_hook=encode_hook)
    changes = found.changes() if most is None else islice((c for c in found.changes() if c.outcome), most)
    plain["changes"] = [msgspec.to_builtins(change, enc_hook=encode_hook) for change in changes]
    return msgspec.convert(plain, RecordedJobData)


def job_log_data(job: str, pieces: Iterable[tuple[str, bytes]]) -> JobLogData:
    """What operations have printed."""
    return JobLogData(job, tuple({"step": name, "text": data.decode("utf-8", "replace")} for name, data in pieces))


# What the records of all jobs give, and the lock that clones share.


class ReplayData(ResultData, frozen=True, kw_only=True, tag="ordito.jobs-replay/1"):
    """What the records of all jobs give, compared with what is recorded."""

    jobs: int
    problems: tuple[Problem, ...]
    forks: tuple[Fork, ...]
    clashes: tuple[Clash, ...]
    differs: tuple[StatusDifference, ...]
    """The places where `ensemble.yaml` differs."""

    more: int
    """How many further differences are not listed."""

    unreadable: str
    """Why `ensemble.yaml` cannot be compared, "" if it can."""

    caveat: str
    """Why effective statuses cannot be compared, "" if they can."""

    state: Mapping[str, object] | UnsetType = UNSET
    """The state at that time, if only a part of the jobs was replayed."""

    written: bool
    joined: str
    """The job that has joined what clones did, "" for none."""

    agrees: bool
    """Whether the records agree with the file, or have replaced its content."""

    commit: str | UnsetType = UNSET
    commits: Mapping[str, str] | UnsetType = UNSET
    not_committed: tuple[str, ...] | UnsetType = UNSET
    not_shared: str | UnsetType = UNSET


class LockOwnerData(msgspec.Struct, frozen=True):
    """Who held the lock that clones share."""

    user: str
    machine: str
    pid: int
    job: str
    place: str


class UnlockedData(ResultData, frozen=True, tag="ordito.jobs-unlock/1"):
    """Whether the lock that clones share was removed, and whose it was."""

    unlocked: bool
    owner: LockOwnerData | None


def replay_data(result: ReplayResult) -> ReplayData:
    """What the records of all jobs give."""
    plain = msgspec.to_builtins(result, enc_hook=encode_hook)
    plain["agrees"] = result.agrees
    del plain["kept"]
    if result.written:
        plain.update(commits_data(result.kept))
    if result.state is None:
        del plain["state"]
    return msgspec.convert({"format": "ordito.jobs-replay/1", **plain}, ReplayData)


def unlocked_data(held: HeldLock | None) -> UnlockedData:
    """A lock that was removed; None if nobody held it."""
    return UnlockedData(held is not None, owner_data(held) if held is not None else None)


def owner_data(held: HeldLock) -> LockOwnerData:
    """Who holds a lock that clones share."""
    return msgspec.convert(held.lease.owner, LockOwnerData, from_attributes=True)


class JobAsked(Asked, frozen=True):
    """About one job."""

    job: str = ""
    """Its id or the beginning of it, "" for the latest."""

    most: int | None = None
    """How many of its tasks are told of, null for all."""

    printed: bool = True
    """Whether it is told what operations printed, were given by users, and gave out."""


def _jobs(directory: str, _: Asked) -> JobListData:
    from ordito.app.job.jobs import JobsRequest, list_jobs

    return job_list_data(list_jobs(JobsRequest(directory)))


def _job(directory: str, asked: JobAsked) -> RecordedJobData | UnfinishedJobData:
    from ordito.app.job.jobs import JobRequest, OpenJob, show_job

    found = show_job(JobRequest(directory, asked.job))
    if isinstance(found, OpenJob):
        return unfinished_job_data(found)
    data = recorded_job_data(found, asked.most)
    return data if asked.printed else _without_printed(data)


def _without_printed(found: RecordedJobData) -> RecordedJobData:
    status = {name: value for name, value in found.status.items() if name != "outputs"}
    return msgspec.structs.replace(found, status=status, changes=tuple(map(without_printed, found.changes)))


def without_printed(change: ConfigChange) -> ConfigChange:
    """A change without what was printed and given."""
    return msgspec.structs.replace(change, output=(), inputs={}, hook=None, condition={})


JOBS = UseCase("jobs list", Asked, (JobListData,), _jobs)
JOB = UseCase("jobs show", JobAsked, (RecordedJobData, UnfinishedJobData), _job)
