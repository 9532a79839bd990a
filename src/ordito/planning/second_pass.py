"""Transform: what stays as it is may have to be configured again, because a value that it was configured with changes
when what it requires is changed. Only the job finds that out.

So the steps are in the plan, at most once for an instance, after a filter that compares the inputs of ``configure`` at
that time with those when the plan was made.
"""

from __future__ import annotations

from collections.abc import Iterator

from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import CONFIGURES
from ordito.instances.states import STARTED
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.operation_sequence import SequencedOperation
from ordito.planning.planned_instances import CHANGED, DraftStep, InstanceAction, PlannedInstance
from ordito.syntax.expressions import Call, calls
from ordito.work.observed_inputs import observed
from ordito.work.plan import Action, ChangeKind, StepCondition

WHETHER = "an input of its configure may be another value then"


def second_pass(draft: Draft) -> None:
    """Have instances configured again, if needed, whose nodes are configured with what is changed."""
    if not draft.workflow.forms or draft.options.turns.never:
        return
    changing = {m.template.name for m in draft.members.values() if m.action in CHANGED}
    if not changing:
        return
    evaluator = Evaluator(draft.service, draft.snapshot, draft.inputs)
    for node in draft.ordered:
        found = _configures(draft, node) if node.name not in draft.options.orphans.nodes else None
        if found is None or changing.isdisjoint(_reads(node, found[1])):
            continue
        for member in draft.of_node.get(node.name, ()):
            if _stays(member):
                member.action, member.reason, member.is_conditional = InstanceAction.RECONFIGURE, WHETHER, True
                key = draft.options.files.key
                draft.observed[member.id] = observed(evaluator, found[1], node.name, member.id, key)
                changing.add(node.name)


def whether(draft: Draft, member: PlannedInstance) -> int:
    """Add the filter that decides whether an instance is configured again."""
    found = _configures(draft, member.template)
    assert found is not None
    return draft.add(
        DraftStep(
            f"{member.id}.ordito.whether",
            Action.FILTER,
            member.id,
            member.id,
            call=found[0].call,
            reason=draft.why(WHETHER),
            condition=StepCondition.IF_OTHER_INPUTS,
        )
    )


def _configures(draft: Draft, node: NodeTemplate) -> tuple[SequencedOperation, Operation] | None:
    """The operation that configures the instances of a node, if any."""
    for entry in draft.sequences.making(node).configure:
        call = draft.calls.all[entry.call]
        if entry.relationship is None and call.operation in CONFIGURES and call.artifact:
            return entry, node.interfaces[call.interface].operations[call.operation]
    return None


def _reads(node: NodeTemplate, operation: Operation) -> Iterator[str]:
    """The nodes that a node requires, or is hosted on, and whose attributes are used in inputs of an operation."""
    required = {r.requirement: r.target for r in node.requirements}
    targets = set(required.values())
    for given in operation.inputs.values():
        for call in calls(given.value) if isinstance(given.value, Call | list | dict) else ():
            if call.function != "get_attribute" or not call.arguments:
                continue
            name = str(call.arguments[0])
            if name == "HOST" and node.host is not None:
                yield node.host.target
            elif name == "SELF" and len(call.arguments) > 1 and str(call.arguments[1]) in required:
                yield required[str(call.arguments[1])]
            elif name in targets:
                yield name


def _stays(member: PlannedInstance) -> bool:
    """Whether an instance is up, and nothing is planned for it so far."""
    record = member.record
    is_kept = (
        member.action is InstanceAction.KEEP
        and member.kind is ChangeKind.UNCHANGED
        and not (member.adopted or member.dropped)
    )
    return is_kept and member.is_up and record.state == STARTED and not record.form
