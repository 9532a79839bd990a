"""Reading what was written about closed jobs: the lines of `jobs.tsv` and the records in `jobs/`."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import yaml

from ordito.base.change_ids import is_change_id
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import read
from ordito.ensemble.jobs_tsv import unescape
from ordito.ensemble.layout import Layout

RESTORE = "restore the file from git"

Entry = dict[str, object]
"""A mapping of a job's record, as ``job_record`` writes it."""


class JobLine(msgspec.Struct, frozen=True):
    """A job's own line in `jobs.tsv`."""

    id: str
    workflow: str
    outcome: str
    start: str
    seconds: str
    summary: str


def job_lines(layout: Layout) -> Iterator[JobLine]:
    """The jobs in `jobs.tsv`, in the order in which they stand there; lines that say nothing are passed over, such as
    one that was cut off by a crash. Raises ``EnsembleError``."""
    content = read(layout.jobs_tsv) or b""
    for line in content.decode("utf-8", "replace").split("\n"):
        columns = line.split("\t")
        if len(columns) >= COLUMNS and columns[1] == "job" and is_change_id(columns[0]):
            change, _, _, workflow, _, outcome, _, start, seconds, summary = map(unescape, columns[:COLUMNS])
            yield JobLine(change, workflow, outcome, start, seconds, summary)


COLUMNS = 10


def job_record(layout: Layout, job: str) -> Entry | None:
    """The record of a job with all its tasks in ``changes``, None if there is none. Raises ``EnsembleError``."""
    path = layout.job_record(job)
    content = read(path)
    if content is None:
        return None
    record = _load(content, str(path))
    if not isinstance(record, dict) or not isinstance(record.get("job"), dict):
        raise EnsembleError(f"{path} is no record of a job", RESTORE)
    changes = record.get("changes", [])
    for part in record.pop("parts", []):
        changes.extend(_part(layout, str(part)))
    record["changes"] = changes
    return record


def _part(layout: Layout, name: str) -> list[Entry]:
    path = layout.jobs / name
    content = read(path)
    if content is None:
        raise EnsembleError(f"{path} is missing, though the job's record names it", RESTORE)
    lines = content.splitlines()
    try:
        # One task a line, as JSON behind a dash: hundreds of times faster than a YAML parser.
        return [msgspec.json.decode(line.removeprefix(b"- ")) for line in lines]
    except msgspec.DecodeError:
        found = _load(content, str(path))
        return found if isinstance(found, list) else []


def _load(content: bytes, name: str) -> object:
    try:
        return yaml.load(content, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise EnsembleError(f"{where}: {getattr(error, 'problem', None) or error}", RESTORE) from error
