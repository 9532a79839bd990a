"""The files of events of an ensemble, held against the records of its jobs."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

from ordito.app.job.jobs import JobRequest, OpenJob, show_job
from ordito.ensemble.layout import Layout

COUNTS = ("succeeded", "failed", "skipped", "no_op")

Event = dict[str, Any]


def events_of(ensemble: Path, job: str) -> list[Event]:
    """The events of a job, without the line that names the format."""
    data = Layout(ensemble).events(job).read_bytes()
    assert data.endswith(b"\n")
    first, *events = [json.loads(line) for line in data.splitlines()]
    assert first["format"] == "ordito.events/1"
    return events


def assert_told(ensemble: Path) -> None:
    """Each ended job has told each of its tasks once, in the order of its records, and last that it has ended."""
    for job in Layout(ensemble).job_ids():
        found = show_job(JobRequest(str(ensemble), job))
        assert not isinstance(found, OpenJob)
        events = events_of(ensemble, job)
        numbers = [event["n"] for event in events if "n" in event]
        assert numbers[0] == 0
        assert [number for number, _ in groupby(numbers)] == sorted(set(numbers))
        kinds = Counter(event["type"] for event in events)
        assert kinds["job.finished"] == 1
        assert events[-1]["type"] == "job.finished"
        assert sum(event["type"] == "job.started" and not event.get("resumed") for event in events) == 1
        ended = [event for event in events if event["type"] in ("step.succeeded", "step.failed")]
        told = Counter(event["change"] for event in ended if event.get("change"))
        recorded = {change.change_id for change in found.changes() if change.outcome and change.change_id}
        assert told == Counter(recorded)
        begun = {event["step"] for event in events if event["type"] == "step.started"}
        assert {e["step"] for e in ended if e["outcome"].get("exit_code") is not None} <= begun
        head, last = found.head, Counter({name: events[-1].get(name, 0) for name in COUNTS})
        assert last == Counter(
            {**{name: getattr(head, name) for name in COUNTS}, "succeeded": head.succeeded + head.no_op}
        )
