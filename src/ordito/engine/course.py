"""The course of a job: its plan, the core that schedules it, and its rollback.

A rollback consists of further steps of the job's plan. The core that schedules them takes over how the steps before
them have ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordito.engine.core import Core
from ordito.engine.messages import Counts
from ordito.engine.ports import Parts
from ordito.engine.states import StepState
from ordito.instances.records import Delta
from ordito.work.events import StepFailed
from ordito.work.plan import Action
from ordito.work.records import NOT_ROLLED_BACK, ROLLED_BACK, Record, RollbackRecord
from ordito.work.rollback import with_rollback, without_rollback


class Course:
    """The plan of a job and how far the job has come in it; a rollback extends both."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._options = parts.header.options
        self._back: RollbackRecord | None = None
        self._ended_before = Counts()
        self.plan = parts.plan
        self.steps = parts.plan.steps
        self.core = Core(parts.plan, self._options)

    def replay(self, records: tuple[Record, ...]) -> list[int]:
        """Tell the core what the journal holds; returns the steps in doubt."""
        place = next((n for n, record in enumerate(records) if isinstance(record, RollbackRecord)), None)
        if place is None:
            return self.core.replay(records)
        record = records[place]
        assert isinstance(record, RollbackRecord)
        self.core = Core(without_rollback(self.plan, record), self._options)
        self.core.replay(records[:place])
        self._go_back(record)
        return self.core.replay(records[place + 1 :])

    @property
    def is_going_back(self) -> bool:
        """Whether the job is being rolled back."""
        return self._back is not None

    def turn_back(self, at: float) -> RollbackRecord | None:
        """Plan the rollback if the job has failed and a rollback was asked for, and append it to the plan; None for no
        rollback. A cancelled job is not rolled back."""
        plans = self._parts.way_back if self._back is None else None
        if plans is None or not self.core.counts.lacks or not self._is_to_turn_back():
            return None
        way = plans()
        made = Delta(instances=way.plan.records.new) if way.plan.records.new else None
        record = RollbackRecord(at, len(self.plan.steps), len(self.plan.edges), way.remains, way.gone, made)
        self.plan = with_rollback(self.plan, way.plan)
        self._go_back(record)
        return record

    def remains(self, failed: Sequence[StepFailed]) -> tuple[str, tuple[str, ...]]:
        """How the rollback ended ("" if there was none), and what it has not taken back; ``failed`` are the failed
        steps of the job."""
        if self._back is None:
            return "", ()
        ids = {step.id for step in self.steps[self._back.first :]}
        told = [f"{f.step}: {f.outcome.message or f.outcome.ending}" for f in failed if f.step in ids]
        left_out = self.core.counts.skipped - self._ended_before.skipped
        count = "1 step" if left_out == 1 else f"{left_out} steps"
        not_run = (f"{count} of the rollback did not run",) if left_out else ()
        instances = self._parts.snapshot.instances
        exist = [f"{name} still exists" for name in self._back.gone if instances[name].exists]
        different = self._parts.different() if self._parts.different is not None else ()
        remains = (*self._back.remains, *told, *not_run, *exist, *different)
        return NOT_ROLLED_BACK if remains else ROLLED_BACK, remains

    @property
    def again(self) -> tuple[str, ...]:
        """The instances that were there before the job, and that the job or its rollback has replaced: they have lost
        what they held before."""
        header = self._parts.header
        if self._back is None or not header.base:
            return ()
        new = {record.id for record in self.plan.records.new}
        there = self._parts.snapshot.instances.values()
        return tuple(i.id for i in there if i.exists and i.created >= header.id and i.id not in new)

    def _is_to_turn_back(self) -> bool:
        """Whether a rollback was asked for: by the options of the job, or by a lifecycle step that has failed."""
        if self._options.on_failure == "rollback":
            return True
        asking = {place for place, hook in enumerate(self.plan.hooks) if hook.on_failure == "rollback"}
        return bool(asking) and any(
            step.hook in asking and step.action is not Action.UNDO and self.core.state(index) is StepState.FAILED
            for index, step in enumerate(self.steps)
        )

    def _go_back(self, record: RollbackRecord) -> None:
        """Continue with the steps of the rollback that were appended to the plan."""
        self._back, self.steps = record, self.plan.steps
        self._parts.operations.extend(self.plan)
        self._parts.announcer.extend(self.plan)
        if self._parts.hooks is not None:
            self._parts.hooks.extend(self.plan)
        self._ended_before = self.core.counts
        self.core = Core(self.plan, self._options, self.core.ends)
