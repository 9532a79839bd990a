"""The changeIds that an ensemble's files know, so that no new one is smaller than any of them.

They may be others than the status speaks of, as after a merge with what another clone did.
"""

from __future__ import annotations

import re

from ordito.base.change_ids import LENGTH, TICKS_PER_SECOND, decode, is_change_id, last_reserved
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import BLOCK
from ordito.ensemble.job_history import read_job
from ordito.ensemble.layout import Layout
from ordito.source.regular import open_regular

_ID = re.compile(rb"^([0-9A-Za-z]{8}[0-9a-f]{4})\t", re.MULTILINE)


def highest_id(layout: Layout) -> str:
    """The highest changeId that `jobs/` and `jobs.tsv` know, "" where they know none. Raises ``EnsembleError``."""
    return max(_of_records(layout), _of_lines(layout))


def _of_records(layout: Layout) -> str:
    """The highest id that any job has reserved, by its record."""
    jobs = layout.job_ids()
    if not jobs:
        return ""
    # A job reserves as many ticks as it has tens of thousands of tasks, so only the last ones can reach further.
    least = decode(jobs[-1]).tick - TICKS_PER_SECOND
    return max(_reserved(layout, job) for job in jobs[-TICKS_PER_SECOND:] if decode(job).tick >= least)


def _reserved(layout: Layout, job: str) -> str:
    try:
        record = read_job(layout, job)
    except EnsembleError:
        # Damaged, by a merge perhaps; what it could say is in the lines of its tasks.
        record = None
    return last_reserved(job, record.head.ticks if record else 1)


def _of_lines(layout: Layout) -> str:
    """The highest id in the lines of jobs and tasks."""
    highest, rest = b"", b""
    with explained("read", layout.jobs_tsv):
        if not layout.jobs_tsv.exists():
            return ""
        with open_regular(layout.jobs_tsv) as file:
            while block := file.read(BLOCK):
                lines, newline, rest = (rest + block).rpartition(b"\n")
                # Nearly all of them are ids, so that only the last ones have to be looked at.
                found = sorted((i for i in _ID.findall(lines + newline) if i > highest), reverse=True)
                highest = next((i for i in found if is_change_id(i.decode())), highest)
    return highest.decode()[:LENGTH]
