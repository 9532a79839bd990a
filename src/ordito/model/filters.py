"""Node filters: reads them by the types of the nodes, and checks whether a node satisfies them (§3.6.4, §3.6.5).

A filter is read for each type of candidate nodes, since the type says with what the clauses are compared: once for the
declared type, where faults are reported, and once for the type of each candidate, without messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.capabilities import CapabilityShape
from ordito.model.constraints import violation
from ordito.model.definitions import Definitions
from ordito.model.facts import Facts, Unknown
from ordito.model.schema import CapabilityFilter, Constraint, NodeFilter, PropertyDefinition, PropertyFilter
from ordito.model.service import NodeTemplate
from ordito.model.types import Types
from ordito.model.units import Unit, Units, find_type
from ordito.model.values import Values
from ordito.source.nodes import shape_of
from ordito.syntax import filters as written
from ordito.syntax.expressions import Value
from ordito.syntax.shapes import EntryList

OPERATING_SYSTEM = "tosca.capabilities.OperatingSystem"
LOWERED = frozenset({"architecture", "type", "distribution"})
"""Properties of an operating system whose case does not count (§5.5.12.3)."""


class Offer(msgspec.Struct, frozen=True):
    """What a kind of node offers to a filter: its name in messages, its properties and its capabilities."""

    name: str
    properties: MappingType[str, PropertyDefinition] | None
    capabilities: MappingType[str, CapabilityShape] | None


class Finding(msgspec.Struct, frozen=True):
    """Whether a node fits a filter: it does where both fields are empty."""

    against: tuple[str, ...] = ()
    """Reasons why it does not fit."""
    open: tuple[Unknown, ...] = ()
    """Reasons why that is not known yet."""

    @property
    def fits(self) -> bool:
        """Whether the node satisfies the filter."""
        return not self.against and not self.open


class Filters:
    """Reads filters and matches nodes with them."""

    def __init__(self, types: Types, units: Units, diagnostics: Diagnostics) -> None:
        self._types = types
        self._units = units
        self._diagnostics = diagnostics
        self._faulty: set[int] = set()
        self._first: dict[tuple[object, ...], written.NodeFilter] = {}
        self._known: dict[tuple[int, str], tuple[written.NodeFilter, NodeFilter, tuple[str, ...]]] = {}

    def check_types(self) -> None:
        """Report what is wrong with the filters of requirement definitions, each where it is written."""
        seen: set[int] = set()
        for shape in self._types.nodes.values():
            for requirement in shape.requirements.values():
                for item in requirement.filters[-1:]:
                    if id(item.filter) not in seen:
                        seen.add(id(item.filter))
                        self.read(item.filter, item.unit, requirement.node, requirement.capability)

    def read(self, item: written.NodeFilter, unit: Unit, node_type: str, capability: str = "") -> NodeFilter:
        """Read a filter for a node type, "" where any node with a ``capability`` of that type may fit. Faults are
        reported; clauses without faults are kept."""
        before = self._diagnostics.errors
        read = self._reader(self._diagnostics).read(item, unit, self._offer(node_type, capability))
        if self._diagnostics.errors > before or not is_whole(item):
            self._faulty.add(id(item))
        return read

    def first_like(self, item: written.NodeFilter, unit: Unit, node_type: str, capability: str) -> written.NodeFilter:
        """The first filter that equals this one, for the same type; itself where there was none. So equal filters are
        checked once."""
        return self._first.setdefault((unit.file, node_type, capability, *shape_of(item.at)), item)

    def is_faulty(self, item: written.NodeFilter) -> bool:
        """Whether a filter has a reported fault: then it is not known which nodes satisfy it."""
        return id(item) in self._faulty

    def match(
        self, item: written.NodeFilter, unit: Unit, node: NodeTemplate, facts: Facts, declared: str = ""
    ) -> Finding:
        """Whether a node satisfies a filter; where the service does not know its type, as one of the ``declared``
        type."""
        known = self._known.get((id(item), node.type))
        if known is None:
            quiet = Diagnostics()
            kind = node.type if node.type in self._types.nodes else declared
            read = self._reader(quiet).read(item, unit, self._offer(kind, ""))
            known = item, read, tuple(d.message for d in quiet)
            self._known[id(item), node.type] = known
        _, read, faults = known
        return Finding(faults) if faults else match(read, node, facts)

    def _reader(self, diagnostics: Diagnostics) -> _Reader:
        return _Reader(self._types, self._units, diagnostics)

    def _offer(self, node_type: str, capability: str) -> Offer:
        shape = self._types.nodes.get(node_type)
        if shape is not None:
            return Offer(node_type, shape.properties, shape.capabilities)
        return Offer(f"what offers {capability}" if capability else "the node", None, None)


class _Reader:
    """Reads one filter."""

    def __init__(self, types: Types, units: Units, diagnostics: Diagnostics) -> None:
        self._types = types
        self._units = units
        self._diagnostics = diagnostics
        self._values = Values(types.data, diagnostics)
        self._definitions = Definitions(units, self._values, diagnostics)

    def read(self, item: written.NodeFilter, unit: Unit, offer: Offer) -> NodeFilter:
        """Read it for what is offered."""
        properties: tuple[PropertyFilter, ...] = ()
        if offer.properties is not None:
            properties = self._properties(item.properties, offer.properties, offer.name)
        found = (self._capability(c, unit, offer) for c in item.capabilities or ())
        return NodeFilter(properties, tuple(c for c in found if c is not None), item.span)

    def _properties(
        self,
        items: Iterable[written.PropertyFilter] | None,
        definitions: MappingType[str, PropertyDefinition],
        what: str,
    ) -> tuple[PropertyFilter, ...]:
        found: list[PropertyFilter] = []
        for item in items or ():
            definition = definitions.get(item.name)
            if definition is None:
                hint = self._diagnostics.suggestion(item.name, definitions)
                self._diagnostics.error(
                    "unknown-property", f'{what} has no property "{item.name}"', item.span, hint=hint
                )
                continue
            bare = msgspec.structs.replace(definition.schema, constraints=())
            constraints = self._definitions.constrained(bare, item.clauses).constraints
            base = self._values.base(definition.schema)
            found.append(PropertyFilter(item.name, base, constraints))
        return tuple(found)

    def _capability(self, item: written.CapabilityFilter, unit: Unit, offer: Offer) -> CapabilityFilter | None:
        """A capability filter: its name is that of a capability of the node, else of a capability type (R-3.6.5-3)."""
        assert item.key is not None
        shape = (offer.capabilities or {}).get(item.name)
        if shape is not None:
            return self._of(item, item.name, "", shape)
        found = find_type("capability", item.key, unit, self._units)
        typed = self._types.capabilities.get(found.name) if found is not None else None
        if typed is None:
            if offer.capabilities is not None and found is None:
                hint = self._diagnostics.suggestion(item.name, offer.capabilities)
                what = f'{offer.name} has no capability "{item.name}", and no capability type has that name'
                self._diagnostics.error("unknown-capability", what, item.span, hint=hint)
            return None
        kind = typed.kinds[0]
        if offer.capabilities is not None:
            offered = [c for c in offer.capabilities.values() if kind in c.kinds or not c.kinds]
            if not offered:
                listed = ", ".join(f"{n} ({c.kinds[0]})" for n, c in offer.capabilities.items())
                what = f"{offer.name} has no capability of type {kind}"
                self._diagnostics.error("unknown-capability", what, item.span, hint=f"it has {listed}")
                return None
        return self._of(item, item.name, kind, typed)

    def _of(
        self, item: written.CapabilityFilter, name: str, kind: str, shape: CapabilityShape
    ) -> CapabilityFilter | None:
        if not shape.kinds:
            return None  # it could not be read
        properties = self._properties(item.properties, shape.properties, f'capability "{name}"')
        if OPERATING_SYSTEM in shape.kinds:
            properties = tuple(_lowered(p) for p in properties)
        return CapabilityFilter(name, kind, properties)


def _lowered(item: PropertyFilter) -> PropertyFilter:
    """A filter of an operating system's property, its operands in lower case where case does not count (R-5.5.12-2)."""
    if item.name not in LOWERED:
        return item
    constraints = tuple(_lowered_constraint(c) for c in item.constraints)
    return msgspec.structs.replace(item, constraints=constraints, any_case=True)


