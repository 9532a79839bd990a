"""`jobs/<changeId>.yaml`: the record of one job, a header and then one ConfigChange for each of its tasks.

A ConfigChange says what a task changed, not how things were: the records of all jobs in their order rebuild the status.
So operations that did nothing are in it as well, without a changeId, where they changed a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from ordito.ensemble.files import write_whole
from ordito.ensemble.journal import UnfinishedJob
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


class JobRecord:
    """What is written about a closed job, made from its journal alone, so that it is the same whenever it is made."""

    def __init__(
        self, job: UnfinishedJob, closing: JobClosingRecord, before: Status, previous: Mapping[str, str]
    ) -> None:
        """``before`` is the status when the job began, ``previous`` the last change of each instance and link then."""
        self._job = job
        self.plan = job.plan
        self._closing = closing
        self._before = before
        self._previous = dict(previous)
        self._changes = Changes()
        self.added = self._changes.of([Delta(instances=job.plan.instances)])
        self.tasks = list(self._tasks())
        self.skipped = [record for record in job.records if isinstance(record, StepSkippedRecord)]

    @property
    def header(self) -> Entry:
        """What the record says about the job as a whole."""
        header, closing = self._job.header, self._closing
        done = [task for task in self.tasks if "changeId" in task]
        failed = sum(task["outcome"] != "succeeded" for task in done)
        entry: Entry = {
            "changeId": header.id,
            "previousId": self._before.last_job.id if self._before.last_job else "",
            "workflow": header.workflow,
            "status": closing.status,
            "began": moment(header.began),
            "ended": moment(closing.at),
            "seconds": round(max(0.0, closing.at - header.began), 3),
            "service": header.service,
            "main": header.main,
            "user": header.user,
            "machine": header.machine,
            "onFailure": header.options.on_failure,
            "succeeded": len(done) - failed,
            "failed": failed,
            "noOp": len(self.tasks) - len(done),
            "skipped": len(self.skipped),
            "summary": self.summary,
            "inputs": header.inputs,
            "outputs": closing.outputs,
        }
        return {key: value for key, value in entry.items() if value not in ("", {})}

    @property
    def summary(self) -> str:
        """One line about what the job did."""
        done = [task for task in self.tasks if "changeId" in task]
        failed = sum(task["outcome"] != "succeeded" for task in done)
        parts = [f"{len(done)} operation{'' if len(done) == 1 else 's'}"]
        parts += [f"{count} {what}" for count, what in ((failed, "failed"), (len(self.skipped), "not run")) if count]
        return ", ".join(parts)

    # --------------------------------------------------------------------------------------------------- the tasks

    def _tasks(self) -> Iterator[Entry]:
        """One entry for each step that ended, in the order in which they did."""
        plan = self._job.plan
        began: dict[int, StepStartedRecord] = {}
        for record in self._job.records:
            if isinstance(record, StepStartedRecord):
                first = began.get(record.step)
                # Started again after a crash: what starting changes is in the first record.
                if first is None or record.delta is not None:
                    began[record.step] = record
            elif isinstance(record, StepFinishedRecord):
                yield self._task(plan, plan.steps[record.step], began.get(record.step), record)

    def _task(self, plan: Plan, step: Step, began: StepStartedRecord | None, ended: StepFinishedRecord) -> Entry:
        target = step.link or step.instance
        entry: Entry = {}
        if ended.change:
            entry = {"changeId": ended.change, "previousId": self._previous.get(target, "")}
            self._previous[target] = ended.change
        entry |= {
            "target": target,
            "instance": step.instance if step.link else "",
            "operation": operation_of(plan, step),
        }
        entry |= _how(ended)
        entry |= {
            "digest": plan.calls[step.call].digest if step.call >= 0 else "",
            "changes": self._changes.of([began.delta if began else None, ended.delta]),
            "reason": plan.reasons[step.reason] if step.reason < len(plan.reasons) else "",
        }
        if not ended.no_op:
            entry["start"] = moment(began.at if began else ended.at)
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
    """Write the record; that of a large job has its tasks in files of their own. Raises ``EnsembleError``."""
    header = record.header
    job = str(header["changeId"])
    head: Entry = {"format": FORMAT, "job": header}
    plan = record.plan
    if record.added:
        head["added"] = record.added
    if record.skipped:
        head["skipped"] = {plan.steps[skipped.step].id: skipped.because for skipped in record.skipped}
    if len(record.tasks) <= largest:
        head["changes"] = record.tasks
    else:
        head["parts"] = [
            _write_part(layout, job, number, record.tasks[first : first + largest])
            for number, first in enumerate(range(0, len(record.tasks), largest), 1)
        ]
    write_whole(layout.job_record(job), ["".join(block(head)).encode()])


def _write_part(layout: Layout, job: str, number: int, tasks: list[Entry]) -> str:
    path = layout.job_part(job, number)
    write_whole(path, (f"- {flow(task)}\n".encode() for task in tasks))
    return f"{job}/{path.name}"
