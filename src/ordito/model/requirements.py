"""Fulfilment of requirements: which node's which capability each requirement of a template is bound to (§3.7.3,
§3.8.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping as MappingType
from itertools import chain

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Placed
from ordito.base.suggest import nearest
from ordito.model.filters import is_whole
from ordito.model.relationships import Binding, Relationships
from ordito.model.selection import MOST_LISTED, Candidates, Demand, Found
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.substitution import Way
from ordito.model.templates import Templates
from ordito.model.types import RequirementShape, Types, WrittenFilter
from ordito.model.units import KINDS, Unit, Units, find_type, visible_types
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax import entities
from ordito.syntax.entries import is_lost


class Open(msgspec.Struct, frozen=True):
    """A requirement that names no node template: what it asks for, and how many nodes at least and at most. Without
    ``item`` it is not assigned at all. ``order`` is its place among the assignments of its node, ``number`` that of
    its first relationship among those of the same name."""

    demand: Demand
    item: entities.RequirementAssignment | None
    place: Placed
    order: int
    number: int
    least: int = 1
    most: int | None = 1

    @property
    def shown(self) -> str:
        """What messages call it."""
        return f'requirement "{self.demand.shape.name}" of "{self.demand.source.name}"'


class Requirements:
    """Binds the requirements of all node templates. ``open`` are those that no node template fulfils, each with the
    reasons; ``outside`` those that are fulfilled from outside of the topology, where it stands for a node. Where
    ``decided``, nodes of which it cannot be told whether they fit do not."""

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
        self._unit = unit
        self._units = units
        self._relationships = relationships
        self._candidates = candidates
        self.filters = candidates.filters
        self._diagnostics = diagnostics
        self._bound: dict[str, list[tuple[int, Relationship]]] = {}
        self._waiting: list[Open] = []
        self._mistaken: set[Way] = set()
        """The requirements of nodes that are chosen that are probably meant by a name that does not exist."""
        self._usual: dict[tuple[str, str], str] = {}
        """By node type and capability type that is asked for, the capability that fits, where it is the only one."""
        self.open: list[tuple[Open, Found]] = []
        self.outside: frozenset[Way] = frozenset()
        self.decided = False

    @property
    def unfilled(self) -> frozenset[str]:
        """The requirements, as ``node.requirement``, that need not be fulfilled (yet), or of which it has been said why
        they are not."""
        waiting = {f"{o.demand.source.name}.{o.demand.shape.name}" for o, _ in self.open}
        known = self.outside | self._refused
        return frozenset(waiting | {f"{node}.{requirement}" for node, requirement in known})

    @property
    def _refused(self) -> set[Way]:
        """The requirements of nodes that are chosen which are written and could not be bound, as has been reported."""
        found = set(self._mistaken)
        for name, node in self._templates.nodes.items():
            written = self._templates.written.get(name)
            if node.is_concrete or written is None or written.requirements is None:
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
        """Bind an open requirement to a node that was found elsewhere."""
        self._bind_one(waiting, target, capability, waiting.number)
        self._settle(waiting.demand.source.name)

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
            related=_defined_here(shape),
        )

    # --------------------------------------------------------------------------------------------- one assignment

    def _assignment(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape, before: int, order: int
    ) -> int:
        """Bind an assignment, or note what it asks for; gives how many relationships it stands for. ``before`` it are
        so many of the same requirement."""
        least, most = self._occurrences(node, item, shape, before)
        many = max(1, least)
        if _is_torn(item):
            return many
        target = self._templates.nodes.get(item.node.text) if item.node is not None else None
        if target is not None:
            self._check_filters(item, shape, target)
            for number in range(before + 1, before + many + 1):
                self._named(node, item, shape, target, number, order)
        elif item.node is None or not self._templates.is_written(item.node.text):
            self._relationships.mention(item.relationship)
            demand = self._demand(node, item, shape)
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
                related=_defined_here(shape),
            )
            return 1, 1
        if most is not None and before <= most < before + max(1, low):
            self._diagnostics.error(
                "too-many-requirements",
                f'requirement "{shape.name}" of "{node.name}" may be assigned {_times(most)} only',
                item.span,
                hint="remove this one",
                related=_defined_here(shape),
            )
        return low, high

    def _check_filters(
        self, item: entities.RequirementAssignment, shape: RequirementShape, target: NodeTemplate
    ) -> None:
        """A filter has no place beside the name of a node template, which satisfies that of the definition."""
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
                related=_defined_here(shape),
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
                related=_defined_here(shape),
            )
            return
        capability = self._capability(item, target, shape)
        if capability is None:
            return
        sources = self._types.nodes[target.type].capabilities[capability.name].valid_source_types
        if sources and not any(s in node.kinds for s in sources):
            self._diagnostics.error(
                "wrong-source",
                f'capability "{capability.name}" of "{target.name}" serves {" or ".join(sources)}, not {node.type}',
                item.node.span,
                hint="choose another target, or a capability of it that serves this type",
            )
            return
        index = len(self._bound.get(node.name, ()))
        self._bind(Binding(node, shape, target, capability, item.relationship, number, index, item), order)

    def _demand(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape
    ) -> Demand | None:
        """What an assignment asks for that names no node template; None where that is at fault."""
        if isinstance(item.at, Mapping) and not item.at.values:
            self._diagnostics.error(
                "missing-keyname",
                f'requirement "{item.name}" names no node template',
                item.span,
                hint=f"write {item.name}: <node template>",
            )
            return None
        node_type = self._node_type(item, shape) if item.node is not None else shape.node
        if node_type is None:
            return None
        wanted = self._wanted_capability(item, shape, node_type)
        if wanted is None:
            return None
        filters = shape.filters
        if item.node_filter is not None:
            self.filters.read(item.node_filter, self._unit, node_type, wanted[0])
            same = self.filters.first_like(item.node_filter, self._unit, node_type, wanted[0])
            filters = (*filters, WrittenFilter(same, self._unit))
        return Demand(node, shape, node_type, wanted[0], wanted[1], filters)

    def _node_type(self, item: entities.RequirementAssignment, shape: RequirementShape) -> str | None:
        """The node type that an assignment asks for; None where it names none that fits the definition."""
        written = item.node
        assert written is not None
        found = find_type("node", written, self._unit, self._units)
        if found is None:
            self._unknown_target(written, alone=isinstance(item.at, Scalar))
            return None
        known = self._types.nodes.get(found.name)
        if known is None:
            return None  # it could not be read
        if shape.node and shape.node not in known.kinds:
            self._diagnostics.error(
                "wrong-target",
                f'requirement "{item.name}" needs a {shape.node}, which {found.name} is not derived from',
                written.span,
                hint=f"name a node template, or a type derived from {shape.node}",
                related=_defined_here(shape),
            )
            return None
        if isinstance(item.at, Scalar):
            self._diagnostics.warning(
                "short-node-type",
                f'"{written.text}" is a node type, and only a node template may stand alone here',
                written.span,
                hint=f"write {item.name}: {{ node: {written.text} }}",
            )
        return found.name

    def _unknown_target(self, written: Scalar, *, alone: bool) -> None:
        """Report a name that is neither a node template nor a node type. One that stands ``alone`` is to be a
        template."""
        templates = self._templates.written
        types: Iterable[str] = () if alone else visible_types("node", self._unit, self._units)
        other = next((k for k in KINDS if find_type(k, written, self._unit, self._units) is not None), None)
        if other is not None:
            hint = f"it is a {other} type; name a node template or a node type"
        else:
            hint = self._diagnostics.suggestion(written.text, chain(templates, types))
        self._diagnostics.error(
            "unknown-target",
            f'no node template {"" if alone else "or node type "}named "{written.text}"',
            written.span,
            hint=hint or self._diagnostics.suggestion(written.text, templates),
        )

    def _wanted_capability(
        self, item: entities.RequirementAssignment, shape: RequirementShape, node_type: str
    ) -> tuple[str, str] | None:
        """The type of the capability that an assignment asks for and its name, "" for any."""
        if item.capability is None:
            return shape.capability, ""
        offered = self._types.nodes[node_type].capabilities if node_type else {}
        named = offered.get(item.capability.text)
        if named is not None and named.kinds:
            kinds: tuple[str, ...] = named.kinds
            wanted = shape.capability, item.capability.text
        else:
            found = find_type("capability", item.capability, self._unit, self._units)
            if found is None and not node_type:
                return shape.capability, item.capability.text
            if found is None:
                what = f"capability of {node_type}"
                written = item.capability
                self._diagnostics.unknown("unknown-capability", what, written.text, written.span, offered)
                return None
            kinds = self._types.capabilities[found.name].kinds if found.name in self._types.capabilities else ()
            wanted = found.name, ""
        if kinds and shape.capability not in kinds:
            self._diagnostics.error(
                "wrong-capability",
                f'requirement "{item.name}" needs a {shape.capability}, which {kinds[0]} is not derived from',
                item.capability.span,
                hint="leave capability: out to take the one that fits",
            )
            return None
        return wanted

    def _capability(
        self, item: entities.RequirementAssignment, target: NodeTemplate, shape: RequirementShape
    ) -> Capability | None:
        """The target's capability: the one named, else the best match for the type that is asked for."""
        usual = self._usual.get((target.type, shape.capability)) if item.capability is None else None
        return target.capabilities[usual] if usual is not None else self._best_capability(item, target, shape)

    def _best_capability(
        self, item: entities.RequirementAssignment, target: NodeTemplate, shape: RequirementShape
    ) -> Capability | None:
        wanted = shape.capability
        if any(not c.kinds for c in target.capabilities.values()):
            return None  # one that could not be read may be the one that is meant
        if item.capability is not None:
            named = target.capabilities.get(item.capability.text)
            if named is not None:
                if wanted in named.kinds:
                    return named
                self._diagnostics.error(
                    "wrong-capability",
                    f'capability "{named.name}" of "{target.name}" is a {named.kinds[0]}; '
                    f'requirement "{item.name}" needs a {wanted}',
                    item.capability.span,
                    hint="leave capability: out to take the one that fits",
                )
                return None
            found = find_type("capability", item.capability, self._unit, self._units)
            if found is None:
                known = [*target.capabilities]
                what = f'capability of "{target.name}"'
                self._diagnostics.unknown("unknown-capability", what, item.capability.text, item.capability.span, known)
                return None
            kinds = self._types.capabilities[found.name].kinds if found.name in self._types.capabilities else ()
            if kinds and wanted not in kinds:
                self._diagnostics.error(
                    "wrong-capability",
                    f'requirement "{item.name}" needs a {wanted}, which {found.name} is not derived from',
                    item.capability.span,
                    hint="leave capability: out to take the one that fits",
                )
                return None
            wanted = found.name
        exact = [c for c in target.capabilities.values() if c.kinds[0] == wanted]
        matching = exact or [c for c in target.capabilities.values() if wanted in c.kinds]
        assert item.node is not None
        if not matching:
            offered = ", ".join(f"{c.name} ({c.kinds[0]})" for c in target.capabilities.values())
            self._diagnostics.error(
                "wrong-capability",
                f'"{target.name}" has no capability of type {wanted}, which requirement "{item.name}" needs',
                (item.capability or item.node).span,
                hint=f"it offers {offered}" if offered else "it offers none",
            )
            return None
        if len(matching) > 1:
            names = ", ".join(c.name for c in matching)
            self._diagnostics.warning(
                "ambiguous-capability",
                f'several capabilities of "{target.name}" fit requirement "{item.name}" ({names}); the first is taken',
                item.node.span,
                hint="name one with capability:",
            )
        elif item.capability is None:
            self._usual[target.type, wanted] = matching[0].name
        return matching[0]

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
                related=_defined_here(shape),
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


def _is_torn(item: entities.RequirementAssignment) -> bool:
    """Whether the filter of an assignment could not be read, or not wholly."""
    written = isinstance(item.at, Mapping) and "node_filter" in item.at.values
    return written and (item.node_filter is None or not is_whole(item.node_filter))


def _defined_here(shape: RequirementShape) -> tuple[Related, ...]:
    return (Related("defined here", shape.span),) if shape.span else ()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
