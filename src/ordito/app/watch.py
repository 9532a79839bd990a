"""Watch an ensemble: its status again, whenever a command or a job changes something.

What a running job does is told by its events, so that nothing has to be read again for each step. When a job begins
or ends, or files were changed, everything is read anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from ordito.app.place import place_of
from ordito.app.status import NO_OUTLINE, StatusReading, StatusRequest, StatusResult, instance_statuses, read_status
from ordito.base.collector import let_go
from ordito.ensemble.events_file import lines_from
from ordito.ensemble.files import mark_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.instances.records import Delta, Instance
from ordito.instances.status import effective_statuses, topology_status

PAUSE = 0.25
"""Seconds between two looks at the files."""

SHARE = 4
"""Reading takes at most this fraction (1/SHARE) of the time."""

MOST_EVENTS = 100_000
"""How many events are told at once at most."""


def watch(request: StatusRequest) -> Iterator[StatusResult]:
    """The present status, and again each time something has changed; it never ends by itself. Raises ``Refused`` if
    there is no ensemble, and ``EnsembleError``."""
    layout = place_of(request.directory).layout
    told = _ToldStatus(request, layout)
    while True:
        began = time.monotonic()
        found = told.read() if told.is_outdated() else told.news()
        if found is not None:
            yield found
        time.sleep(max(PAUSE, (time.monotonic() - began) * SHARE) if found is not None else PAUSE)


class _ToldStatus:
    """What was told of an ensemble last."""

    def __init__(self, request: StatusRequest, layout: Layout) -> None:
        self._request = request
        self._layout = layout
        self._events: Path | None = None
        """The events of the job that runs."""

        self._at = 0
        self._reading: StatusReading | None = None
        self._seen: object = None
        self._seen_journal: object = None

    def is_outdated(self) -> bool:
        """Whether everything has to be read again."""
        journal = self._layout.journal
        owner = holder(self._layout) if self._layout.exists else None
        now = (str(owner) if owner else "", mark_of(self._layout.manifest))
        more = (mark_of(journal), mark_of(journal.with_name(f"{journal.name}-wal")))
        # What a running job writes into the journal its events tell.
        is_same = now == self._seen and (self._events is not None or more == self._seen_journal)
        self._seen, self._seen_journal = now, more
        return not is_same

    def read(self) -> StatusResult:
        """Read everything."""
        # What was read before, the service above all, is not kept.
        self._reading = None
        let_go()
        size = _size(self._events)
        reading = read_status(self._request)
        job = reading.result.job
        events = self._layout.events(job.job) if job is not None and job.holder else None
        if events is None or not events.exists():
            events = None
        self._at = size if events == self._events else 0
        self._events, self._reading = events, reading
        return reading.result

    def news(self) -> StatusResult | None:
        """The status after what the running job has done since; None for nothing that the status shows."""
        if self._events is None or self._reading is None:
            return None
        changed: dict[str, Instance] = {}
        ended = 0
        instances = self._reading.snapshot.instances
        for line in islice(lines_from(self._events, self._at), MOST_EVENTS):
            self._at += len(line)
            event = _EVENT.decode(line)
            record = changed.get(event.instance) or instances.get(event.instance)
            ended += event.type in _ENDS
            if record is not None and (after := _after(record, event)) is not record:
                changed[event.instance] = after
        return self._changed(changed, ended) if changed or ended else None

    def _changed(self, changed: dict[str, Instance], ended: int) -> StatusResult:
        assert self._reading is not None
        reading = self._reading
        request, snapshot, outline = reading.request, reading.snapshot, reading.outline
        snapshot.apply(Delta(instances=tuple(changed.values())))
        effective = effective_statuses(outline, snapshot) if outline else {}
        job = reading.result.job
        result = msgspec.structs.replace(
            reading.result,
            effective=topology_status(outline or NO_OUTLINE, snapshot, effective),
            instances=instance_statuses(request, snapshot, outline, effective, reading.forms),
            job=msgspec.structs.replace(job, done=min(job.done + ended, job.steps)) if job is not None else None,
        )
        self._reading = msgspec.structs.replace(reading, result=result)
        return result


class _Event(msgspec.Struct):
    """What the status needs of an event."""

    type: str
    instance: str = ""
    state: str = ""
    local: str = ""
    operation: str = ""
    change: str = ""


_EVENT = msgspec.json.Decoder(_Event)
_ENDS = frozenset({"step.succeeded", "step.failed", "step.skipped"})


def _after(record: Instance, event: _Event) -> Instance:
    """The record of an instance after an event, as far as the status shows it."""
    if event.type == "instance.state":
        return msgspec.structs.replace(record, state=event.state, local=event.local)
    if event.type == "step.failed":
        return msgspec.structs.replace(record, failed={**record.failed, event.operation: event.change})
    if event.type == "step.succeeded" and event.operation in record.failed:
        left = {name: change for name, change in record.failed.items() if name != event.operation}
        return msgspec.structs.replace(record, failed=left)
    return record


def _size(path: Path | None) -> int:
    found = mark_of(path) if path is not None else None
    return found[1] if found is not None else 0
