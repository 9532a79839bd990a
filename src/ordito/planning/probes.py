"""Transforms: operations that only look at instances: those of the workflows `check` and `discover`, and the check of
an instance of unknown status before a deployment or a removal continues with it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from ordito.instances.lifecycle import Side
from ordito.instances.status import ERROR, UNKNOWN
from ordito.planning.calls import SETTLE
from ordito.planning.draft import Draft
from ordito.planning.implemented import where_run
from ordito.planning.losing import at_stake, holds_data
from ordito.planning.operation_sequence import Where
from ordito.planning.planned_instances import Chain, DraftStep, InstanceAction, PlannedInstance
from ordito.work.plan import Action, StepCondition
from ordito.work.probes import CHECK, PROBES, maintaining
from ordito.work.targets import HOST


def existing(draft: Draft) -> None:
    """Transform: every instance there is, and stays."""
    for node in draft.ordered:
        for record in draft.snapshot.records_of(node.name):
            if record.exists or record.is_missed:
                draft.put(PlannedInstance(record, node, InstanceAction.LOOK, ""))


def looking(name: str) -> Callable[[Draft], None]:
    """The transform that looks at every instance that is asked for and can be looked at, those first that others
    require: what is found of them may be needed to look at the others."""

    def look(draft: Draft) -> None:
        chosen = draft.options.instances
        nothing = draft.why("there is nothing to look at it with")
        for members in draft.of_node.values():
            for member in members:
                step = None
                if chosen is None or member.id in chosen:
                    step = probe(draft, member, name, f"{name} was asked for")
                number = draft.join(member.id, nothing, after_failure=True) if step is None else step
                member.up = Chain([number])

    look.__name__ = name
    return look


def ask_first(draft: Draft) -> None:
    """Transform: an instance of unknown status is checked first, if it has a check. All steps that follow are in the
    plan, and the check decides whether each is carried out. The same goes for an instance that is in error although
    everything was carried out, since only a check can find out that it no longer is. With ``force`` nothing is checked.
    """
    for member in draft.members.values() if not draft.options.force else ():
        if not _is_doubtful(draft, member):
            continue
        if member.action is InstanceAction.CONTINUE and member.record.created:
            _ask(draft, member, member.up, _install_condition)
        elif member.action is InstanceAction.LEAVE:
            _ask(draft, member, member.down, lambda _: StepCondition.UNLESS_ABSENT)


def _is_doubtful(draft: Draft, member: PlannedInstance) -> bool:
    if member.record.local == UNKNOWN:
        return True
    if member.record.local != ERROR:
        return False
    return member.up is not None and draft.steps[member.up.end].condition is StepCondition.IF_REPAIRED


def _ask(
    draft: Draft, member: PlannedInstance, chain: Chain | None, condition: Callable[[DraftStep], StepCondition]
) -> None:
    if chain is None or not chain.steps:
        return
    number = probe(draft, member, CHECK, f"it is {member.record.local}: checked first")
    if number is None:
        return
    for own in chain.steps:
        step = draft.steps[own]
        if not step.condition:
            step.condition = condition(step)
        step.done = False
    asked = [number]
    if member.rises and any(at_stake(draft, [member])):
        asked.append(_not_once_more(draft, member))
    elif member.rises and holds_data(draft, member):
        draft.once_more.add(member.id)
    for before, after in pairwise([*asked, chain.begin]):
        draft.edge(before, after, draft.why("what a check says comes before what depends on it"))
    chain.begin = number
    chain.steps = [*asked, *chain.steps]


def _not_once_more(draft: Draft, member: PlannedInstance) -> int:
    """The step that fails if an instance that holds data is found to be absent: it is created again only by a plan that
    says so before anything runs."""
    call = draft.calls.nothing(member.template, "ordito", "there")
    step = DraftStep(f"{member.id}.ordito.there", Action.CALL, member.id, member.id, call=call)
    step.condition, step.reason = (
        StepCondition.IF_THERE,
        draft.why("it keeps data, and is not made once more by itself"),
    )
    return draft.add(step)


def _install_condition(step: DraftStep) -> StepCondition:
    if step.id.endswith(f".{SETTLE.name}"):
        return StepCondition.IF_REPAIRED
    if step.done:
        return StepCondition.IF_ABSENT
    return StepCondition.ALWAYS if step.link or step.stage is None else StepCondition.UNLESS_OK


def probe(draft: Draft, member: PlannedInstance, name: str, reason: str) -> int | None:
    """The step of an operation that looks at an instance, or repairs it; None if it has none."""
    operation = maintaining(member.template, name)
    if operation is None:
        return look_at(draft, member, reason) if name in PROBES and can_be_looked_at(draft, member) else None
    attributes = [a for a in member.template.attribute_definitions if a not in operation.inputs]
    call = draft.calls.of_node(member.template, operation.interface, name, operation, wanted=attributes)
    place = where_run(operation, member.template, Side.NODE, lifecycle=True)
    step = DraftStep(
        f"{member.id}.{draft.calls.all[call].name}",
        Action.CALL,
        member.id,
        member.id,
        call=call,
        runs_on="" if place is Where.ORCHESTRATOR else draft.runs_on(place, member.id, ""),
        after_failure=True,
        reason=draft.why(reason),
    )
    return draft.add(step)


def can_be_looked_at(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an instance without an operation for it can be looked at: by the provider that has created it, or by
    whatever reaches hosts."""
    node = member.template
    if HOST in draft.snapshot.attributes.get(member.id, {}):
        return True
    if draft.sequences.is_delegated(node):
        return draft.options.abilities.maker(node.name, node.kinds).looks
    return node.is_compute and bool(draft.sequences.protocol(node))


def look_at(draft: Draft, member: PlannedInstance, reason: str) -> int:
    """The step that asks the provider of an instance, or whatever reaches hosts, for its status."""
    call = draft.calls.of_looking(member.template)
    return draft.add(
        DraftStep(
            f"{member.id}.{draft.calls.all[call].name}",
            Action.DELEGATE,
            member.id,
            member.id,
            call=call,
            after_failure=True,
            reason=draft.why(reason),
        )
    )
