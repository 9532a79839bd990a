"""What the assignment of a requirement asks for: which capability of the node template that it names, or, where it
names none, a node type, a capability and filters (§3.8.2)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.filters import Filters, is_whole
from ordito.model.selection import Demand
from ordito.model.service import Capability, NodeTemplate
from ordito.model.templates import Templates
from ordito.model.types import RequirementShape, Types, WrittenFilter
from ordito.model.units import KINDS, Unit, Units, find_type, visible_types
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax import entities


class Asking:
    """Reads assignments of requirements; they may only narrow the definitions of these."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        unit: Unit,
        units: Units,
        filters: Filters,
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._unit = unit
        self._units = units
        self._filters = filters
        self._diagnostics = diagnostics
        self._usual: dict[tuple[str, str], str] = {}
        """By node type and capability type that is asked for, the capability that fits, where it is the only one."""

    def demand(
        self, node: NodeTemplate, item: entities.RequirementAssignment, shape: RequirementShape
    ) -> Demand | None:
        """What an assignment without a node template asks for; None where it has a fault."""
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
            self._filters.read(item.node_filter, self._unit, node_type, wanted[0])
            same = self._filters.first_like(item.node_filter, self._unit, node_type, wanted[0])
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
                related=defined_here(shape),
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
                offered = {name: c for node in self._types.nodes.values() for name, c in node.capabilities.items()}
                if item.capability.text in offered:
                    return shape.capability, item.capability.text
            if found is None:
                what = f"capability of {node_type}" if node_type else "capability of any node type"
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
                hint="remove capability: to get the one that fits",
            )
            return None
        return wanted

    def capability(
        self, item: entities.RequirementAssignment, target: NodeTemplate, shape: RequirementShape
    ) -> Capability | None:
        """The target's capability: the named one, or else the best match for the type that is asked for."""
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
                    hint="remove capability: to get the one that fits",
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
                    hint="remove capability: to get the one that fits",
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


def is_torn(item: entities.RequirementAssignment) -> bool:
    """Whether the filter of an assignment could not be read, or not wholly."""
    written = isinstance(item.at, Mapping) and "node_filter" in item.at.values
    return written and (item.node_filter is None or not is_whole(item.node_filter))


def defined_here(shape: RequirementShape) -> tuple[Related, ...]:
    """Where a requirement is defined, for messages about its assignments."""
    return (Related("defined here", shape.span),) if shape.span else ()
