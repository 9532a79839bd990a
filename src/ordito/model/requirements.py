"""Fulfilment of requirements: which node's which capability each requirement of a template is bound to (§3.7.3,
§3.8.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Placed
from ordito.base.suggest import nearest
from ordito.model.relationships import Binding, Relationships
from ordito.model.requirement_asks import Asking, defined_here, is_torn
from ordito.model.selection import MOST_LISTED, Candidates, Demand, Found
from ordito.model.service import Capability, NodeTemplate, Relationship, Way
from ordito.model.templates import Templates
from ordito.model.types import RequirementShape, Types
from ordito.model.units import Unit, Units
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax import entities
from ordito.syntax.shapes import is_lost


class Open(msgspec.Struct, frozen=True):
    """A requirement for which no node template is named."""

    demand: Demand
    """What it requires."""
    item: entities.RequirementAssignment | None
    """Its assignment, None where it is not assigned at all."""
    place: Placed
    order: int
    """Its place among the assignments of its node."""
    number: int
    """The place of its first relationship among those of the same name."""
    least: int = 1
    """How many nodes it needs at least."""
    most: int | None = 1
    """How many it needs at most."""

    @property
    def shown(self) -> str:
        """Its name in messages."""
        return f'requirement "{self.demand.shape.name}" of "{self.demand.source.name}"'


class Requirements:
    """Binds the requirements of all node templates. ``open`` are those that no node template fulfils, each with the
    reasons; ``outside`` those that are fulfilled from outside of the topology, where it substitutes a node. With
    ``decided``, nodes do not fit where it is not known whether they do."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        unit: Unit,
        units: Units,
        relationships: Relationships,
        candidates: Candidates,
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._asking = Asking(types, templates, unit, units, candidates.filters, diagnostics)
        self._relationships = relationships
        self._candidates = candidates
        self.filters = candidates.filters
        self._diagnostics = diagnostics
        self._bound: dict[str, list[tuple[int, Relationship]]] = {}
        self._waiting: list[Open] = []
        self._chosen: set[tuple[str, int]] = set()
        """Of the assignments that name no node template those that are bound: by their node and their order."""
        self._mistaken: set[Way] = set()
        """The requirements of nodes that are chosen that are probably meant by a name that does not exist."""
        self.open: list[tuple[Open, Found]] = []
        self.outside: frozenset[Way] = frozenset()
        self.decided = False

    @property
    def unfilled(self) -> frozenset[str]:
        """The requirements, as ``node.requirement``, that need not be fulfilled (yet), or whose failure has been
        reported."""
        waiting = {f"{o.demand.source.name}.{o.demand.shape.name}" for o, _ in self.open}
        known = self.outside | self._refused
        return frozenset(waiting | {f"{node}.{requirement}" for node, requirement in known})

    @property
    def _refused(self) -> set[Way]:
        """The requirements of chosen nodes that are written and could not be bound, which has been reported."""
        found = set(self._mistaken)
        for name, node in self._templates.nodes.items():
            if node.is_concrete:
                continue
            written = self._templates.written.get(name)
            if written is None or written.requirements is None:
                continue
            bound = Counter(r.requirement for r in node.requirements)
            given = Counter(item.name for item in written.requirements)
            found.update((name, r) for r, number in given.items() if bound[r] < number)
            shapes = self._types.nodes[node.type].requirements
            found.update((name, r) for r in shapes if is_lost(written.requirements, r))
        return found

    def fulfil(self) -> None:
        """Bind the requirements of every template that could be read: first those that name a node template, then the
        others to what is left."""
        self._relationships.check_templates()
        for name, node in list(self._templates.nodes.items()):
            copied = self._templates.copied(name)
            if copied is None:
                self._node(node, self._templates.written[name])
            else:
                with self._diagnostics.about(copied):
                    self._node(node, self._templates.written[name])
            self._settle(name)
        for waiting in self._waiting:
            if not any(self.filters.is_faulty(f.filter) for f in waiting.demand.filters):
                with self._diagnostics.about(self._templates.copied(waiting.demand.source.name)):
                    self._choose(waiting)
        for name in dict.fromkeys(w.demand.source.name for w in self._waiting):
            self._settle(name)
        self._refuse_host_cycles()

    def bind(self, waiting: Open, target: NodeTemplate, capability: Capability) -> None:
        """Bind an open requirement to a node that was found in another place."""
        self._bind_one(waiting, target, capability, waiting.number)
        self._settle(waiting.demand.source.name)

    def unbound(self) -> list[Relationship]:
        """What is known of the relationships of assignments that are not bound, or not yet. Their own mistakes are
        reported, since they do not depend on a target."""
        found = []
        for waiting in self._waiting:
            demand, item = waiting.demand, waiting.item
            if item is None or (demand.source.name, waiting.order) in self._chosen:
                continue
            binding = Binding(demand.source, demand.shape, None, None, item.relationship, waiting.number, 0, item)
            with self._diagnostics.about(self._templates.copied(demand.source.name)):
                made = self._relationships.make(binding)
            if made is not None:
                found.append(made)
        return found

    def _settle(self, name: str) -> None:
        """Give a node the relationships that are bound so far, in the order of its assignments."""
        bound = self._bound.get(name)
        if not bound:
            return
        bound.sort(key=lambda b: b[0])
        ordered = tuple(r if r.index == i else msgspec.structs.replace(r, index=i) for i, (_, r) in enumerate(bound))
        self._templates.nodes[name] = msgspec.structs.replace(self._templates.nodes[name], requirements=ordered)

    def _refuse_host_cycles(self) -> None:
        """Report hosting chains that lead back to where they begin, each once (R-3.8.2-11)."""
        done: set[str] = set()
        nodes = self._templates.nodes
        for start in nodes:
            if start in done:
                continue
            host = nodes[start].host
            if host is None or host.target in done:  # nearly all of very many
                done.add(start)
                continue
            path: dict[str, None] = {}
            name: str | None = start
            while name is not None and name in nodes and name not in done and name not in path:
                path[name] = None
                host = nodes[name].host
                name = host.target if host is not None else None
            if name is not None and name in path:
                cycle = list(path)[list(path).index(name) :]
                host = nodes[name].host
                self._diagnostics.error(
                    "host-cycle",
                    f"nodes host each other in a circle: {' -> '.join([*cycle[:MOST_LISTED], cycle[0]])}",
                    host.span if host is not None else None,
                    hint="host one of them on a node outside of the circle",
                )
            done.update(path)

    def _node(self, node: NodeTemplate, written: entities.NodeTemplate) -> None:
        shapes = self._types.nodes[node.type].requirements
        counts: dict[str, int] = {}
        mistaken: set[str] = set()
        order = 0
        for order, item in enumerate(written.requirements or (), start=1):
            shape = shapes.get(item.name)
            if shape is None:
                mistaken.update(self._unknown_requirement(node, item, shapes))
            elif shape.capability and not self._is_left_open(node, item):
                before = counts.get(item.name, 0)
                counts[item.name] = before + self._assignment(node, item, shape, before, order)
        if not node.is_concrete:
            self._mistaken.update((node.name, name) for name in mistaken)
            return  # what is selected or substituted has what it needs already, or brings it
        for name, shape in shapes.items():
            if (node.name, name) in self.outside and name not in counts:
                continue
            if shape.capability and name not in mistaken and not is_lost(written.requirements, name):
                order += 1
                self._check_count(node, shape, counts.get(name, 0), order)

    def _is_left_open(self, node: NodeTemplate, item: entities.RequirementAssignment) -> bool:
        """Whether nothing is assigned to a requirement that is fulfilled from outside."""
        return (node.name, item.name) in self.outside and isinstance(item.at, Scalar) and item.node is None

    def _unknown_requirement(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shapes: MappingType[str, RequirementShape]
    ) -> list[str]:
        """Report an assignment to a requirement that is not defined; gives what was probably meant: a requirement of a
        similar name, or whichever must be assigned."""
        self._diagnostics.error(
            "unknown-requirement",
            f'node template "{node.name}" ({node.type}) has no requirement "{item.name}"',
            item.span,
            hint=self._diagnostics.suggestion(item.name, shapes),
        )
        return nearest(item.name, shapes) or [name for name, shape in shapes.items() if shape.occurrences[0] > 0]

    def _check_count(self, node: NodeTemplate, shape: RequirementShape, given: int, order: int) -> None:
        low, _ = shape.occurrences
        if given >= low:
            return
        if not given and low == 1:
            demand = Demand(node, shape, shape.node, shape.capability, filters=shape.filters)
            self._waiting.append(Open(demand, None, self._templates.written[node.name], order, 1))
            return
        self._diagnostics.error(
            "missing-requirement",
            f'requirement "{shape.name}" of "{node.name}" must be assigned at least {low} times, not {given}',
            node.span,
            hint=f"add below requirements: - {shape.name}: <node template>",
            related=defined_here(shape),
        )

    # --------------------------------------------------------------------------------------------- one assignment

    def _assignment(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape, before: int, order: int
    ) -> int:
        """Bind an assignment, or note what it asks for; returns how many relationships it makes. ``before`` is the
        number of those of the same requirement that come first."""
        least, most = self._occurrences(node, item, shape, before)
        many = max(1, least)
        if is_torn(item):
            return many
        target = self._templates.nodes.get(item.node.text) if item.node is not None else None
        if target is not None:
            self._check_filters(item, shape, target)
            for number in range(before + 1, before + many + 1):
                self._named(node, item, shape, target, number, order)
        elif item.node is None or not self._templates.is_written(item.node.text):
            self._relationships.mention(item.relationship)
            demand = self._asking.demand(node, item, shape)
            if demand is not None:
                self._waiting.append(Open(demand, item, item, order, before + 1, least, most))
        return many

    def _occurrences(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape, before: int
    ) -> tuple[int, int | None]:
        """How many relationships an assignment makes at least and at most (R-3.8.2-8, R-3.8.2-9)."""
        least, most = shape.occurrences
        low, high = item.occurrences or (1, 1)
        if item.occurrences is not None and (low < least or (most is not None and (high is None or high > most))):
            self._diagnostics.error(
                "bad-occurrences",
                f'the occurrences of requirement "{item.name}" go beyond its definition',
                item.span,
                hint=f"stay within [{least}, {'UNBOUNDED' if most is None else most}]",
                related=defined_here(shape),
            )
            return 1, 1
        if most is not None and before <= most < before + max(1, low):
            self._diagnostics.error(
                "too-many-requirements",
                f'requirement "{shape.name}" of "{node.name}" may be assigned {_times(most)} only',
                item.span,
                hint="remove this one",
                related=defined_here(shape),
            )
        return low, high

    def _check_filters(
        self, item: entities.RequirementAssignment, shape: RequirementShape, target: NodeTemplate
    ) -> None:
        """Refuse a filter beside the name of a node template, which satisfies that of the definition."""
        assert item.node is not None
        if item.node_filter is not None:
            assert isinstance(item.at, Mapping)
            self._diagnostics.error(
                "misplaced-filter",
                f'requirement "{item.name}" names the node template "{target.name}", so there is nothing to filter',
                item.at.key("node_filter").span,
                hint="remove node_filter, or name a node type",
            )
        sound = tuple(f for f in shape.filters if not self.filters.is_faulty(f.filter))
        against = self._candidates.fits(target, sound)
        if against:
            self._diagnostics.error(
                "filter-mismatch",
                f'"{target.name}" does not satisfy the filter of requirement "{item.name}": {", ".join(against)}',
                item.node.span,
                hint="name another node template, or change its values",
                related=defined_here(shape),
            )

    def _named(
        self,
        node: NodeTemplate,
        item: entities.RequirementAssignment,
        shape: RequirementShape,
        target: NodeTemplate,
        number: int,
        order: int,
    ) -> None:
        """Bind an assignment to the node template that it names."""
        assert item.node is not None
        if shape.node and shape.node not in target.kinds:
            self._diagnostics.error(
                "wrong-target",
                f'"{target.name}" is a {target.type}; requirement "{item.name}" needs a {shape.node}',
                item.node.span,
                hint=f"name a node template of type {shape.node} or one derived from it",
                related=defined_here(shape),
            )
            return
        capability = self._asking.capability(item, target, shape)
        if capability is None:
            return
        sources = self._types.nodes[target.type].capabilities[capability.name].valid_source_types
        is_served = not sources or any(s in node.kinds for s in sources)
        if not is_served and not self._diagnostics.objection(
            "wrong-source",
            f'capability "{capability.name}" of "{target.name}" serves {" or ".join(sources)}, not {node.type}',
            item.node.span,
            hint="choose another target, or a capability of it that serves this type",
        ):
            return
        index = len(self._bound.get(node.name, ()))
        self._bind(Binding(node, shape, target, capability, item.relationship, number, index, item), order)

    # ---------------------------------------------------------------------------------------------------- choosing

    def _choose(self, waiting: Open) -> None:
        """Bind a requirement that names no node template to the ones of the topology that fit, if that is clear."""
        found = self._candidates.find(waiting.demand, max(MOST_LISTED, waiting.most or MOST_CHOSEN))
        many = len(found.targets)
        if waiting.most is not None and many > waiting.most:
            self._several(waiting, found)
        elif many < max(1, waiting.least) or (found.open and not self.decided):
            if not self._templates.some_unreadable:  # otherwise the one that fits may be among those
                self.open.append((waiting, found))
        else:
            number = waiting.number
            for target in found.targets:
                self._bind_one(waiting, target.node, target.capability, number)
                number = max(number + 1, self._count(waiting) + 1)

    def _count(self, waiting: Open) -> int:
        bound = self._bound.get(waiting.demand.source.name, ())
        return sum(r.requirement == waiting.demand.shape.name for _, r in bound)

    def _bind_one(self, waiting: Open, target: NodeTemplate, capability: Capability, number: int) -> None:
        demand, item = waiting.demand, waiting.item
        self._chosen.add((demand.source.name, waiting.order))
        part = item.relationship if item is not None else None
        index = len(self._bound.get(demand.source.name, ()))
        binding = Binding(demand.source, demand.shape, target, capability, part, number, index, waiting.place)
        self._bind(binding, waiting.order)

    def _several(self, waiting: Open, found: Found) -> None:
        shape = waiting.demand.shape
        names = ", ".join(t.node.name for t in found.targets[:MOST_LISTED])
        several = f"it could be any of {names}{', ...' if len(found.targets) > MOST_LISTED else ''}"
        if waiting.item is None:
            self._diagnostics.error(
                "missing-requirement",
                f"the required {waiting.shown} is not assigned",
                waiting.place.span,
                hint=f"add below requirements: - {shape.name}: <node template>; {several}",
                related=defined_here(shape),
            )
            return
        self._diagnostics.error(
            "ambiguous-requirement",
            f"several node templates fit {waiting.shown}: {names}",
            waiting.place.span,
            hint=f"name one of them: - {shape.name}: {found.targets[0].node.name}; or add a node_filter",
        )

    def _bind(self, bound: Binding, order: int) -> None:
        """Make the relationship of a binding, if its target serves one more."""
        made = self._relationships.make(bound)
        if made is None:
            return
        self._bound.setdefault(bound.source.name, []).append((order, made))
        target, capability = bound.target, bound.capability
        assert target is not None
        assert capability is not None
        users = self._candidates.use(target.name, capability.name)
        most = capability.occurrences[1]
        if most is not None and users > most:
            self._diagnostics.error(
                "too-many-sources",
                f'capability "{capability.name}" of "{target.name}" serves at most {_times(most)}',
                bound.place.span,
                hint="choose another target",
            )


MOST_CHOSEN = 100_000
"""How many nodes a requirement without an upper bound is bound to at most."""


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
