"""Writes `jobs/<changeId>.yaml`: the record of one job, a header and then one ConfigChange for each of its tasks.

A ConfigChange says what a task changed, not the state before: the records of all jobs in their order rebuild the
status. So operations that did nothing are in it, too, without a changeId. The job is read from its journal once, record
by record, and written meanwhile, so that large jobs need little memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from ordito.ensemble.codec import Decoder
from ordito.ensemble.entity_change import Entity, EntityChange, difference
from ordito.ensemble.files import write_whole
from ordito.ensemble.job_format import FORMAT, NO_OP, NO_RESULT, ConfigChange, HookDone, JobFile, JobHead, moment
from ordito.ensemble.jobs_tsv import job_line, task_line
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.keeping import NOTHING
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest_rows import changed_status
from ordito.ensemble.pending_rows import last_change_of
from ordito.ensemble.status import Status
from ordito.ensemble.vault import sealed
from ordito.ensemble.yaml_writer import are_simple, block, flow_line
from ordito.instances.records import Delta, Instance, Link, Snapshot
from ordito.work.forms import in_older_forms
from ordito.work.invocation import Ending
from ordito.work.plan import Action, Plan, Step
from ordito.work.records import (
    Form,
    JobClosingRecord,
    JobHeader,
    Record,
    StepFinishedRecord,
    StepSkippedRecord,
    StepStartedRecord,
)
from ordito.work.workflows import workflow_of

UNDO = Action.UNDO

LARGEST_READABLE = 100
"""How many tasks a job may have for each to be written on several lines."""

LARGEST_INLINE = 10_000
"""How many tasks a job may have to be written in one file; those of larger jobs go to separate files of this size."""


class JournaledJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job with all that its changes are told from; it need not have ended."""

    header: JobHeader
    plan: Plan
    records: Callable[[], Iterator[Record]]
    """Gives its records from the first one, each time it is called."""
    previous: Mapping[str, tuple[str, bytes]]
    """The former records of what it has changed (see ``EnsembleJournal.previous``)."""
    snapshot: Snapshot
    """What exists now."""


class ClosingJob(JournaledJob, frozen=True, kw_only=True):
    """A job whose steps have all ended, with all that its record is written from."""

    closing: JobClosingRecord
    """The last of its records."""
    before: Status
    """The status when it began."""
    after: Status
    """The status now."""


