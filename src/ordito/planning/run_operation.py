"""Transforms: an operation that a command asks for, on chosen instances (execute_operation).

In the order of dependencies, an instance that is not chosen only keeps its place, so that what is chosen above it still
comes after what is chosen below it.
"""

from __future__ import annotations

import msgspec

from ordito.instances.lifecycle import INSTALL, STARTS, UNINSTALL, Side, Stage
from ordito.instances.states import CONFIGURED, CONFIGURING, CREATED, CREATING, STARTED
from ordito.instances.status import OPERATIONAL
from ordito.model.operation import Interface
from ordito.model.service import MAINTAIN, STANDARD, NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.imperative import weave_target
from ordito.planning.implemented import where_run
from ordito.planning.operation_sequence import Where
from ordito.planning.options import OfStandIn
from ordito.planning.planned_instances import Chain, DraftStep, InstanceAction, PlannedInstance
from ordito.planning.waits import IN_TURN, install_waits
from ordito.work.plan import Action
from ordito.work.probes import PROBES

MAKING = (Stage(CREATING, CREATED), Stage(CONFIGURING, CONFIGURED))


class _OfNode(msgspec.Struct, frozen=True):
    """What is the same for all instances of a node: the call, where it runs, and its node states; ``before`` are the
    operations that must have been carried out for an instance to be up after it."""

    call: int
    name: str
    where: Where
    stage: Stage | None
    before: tuple[str, ...] | None


def run_operation(draft: Draft) -> None:
    """A step for each chosen instance; in order, joins for the others too."""
    run, chosen = draft.options.run, draft.options.instances or frozenset()
    passed = draft.why("it is not among those that are chosen")
    for name, stand_in in run.stand_ins.items():
        _on_stand_in(draft, name, stand_in)
    for name, members in draft.of_node.items():
        node = _of_node(draft, members[0].template) if name in run.nodes else None
        asked = f"{node.name if node is not None else run.operation} was asked for"
        reason = draft.why(asked)
        for member in members:
            if node is not None and member.id in chosen:
                member.action, member.reason = InstanceAction.RUN, asked
                member.up = Chain([draft.add(_step(draft, member, node, reason))])
            elif run.in_order and member.up is None:
                member.up = Chain([draft.join(member.id, passed)])


def _on_stand_in(draft: Draft, name: str, stand_in: OfStandIn) -> None:
    """What an operation of a substituted node is mapped to."""
    run = draft.options.run
    reason = f"{run.operation} of {name} was asked for, which is mapped inside"
    why, target = draft.why(reason), stand_in.target
    begin = draft.join(f"{name}.{run.operation}", why)
    woven = weave_target(draft, f"{name}.{run.operation}", target, reason, stand_in.given, begin)
    inside = draft.service.substituted[name].nodes if run.in_order else ()
    draft.inside(True).update(dict.fromkeys(inside, name))
    for member in (m for node in inside for m in draft.of_node.get(node, ())):
        first, last = (draft.join(f"{member.id}.{end}", why) for end in ("before", "after"))
        draft.edge(first, begin, why)
        draft.edge(woven.end, last, why)
        member.action, member.reason, member.up = InstanceAction.RUN, reason, Chain([first, last])


def run_waits(draft: Draft) -> None:
    """In the order of dependencies, have each instance wait for what it depends on, directly and indirectly."""
    if draft.options.run.in_order:
        install_waits(draft, IN_TURN)


def _of_node(draft: Draft, node: NodeTemplate) -> _OfNode:
    run, wanted = draft.options.run, draft.options.run.nodes[node.name]
    interface = node.interfaces[wanted.interface]
    operation = interface.operations[run.operation]
    outputs: tuple[str, ...] = ()
    if MAINTAIN in interface.kinds and run.operation in PROBES:
        outputs = tuple(a for a in node.attribute_definitions if a not in operation.inputs)
    number = draft.calls.of_node(node, interface.name, run.operation, operation, wanted=outputs)
    if wanted.given:
        draft.calls.all[number] = msgspec.structs.replace(draft.calls.all[number], given=wanted.given)
    is_standard = STANDARD in interface.kinds
    # What does nothing leaves everything as it is.
    stage = _stage(run.operation) if is_standard and operation.implementation is not None else None
    return _OfNode(
        call=number,
        name=draft.calls.all[number].name,
        where=where_run(operation, node, Side.NODE, lifecycle=is_standard),
        stage=stage,
        before=_before(interface) if stage is not None and run.operation in STARTS else None,
    )


def _stage(operation: str) -> Stage | None:
    """The node states of an operation of the normative lifecycle."""
    rows = ((placed.row, placed.stage) for placed in (*INSTALL, *UNINSTALL))
    found = (stage for row, stage in rows if row.interface == STANDARD and row.operation == operation)
    return next(found, None)


def _before(interface: Interface) -> tuple[str, ...]:
    """The keys of what creates an instance, before it is started."""
    own = (p.row.operation for p in INSTALL if p.row.interface == STANDARD and p.row.operation not in STARTS)
    return tuple(f"{interface.name}.{name}" for name in own)


def _step(draft: Draft, member: PlannedInstance, node: _OfNode, reason: int) -> DraftStep:
    stage = node.stage
    # What is made or configured once more while it is up is up afterwards.
    stays = stage is not None and stage in MAKING and _was_up(member, draft.calls.all[node.call].key)
    return DraftStep(
        f"{member.id}.{node.name}",
        Action.CALL,
        member.id,
        member.id,
        call=node.call,
        runs_on="" if node.where is Where.ORCHESTRATOR else draft.runs_on(node.where, member.id, ""),
        enter=stage.enter if stage is not None else "",
        leave=STARTED if stays else stage.leave if stage is not None else "",
        # An instance that is started again is up, if all that makes it was carried out.
        closes=node.before is not None and all(key in member.record.applied for key in node.before),
        reason=reason,
    )


def _was_up(member: PlannedInstance, key: str) -> bool:
    """Whether an instance is up, or was before the failure of the operation that is repeated."""
    return member.record.state == STARTED or member.record.before_failure.get(key) in OPERATIONAL
