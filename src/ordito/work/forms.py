"""Forms of a service, as a job sees them: the form that the record of an instance names, from the job's beginning to
its end.

An instance is in the form whose operations would stop and remove it now. Its record names that form, or none for the
one that was deployed last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.states import DELETED
from ordito.instances.status import ABSENT
from ordito.work.plan import Plan
from ordito.work.records import ROLLED_BACK, Form, JobHeader
from ordito.work.workflows import workflow_of

replace = msgspec.structs.replace

RecordOf = Callable[[str], Instance | None]
"""Returns what is recorded of an instance, by its id."""


def is_same(one: Form | None, other: Form | None) -> bool:
    """Whether two forms are the same service with the same inputs, whatever else is remembered of them."""
    if one is None or other is None:
        return one is other
    return (one.service, one.main, one.inputs, one.choices) == (other.service, other.main, other.inputs, other.choices)


def is_same_there(one: Form | None, other: Form | None) -> bool:
    """Whether two forms are the same service with the same inputs in the same environment; False if one is unknown."""
    return one is not None and other is not None and is_same(one, other) and one.environment == other.environment


def in_older_forms(plan: Plan, record_of: RecordOf) -> Iterator[Instance]:
    """The records of the instances that a plan brings into another form, as they are when its job begins."""
    for name, form in plan.records.older.items():
        record = record_of(name)
        if record is not None and record.form != form:
            yield replace(record, form=form)


def begun(plan: Plan, snapshot: Snapshot) -> Delta:
    """What changes because a job begins: the new instances of its plan exist, and the records of those that it changes
    name their present forms."""
    return Delta(instances=(*plan.records.new, *in_older_forms(plan, snapshot.instances.get)))


def adopted(plan: Plan, record: Instance, form: str, change: str) -> Instance:
    """The record of an instance that adopts what is wanted of it without anything being carried out. What the job has
    rolled back, or carried out again, since it was planned stays as that has left it."""
    taken = plan.records.adopted.get(record.id)
    if not taken:
        return replace(record, form=form)
    applied = dict(record.applied)
    for key, one in taken.items():
        known = applied.get(key)
        if not one.change:
            applied[key] = replace(one, change=change)
        elif known is not None and known.change == one.change:
            applied[key] = one
    failed = {k: one for k, one in record.failed.items() if k not in taken or taken[k].digest}
    return replace(record, applied={k: one for k, one in applied.items() if one.digest}, failed=failed, form=form)


def forms_in_use(instances: Mapping[str, Instance]) -> frozenset[str]:
    """The earlier forms of instances, including those that may come back."""
    return frozenset(r.form for r in instances.values() if r.form and (r.exists or r.was_lost))


# ----------------------------------------------------------------------------------------------- when a job ends


def form_after(header: JobHeader, rollback: str, *, is_untouched: bool) -> str:
    """The form that is deployed after a job whose workflow changes what is deployed: its own; the base if it was rolled
    back to that; the one before if it has failed and changed nothing, or was to remove everything."""
    if rollback and header.base:
        return header.current if workflow_of(header.workflow).removes else header.base
    return header.current if is_untouched and header.current else header.id


def ended(header: JobHeader, plan: Plan, snapshot: Snapshot, rollback: str, *, is_untouched: bool) -> Delta:
    """What changes because a job ends: the records of instances name their forms relative to what is deployed then, and
    new instances that were never begun by a job which has changed nothing are removed."""
    if not workflow_of(header.workflow).revises:
        return Delta()
    known = {header.id: header.form, **header.forms}
    form = form_after(header, rollback, is_untouched=is_untouched)
    none = {name for name in known if name == form or is_same(known[name], known.get(form))}
    # Of a job that was not rolled back completely something is left as the job has made it.
    own = header.id if form != header.id and not is_untouched and rollback != ROLLED_BACK else ""
    made = {record.id for record in plan.records.new}
    changed: list[Instance] = []
    for record in snapshot.instances.values():
        if record.form:
            if record.form in none:
                changed.append(replace(record, form=""))
        elif form != header.id and record.exists:
            if is_untouched and record.id in made:
                changed.append(replace(record, state=DELETED, local=ABSENT))
            elif own and (record.id in plan.records.older or record.created >= header.id):
                changed.append(replace(record, form=own))
    again = {record.id: record for record in not_made(header, plan.records.absent, snapshot)}
    changed = [record for record in changed if record.id not in again]
    changed += [replace(record, form="") if record.form in none else record for record in again.values()]
    return Delta(instances=tuple(changed))


def not_made(header: JobHeader, absent: Iterable[Instance], snapshot: Snapshot) -> tuple[Instance, ...]:
    """Of what was found to be absent and was to be created again, the instances that the job has not begun, as they
    were before: they may still come back."""
    now = ((record, snapshot.instances[record.id]) for record in absent)
    unbegun = (record for record, known in now if not (known.created or known.applied or known.failed))
    return tuple(replace(record, form=record.form or header.current) for record in unbegun)
