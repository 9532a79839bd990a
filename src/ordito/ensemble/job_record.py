"""`jobs/<changeId>.yaml`: the record of one job, a header and then one ConfigChange for each of its tasks.

A ConfigChange says what a task changed, not how things were: the records of all jobs in their order rebuild the status.
So operations that did nothing are in it as well, without a changeId, where they changed a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice

import msgspec

from ordito.ensemble.files import write_whole
from ordito.ensemble.journal import UnfinishedJob
from ordito.ensemble.keeping import NOTHING
from ordito.ensemble.layout import Layout
from ordito.ensemble.status import Status
from ordito.ensemble.yaml_writer import block, flow
from ordito.instances.records import Delta, Instance, Link
from ordito.work.plan import Action, Plan, Step
from ordito.work.records import (
    JobClosingRecord,
    StepFinishedRecord,
    StepSkippedRecord,
    StepStartedRecord,
)

FORMAT = "ordito.job/1"

LARGEST_INLINE = 10_000
"""Tasks above which they are written to files of their own, so many a file."""

Entry = dict[str, object]


class Ended(msgspec.Struct, frozen=True):
    """A step that has ended: its start, where it had one, and its end."""

    step: Step
    began: StepStartedRecord | None
    ended: StepFinishedRecord

    @property
    def target(self) -> str:
        """What it was about: the link of a pair, else the instance."""
        return self.step.link or self.step.instance

    @property
    def start(self) -> float:
        """When it started, in seconds since the epoch."""
        return self.began.at if self.began else self.ended.at


class JobRecord:
    """What is written about a closed job, made from its journal alone, so that it is the same whenever it is made."""

    def __init__(
        self, job: UnfinishedJob, closing: JobClosingRecord, before: Status, previous: Mapping[str, str]
    ) -> None:
        """``before`` is the status when the job began, ``previous`` the last change of each instance and link then."""
        self.job = job
        self.closing = closing
        self.kept = NOTHING
        self._before = before
        self._previous = previous
        self.skipped = [record for record in job.records if isinstance(record, StepSkippedRecord)]
        finished = [record for record in job.records if isinstance(record, StepFinishedRecord)]
        self.count = len(finished)
        self._tasks = sum(bool(record.change) for record in finished)
        self._failed = sum(bool(record.change) and not record.outcome.succeeded for record in finished)

    @property
    def header(self) -> Entry:
        """What the record says about the job as a whole."""
        header, closing = self.job.header, self.closing
        entry: Entry = {
            "changeId": header.id,
            "previousId": self._before.last_job.id if self._before.last_job else "",
            "workflow": header.workflow,
            "status": closing.status,
            "began": moment(header.began),
            "ended": moment(closing.at),
            "seconds": self.seconds,
            "service": header.service,
            "main": header.main,
            "user": header.user,
            "machine": header.machine,
            "onFailure": header.options.on_failure,
            "succeeded": self._tasks - self._failed,
            "failed": self._failed,
            "noOp": self.count - self._tasks,
            "skipped": len(self.skipped),
            "summary": self.summary,
            "inputs": header.inputs,
            "outputs": closing.outputs,
            "commits": dict(self.kept.commits),
            "notCommitted": list(self.kept.problems),
        }
        return {key: value for key, value in entry.items() if value not in ("", {}, [])}

    @property
    def seconds(self) -> float:
        """How long the job took, interruptions included."""
        return round(max(0.0, self.closing.at - self.job.header.began), 3)

    @property
    def summary(self) -> str:
        """One line about what the job did."""
        parts = [f"{self._tasks} operation{'' if self._tasks == 1 else 's'}"]
        counts = ((self._failed, "failed"), (len(self.skipped), "not run"))
        return ", ".join([*parts, *(f"{count} {what}" for count, what in counts if count)])

    @property
    def added(self) -> Mapping[str, Entry]:
        """The instances that the job has made, as they were recorded first."""
        return Changes().of([Delta(instances=self.job.plan.instances)])

    def ended(self) -> Iterator[Ended]:
        """The steps that have ended, in the order in which they did."""
        steps = self.job.plan.steps
        began: dict[int, StepStartedRecord] = {}
        for record in self.job.records:
            if isinstance(record, StepStartedRecord):
                # Started again after a crash: when it did first, and what that changed, is in the first record.
                began.setdefault(record.step, record)
            elif isinstance(record, StepFinishedRecord):
                yield Ended(steps[record.step], began.pop(record.step, None), record)

    def changes(self) -> Iterator[Entry]:
        """The ConfigChanges: one for each step that has ended, in that order; those without operation have no id."""
        previous, changes = dict(self._previous), Changes()
        changes.of([Delta(instances=self.job.plan.instances)])
        for ended in self.ended():
            yield self._change(ended, previous, changes)

    def _change(self, task: Ended, previous: dict[str, str], changes: Changes) -> Entry:
        plan, step, ended = self.job.plan, task.step, task.ended
        entry: Entry = {}
        if ended.change:
            entry = {"changeId": ended.change, "previousId": previous.get(task.target, "")}
            previous[task.target] = ended.change
        entry |= {
            "target": task.target,
            "instance": step.instance if step.link else "",
            "operation": operation_of(plan, step),
        }
        entry |= _how(ended)
        entry |= {
            "digest": plan.calls[step.call].digest if step.call >= 0 else "",
            "changes": changes.of([task.began.delta if task.began else None, ended.delta]),
            "reason": plan.reasons[step.reason] if step.reason < len(plan.reasons) else "",
        }
        if not ended.no_op:
            entry["start"] = moment(task.start)
            entry["seconds"] = round(ended.outcome.seconds, 3)
        entry |= {"summary": ended.outcome.message, "output": list(ended.outcome.tail)}
        return {key: value for key, value in entry.items() if value not in ("", None, {}, [])}


def _how(ended: StepFinishedRecord) -> Entry:
    """How a task ended."""
    outcome = ended.outcome
    return {
        "outcome": "no-op" if ended.no_op and outcome.succeeded else str(outcome.ending),
        "changed": outcome.changed,
        "exitCode": outcome.exit_code or None,
        "attempts": ended.attempt if ended.attempt > 1 else None,
    }


def operation_of(plan: Plan, step: Step) -> str:
    """``Interface.operation``, or for a step that calls none what it does."""
    if step.call >= 0:
        return plan.calls[step.call].name
    return step.id.rpartition(".")[2] if step.action is not Action.JOIN else "join"


class Changes:
    """Says what deltas change, each value only where it is another than it was said to be before."""

    def __init__(self) -> None:
        self._said: dict[str, Entry] = {}

    def of(self, deltas: Iterable[Delta | None]) -> dict[str, Entry]:
        """What deltas change one after the other, by instance, link or end of a relationship."""
        changes: dict[str, Entry] = {}
        records: dict[str, Entry] = {}
        for delta in deltas:
            if delta is not None:
                records.update((instance.id, _instance(instance)) for instance in delta.instances)
                records.update((link.id, _link(link)) for link in delta.links)
                _add_values(changes, delta)
        for name, record in records.items():
            if "unlinked" not in changes.get(name, ()):
                news = self._news(name, record)
                changes[name] = {**news, **changes.get(name, {})}
        return {name: entry for name, entry in changes.items() if entry}

    def _news(self, name: str, record: Entry) -> Entry:
        said = self._said.get(name, {})
        self._said[name] = record
        return {key: value for key, value in record.items() if said.get(key, "") != value}


def _add_values(changes: dict[str, Entry], delta: Delta) -> None:
    """Attribute values and outputs of a delta, and what it takes away."""
    for name in delta.unlinked:
        changes[name] = {"unlinked": True}
    for key, values in (("attributes", delta.attributes), ("outputs", delta.outputs)):
        for name, found in values.items():
            entry = changes.setdefault(name, {})
            before = entry.get(key)
            entry[key] = {**before, **found} if isinstance(before, dict) else dict(found)


def _instance(instance: Instance) -> Entry:
    return {
        "state": instance.state,
        "local": instance.local,
        "created": instance.created,
        "host": instance.host,
        "note": instance.note,
        "lastConfigChange": instance.last_config_change,
        "lastStateChange": instance.last_state_change,
    }


def _link(link: Link) -> Entry:
    return {"relationship": link.relationship, "source": link.source, "target": link.target, "state": link.state}


def moment(seconds: float) -> str:
    """A moment in seconds since the epoch, in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# ---------------------------------------------------------------------------------------------------------- writing


def write_job_record(layout: Layout, record: JobRecord, *, largest: int = LARGEST_INLINE) -> None:
    """Write the record; that of a large job has its changes in files of their own. Raises ``EnsembleError``."""
    job, plan = record.job.header.id, record.job.plan
    head: Entry = {"format": FORMAT, "job": record.header, "added": record.added}
    head["skipped"] = {plan.steps[skipped.step].id: skipped.because for skipped in record.skipped}
    if record.count <= largest:
        head["changes"] = list(record.changes())
    else:
        changes = record.changes()
        numbers = range(1, -(-record.count // largest) + 1)
        head["parts"] = [_write_part(layout, job, number, islice(changes, largest)) for number in numbers]
    write_whole(layout.job_record(job), ["".join(block({key: value for key, value in head.items() if value})).encode()])


def _write_part(layout: Layout, job: str, number: int, changes: Iterable[Entry]) -> str:
    path = layout.job_part(job, number)
    write_whole(path, (f"- {flow(change)}\n".encode() for change in changes))
    return f"{job}/{path.name}"
