"""The last operations on an instance, from the lines of `jobs.tsv`."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator

import msgspec

from ordito.ensemble.errors import explained
from ordito.ensemble.job_history import COLUMNS
from ordito.ensemble.jobs_tsv import unescape
from ordito.ensemble.layout import Layout
from ordito.source.regular import open_regular

MOST_HISTORY = 8_000_000
"""Bytes at the end of the file that are looked at."""


class TaskLine(msgspec.Struct, frozen=True):
    """A task's line in `jobs.tsv`; ``seconds`` is NaN where it says no number."""

    id: str
    job: str
    operation: str
    target: str
    outcome: str
    changed: str
    start: str
    seconds: float
    summary: str


def last_tasks(layout: Layout, targets: Collection[str], most: int) -> tuple[TaskLine, ...]:
    """The last tasks whose targets are among these, the latest first; of a long history only the end is looked at.

    Raises ``EnsembleError``.
    """
    found = {task.id: task for line in _lines(layout) if (task := _task(line)) is not None and task.target in targets}
    return tuple(found[change] for change in sorted(found, reverse=True)[:most])


def starts_of(layout: Layout, changes: Collection[str]) -> dict[str, str]:
    """When tasks began, in UTC, by their ids; those are left out that are not in the part of the history that is looked
    at. Raises ``EnsembleError``."""
    wanted = {change.encode() for change in changes if change}
    tasks = (_task(line) for line in _lines(layout) if line.partition(b"\t")[0] in wanted)
    return {task.id: task.start for task in tasks if task is not None and task.start}


def _lines(layout: Layout) -> Iterator[bytes]:
    path = layout.jobs_tsv
    with explained("read", path):
        if not path.exists():
            return
        with open_regular(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MOST_HISTORY))
            yield from file


def _task(line: bytes) -> TaskLine | None:
    columns = line.decode("utf-8", "replace").rstrip("\n").split("\t")
    if len(columns) < COLUMNS or columns[1] != "task":
        return None
    change, _, job, operation, target, outcome, changed, start, seconds, summary = map(unescape, columns[:COLUMNS])
    return TaskLine(change, job, operation, target, outcome, changed, start, _number(seconds), summary)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
