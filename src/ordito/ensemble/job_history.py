"""Reads the history of closed jobs: the lines of `jobs.tsv` and the records in `jobs/`."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.base.text import listed
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import read
from ordito.ensemble.job_format import FORMAT, FORMATS, ConfigChange, JobFile, JobHead
from ordito.ensemble.jobs_tsv import count_strange_lines, unescape
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import first_conflict
from ordito.ensemble.vault import MARK, use_vault
from ordito.ensemble.yaml_writer import load
from ordito.source.new_files import open_regular

RESTORE = "restore the file from git"


class JobLine(msgspec.Struct, frozen=True):
    """The line of a job in `jobs.tsv`; ``seconds`` is None where it holds no number, as for an unclosed job."""

    id: str
    workflow: str
    outcome: str
    start: str
    seconds: float | None
    summary: str


def job_lines(layout: Layout) -> Iterator[JobLine]:
    """The jobs in `jobs.tsv`, in the order of the file; lines that cannot be read are skipped, such as one that was cut
    off by a crash. Raises ``EnsembleError``."""
    path = layout.jobs_tsv
    with explained("read", path):
        if not path.exists():
            return
        with open_regular(path) as file:
            for line in file:
                if b"\tjob\t" in line and (found := _job_line(line)) is not None:
                    yield found


class JobList(msgspec.Struct, frozen=True):
    """All jobs, the oldest first, by `jobs.tsv` and the records in `jobs/`; and what is wrong with the former."""

    jobs: tuple[JobLine, ...]
    problems: tuple[str, ...] = ()


def all_jobs(layout: Layout) -> JobList:
    """The jobs in `jobs.tsv` and in `jobs/`. Raises ``EnsembleError``."""
    lines: dict[str, JobLine] = {}
    twice: dict[str, None] = {}
    for line in job_lines(layout):
        if lines.setdefault(line.id, line) != line:
            twice[line.id] = None
    missing = [job for job in layout.job_ids() if job not in lines]
    lines.update((job, _by_record(layout, job)) for job in missing)
    strange = count_strange_lines(layout.jobs_tsv)
    problems: list[str] = []
    if missing:
        lacks = (
            "lacks jobs that have a record" if layout.jobs_tsv.exists() else "is missing, and these jobs have a record"
        )
        problems.append(f"{layout.jobs_tsv.name} {lacks}: {listed(missing, MOST_NAMED)}")
    if strange:
        problems.append(f"{layout.jobs_tsv.name} has lines that describe neither a job nor a task: {strange}")
    if twice:
        problems.append(f"{layout.jobs_tsv.name} has different lines for one job, of two clones: {', '.join(twice)}")
    return JobList(tuple(lines[job] for job in sorted(lines)), tuple(problems))


MOST_NAMED = 5


def _by_record(layout: Layout, job: str) -> JobLine:
    """The line of a job as its record says it."""
    try:
        record = read_job(layout, job)
    except EnsembleError as error:
        return JobLine(job, "", "unreadable", "", None, error.message)
    if record is None:
        return JobLine(job, "", "unreadable", "", None, "its record is missing")
    head = record.head
    return JobLine(job, head.workflow, head.status, head.began, head.seconds, head.summary)


def _job_line(line: bytes) -> JobLine | None:
    columns = line.decode("utf-8", "replace").rstrip("\n").split("\t")
    if len(columns) < COLUMNS or columns[1] != "job" or not is_change_id(columns[0]):
        return None
    change, _, _, workflow, _, outcome, _, start, seconds, summary = map(unescape, columns[:COLUMNS])
    return JobLine(change, workflow, outcome, start, _number(seconds), summary)


COLUMNS = 10


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


# ------------------------------------------------------------------------------------------------ the record of a job


class RecordedJob:
    """The record of a job: its header, and its ConfigChanges, which are read one after the other."""

    def __init__(self, layout: Layout, path: Path, file: JobFile, head: JobHead, lines: list[bytes]) -> None:
        """Use ``read_job``."""
        self._layout = layout
        self._path = path
        self._lines = lines
        self.file = file
        self.head = head

    def changes(self) -> Iterator[ConfigChange]:
        """The ConfigChanges, in the order in which the tasks have ended. Raises ``EnsembleError``."""
        yield from self.file.changes
        yield from _read_lines(self._lines, self._path)
        for part in self.file.parts:
            path = self._layout.jobs / part
            content = read(path)
            if content is None:
                raise EnsembleError(f"{path} is missing, though the job's record names it", RESTORE)
            yield from _read_lines(content.splitlines(), path)


def read_job(layout: Layout, job: str) -> RecordedJob | None:
    """The record of a job, None if there is none. Raises ``EnsembleError``."""
    use_vault(layout)
    path = layout.job_record(job)
    content = read(path)
    if content is None:
        return None
    head, mark, rest = content.partition(CHANGES)
    lines: list[bytes] = []
    if mark and rest.startswith(b"- {"):
        content, lines = head + b"\n", rest.splitlines()
    data = load(content, str(path), RESTORE)
    if not isinstance(data, dict) or not isinstance(data.get("job"), dict):
        raise EnsembleError(f"{path} is not the record of a job", RESTORE)
    if data.get("format") not in FORMATS:
        raise EnsembleError(
            f"{path} has format {data.get('format')!r}, this version knows {FORMAT}",
            "look at it with the version of ordito that wrote it",
        )
    try:
        file = msgspec.convert(data, JobFile)
    except msgspec.ValidationError as error:
        raise EnsembleError(f"{path}: {error}", RESTORE) from error
    assert file.job is not None
    if file.job.change_id != job:
        raise EnsembleError(f"{path} is the record of another job, {file.job.change_id}", RESTORE)
    return RecordedJob(layout, path, file, file.job, lines)


def is_conflict(path: Path) -> bool:
    """Whether a merge has left a conflict in a file. Raises ``EnsembleError``."""
    return first_conflict(read(path) or b"") >= 0


CHANGES = b"\nchanges:\n"


def _read_lines(lines: list[bytes], path: Path) -> Iterator[ConfigChange]:
    """ConfigChanges that stand on a line each, as JSON behind a dash: hundreds of times faster than a YAML parser."""
    decoder = msgspec.json.Decoder(ConfigChange)
    for number, line in enumerate(lines, 1):
        if MARK in line:
            yield _by_yaml(line, path, number)
            continue
        try:
            change = decoder.decode(line.removeprefix(b"- "))
        except (msgspec.DecodeError, UnicodeDecodeError):
            change = _by_yaml(line, path, number)
        yield change


def _by_yaml(line: bytes, path: Path, number: int) -> ConfigChange:
    """A line that JSON cannot say, or that somebody else wrote."""
    found = load(line, str(path), RESTORE, first_line=number)
    try:
        (change,) = msgspec.convert(found, tuple[ConfigChange])
    except msgspec.ValidationError as error:
        raise EnsembleError(f"{path}: ConfigChange {number}: {error}", RESTORE) from error
    return change


# The last operations on an instance, from the lines of `jobs.tsv`.

MOST_HISTORY = 8_000_000
"""How many bytes at the end of the file are read."""


class TaskLine(msgspec.Struct, frozen=True):
    """The line of a task in `jobs.tsv`; ``seconds`` is None where it holds no number."""

    id: str
    job: str
    operation: str
    target: str
    outcome: str
    changed: str
    start: str
    seconds: float | None
    summary: str


def last_tasks(layout: Layout, targets: Collection[str], most: int) -> tuple[TaskLine, ...]:
    """The last tasks whose targets are among these, the latest first; of a long history only the end is read.

    Raises ``EnsembleError``.
    """
    found = {task.id: task for line in _lines(layout) if (task := _task(line)) is not None and task.target in targets}
    return tuple(found[change] for change in sorted(found, reverse=True)[:most])


def starts_of(layout: Layout, changes: Collection[str]) -> dict[str, str]:
    """When tasks began, in UTC, by their ids; tasks before the part of the history that is read are left out. Raises
    ``EnsembleError``."""
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
