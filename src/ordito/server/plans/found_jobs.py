"""What ensembles say of the jobs of plans: their journals know them by the plans, and their records how they ended."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ordito.ensemble.backing import backing_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.job_mark import marked, may_be_marked
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.source.reach import within


class PlanJob(msgspec.Struct, frozen=True):
    """A job of a plan; ``status`` is how it ended, "" for not yet."""

    job: str
    status: str


def job_of(directory: str, plan: str) -> PlanJob | None:
    """The job of a plan, by the ensemble's journal; None for none. Raises ``EnsembleError``."""
    with within(directory):
        layout = Layout(Path(directory))
        journal = backing_of(layout).read_journal(layout)
        if journal is None:
            return None
        with journal:
            job = journal.job_of(plan)
            if not job:
                return None
            if journal.holds_job(job):
                return PlanJob(job, "")
        return PlanJob(job, ended_as(directory, job) or "failed")


def ended_as(directory: str, job: str) -> str:
    """How a job ended, by the records of jobs; "" where these do not know it. Raises ``EnsembleError``."""
    with within(directory):
        found = next((line for line in job_lines(Layout(Path(directory))) if line.id == job), None)
        return found.outcome if found is not None else ""


def interrupted(known: Sequence[tuple[str, str, str]], everybodys: bool) -> list[tuple[str, str, str]]:
    """Of ensembles, those with a job that is to be resumed; of one that cannot be read that is not known."""
    found = []
    for one in known:
        # Of hundreds of ensembles nearly none has a job, and this asks for one of them in some microseconds.
        if not may_be_marked(one[2]):
            continue
        with contextlib.suppress(EnsembleError, OSError):
            if _is_interrupted(one[2], everybodys):
                found.append(one)
    return found


def _is_interrupted(directory: str, everybodys: bool) -> bool:
    """Whether a job of an ensemble was interrupted and is to be resumed. Raises ``EnsembleError``."""
    with within(directory):
        layout = Layout(Path(directory))
        if not layout.exists or not marked(layout.journal) or holder(layout) is not None:
            return False
        journal = backing_of(layout).read_journal(layout)
        if journal is None:
            return False
        with journal:
            frame = journal.frame()
        return frame is not None and (everybodys or bool(frame[0].asked.by))
