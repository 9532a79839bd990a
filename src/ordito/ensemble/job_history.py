"""Reading what was written about closed jobs: the lines of `jobs.tsv` and the records in `jobs/`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import read
from ordito.ensemble.jobs_tsv import unescape
from ordito.ensemble.layout import Layout
from ordito.ensemble.yaml_reader import load

RESTORE = "restore the file from git"

Entry = dict[str, object]
"""A mapping of a job's record, as ``job_record`` writes it."""


class JobLine(msgspec.Struct, frozen=True):
    """A job's own line in `jobs.tsv`; ``seconds`` is None where it says no number, as of a job that is not closed."""

    id: str
    workflow: str
    outcome: str
    start: str
    seconds: float | None
    summary: str


def job_lines(layout: Layout) -> Iterator[JobLine]:
    """The jobs in `jobs.tsv`, in the order in which they stand there; lines that say nothing are passed over, such as
    one that was cut off by a crash. Raises ``EnsembleError``."""
    content = read(layout.jobs_tsv) or b""
    for line in content.decode("utf-8", "replace").split("\n"):
        columns = line.split("\t")
        if len(columns) >= COLUMNS and columns[1] == "job" and is_change_id(columns[0]):
            change, _, _, workflow, _, outcome, _, start, seconds, summary = map(unescape, columns[:COLUMNS])
            yield JobLine(change, workflow, outcome, start, _number(seconds), summary)


COLUMNS = 10


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def job_record(layout: Layout, job: str) -> Entry | None:
    """The record of a job with all its tasks in ``changes``, None if there is none. Raises ``EnsembleError``."""
    path = layout.job_record(job)
    content = read(path)
    if content is None:
        return None
    record = load(content, str(path), RESTORE)
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
        found = load(content, str(path), RESTORE)
        return found if isinstance(found, list) else []
