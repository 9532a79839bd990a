"""The events of a running job in their file, so that others can follow it, and read later what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ordito.engine.job_events import Known, RecordedEvents, known, known_states
from ordito.ensemble.codec import Decoder
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.events_file import UNNUMBERED, EventsFile, line_of
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.layout import Layout
from ordito.instances.records import Instance, Snapshot
from ordito.work.events import Event
from ordito.work.plan import Plan
from ordito.work.records import JobClosingRecord, JobHeader, Record, RollbackRecord

NumberedEvents = Iterator[tuple[Event, int]]


class KeptEvents:
    """Writes the events of one job. They only repeat what the journal says, so that a job never fails because of them:
    after an error nothing more is written, until ``catch_up`` succeeds."""

    def __init__(self, layout: Layout, header: JobHeader, plan: Plan, snapshot: Snapshot) -> None:
        """``snapshot`` is how things are before the job begins, or, for a job that is resumed, as its records have left
        them."""
        self._header = header
        self._plan = plan
        self._snapshot = snapshot
        self._file = EventsFile(layout.events(header.id))
        self._events = self._after(known_states(snapshot))
        self._number = UNNUMBERED
        self._problem = ""
        self._is_new = False
        self._ready: list[tuple[Event, int]] | None = None
        self._resumed = b""

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan = plan
        self._events.extend(plan)

    def coming(self, records: Sequence[Record]) -> bytes:
        """The lines of the events of the next records, before these are committed; ``committed`` writes the same ones
        then. Those of the job's begin come first, without records."""
        if self._number == UNNUMBERED:
            self._number, self._is_new = 0, True
            events: list[tuple[Event, int]] = [(self._events.begin(None), 0)]
        else:
            events = list(self._next(records))
        self._ready = events
        resumed, self._resumed = self._resumed, b""
        return resumed + b"".join(line_of(event, number) for event, number in events)

    def committed(self, records: Sequence[Record]) -> None:
        """Write the events of the next records; before the first ones that the job has begun."""
        ready, self._ready = self._ready, None
        if ready is not None:
            self._write_ready(ready)
            return
        if self._problem:
            return
        if self._number == UNNUMBERED:
            self._begin(records, 0)
        else:
            self._write(self._next(records))

    def _write_ready(self, events: Sequence[tuple[Event, int]]) -> None:
        """Write what ``coming`` has given; the first of it into a file that tells nothing yet."""
        if self._problem:
            return
        if self._is_new:
            self._is_new = False
            try:
                self._file.open(0)
            except EnsembleError as error:
                self._problem = error.message
                return
        self._write(iter(events))

    def catch_up(self, journal: EnsembleJournal, records: Sequence[Record] | None = None) -> None:
        """Write what the journal knows and the file does not tell, by its ``records`` if they are read already. Does
        nothing where it tells all."""
        known_records = tuple(journal.records()) if records is None else records
        self._events = self._after(_states_before(journal, self._snapshot))
        self._problem = ""
        self._begin(known_records, len(known_records))

    def resume(self, records: Sequence[Record], at: float) -> None:
        """Write that the job goes on after these records, which are told already."""
        if self._problem or (records and isinstance(records[-1], JobClosingRecord)):
            return
        is_going_back = any(isinstance(record, RollbackRecord) for record in records)
        told = self._events.resume(at, rolling_back=is_going_back)
        self._resumed = line_of(told, UNNUMBERED)
        self._write(iter([(told, UNNUMBERED)]))

    def end(self, journal: EnsembleJournal) -> str:
        """Close the file, once all records are written; what could not be written before is tried again. Returns why it
        is not complete, "" if it is."""
        if self._problem:
            self.catch_up(journal)
        self.close()
        return self._problem

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin(self, records: Sequence[Record], most: int) -> None:
        """Write what the file does not tell of these records, of which it may tell the first ``most``."""
        try:
            told = self._file.open(most)
        except EnsembleError as error:
            self._problem = error.message
            return
        self._write(self._all(records, told.n, told.lines))

    def _after(self, states: dict[str, Known]) -> RecordedEvents:
        """What tells the events of a job that found its instances in these states; its new ones come first."""
        states.update((instance.id, known(instance)) for instance in self._plan.records.new)
        return RecordedEvents(self._header, self._plan, states)

    def _all(self, records: Sequence[Record], n: int, lines: int) -> NumberedEvents:
        """The events of the job from its begin, without those of the first ``n`` records and without ``lines`` of
        record number ``n``."""
        back = next((record for record in records if isinstance(record, RollbackRecord)), None)
        groups = self._groups(records, None if back is None else back.first)
        for number, events in enumerate(groups):
            self._number = number
            for event in events[lines:] if number == n else events if number > n else ():
                yield event, number

    def _groups(self, records: Sequence[Record], steps: int | None) -> Iterator[list[Event]]:
        yield [self._events.begin(steps)]
        yield from map(self._events.of, records)

    def _next(self, records: Iterable[Record]) -> NumberedEvents:
        for record in records:
            self._number += 1
            for event in self._events.of(record):
                yield event, self._number

    def _write(self, events: NumberedEvents) -> None:
        try:
            self._file.write(events)
        except EnsembleError as error:
            self._problem = error.message


def _states_before(journal: EnsembleJournal, now: Snapshot) -> dict[str, Known]:
    """How instances were when the job began, by how they are now and what the journal keeps of before."""
    states = known_states(now)
    decode = Decoder(Instance)
    for name, (kind, body) in journal.previous().items():
        if kind == "instance":
            states[name] = known(decode(body))
        elif not kind:
            states.pop(name, None)
    return states
