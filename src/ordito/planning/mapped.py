"""Transform: operations of a substituted node that the substitution mappings map (§3.8.12).

If an operation of the lifecycle is mapped to a workflow, or to an operation inside, that runs instead of this operation
of all nodes inside; what is not mapped is carried out inside as usual. The chains of the instances inside are cut at
every mapped operation: what comes before it has ended at all of them before the mapping's target begins, and they
continue when that has ended. Between two cuts they wait for each other as their requirements say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from ordito.instances.lifecycle import (
    DELETES,
    INSTALL,
    MAKES,
    PROVIDE,
    STARTS,
    STOPS,
    UNINSTALL,
    UNPROVIDE,
    PlacedRow,
)
from ordito.model.service import STANDARD, Substituted
from ordito.planning.draft import Draft
from ordito.planning.imperative import weave_target
from ordito.planning.mapped_inputs import workflow_inputs
from ordito.planning.planned_instances import DOWN_UP, Chain, Down, DraftStep, InstanceAction, PlannedInstance, Up
from ordito.work.plan import Action


def _in_order(table: tuple[PlacedRow, ...], operations: frozenset[str]) -> tuple[str, ...]:
    return tuple(p.row.operation for p in table if p.row.interface == STANDARD and p.row.operation in operations)


UP: Mapping[Up, tuple[str, ...]] = {Up.MAKE: _in_order(INSTALL, MAKES), Up.START: _in_order(INSTALL, STARTS)}
DOWN: Mapping[Down, tuple[str, ...]] = {
    Down.REMOVE: _in_order(UNINSTALL, STOPS | DELETES),
    Down.STOP: _in_order(UNINSTALL, STOPS),
}
"""The operations of the normative lifecycle for each chain of an instance."""

Target = str | tuple[str, str, str]


class _Way(msgspec.Struct, frozen=True):
    """One direction, up or down, of the instances inside: the chain of each instance, the operations in it, and which
    of them are mapped."""

    chains: tuple[tuple[PlannedInstance, Chain], ...]
    operations: tuple[str, ...]
    mapped: Mapping[str, Target]
    is_up: bool


def mapped(draft: Draft) -> None:
    """Replace mapped operations by what they are mapped to."""
    # What stands for a node decides for all that is inside, however deep.
    for name in sorted(draft.service.substituted, key=lambda n: n.count("/")):
        substituted = draft.service.substituted[name]
        targets = _targets(substituted)
        for way in _ways(draft, substituted, targets) if targets else ():
            _Mapping(draft, substituted, way).weave()


def _targets(substituted: Substituted) -> dict[str, Target]:
    """What operations of the normative lifecycle are mapped to."""
    interfaces = substituted.template.interfaces
    found: dict[str, Target] = {}
    for full, target in substituted.operations.items():
        interface, _, operation = full.rpartition(".")
        if interface in interfaces and STANDARD in interfaces[interface].kinds:
            found[operation] = target
    return found


def _ways(draft: Draft, substituted: Substituted, targets: Mapping[str, Target]) -> Iterable[_Way]:
    members = [m for name in substituted.nodes for m in draft.of_node.get(name, ())]
    for is_up in (False, True):
        groups: dict[tuple[str, ...], list[tuple[PlannedInstance, Chain]]] = {}
        for member in members:
            chain = member.up if is_up else member.down
            half = DOWN_UP[member.action]
            operations = UP.get(half.up, ()) if is_up else DOWN.get(half.down, ())
            is_meant = member.action is not InstanceAction.DROP and member.template.name not in draft.inside(is_up)
            if chain is not None and operations and chain.steps and is_meant:
                groups.setdefault(operations, []).append((member, chain))
        # What stands for an operation is about all that is inside: of some of it the own operations are carried out.
        concerned = sum(_is_concerned(member, is_up=is_up) for member in members)
        for operations, chains in groups.items():
            if len(chains) < concerned:
                continue
            found = {name: targets[name] for name in operations if name in targets}
            if found:
                yield _Way(tuple(chains), operations, found, is_up)


def _is_concerned(member: PlannedInstance, *, is_up: bool) -> bool:
    """Whether an instance will exist in the end or, for the chains down, whether it existed before."""
    if member.action is InstanceAction.DROP:
        return False
    return not member.goes if is_up else member.action is not InstanceAction.NEW


class _Mapping:
    """One direction of all instances inside one node."""

    def __init__(self, draft: Draft, substituted: Substituted, way: _Way) -> None:
        self._draft = draft
        self._substituted = substituted
        self._way = way
        self._name = substituted.template.name
        self._silent: dict[int, int] = {}

    def weave(self) -> None:
        """Cut the chains, and insert what mapped operations are mapped to."""
        draft, way = self._draft, self._way
        cuts = {member.id: self._cuts(member, chain) for member, chain in way.chains}
        draft.inside(way.is_up).update({m.template.name: self._name for m, _ in way.chains})
        pieces = {member.id: self._pieces(member, chain, cuts[member.id]) for member, chain in way.chains}
        for member, chain in way.chains:
            self._silence(member, chain)
        for piece in range(len(way.mapped) + 1):
            self._in_order({name: found[piece] for name, found in pieces.items() if found[piece]})
        for number, (operation, target) in enumerate(way.mapped.items()):
            before = [steps[-1] for found in pieces.values() if (steps := _last(found[: number + 1]))]
            after = [steps[0] for found in pieces.values() if (steps := _first(found[number + 1 :]))]
            if any(not draft.steps[step].done for step in self._of(operation)) or draft.options.force:
                self._between(operation, target, before, after)

    # ------------------------------------------------------------------------------------------------- the chains

    def _cuts(self, member: PlannedInstance, chain: Chain) -> list[int]:
        """The places in a chain at which it is cut, one for each mapped operation."""
        places = {self._operation(member, step): place for place, step in reversed(list(enumerate(chain.steps)))}
        found: list[int] = []
        for operation in self._way.mapped:
            # What a provider does at once is all of it; what was left out belongs to what follows it.
            later = self._way.operations[self._way.operations.index(operation) :]
            place = next((places[o] for o in (*later, "") if o in places), len(chain.steps))
            found.append(max([*found[-1:], 0 if self._is_delegated(chain) else place]))
        return found

    def _pieces(self, member: PlannedInstance, chain: Chain, cuts: Sequence[int]) -> list[list[int]]:
        """The steps of a chain between its cuts; a join is put before them, so that a mapped operation may come
        first."""
        draft = self._draft
        bounds = [0, *cuts, len(chain.steps)]
        pieces = [chain.steps[a:b] for a, b in pairwise(bounds)]
        why = draft.why(f"{self._name} begins with what it is mapped to")
        if self._way.is_up:
            call = draft.calls.nothing(member.template, "ordito", "begin")
            step = DraftStep(f"{member.id}.ordito.begin", Action.CALL, member.id, member.id, call=call, reason=why)
            step.stage = draft.steps[chain.steps[0]].stage
            step.done = all(draft.steps[s].done for s in chain.steps)
            first = draft.add(step)
            chain.steps.insert(0, first)
        else:
            first = draft.join(f"{member.id}.begin", why, after_failure=True)
        draft.edge(first, chain.begin, why)
        chain.begin = first
        pieces[0] = [first, *pieces[0]]
        return pieces

    def _silence(self, member: PlannedInstance, chain: Chain) -> None:
        """Have the mapped operations of an instance do nothing, since something else carries them out; and, if all
        operations are mapped, those of relationships inside."""
        draft, way = self._draft, self._way
        whole = len(way.mapped) == len(way.operations)
        for number in chain.steps:
            step = draft.steps[number]
            call = draft.calls.all[step.call]
            inside = whole and call.side and self._is_inside(call.owner)
            if self._operation(member, number) in way.mapped or self._is_made(number) or inside:
                step.action = Action.CALL
                step.call = self._silenced(step.call)

    def _silenced(self, number: int) -> int:
        found = self._silent.get(number)
        if found is None:
            call = self._draft.calls.all[number]
            silent = msgspec.structs.replace(call, artifact="", processor="", dependencies=(), outputs=(), timeout=None)
            found = self._silent[number] = self._draft.calls.put(silent)
        return found

    def _operation(self, member: PlannedInstance, number: int) -> str:
        """The operation of the normative lifecycle that a step belongs to, "" for none."""
        call = self._draft.calls.all[self._draft.steps[number].call]
        interface = member.template.interfaces.get(call.interface)
        is_own = not call.side and interface is not None and STANDARD in interface.kinds
        return call.operation if is_own else ""

    def _is_delegated(self, chain: Chain) -> bool:
        return any(self._is_made(number) for number in chain.steps)

    def _is_made(self, number: int) -> bool:
        """Whether a step creates or removes a whole instance."""
        step = self._draft.steps[number]
        return step.action is Action.DELEGATE and self._draft.calls.all[step.call].operation in (PROVIDE, UNPROVIDE)

    def _is_inside(self, relationship: str) -> bool:
        nodes = set(self._substituted.nodes)
        found = (r for name in nodes for r in self._draft.service.nodes[name].requirements if r.key == relationship)
        return any(r.target in nodes for r in found)

    def _of(self, operation: str) -> Iterable[int]:
        """The steps of an operation at all instances; what a provider does counts as all operations."""
        for member, chain in self._way.chains:
            for number in chain.steps:
                if self._operation(member, number) == operation or self._is_made(number):
                    yield number

    # -------------------------------------------------------------------------------------------------- the order

    def _in_order(self, pieces: Mapping[str, Sequence[int]]) -> None:
        """Have the instances wait for each other between two cuts as their requirements say."""
        draft, members = self._draft, {m.id: m for m, _ in self._way.chains}
        by_node: dict[str, list[PlannedInstance]] = {}
        for name in pieces:
            by_node.setdefault(members[name].template.name, []).append(members[name])
        for name, sources in by_node.items():
            for relationship in draft.service.nodes[name].requirements:
                why = draft.why(f"{name} requires {relationship.target} ({relationship.requirement})")
                targets = by_node.get(relationship.target, [])
                if relationship.is_hosting:
                    for source in sources:
                        for target in targets:
                            if source.record.host == target.id:
                                self._one_after_other([target], [source], pieces, why)
                else:
                    self._one_after_other(targets, sources, pieces, why)

    def _one_after_other(
        self,
        targets: Sequence[PlannedInstance],
        sources: Sequence[PlannedInstance],
        pieces: Mapping[str, Sequence[int]],
        why: int,
    ) -> None:
        draft = self._draft
        first, then = (targets, sources) if self._way.is_up else (sources, targets)
        if not first or not then:
            return
        join = draft.join(f"{self._name}.turn", why, after_failure=not self._way.is_up)
        for member in first:
            draft.edge(pieces[member.id][-1], join, why)
        for member in then:
            draft.edge(join, pieces[member.id][0], why)

    def _between(self, operation: str, target: Target, before: Sequence[int], after: Sequence[int]) -> None:
        """What an operation is mapped to, between the ends of what comes before it and the beginnings of what comes
        after it."""
        draft = self._draft
        reason = f"{operation} of {self._name} is mapped to {target if isinstance(target, str) else '.'.join(target)}"
        why, after_failure = draft.why(reason), not self._way.is_up
        begin = draft.join(f"{self._name}.{operation}", why, after_failure=after_failure)
        for step in before:
            draft.edge(step, begin, why)
        template, given = self._substituted.template, {}
        if isinstance(target, str):
            having = (i for i in template.interfaces.values() if STANDARD in i.kinds and operation in i.operations)
            given = workflow_inputs(draft, template, next(having, None), operation, target)
        woven = weave_target(
            draft, f"{self._name}.{operation}", target, reason, given, begin, after_failure=after_failure
        )
        for step in after:
            draft.edge(woven.end, step, why)


def _last(pieces: Iterable[list[int]]) -> list[int]:
    """The last piece that is not empty."""
    return next((p for p in reversed(list(pieces)) if p), [])


def _first(pieces: Iterable[list[int]]) -> list[int]:
    """The first piece that is not empty."""
    return next((p for p in pieces if p), [])
