"""Transform: notify an instance that the other end of a relationship has changed: ``target_changed`` on a source and,
if a type declares it, ``source_changed`` on a target (§5.8.5).

An instance is notified at most once per relationship, when all other steps at its far instances have ended. Only then
is it known whether there is something to tell, so the steps have a condition. They are in the plan if a step may change
what the instance knows of a linked far instance, or if that has changed already. Nothing waits for them, so that they
close no cycle, except others of them at the next relationship.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import chain, far_ends
from ordito.instances.lifecycle import Side
from ordito.instances.records import Instance, link_id
from ordito.instances.states import STARTED
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.draft import Draft
from ordito.planning.implemented import where_run
from ordito.planning.options import MOST_PAIRS
from ordito.planning.planned_instances import DOWN_UP, Down, DraftStep, InstanceAction, PlannedInstance
from ordito.planning.referenced_outputs import declared_values
from ordito.syntax.expressions import Call, Value, calls
from ordito.work.peer_knowledge import Noted, PeerKnowledge, noted
from ordito.work.plan import Action, StepCondition
from ordito.work.probes import CHECK, is_probe


class Told(msgspec.Struct, frozen=True):
    """Who is notified of changes by which operation: the instances at one side of a relationship."""

    relationship: Relationship
    side: Side
    operation: Operation

    @property
    def near(self) -> str:
        """The node whose instances are notified."""
        return self.relationship.source if self.side is Side.SOURCE else self.relationship.target

    @property
    def far(self) -> str:
        """The node whose changes they are notified of."""
        return self.relationship.target if self.side is Side.SOURCE else self.relationship.source

    @property
    def key(self) -> str:
        """The key in the record of a notified instance."""
        return f"{self.relationship.key}/{self.operation.interface}.{self.operation.name}"


def notify_peers(draft: Draft) -> None:
    """Plan the notifications for the relationships that have operations for them."""
    evaluator = Evaluator(draft.service, draft.snapshot, draft.static.inputs)
    knowledge = PeerKnowledge(draft.service, draft.snapshot, evaluator, draft.options.files.key)
    concerned = [r for node in draft.ordered for r in node.requirements if knowledge.operations(r)]
    if not concerned:
        return
    gone = draft.options.orphans.nodes
    plans = _Plans(draft, knowledge)
    # Sources hear of targets that may have been told of theirs; only then targets hear of sources.
    for side, those in ((Side.SOURCE, concerned), (Side.TARGET, concerned[::-1])):
        for relationship in those:
            operation = knowledge.operations(relationship).get(side)
            if operation is not None and gone.isdisjoint((relationship.source, relationship.target)):
                plans.tell(Told(relationship, side, operation))


class _Plans:
    """The plan so far, and who is to be notified of what it changes."""

    def __init__(self, draft: Draft, knowledge: PeerKnowledge) -> None:
        self._draft = draft
        self._knowledge = knowledge
        self._changes: dict[str, list[int]] = {}
        """The steps that may change what is known of an instance, by instance."""
        self._at: dict[str, list[int]] = {}
        """The steps that run on an instance, or in its chain."""
        self._linking = {s.link for s in draft.steps if s.link and not s.done}
        for number, step in enumerate(draft.steps):
            if step.call >= 0 and step.action not in {Action.JOIN, Action.FILTER} and not step.done:
                self._note(number, step)

    def tell(self, told: Told) -> None:
        """Plan the notifications of the instances at one side of a relationship."""
        draft, pairs = self._draft, 0
        through = self._through(told)
        joins: dict[str, list[int]] = {}
        for record in draft.snapshot.of_node(told.near):
            if not _is_up(record, draft.members.get(record.id)):
                continue
            there = list(_far(draft, told, record))
            pairs += len(there)
            linked = self._linked(told, record, there)
            if told.key in record.failed or self._has_news(told, linked, through=bool(through)):
                number = self._step(told, record, there[0].id if there else "")
                if number >= 0:
                    self._wait(number, record, there, through, joins, "" if not told.relationship.is_hosting else None)
        self._check_number(told, pairs)

    # ---------------------------------------------------------------------------------------------- what changes

    def _note(self, number: int, step: DraftStep) -> None:
        self._at.setdefault(step.instance, []).append(number)
        if step.owner not in {step.instance, ""}:
            self._at.setdefault(step.owner, []).append(number)
        call = self._draft.calls.all[step.call]
        moves = not step.link and bool(step.stage or step.enter or step.leave)
        if moves or call.outputs or step.action is Action.DELEGATE or is_probe(self._draft.service, call):
            self._changes.setdefault(step.instance, []).append(number)
            if call.outputs and step.far:
                # They may be mapped to the other end.
                self._changes.setdefault(step.far, []).append(number)

    def _through(self, told: Told) -> list[int]:
        """The steps that may change values that attributes of the far node take from elsewhere."""
        draft = self._draft
        node = draft.service.nodes[told.far]
        found: dict[str, None] = dict.fromkeys(_read_through(told.operation, node))
        waiting = [node.name, *found]
        while waiting:
            for name in _named(draft, draft.service.nodes[waiting.pop()]):
                if name not in found:
                    found[name] = None
                    waiting.append(name)
        found.pop(told.far, None)
        records = (r for other in found for r in draft.snapshot.of_node(other))
        return [number for record in records for number in self._changes.get(record.id, ())]

    def _linked(self, told: Told, record: Instance, there: Iterable[Instance]) -> list[tuple[str, Noted]]:
        """The far instances of an instance's pairs that were linked and stay so, each with what the instance knows of
        it: nothing for a replaced one that no operation links."""
        draft, relationship = self._draft, told.relationship
        found: list[tuple[str, Noted]] = []
        for far in there:
            member = draft.members.get(far.id)
            ends = (record.id, far.id) if told.side is Side.SOURCE else (far.id, record.id)
            name = link_id(relationship.key, relationship.source, *ends)
            if name in self._linking or (member is not None and member.goes):
                continue
            link = draft.snapshot.links.get(name)
            known = noted(link.told.get(told.operation.name, "") if link is not None else "")
            if known.digest or (member is not None and member.action is InstanceAction.REPLACE):
                found.append((far.id, known))
        return found

    def _has_news(self, told: Told, linked: list[tuple[str, Noted]], *, through: bool) -> bool:
        """Whether something that is known of a far instance has changed, or may change by the plan."""
        if (through and linked) or any(far in self._changes for far, _ in linked):
            return True
        now, relationship, side = self._knowledge.now, told.relationship, told.side
        return any(known.digest and known.is_news(now(relationship, side, far)) for far, known in linked)

    # ------------------------------------------------------------------------------------------------- the steps

    def _step(self, told: Told, record: Instance, far: str) -> int:
        """The step that notifies an instance; -1 if the plan has it already."""
        draft, template = self._draft, self._draft.service.nodes[record.node]
        call = draft.calls.that_tells(told.relationship, told.side, told.operation)
        if any(draft.steps[number].call == call for number in self._at.get(record.id, ())):
            return -1
        member = _member(draft, record)
        step = DraftStep(
            f"{record.id}.{told.relationship.key}.{draft.calls.all[call].name}",
            Action.CALL,
            record.id,
            record.id,
            far,
            call=call,
            runs_on=draft.runs_on(where_run(told.operation, template, told.side, lifecycle=False), record.id, far),
            after_failure=True,
            reason=draft.why(f"what {told.near} knows of {told.far} may have changed"),
            condition=StepCondition.IF_CHANGED,
        )
        step.non_blocking = template.settings.of(draft.calls.all[call].name).is_optional
        step.optional = step.non_blocking or template.settings.is_optional
        _settle_by(draft, member, told.key)
        return draft.add(step)

    def _wait(
        self,
        number: int,
        record: Instance,
        there: list[Instance],
        through: list[int],
        joins: dict[str, list[int]],
        every: str | None,
    ) -> None:
        """Have a step wait for others, whether or not they succeed; what all instances of a node wait for is one
        join."""
        draft = self._draft
        own = draft.why("what an instance does itself comes before it is told of others")
        for before in self._at.get(record.id, ()):
            draft.edge(before, number, own)
        reason = draft.why("everything at the other end has ended before it is told of")
        key = record.id if every is None else every
        if key not in joins:
            found = dict.fromkeys(n for far in there for n in self._at.get(far.id, ()))
            joins[key] = list(found | dict.fromkeys(through))
            if len(joins[key]) > 1 and every is not None:
                join = draft.join("told", reason, after_failure=True)
                for before in joins[key]:
                    draft.edge(before, join, reason)
                joins[key] = [join]
        for before in joins[key]:
            draft.edge(before, number, reason)
        self._note(number, draft.steps[number])

    def _check_number(self, told: Told, number: int) -> None:
        draft, relationship = self._draft, told.relationship
        if number > MOST_PAIRS and not draft.options.allow_large:
            draft.diagnostics.error(
                "too-many-pairs",
                f'requirement "{relationship.requirement}" of node "{relationship.source}" has {number} pairs, of which'
                f" {told.operation.name} tells, and more than {MOST_PAIRS} have to be asked for",
                relationship.span,
                hint="plan fewer instances, or give --allow-large",
            )


def _is_up(record: Instance, member: PlannedInstance | None) -> bool:
    """Whether an existing instance will be started when it could be notified, and was not replaced."""
    if member is None or member.action in {InstanceAction.KEEP, InstanceAction.LOOK}:
        return record.state == STARTED
    return DOWN_UP[member.action].down is not Down.REMOVE and (member.rises or not member.falls)


def _far(draft: Draft, told: Told, record: Instance) -> Iterable[Instance]:
    """The instances with which an instance has pairs."""
    records = draft.snapshot.instances
    ends = far_ends(draft.snapshot, told.relationship, told.side, record)
    return [records[i] for i in ends if i in records]


def _read_through(operation: Operation, node: NodeTemplate) -> Iterator[str]:
    """The nodes that an operation reads through requirements of the far node, and of its hosts."""
    required = {r.requirement: r.target for r in node.requirements}
    for declared in operation.inputs.values():
        for call in _calls(declared.value):
            name = str(call.arguments[1]) if len(call.arguments) > 1 else ""
            if name in required:
                yield required[name]
    if node.host is not None:
        yield node.host.target


def _named(draft: Draft, node: NodeTemplate) -> Iterator[str]:
    """The nodes from which a node's own values may come."""
    for value in declared_values(node):
        for call in _calls(value):
            name = str(call.arguments[0]) if call.arguments else ""
            if name in draft.service.nodes:
                yield name
            elif name == "HOST" and node.host is not None:
                yield node.host.target
            elif name == "SELF" and len(call.arguments) > 1:
                yield from (r.target for r in node.requirements if r.requirement == call.arguments[1])


def _calls(value: Value) -> Iterator[Call]:
    if isinstance(value, Call | list | dict):
        yield from calls(value)


def _member(draft: Draft, record: Instance) -> PlannedInstance:
    """An instance in the draft, with its hosts."""
    for above in chain(draft.snapshot, record.id):
        if above.id in draft.members:
            break
        draft.put(PlannedInstance(above, draft.service.nodes[above.node], InstanceAction.KEEP, ""))
    return draft.members[record.id]


def _settle_by(draft: Draft, member: PlannedInstance, key: str) -> None:
    """Do not check an instance separately that is in error only because a notification failed: notifying it repairs
    it."""
    steps = member.up.steps if member.up is not None else []
    if [*member.record.failed] != [key] or not steps:
        return
    was_asked = draft.calls.all[draft.steps[steps[0]].call].operation == CHECK
    last = draft.steps[steps[-1]]
    if last.condition is StepCondition.IF_REPAIRED and not was_asked:
        last.done = True
