"""What a turn writes: records, the changes that go with them, and the commit that makes all of it durable.

Listeners hear of a turn when it is committed, never before.
"""

from __future__ import annotations

import asyncio

from ordito.engine.ports import Parts
from ordito.instances.records import Delta
from ordito.work.forms import begun
from ordito.work.plan import Plan
from ordito.work.records import Record, RollbackRecord, StepProcessRecord

LARGEST_TURN = 1_000
"""A turn is committed after this many records, even if the core has more commands."""

LONGEST_HELD = 0.05
"""Seconds for which the record of a process may wait to be committed together with others. After a crash in that time
the process is still found, only more slowly."""


class TurnWriter:
    """Writes the journal of one job. ``now`` is the time of the turn, which all its records have."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._journal = parts.journal
        self._announcer = parts.announcer
        self._snapshot = parts.snapshot
        self._recorded = 0
        self._turn: list[Record] = []
        self._held: asyncio.TimerHandle | None = None
        self._is_held_long = False
        self.now = parts.clock.now()

    @property
    def is_full(self) -> bool:
        """Whether the turn has ``LARGEST_TURN`` records, and is to be committed now."""
        return self._recorded >= LARGEST_TURN

    def open(self) -> None:
        """Begin a journal, with the new instances of the plan, and the deployed versions that other instances belong
        to."""
        delta = begun(self._parts.plan, self._snapshot)
        self._journal.open(self._parts.header, self._parts.plan, delta)
        if self._parts.recorded is not None:
            self._parts.recorded.committed(())
        self._snapshot.apply(delta)

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Record that the plan is continued; ``plan`` is the whole of it."""
        self._journal.extend(plan, record)
        self._turn.append(record)
        if self._parts.recorded is not None:
            self._parts.recorded.extend(plan)
        if record.delta is not None:
            self.apply(record.delta)
        self._recorded += 1

    def record(self, record: Record) -> None:
        """Write a record, to be committed at the end of the turn."""
        self._journal.append(record)
        self._turn.append(record)
        self._recorded += 1

    def hold(self, record: StepProcessRecord) -> None:
        """Write a record that nothing waits for: it is committed with the records of a later turn, at the latest after
        ``LONGEST_HELD`` seconds."""
        self._journal.append(record)
        self._turn.append(record)
        if self._held is None:
            self._held = asyncio.get_running_loop().call_later(LONGEST_HELD, self._held_long)

    def apply(self, delta: Delta) -> Delta | None:
        """Change the snapshot and give the change to the record; None for no change."""
        if delta.is_empty:
            return None
        self._announcer.changing(self._snapshot, delta, self.now)
        self._snapshot.apply(delta)
        return delta

    def commit(self) -> None:
        """Make durable what the turn has written, then tell the listeners."""
        if self._parts.output_log is not None:
            self._parts.output_log.flush()
        if self._recorded or self._is_held_long:
            self._journal.commit()
            turn, self._turn = self._turn, []
            if self._parts.recorded is not None:
                self._parts.recorded.committed(turn)
            self._recorded = 0
            self.let_go()
        self._announcer.tell()

    def let_go(self) -> None:
        """Let held records be committed with the next turn."""
        if self._held is not None:
            self._held.cancel()
        self._held, self._is_held_long = None, False

    def _held_long(self) -> None:
        self._is_held_long = True
        self._parts.workers.ring()