def _lowered_constraint(constraint: Constraint) -> Constraint:
    if constraint.operator == "pattern":
        return constraint
    return msgspec.structs.replace(constraint, operand=lowered(constraint.operand))


def lowered(value: Value) -> Value:
    """A text, or the texts of a list, in lower case."""
    if isinstance(value, str):
        return value.lower()
    return [lowered(v) for v in value] if isinstance(value, list) else value


def match(wanted: NodeFilter, node: NodeTemplate, facts: Facts) -> Finding:
    """Whether a node satisfies a filter that was read for its type."""
    found = [_judged(p, node.properties, p.name, node, facts) for p in wanted.properties]
    for capability in wanted.capabilities:
        meant = _meant(capability, node)
        findings = [_of_capability(capability, name, node, facts) for name in meant]
        if findings:
            found.append(min(findings, key=lambda f: (len(f.against), len(f.open))))
        else:
            found.append(Finding((f'it has no capability "{capability.name}"',)))
    return together(found)


def together(findings: Iterable[Finding]) -> Finding:
    """Several findings about one node as one."""
    every = list(findings)
    return Finding(tuple(r for f in every for r in f.against), tuple(u for f in every for u in f.open))


def _meant(wanted: CapabilityFilter, node: NodeTemplate) -> list[str]:
    """The capabilities of a node that a filter speaks of."""
    if wanted.name in node.capabilities:
        return [wanted.name]
    return [n for n, c in node.capabilities.items() if wanted.type and wanted.type in c.kinds]


def _of_capability(wanted: CapabilityFilter, name: str, node: NodeTemplate, facts: Facts) -> Finding:
    values = node.capabilities[name].properties
    return together(_judged(p, values, f"{p.name} of {name}", node, facts) for p in wanted.properties)


def _judged(
    item: PropertyFilter, values: MappingType[str, Value], shown: str, node: NodeTemplate, facts: Facts
) -> Finding:
    """What one property says; one without a value satisfies no clause (R-3.6.5-5)."""
    if values.get(item.name) is None:
        return Finding((f"{shown} has no value",))
    value = facts.of(values[item.name], node)
    if isinstance(value, Unknown):
        return Finding(open=(msgspec.structs.replace(value, reason=f"{shown}: {value.reason}"),))
    known = lowered(value) if item.any_case else value
    return Finding(tuple(f"{shown} is {shown_value(value)} and {wrong}" for wrong in violations(item, known)))


def violations(item: PropertyFilter, value: Value) -> Iterator[str]:
    """What is wrong with a value by the clauses of a filter."""
    for constraint in item.constraints:
        wrong = violation(value, constraint, item.base)
        if wrong:
            yield wrong


def shown_value(value: Value) -> str:
    """A value as messages show it."""
    if isinstance(value, str):
        return value if " " in value and value[:1].isdigit() else f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_whole(item: written.NodeFilter | None) -> bool:
    """Whether all of a filter could be read."""
    if item is None:
        return True
    parts = (item.properties, item.capabilities, *(c.properties for c in item.capabilities or ()))
    return not any(isinstance(p, EntryList) and p.all_lost for p in parts)