class JobChanges:
    """The ConfigChanges of a job, made from its journal alone, so that they are the same whenever they are made.

    They are read once, by ``told``; after that, all counts are complete.
    """

    def __init__(self, job: JournaledJob) -> None:
        self.job = job
        self.skipped: dict[str, str] = {}
        self.lines: list[bytes] = []
        self._succeeded = self._failed = self._no_op = self._said = self._warnings = 0
        self._last: dict[str, str] = {}
        self._instance, self._link = Decoder(Instance), Decoder(Link)
        self._changes = Changes(self._entity_before, self._entity_now)
        self._began: dict[int, StepStartedRecord] = {}
        self._warned: dict[int, tuple[str, ...]] = {}
        self._touched: dict[int, list[str]] = {}
        older = in_older_forms(job.plan, self._record_before)
        self._changes.follow(Delta(instances=(*job.plan.records.new, *older)))

    def told(self) -> Iterator[ConfigChange]:
        """One for each step that has ended, in that order, and for what changes beside them. Those of a job that goes
        on stay the first ones."""
        for record in self.job.records():
            found = self._change(record)
            if found is not None:
                self._said += 1
                yield found

    def _change(self, record: Record) -> ConfigChange | None:
        match record:
            case StepFinishedRecord():
                return self._finished(record)
            case StepStartedRecord():
                # Started again: when it did first, and what that changed, is in the first record.
                self._began.setdefault(record.step, record)
                if record.warnings:
                    self._warned[record.step] = record.warnings
            case StepSkippedRecord():
                self.skipped[self.job.plan.steps[record.step].id] = record.because
        delta: Delta | None = getattr(record, "delta", None)
        if delta is None:
            return None
        step: int = getattr(record, "step", -1)
        self._touched.setdefault(step, []).extend(self._changes.follow(delta))
        if delta.attributes or delta.outputs or delta.unlinked or delta.forgotten:
            # Said at once, since it cannot be told from how things are when the step ends.
            changes = self._changes.say(self._touched.pop(step), delta)
            return ConfigChange(target=self._target(step), operation=self._operation(step), changes=changes)
        return None

    def _finished(self, record: StepFinishedRecord) -> ConfigChange:
        step, outcome, plan = self.job.plan.steps[record.step], record.outcome, self.job.plan
        began = self._began.pop(record.step, None)
        warnings = self._warned.pop(record.step, ())
        self._warnings += len(warnings)
        touched = self._touched.pop(record.step, [])
        if record.delta is not None:
            touched.extend(self._changes.follow(record.delta))
        target, operation = self._target(record.step), operation_of(plan, step)
        start = moment(began.at if began else record.at)
        previous = ""
        if record.change:
            self._succeeded += outcome.succeeded
            self._failed += not outcome.succeeded
            previous = self._previous(target)
            self._last[target] = record.change
            self.lines.append(task_line(self.job.header.id, record.change, operation, target, outcome, start))
        else:
            self._no_op += 1
        return ConfigChange(
            change_id=record.change,
            previous_id=previous,
            target=target,
            instance=step.instance if step.link else "",
            operation=operation,
            step="" if step.id == f"{target}.{operation}" else step.id,
            outcome=NO_OP if record.no_op and outcome.succeeded else str(outcome.ending),
            changed=outcome.changed,
            exit_code=outcome.exit_code or None,
            attempts=record.attempt,
            digest=plan.calls[step.call].digest if step.call >= 0 else "",
            inputs=began.inputs if began is not None else record.inputs,
            changes=self._changes.say(dict.fromkeys(touched), record.delta),
            reason=plan.reasons[step.reason] if step.reason < len(plan.reasons) else "",
            start="" if record.no_op else start,
            seconds=None if record.no_op or not outcome.seconds else round(outcome.seconds, 3),
            summary=outcome.message or record.because,
            output=outcome.tail,
            warnings=warnings,
            hook=(done := hook_done(plan, step, record)),
            condition=record.hook.condition if record.hook is not None and done is None else {},
            undoes=undone_by(plan, step, record),
        )

    def _previous(self, target: str) -> str:
        """The last change of a target before the one that is told now."""
        if target not in self._last:
            before = self._entity_before(target) if target in self.job.previous else self._entity_now(target)
            return last_change_of(before) if before is not None else ""
        return self._last[target]

    def _target(self, step: int) -> str:
        if step < 0:
            return self.job.header.id
        found = self.job.plan.steps[step]
        if found.link or found.instance or found.hook < 0:
            return found.link or found.instance
        hook = self.job.plan.undone[found.hook].hook if found.action is UNDO else self.job.plan.hooks[found.hook]
        return hook.component or self.job.header.id

    def _operation(self, step: int) -> str:
        return operation_of(self.job.plan, self.job.plan.steps[step]) if step >= 0 else ""

    def _entity_before(self, name: str) -> Entity:
        kind, body = self.job.previous.get(name, ("", b""))
        if not body:
            return None
        return self._link(body) if kind == "link" else self._instance(body)

    def _record_before(self, name: str) -> Instance | None:
        found = self._entity_before(name)
        return found if isinstance(found, Instance) else None

    def _entity_now(self, name: str) -> Entity:
        snapshot = self.job.snapshot
        return snapshot.instances.get(name) or snapshot.links.get(name)


def changes_so_far(journal: EnsembleJournal, job: str) -> tuple[ConfigChange, ...] | None:
    """The ConfigChanges of a job that has not ended, as its record will begin with them; None where the journal does
    not hold it. Raises ``EnsembleError``."""
    with journal.viewed():
        frame = journal.frame()
        if frame is None or frame[0].id != job:
            return None
        header, rest, _ = frame
        plan = msgspec.structs.replace(rest, steps=journal.steps())
        found = JournaledJob(
            header=header,
            plan=plan,
            records=journal.records,
            previous=journal.previous(),
            snapshot=journal.snapshot(),
        )
        return tuple(JobChanges(found).told())


