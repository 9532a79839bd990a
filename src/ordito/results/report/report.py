"""Gathers what the report of a job shows, and makes the page."""

from __future__ import annotations

import time
from pathlib import Path

from ordito.app.course import (
    FAILED,
    NOT_NEEDED,
    PENDING,
    SKIPPED,
    WAITING,
    CourseRequest,
    JobCourse,
    job_course,
)
from ordito.app.job.jobs import INTERRUPTED, RUNNING, JobRequest, OpenJob, show_job
from ordito.app.status import StatusRequest, read_status
from ordito.base.collector import paused_collector
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_format import NO_OP
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import log_part_before
from ordito.results.answer import Asked, Result, UseCase
from ordito.results.picture.topology import graph_of_outline
from ordito.results.report.content import NO_LOG, LogExcerpt, ReportContent
from ordito.results.report.page import page

LOG_TAIL = 96 << 10
"""How much of the end of the log is shown, in bytes."""

LOG_OF_FAILED = 12 << 10
"""How much of what a failed step printed is shown."""

MOST_FAILED = 50
"""Of so many failed steps it is shown what they printed."""


class JobReportData(Result, frozen=True):
    """The report of a job."""

    job: str
    page: str
    """HTML."""

    @property
    def json(self) -> bytes:
        """The page itself: whoever asks for a report wants nothing else."""
        return self.page.encode("utf-8", "replace")


class ReportAsked(Asked, frozen=True):
    """About the report of a job."""

    job: str = ""
    """Its id or the beginning of it, "" for the latest."""


def _report(directory: str, asked: ReportAsked) -> JobReportData:
    with paused_collector():
        content = report_content(directory, asked.job)
    return JobReportData(content.course.job, "".join(f"{line}\n" for line in page(content)))


def report_content(directory: str, job: str) -> ReportContent:
    """All that the report of a job shows. Raises ``Refused`` and ``EnsembleError``."""
    course = job_course(CourseRequest(directory, job, explained=True))
    shown = show_job(JobRequest(directory, course.job))
    found = read_status(StatusRequest(directory, all=True))
    nodes = {one.instance.id: one.instance.node for one in found.result.instances}
    there = [one for one in found.result.instances if one.instance.exists or one.instance.id in _touched(course)]
    graph = graph_of_outline(found.outline, there)
    known = {node.name for node in graph.nodes}
    verdicts = {one.instance.id: "untouched" for one in there if one.instance.node in known}
    verdicts |= {name: verdict for name, verdict in _verdicts(course).items() if nodes.get(name, "") in known}
    layout = Layout(Path(directory))
    failed = [step for step in course.steps.values() if step.state == FAILED][:MOST_FAILED]
    return ReportContent(
        course=course,
        head=None if isinstance(shown, OpenJob) else shown.head,
        open=shown if isinstance(shown, OpenJob) else None,
        graph=graph,
        verdicts={name: (nodes[name], verdict) for name, verdict in verdicts.items()},
        log=_log(layout, course.job),
        failed_logs={step.id: _log(layout, course.job, step.id) for step in failed},
        service=found.result.service,
        made=time.time(),
    )


def _touched(course: JobCourse) -> set[str]:
    return {step.instance for step in course.steps.values()}


WORSE = ("untouched", "done", "not run", "running", "interrupted", "failed")
_VERDICTS = {
    FAILED: "failed",
    INTERRUPTED: "interrupted",
    RUNNING: "running",
    WAITING: "running",
    SKIPPED: "not run",
    PENDING: "not run",
    NOT_NEEDED: "untouched",
    NO_OP: "done",
}


def _verdicts(course: JobCourse) -> dict[str, str]:
    """What the job has done to each instance: the worst of its steps."""
    found: dict[str, str] = {}
    for step in course.steps.values():
        verdict = _VERDICTS.get(step.state, "done")
        if WORSE.index(verdict) >= WORSE.index(found.get(step.instance, "untouched")):
            found[step.instance] = verdict
    return found


def _log(layout: Layout, job: str, step: str = "") -> LogExcerpt:
    path = layout.log(job)
    if not path.exists():
        return LogExcerpt((), 0, is_kept=layout.events(job).exists())
    most = LOG_OF_FAILED if step else LOG_TAIL
    try:
        part = log_part_before(path, None, most, lambda name: not step or name == step)
    except EnsembleError:
        return NO_LOG
    pieces, left = [], most
    for frame in reversed(part.frames):
        # Of a piece that is longer than what is shown, its end.
        content = frame.content[-left:] if left < len(frame.content) else frame.content
        pieces.append((frame.step, content.decode("utf-8", "replace")))
        left -= len(content)
        if left <= 0:
            break
    cut = 0 if step else max(0, path.stat().st_size - most)
    return LogExcerpt(tuple(reversed(pieces)), cut, is_kept=True)


JOB_REPORT = UseCase("jobs report", ReportAsked, (JobReportData,), _report)
