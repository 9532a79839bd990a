"""A rollback as part of a job: its steps follow those of the job's plan, and the journal says where they begin."""

from __future__ import annotations

import msgspec

from ordito.work.plan import Plan, Step
from ordito.work.records import RollbackRecord

PREFIX = "rollback."
"""The prefix of the ids of its steps, since the job's own steps may have the same ids."""


class WayBack(msgspec.Struct, frozen=True):
    """How to roll back a job: a plan of its own, what that cannot undo, for people, and the instances that must not
    exist in the end."""

    plan: Plan
    remains: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def with_rollback(plan: Plan, back: Plan) -> Plan:
    """A job's plan with the steps of a rollback after its own."""
    steps, reasons = len(plan.steps), len(plan.reasons)
    # Nothing of the job's own is made any more: what it was to move does so only where the rollback says it.
    again = {step.instance for step in back.steps if step.effect.replaces} | {record.id for record in back.records.new}
    moved = {**{name: host for name, host in plan.records.moved.items() if name not in again}, **back.records.moved}
    edges = tuple((before + steps, after + steps, reason + reasons) for before, after, reason in back.edges)
    return msgspec.structs.replace(
        plan,
        steps=plan.steps + tuple(_moved(step, plan) for step in back.steps),
        edges=plan.edges + edges,
        calls=plan.calls + back.calls,
        reasons=plan.reasons + back.reasons,
        capacity={**plan.capacity, **back.capacity},
        undone=plan.undone + back.undone,
        # What was to count as carried out in the form to which the job led does not in the one to which it goes back.
        records=msgspec.structs.replace(plan.records, adopted=back.records.adopted, moved=moved),
    )


def without_rollback(plan: Plan, record: RollbackRecord) -> Plan:
    """The plan without the steps of a rollback; it may have more calls than it needs."""
    return msgspec.structs.replace(plan, steps=plan.steps[: record.first], edges=plan.edges[: record.first_edge])


def _moved(step: Step, plan: Plan) -> Step:
    return msgspec.structs.replace(
        step,
        id=f"{PREFIX}{step.id}",
        call=step.call + len(plan.calls) if step.call >= 0 else step.call,
        reason=step.reason + len(plan.reasons),
        hook=step.hook + len(plan.undone) if step.hook >= 0 else step.hook,
    )