class JobRecord(JobChanges):
    """The record of a job. ``changes`` must be read once (``write_changes``). ``kept`` are the commits of the files."""

    job: ClosingJob

    def __init__(self, job: ClosingJob) -> None:
        super().__init__(job)
        self.kept = NOTHING
        self.readable: list[ConfigChange] = []
        self.inline: list[bytes] = []
        self.parts: list[str] = []

    def changes(self) -> Iterator[ConfigChange]:
        """All that are told, and then what else is not as before."""
        yield from self.told()
        for name in self._changes.unsaid():
            self._said += 1
            yield ConfigChange(target=name, changes=self._changes.say([name], None))

    @property
    def head(self) -> JobHead:
        """The header of the record; complete after all changes were read."""
        header, closing, before = self.job.header, self.job.closing, self.job.before
        return JobHead(
            change_id=header.id,
            previous_id=before.last_job.id if before.last_job else "",
            workflow=header.workflow,
            retries=header.retries,
            cause=header.cause,
            status=closing.status,
            rollback=closing.rollback,
            remains=closing.remains,
            again=closing.again,
            handled=closing.handled,
            arguments=self._arguments,
            began=moment(header.began),
            ended=moment(closing.at),
            seconds=self.seconds,
            ticks=header.ticks,
            environment=header.environment,
            options=msgspec.to_builtins(header.options),
            user=header.user,
            by=header.asked.by,
            origin=header.asked.origin,
            approved_by=header.asked.approved,
            machine=header.machine,
            service=header.service,
            revision=self.revision,
            base=header.base,
            succeeded=self._succeeded,
            failed=self._failed,
            no_op=self._no_op,
            skipped=len(self.skipped),
            changes=self._said,
            summary=self.summary,
            commits=self.kept.commits,
            not_committed=self.kept.problems,
        )

    @property
    def _arguments(self) -> Mapping[str, object]:
        """The inputs of the workflow that was run, which are those of the scope around all others."""
        scopes = self.job.plan.scopes
        return scopes[0].inputs if scopes and not scopes[0].activity else {}

    @property
    def revision(self) -> int:
        """The number of the revision that the job has made, 0 for none."""
        now = self.job.after.revision
        return now if now > self.job.before.revision else 0

    @property
    def form(self) -> Form | None:
        """What the job has deployed, None where that has not changed."""
        header = self.job.header
        if not workflow_of(header.workflow).revises:
            return None
        return msgspec.structs.replace(header.form, revision=self.revision)

    @property
    def seconds(self) -> float:
        """How long the job took, with interruptions."""
        return round(max(0.0, self.job.closing.at - self.job.header.began), 3)

    @property
    def summary(self) -> str:
        """One line about what the job did."""
        tasks, failed = self._succeeded + self._failed, self._failed
        parts = [f"{tasks} operation{'' if tasks == 1 else 's'}"]
        counts = ((failed, "failed"), (len(self.skipped), "not run"))
        parts += [f"{count} {what}" for count, what in counts if count]
        if self._warnings:
            parts.append(f"{self._warnings} warning{'' if self._warnings == 1 else 's'}")
        return ", ".join(parts)

    @property
    def all_lines(self) -> list[bytes]:
        """The lines for `jobs.tsv`: the job's own, then one for each task that has a changeId."""
        header, status = self.job.header, self.job.closing.status
        own = job_line(header.id, header.workflow, status, moment(header.began), self.seconds, self.summary)
        return [own, *self.lines]


def hook_done(plan: Plan, step: Step, record: StepFinishedRecord) -> HookDone | None:
    """The lifecycle step that a step has carried out successfully, None where it has not: also where the step was not
    needed, or a user has marked it as done."""
    if step.hook < 0 or step.action is UNDO or step.instance or record.because:
        return None
    if record.outcome.ending is not Ending.SUCCEEDED:
        return None
    return HookDone(plan.hooks[step.hook], record.hook or NO_RESULT)


def undone_by(plan: Plan, step: Step, record: StepFinishedRecord) -> str:
    """The change of the lifecycle step that a step has undone, "" for none."""
    is_undone = step.hook >= 0 and step.action is UNDO and not step.instance and record.outcome.succeeded
    return plan.undone[step.hook].change if is_undone else ""


def operation_of(plan: Plan, step: Step) -> str:
    """``Interface.operation``, or what the step does where it calls no operation."""
    if step.call >= 0:
        return plan.calls[step.call].name
    return step.id.rpartition(".")[2] if step.action is not Action.JOIN else "join"


