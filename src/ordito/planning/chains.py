"""Transform: the chain of every instance, which is the sequence of operations that create or remove it."""

from __future__ import annotations

import msgspec

from ordito.instances.lifecycle import Side, Stage
from ordito.instances.states import CONFIGURING, DELETED, STARTED
from ordito.model.service import NodeTemplate, Relationship
from ordito.model.settings import NO_SETTINGS
from ordito.planning.differences import readable
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.implemented import where_run
from ordito.planning.operation_sequence import Making, SequencedOperation, Where
from ordito.planning.planned_instances import DOWN_UP, Chain, Down, DraftStep, InstanceAction, PlannedInstance, Up
from ordito.work.plan import Action, StepCondition
from ordito.work.probes import UPDATE, maintaining

CALL, DELEGATE = Action.CALL, Action.DELEGATE
KEEP, DROP = InstanceAction.KEEP, InstanceAction.DROP


def install_chains(draft: Draft) -> None:
    """Add the operations of every instance that is created, continued or started. One that stays gets a join instead,
    at which others can wait for it."""
    kept = draft.why("stays as it is")
    for node in draft.ordered:
        wanted = draft.sequences.making(node)
        for member in draft.of_node.get(node.name, ()):
            if member.action is KEEP:
                member.up = _kept(draft, member, kept)
                continue
            half = DOWN_UP[member.action].up
            if half is Up.UPDATE:
                member.up = update_chain(draft, member)
            elif half:
                form = draft.rising(member)
                sequence = wanted if form is draft.forms.own else form.sequences.making(form.service.nodes[node.name])
                entries = _of_half(sequence, half)
                member.up = _chain(draft, member, form, entries, sequence.install, after_failure=False)


def _kept(draft: Draft, member: PlannedInstance, reason: int) -> Chain:
    """Where others wait for an instance that stays: after what repairs it, if something does."""
    last = draft.join(member.id, reason)
    if member.repaired is None:
        chain = Chain([last])
        chain.steps = []
        return chain
    begin, told = member.repaired
    draft.edge(told, last, reason)
    chain = Chain([begin, last])
    chain.steps = [told]
    return chain


def _of_half(sequence: Making, half: Up) -> tuple[SequencedOperation, ...]:
    if half is Up.START:
        return sequence.start
    return sequence.configure if half is Up.CONFIGURE else sequence.install


def uninstall_chains(draft: Draft) -> None:
    """Add the operations of every instance that is removed, stopped or replaced; they continue after failures."""
    for node in draft.ordered:
        wanted = draft.sequences.removing(node)
        for member in draft.of_node.get(node.name, ()):
            half = DOWN_UP[member.action].down
            if not half:
                continue
            form = draft.falling(member)
            sequence = wanted if form is draft.forms.own else form.sequences.removing(form.service.nodes[node.name])
            if member.action is DROP:
                member.down = Chain([_drop(draft, member, sequence.drop)])
            elif not member.is_lost:
                every = sequence.stop if half is Down.STOP else sequence.uninstall
                begun = tuple([e for e in every if not e.evidence or _was_begun(member, e)])
                member.down = _chain(draft, member, form, begun, every, after_failure=True)


def _chain(
    draft: Draft,
    member: PlannedInstance,
    form: Formed,
    entries: tuple[SequencedOperation, ...],
    every: tuple[SequencedOperation, ...],
    *,
    after_failure: bool,
) -> Chain:
    """The chain of some operations of a sequence: the last ones of all."""
    first_edge, offset = len(draft.befores), len(every) - len(entries)
    steps = in_sequence(draft, member, entries, form=form, after_failure=after_failure)
    return Chain(steps, first_edge=first_edge, offset=offset)


def _was_begun(member: PlannedInstance, entry: SequencedOperation) -> bool:
    """Whether what an operation undoes was begun, or could not be undone before; the first operations of all are asked
    about."""
    record = member.record
    return entry.key in record.failed or any(k in record.applied or k in record.failed for k in entry.evidence)


def in_sequence(
    draft: Draft, member: PlannedInstance, entries: tuple[SequencedOperation, ...], *, form: Formed, after_failure: bool
) -> list[int]:
    """The steps of operations on an instance, one after the other, as a form declares them; returns their numbers."""
    reason = draft.why(member.reason)
    template = member.template if form is draft.forms.own else form.service.nodes[member.template.name]
    identity, calls, needs = member.record.id, form.calls, ChainNeeds(draft, template)
    own = draft.with_hosts(member) if calls.differ_by_slot else ()
    places: dict[Where, str] = {}
    steps: list[DraftStep] = []
    for entry in entries:
        far, where = "", entry.where
        if entry.relationship is not None:
            far = _first_far(draft, member, entry.relationship, entry.side, falls=after_failure)
        if far or where not in places:
            places[where] = draft.runs_on(where, identity, far, falls=after_failure)
        step = DraftStep(
            f"{identity}.{entry.name}",
            DELEGATE if entry.delegated else CALL,
            identity,
            identity,
            far,
            "",
            calls.for_instance(entry.call, own) if own else entry.call,
            places[where],
            entry.stage,
            after_failure,
            reason,
        )
        if needs.are_said or entry.relationship is not None:
            needs.mark(step, entry.relationship, installs=not after_failure)
        steps.append(step)
    return draft.sequence(steps, draft.why("the order of the lifecycle"))


def _drop(draft: Draft, member: PlannedInstance, call: int) -> int:
    name = draft.calls.all[call].name
    step = DraftStep(f"{member.id}.{name}", Action.CALL, member.id, member.id, call=call, stage=Stage("", DELETED))
    step.after_failure = True
    step.reason = draft.why(member.reason)
    return draft.add(step)


