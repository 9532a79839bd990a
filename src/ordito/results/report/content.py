"""All that the report of a job shows."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.course import JobCourse
from ordito.app.job.jobs import OpenJob
from ordito.authoring.graph import Graph
from ordito.ensemble.job_format import JobHead


class LogExcerpt(msgspec.Struct, frozen=True):
    """The end of what was printed."""

    pieces: tuple[tuple[str, str], ...]
    """The step and the text of each piece."""

    cut: int
    """How many bytes are left out in front."""

    is_kept: bool
    """Whether what was printed is kept at all."""


NO_LOG = LogExcerpt((), 0, is_kept=False)


class ReportContent(msgspec.Struct, frozen=True):
    """All that a report shows."""

    course: JobCourse
    head: JobHead | None
    """The head of its record, None while it has not ended."""

    open: OpenJob | None
    graph: Graph
    verdicts: Mapping[str, tuple[str, str]]
    """By instance its node, and what the job has done to it."""

    log: LogExcerpt
    failed_logs: Mapping[str, LogExcerpt]
    """By failed step, the end of what it printed."""

    service: str
    made: float
    """When the report was made, in seconds since the epoch."""