# ---------------------------------------------------------------------------------------------------------- writing


def write_changes(layout: Layout, record: JobRecord, *, largest: int = LARGEST_INLINE) -> None:
    """Read the changes, and write those of a large job to separate files; others are kept for the record itself. Raises
    ``EnsembleError``."""
    readable, lines = record.readable, record.inline
    for change in record.changes():
        if len(lines) == largest:
            _write_part(layout, record)
        if len(readable) <= LARGEST_READABLE:
            readable.append(change)
        are_plain = are_simple(change.inputs) and change.hook is None
        are_plain = are_plain and all(are_simple(c.attributes) and not c.outputs for c in change.changes.values())
        lines.append(b"- %b\n" % flow_line(change, has_values=not are_plain))
    if record.parts:
        _write_part(layout, record)


def _write_part(layout: Layout, record: JobRecord) -> None:
    job = record.job.header.id
    path = layout.job_part(job, len(record.parts) + 1)
    write_whole(path, record.inline)
    record.parts.append(f"{job}/{path.name}")
    record.inline.clear()


def write_job_record(layout: Layout, record: JobRecord) -> None:
    """Write the record itself, after ``write_changes``. Raises ``EnsembleError``."""
    is_readable = len(record.readable) <= LARGEST_READABLE
    file = JobFile(
        FORMAT,
        record.head,
        changed_status(record.job.before, record.job.after),
        record.form,
        record.skipped,
        tuple(record.parts),
        tuple(record.readable) if is_readable and not record.parts else (),
    )
    head = "".join(block(msgspec.to_builtins(file, enc_hook=sealed))).encode()
    lines = [] if is_readable or record.parts else [b"changes:\n", *record.inline]
    write_whole(layout.job_record(record.job.header.id), chain([head], lines))


# Says what the deltas of a job change: of each entity only the values that are others than before, and all of them.


class Changes:
    """Follows deltas, and gives the changes of entities since they were given last.

    A change leads to the present record of an entity. So steps that run at the same time may touch the same entity: the
    last one gives all of its changes.
    """

    def __init__(self, before: Callable[[str], Entity], final: Callable[[str], Entity]) -> None:
        """``before`` gives an entity as it was when the job began, ``final`` as it is when all is over; None for one
        that is not recorded."""
        self._before = before
        self._final = final
        self._now: dict[str, Entity] = {}
        self._said: dict[str, Entity] = {}

    def follow(self, delta: Delta) -> list[str]:
        """Apply a delta to instances and links; returns the ids of those that it changes."""
        named: list[str] = []
        for link in delta.links:
            self._now[link.id] = link
            named.append(link.id)
        self._now.update(dict.fromkeys(delta.unlinked))
        for instance in delta.instances:
            self._now[instance.id] = instance
            named.append(instance.id)
        self._now.update(dict.fromkeys(delta.forgotten))
        return named

    def say(self, names: Iterable[str], delta: Delta | None) -> dict[str, EntityChange]:
        """The changes of entities, and the other changes of ``delta``, which is the last one that was followed."""
        changes: dict[str, dict[str, object]] = {}
        if delta is not None and (delta.unlinked or delta.forgotten):
            for mark, gone in (("unlinked", delta.unlinked), ("forgotten", delta.forgotten)):
                changes.update((name, {mark: True}) for name in gone)
                self._said.update(dict.fromkeys(gone))
        for name in names:
            now = self._now.get(name)
            if now is None:
                continue
            said = self._said[name] if name in self._said else self._before(name)
            final = self._final(name)
            if final is not None and now == final:
                # One copy of a record is enough: the one that is kept anyway.
                now = self._now[name] = final
            self._said[name] = now
            if news := difference(said, now):
                changes[name] = changes[name] | news if name in changes else news
        if delta is not None and (delta.attributes or delta.outputs):
            for name, attributes in delta.attributes.items():
                changes.setdefault(name, {})["attributes"] = attributes
            for name, outputs in delta.outputs.items():
                changes.setdefault(name, {})["outputs"] = outputs
        return {name: EntityChange(**fields) for name, fields in changes.items()}  # type: ignore[arg-type]

    def unsaid(self) -> list[str]:
        """The entities that have changed since their changes were given last."""
        return [name for name, now in self._now.items() if now is not None and self._said.get(name) != now]
