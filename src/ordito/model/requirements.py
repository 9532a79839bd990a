"""Fulfilment of requirements: which node's which capability each requirement of a template is bound to (§3.7.3,
§3.8.2)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.suggest import nearest
from ordito.model.relationships import Binding, Relationships
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.templates import Templates
from ordito.model.types import RequirementShape, Types
from ordito.model.units import Unit, Units, find_type
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.entries import is_lost

MOST_LISTED = 8


class _Target(msgspec.Struct, frozen=True):
    """A node's capability that a requirement is bound to."""

    node: NodeTemplate
    capability: Capability


class Requirements:
    """Binds the requirements of all node templates."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        unit: Unit,
        units: Units,
        relationships: Relationships,
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._unit = unit
        self._units = units
        self._relationships = relationships
        self._diagnostics = diagnostics
        self._users: dict[tuple[str, str], int] = {}
        self._fitting_nodes: dict[tuple[str, str], list[_Target]] = {}
        self._by_capability: dict[str, list[_Target]] | None = None

    def fulfil(self) -> None:
        """Bind the requirements of every template that could be read."""
        self._relationships.check_templates()
        for name, node in list(self._templates.nodes.items()):
            bound = self._node(node, self._templates.written[name])
            if bound:
                self._templates.nodes[name] = msgspec.structs.replace(node, requirements=tuple(bound))
        self._relationships.warn_of_unused()
        self._refuse_host_cycles()

    def _refuse_host_cycles(self) -> None:
        """Report hosting chains that lead back to where they begin, each once (R-3.8.2-11)."""
        done: set[str] = set()
        nodes = self._templates.nodes
        for start in nodes:
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

    def _node(self, node: NodeTemplate, written: entities.NodeTemplate) -> list[Relationship]:
        shapes = self._types.nodes[node.type].requirements
        counts: dict[str, int] = {}
        mistaken: set[str] = set()
        bound: list[Relationship] = []
        for item in written.requirements or ():
            shape = shapes.get(item.name)
            if shape is None:
                mistaken.update(self._unknown_requirement(node, item, shapes))
                continue
            number = counts[item.name] = counts.get(item.name, 0) + 1
            made = self._assignment(node, item, shape, number, len(bound)) if shape.capability else None
            if made is not None:
                bound.append(made)
        for name, shape in shapes.items():
            if shape.capability and name not in mistaken and not is_lost(written.requirements, name):
                self._check_count(node, shape, counts.get(name, 0), bound)
        return bound

    def _unknown_requirement(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shapes: MappingType[str, RequirementShape]
    ) -> list[str]:
        """Report an assignment to a requirement that is not defined; gives what was probably meant."""
        self._diagnostics.error(
            "unknown-requirement",
            f'node template "{node.name}" ({node.type}) has no requirement "{item.name}"',
            item.span,
            hint=self._diagnostics.suggestion(item.name, shapes),
        )
        return nearest(item.name, shapes)

    def _check_count(self, node: NodeTemplate, shape: RequirementShape, given: int, bound: list[Relationship]) -> None:
        low, _ = shape.occurrences
        if given >= low:
            return
        if not given and low == 1:
            made = self._automatic(node, shape, len(bound))
            if made is not None:
                bound.append(made)
            return
        self._diagnostics.error(
            "missing-requirement",
            f'requirement "{shape.name}" of "{node.name}" must be assigned at least {low} times, not {given}',
            node.span,
            hint=f"add below requirements: - {shape.name}: <node template>",
            related=_defined_here(shape),
        )

    def _automatic(self, node: NodeTemplate, shape: RequirementShape, index: int) -> Relationship | None:
        """Bind a mandatory requirement that is not assigned, where exactly one node of the topology fits."""
        fitting = [t for t in self._fitting(node, shape) if t.node.name != node.name]
        if len(fitting) == 1:
            place = self._templates.written[node.name]
            return self._bind(Binding(node, shape, fitting[0].node, fitting[0].capability, None, 1, index, place))
        if not fitting and self._templates.some_unreadable:
            return None  # the one that fits may be among those
        names = ", ".join(t.node.name for t in fitting[:MOST_LISTED])
        several = f"it could be any of {names}{', ...' if len(fitting) > MOST_LISTED else ''}"
        self._diagnostics.error(
            "missing-requirement",
            f'the required requirement "{shape.name}" of "{node.name}" is not assigned',
            node.span,
            hint=f"add below requirements: - {shape.name}: <node template>; "
            + (several if fitting else f"no other node offers {shape.capability}"),
            related=_defined_here(shape),
        )
        return None

    def _fitting(self, node: NodeTemplate, shape: RequirementShape) -> list[_Target]:
        """The nodes that may fulfil a requirement, each with the capability for it; no more than a message lists.

        They depend on the node's type alone, so they are found once for all its templates.
        """
        place = (node.type, shape.name)
        if place not in self._fitting_nodes:
            found: dict[str, _Target] = {}
            for target in self._offering(shape.capability):
                if len(found) > MOST_LISTED + 1:
                    break
                if target.node.name not in found and self._suits(node, target, shape):
                    found[target.node.name] = target
            self._fitting_nodes[place] = list(found.values())
        return self._fitting_nodes[place]

    def _offering(self, capability: str) -> list[_Target]:
        if self._by_capability is None:
            self._by_capability = {}
            for node in self._templates.nodes.values():
                for offered in node.capabilities.values():
                    for kind in offered.kinds:
                        self._by_capability.setdefault(kind, []).append(_Target(node, offered))
        return self._by_capability.get(capability, [])

    def _suits(self, node: NodeTemplate, target: _Target, shape: RequirementShape) -> bool:
        sources = self._types.nodes[target.node.type].capabilities[target.capability.name].valid_source_types
        if shape.node and shape.node not in target.node.kinds:
            return False
        return not sources or any(s in node.kinds for s in sources)

    def _assignment(
        self,
        node: NodeTemplate,
        item: entities.RequirementAssignment,
        shape: RequirementShape,
        number: int,
        index: int,
    ) -> Relationship | None:
        self._check_assignment(node, item, shape, number)
        if item.node is None or item.node_filter is not None:
            self._no_target(item)
            return None
        target = self._templates.nodes.get(item.node.text)
        if target is None:
            self._unknown_target(item, item.node)
            return None
        if shape.node and shape.node not in target.kinds:
            self._diagnostics.error(
                "wrong-target",
                f'"{target.name}" is a {target.type}; requirement "{item.name}" needs a {shape.node}',
                item.node.span,
                hint=f"name a node template of type {shape.node} or one derived from it",
                related=_defined_here(shape),
            )
            return None
        capability = self._capability(item, target, shape)
        if capability is None:
            return None
        sources = self._types.nodes[target.type].capabilities[capability.name].valid_source_types
        if sources and not any(s in node.kinds for s in sources):
            self._diagnostics.error(
                "wrong-source",
                f'capability "{capability.name}" of "{target.name}" serves {" or ".join(sources)}, not {node.type}',
                item.node.span,
                hint="choose another target, or a capability of it that serves this type",
            )
            return None
        return self._bind(Binding(node, shape, target, capability, item.relationship, number, index, item))

    def _check_assignment(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape, number: int
    ) -> None:
        """How often a requirement may be assigned (R-3.8.2-8, R-3.8.2-9)."""
        least, most = shape.occurrences
        if most is not None and number == most + 1:
            self._diagnostics.error(
                "too-many-requirements",
                f'requirement "{shape.name}" of "{node.name}" may be assigned {_times(most)} only',
                item.span,
                hint="remove this one",
                related=_defined_here(shape),
            )
        if item.occurrences is None:
            return
        low, high = item.occurrences
        if low < least or (most is not None and (high is None or high > most)):
            self._diagnostics.error(
                "bad-occurrences",
                f'the occurrences of requirement "{item.name}" go beyond its definition',
                item.span,
                hint=f"stay within [{least}, {'UNBOUNDED' if most is None else most}]",
                related=_defined_here(shape),
            )
        elif low > 1:
            self._diagnostics.error(
                "not-supported-yet",
                f'requirement "{item.name}": one assignment makes one relationship in this version',
                item.span,
                hint="assign it once for each node template that fulfils it",
            )

    def _no_target(self, item: entities.RequirementAssignment) -> None:
        if item.node_filter is None and item.capability is None:
            self._diagnostics.error(
                "missing-keyname",
                f'requirement "{item.name}" names no node template',
                item.span,
                hint=f"write {item.name}: <node template>",
            )
            return
        self._diagnostics.error(
            "not-supported-yet",
            f'requirement "{item.name}": choosing a node by type or filter is not carried out in this version',
            item.node_filter.span if item.node_filter is not None else item.span,
            hint="name the node template that fulfils it, without node_filter",
        )

    def _unknown_target(self, item: entities.RequirementAssignment, written: Scalar) -> None:
        if self._templates.is_written(written.text):
            return  # its own fault was reported
        if find_type("node", written, self._unit, self._units) is not None:
            self._diagnostics.error(
                "not-supported-yet",
                f'requirement "{item.name}": "{written.text}" is a node type; choosing a node by its type is not '
                "carried out in this version",
                written.span,
                hint="name a node template",
            )
            return
        self._diagnostics.unknown(
            "unknown-target", "node template", written.text, written.span, self._templates.written
        )

    def _capability(
        self, item: entities.RequirementAssignment, target: NodeTemplate, shape: RequirementShape
    ) -> Capability | None:
        """The target's capability: the one named, else the best match for the type that is asked for."""
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
        return matching[0]

    def _bind(self, bound: Binding) -> Relationship | None:
        """The relationship of a binding, if its target serves one more."""
        made = self._relationships.make(bound)
        if made is None:
            return None
        target, capability = bound.target, bound.capability
        users = self._users[target.name, capability.name] = self._users.get((target.name, capability.name), 0) + 1
        most = capability.occurrences[1]
        if most is not None and users > most:
            self._diagnostics.error(
                "too-many-sources",
                f'capability "{capability.name}" of "{target.name}" serves at most {_times(most)}',
                bound.place.span,
                hint="choose another target",
            )
        return made


def _defined_here(shape: RequirementShape) -> tuple[Related, ...]:
    return (Related("defined here", shape.span),) if shape.span else ()


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