def _first_far(draft: Draft, member: PlannedInstance, relationship: Relationship, side: Side, *, falls: bool) -> str:
    """The far instance of an operation that runs once for all of them: its own host or the first that it hosts, else
    the first of the node."""
    if relationship.is_hosting:
        return member.on(falls=falls) if side is Side.SOURCE else draft.first_hosted(relationship.source, member.id)
    far = relationship.target if side is Side.SOURCE else relationship.source
    return next((other.id for other in draft.of_node.get(far, ()) if not other.goes), "")


# The chain of an instance that is changed by its own operation for that: ``update`` of its ``Maintain`` interface,
# which is told what has changed, with what it was and is.

UPDATING = Stage(CONFIGURING, STARTED)


def update_chain(draft: Draft, member: PlannedInstance) -> Chain:
    """One step: the call that changes an instance in place. It is linked again after that, and before the end of the
    chain."""
    operation = maintaining(member.template, UPDATE)
    assert operation is not None
    declared = draft.calls.of_node(member.template, operation.interface, UPDATE, operation)
    call = draft.calls.put_once(
        (member.template.name, UPDATE, id(member.changed)),
        msgspec.structs.replace(draft.calls.all[declared], digest="", given=_given(member)),
    )
    place = where_run(operation, member.template, Side.NODE, lifecycle=True)
    step = DraftStep(
        f"{member.id}.{draft.calls.all[call].name}",
        Action.CALL,
        member.id,
        member.id,
        call=call,
        runs_on="" if place is Where.ORCHESTRATOR else draft.runs_on(place, member.id),
        stage=UPDATING,
        reason=draft.why(member.reason),
    )
    ChainNeeds(draft, member.template).mark(step, None, installs=True)
    number = draft.add(step)
    end = draft.join(f"{member.id}.updated", draft.why("what it is linked with as well"))
    draft.edge(number, end, draft.why("the order of the lifecycle"))
    chain = Chain([number, end])
    chain.steps = [number]
    return chain


def _given(member: PlannedInstance) -> dict[str, object]:
    """What the operation is given: the names of the changed values, with what they were and are."""
    changed = {name.replace("::", "."): pair for name, pair in member.changed.items()}
    old = {name: readable(before) for name, (before, _) in changed.items() if before is not None}
    new = {name: readable(after) for name, (_, after) in changed.items() if after is not None}
    return {"changed": list(changed), "old": old, "new": new}


# Transform: the node states: the first step of a stage enters its state, the last leaves it; and which steps open and
# close an instance's chain.

REMOVE, MAKE = Down.REMOVE, Up.MAKE


def stages(draft: Draft) -> None:
    """Set the node states of all steps that are left to do."""
    for member in draft.members.values():
        ways = DOWN_UP[member.action]
        if member.down is not None and ways.down:
            # An instance that is only stopped is not at the end of what it is for.
            _set(draft, member.down, closes=ways.down is REMOVE, replaced=ways.up is MAKE, part=member.is_conditional)
        if member.up is not None and ways.up:
            _set(draft, member.up, closes=True, replaced=ways.down is REMOVE)


def _set(draft: Draft, chain: Chain, *, closes: bool, replaced: bool, part: bool = False) -> None:
    """Set the node states of a chain. If only a ``part`` of it may be carried out, the links of what stays up are
    undone and made again."""
    steps = [s for number in chain.steps if not (s := draft.steps[number]).done]
    if not steps:
        return
    first = steps[0]
    if first.stage is None:
        # What only looks at the instance before its chain begins is no part of it.
        first = next((s for s in steps if s.stage is not None or s.link or s.condition), first)
    first.opens = True
    steps[-1].closes = closes
    if replaced:
        first.replaces = steps[-1].replaces = True
    set_states([step for step in steps if not step.link] if part else steps)


def set_states(steps: list[DraftStep]) -> None:
    """Set the node states of steps that follow each other."""
    stage: Stage | None = None
    last: DraftStep | None = None
    for step in steps:
        if step.stage is not stage:
            if stage is not None and last is not None:
                last.leave = stage.leave
            if step.stage is not None:
                step.enter = step.stage.enter
            stage = step.stage
        last = step
    if stage is not None and last is not None:
        last.leave = stage.leave


# Which steps a job can do without, by what the metadata of nodes say, and which of them depend on what others come to.
#
# An optional operation that fails does not hold up what depends on it. An optional node that fails does, in its own
# chain and where it hosts others; what else requires it goes on without it, and is not linked with it.


class ChainNeeds:
    """Which steps in the chains of one node's instances the job can do without."""

    __slots__ = ("_draft", "_node", "_settings")

    def __init__(self, draft: Draft, node: NodeTemplate) -> None:
        self._draft = draft
        self._node = node.name
        self._settings = node.settings

    @property
    def are_said(self) -> bool:
        """Whether the metadata say anything; otherwise only operations of relationships are marked."""
        return self._settings is not NO_SETTINGS

    def mark(self, step: DraftStep, relationship: Relationship | None, *, installs: bool) -> None:
        """Mark a step. An optional node is optional only when it is created; it is removed like any other."""
        settings = self._settings
        if settings is not NO_SETTINGS:
            step.non_blocking = settings.of(self._draft.calls.all[step.call].name).is_optional
            step.optional = step.non_blocking or (installs and settings.is_optional)
        if installs and relationship is not None and not relationship.is_hosting:
            far = relationship.target if relationship.source == self._node else relationship.source
            target = self._draft.service.nodes.get(far)
            if target is not None and target.settings.is_optional and far == relationship.target:
                step.condition = StepCondition.IF_FAR_IS_UP
