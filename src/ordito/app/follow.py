"""Follow a job: its events from the first one on, as its file tells them, until it has ended."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.job.jobs import OpenJob, ensemble_place, find_job, open_job
from ordito.app.place import Place
from ordito.ensemble.backing import backing_of
from ordito.ensemble.events_file import lines_from
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder

PAUSE = 0.05
"""Seconds between two looks at the file."""

UNTIL_ASKED = 0.5
"""Seconds without anything new after which it is found out whether somebody still works on the job."""

FINISHED = b'{"type":"job.finished",'
"""How the last event of a job begins."""


class EventsRequest(msgspec.Struct, frozen=True):
    """The ensemble, the job (its id or the beginning of it, "" for the latest), and whether to wait for further events
    while the job runs."""

    directory: str
    job: str = ""
    follow: bool = False


class JobEventLines(msgspec.Struct, frozen=True):
    """The events of a job."""

    job: str
    lines: Iterator[bytes]
    """One JSON object each, with its line end, as in `docs/reference/events.md`; the first one names the format. They
    are read while they are taken, which raises ``EnsembleError``."""

    open: OpenJob | None
    """What was known of the job when it was asked for, if it had not ended."""


def job_events(request: EventsRequest) -> JobEventLines:
    """The events of a job, from its begin on. With ``follow`` they end when the job has ended, or when nobody works on
    it any more. Raises ``Refused`` where they are not kept, and ``EnsembleError``."""
    place = ensemble_place(request.directory)
    found = open_job(place)
    job = find_job(place, request.job, found)
    is_open = found is not None and found.job == job
    path = place.layout.events(job)
    if not is_open and not path.exists():
        raise Refused(
            "forgotten",
            f"the events of job {job} are not kept any more",
            "its record says what it did",
            next_words=("jobs", "show", job),
            purpose="see what it did, task by task",
        )
    lines = _followed(place, job, path) if request.follow and is_open else lines_from(path, 0)
    return JobEventLines(job, lines, found if is_open else None)


def _followed(place: Place, job: str, path: Path) -> Iterator[bytes]:
    """The lines as they are written."""
    at, since = 0, time.monotonic()
    is_over = False
    while True:
        ended = False
        for line in lines_from(path, at):
            at += len(line)
            since = time.monotonic()
            ended = line.startswith(FINISHED)
            yield line
        if ended or is_over:
            return
        if time.monotonic() - since >= UNTIL_ASKED:
            # What was written before nobody worked on it any more is still read.
            is_over = not _is_worked_on(place.layout, job)
            since = time.monotonic()
        if not is_over:
            time.sleep(PAUSE)


def _is_worked_on(layout: Layout, job: str) -> bool:
    """Whether a command runs the job now. What exists is not read for that: it may be very much."""
    if holder(layout) is None:
        return False
    journal = backing_of(layout).read_journal(layout)
    if journal is None:
        return False
    with journal:
        return journal.holds_job(job)
