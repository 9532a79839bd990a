"""Node templates: their values, checked against their types and completed with defaults (§3.8.1, §3.8.3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Mapping as MappingType
from itertools import chain

import msgspec

from ordito.base.diagnostics import Copied, Diagnostics, Related
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.capabilities import CapabilityShape
from ordito.model.filters import Filters
from ordito.model.operation import KEYWORDS, Interface
from ordito.model.schema import NodeFilter, PropertyDefinition, Schema
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.settings import (
    Settings,
    WrittenSettings,
    check_operations,
    read_settings,
    refuse_settings,
    settings_of,
)
from ordito.model.types import NodeShape, Types
from ordito.model.units import Unit
from ordito.model.values import is_bundled
from ordito.source.nodes import Mapping, is_null
from ordito.syntax import entities
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.shapes import Entries, is_lost

SELECT = "select"
SUBSTITUTE = "substitute"
DIRECTIVES = (SELECT, SUBSTITUTE)
DEPRECATED_DIRECTIVES = {"selectable": SELECT, "substitutable": SUBSTITUTE}
UNSAFE = re.compile(r"[^A-Za-z0-9_]")


class _Shared(msgspec.Struct, frozen=True):
    """What all templates of a type have in common as long as they assign nothing of their own."""

    interfaces: MappingType[str, Interface]
    capabilities: MappingType[str, Capability]
    calls: tuple[Call, ...]
    assigned: frozenset[str]
    """The properties that a type below the normative ones gave a value."""
    needed: tuple[tuple[str, PropertyDefinition], ...]
    """The properties of capabilities that each template must give, with the capability's name."""
    settings: Settings


class Templates:
    """Reads the node templates of a topology."""

    def __init__(self, types: Types, unit: Unit, filters: Filters, diagnostics: Diagnostics) -> None:
        self._types = types
        self._filters = filters
        self._unit = unit
        self._diagnostics = diagnostics
        self._shared: dict[str, _Shared] = {}
        self._unions: dict[tuple[frozenset[str], tuple[str, ...]], frozenset[str]] = {}
        self.nodes: dict[str, NodeTemplate] = {}
        self.written: MappingType[str, entities.NodeTemplate] = {}
        self.sanitised: dict[str, str] = {}
        self.settings: dict[str, WrittenSettings] = {}
        """The settings of the templates that have any, of their own or by their types."""
        self.calls: dict[str, tuple[Call, ...]] = {}
        """The calls that each template's own values hold, for checking what they refer to."""
        self.calling: set[str] = set()
        """The templates of which some calls stand in properties and attributes, their own or of capabilities."""

    def read(self, written: MappingType[str, entities.NodeTemplate]) -> None:
        """Read all node templates, without their requirements."""
        self.written = written
        self._check_names(written)
        for name, item in written.items():
            definition = self._types.find("node", item.type, self._unit)
            shape = self._types.nodes.get(definition.name) if definition else None
            if shape is None:
                continue
            if item.copy is None:
                self.nodes[name] = self._node(name, item, shape)
                continue
            with self._diagnostics.about(copied(item, written)):
                self.nodes[name] = self._node(name, item, shape)

    def add(self, name: str, shape: NodeShape, span: Span) -> NodeTemplate:
        """A node template that is not written, with the defaults of its type; ``span`` is what it is needed for."""
        shared = self._share(shape)
        self.calls[name] = ()
        self.sanitised[name] = sanitised(name)
        node = self.nodes[name] = NodeTemplate(
            name=name,
            kinds=shape.kinds,
            properties={n: d.default for n, d in shape.properties.items() if d.has_default},
            attributes={n: d.default for n, d in shape.attributes.items() if d.has_default},
            definitions=shape.properties,
            attribute_definitions=shape.attributes,
            capabilities=shared.capabilities,
            requirements=(),
            interfaces=shared.interfaces,
            artifacts=shape.artifacts,
            settings=shared.settings,
            span=span,
        )
        return node

    def check_settings(self, incoming: MappingType[str, tuple[Relationship, ...]]) -> None:
        """Check that settings for single operations name operations that there are; once requirements are fulfilled."""
        for name, written in self.settings.items():
            node = self.nodes[name]
            held = [node.interfaces, *(r.interfaces for r in chain(node.requirements, incoming.get(name, ())))]
            known = (f"{i.name}.{o}" for interfaces in held for i in interfaces.values() for o in i.operations)
            check_operations(written, known, self._diagnostics)

    def copied(self, name: str) -> Copied | None:
        """What a template copies, for what is found about it there."""
        item = self.written.get(name)
        return copied(item, self.written) if item is not None and item.copy is not None else None

    def is_written(self, name: str) -> bool:
        """Whether a template of that name is written, readable or not."""
        return name in self.written or is_lost(self.written, name)

    @property
    def some_unreadable(self) -> bool:
        """Whether some template is written but could not be read."""
        lost = isinstance(self.written, Entries) and bool(self.written.lost or self.written.all_lost)
        return lost or len(self.nodes) < len(self.written)

    def shared_calls(self, node_type: str) -> tuple[Call, ...]:
        """The calls in what a type gives all its templates."""
        shared = self._shared.get(node_type)
        return shared.calls if shared else ()

    def of_type(
        self, shape: NodeShape
    ) -> tuple[MappingType[str, Interface], MappingType[str, Capability], tuple[Call, ...]]:
        """The interfaces, the capabilities and the calls that a type gives its templates."""
        shared = self._share(shape)
        return shared.interfaces, shared.capabilities, shared.calls

    def _node(self, name: str, item: entities.NodeTemplate, shape: NodeShape) -> NodeTemplate:
        values = self._types.values
        shared = self._share(shape)
        what = f'node template "{name}"'
        directives = self._directives(item) if item.directives else ()
        # What is selected has its values already; those that are written are what it must have.
        free = SELECT in directives or item.incomplete
        astray = shape.properties if free else _astray(item, shape.properties)
        with values.collecting_calls() as calls:
            properties = values.fields(item.properties, shape.properties, what, "property", item, astray)
            attributes = values.attributes(item.attributes, shape.attributes, what)
            capabilities = self._capabilities(item, shape, shared, what, complete=not directives)
            if calls:
                self.calling.add(name)
            artifacts = shape.artifacts
            if item.artifacts:
                artifacts = {**artifacts, **self._types.artifacts.read_all(item.artifacts, self._unit, artifacts)}
            interfaces = shared.interfaces
            if item.interfaces or item.artifacts:
                parts = self._types.interfaces.merge(
                    shape.interfaces, item.interfaces, self._unit, owner=what, relationship=False, defining=False
                )
                known = (shape.interfaces, shared.interfaces) if not item.artifacts else None
                interfaces = self._types.interfaces.finish(parts, artifacts, relationship=False, known=known)
            count: Value = None
            if item.instance_count is not None:
                count = values.read(item.instance_count, Schema("integer"), '"instance_count"')
        self.calls[name] = tuple(calls)
        settings = self._settings(name, item, shape, shared.settings, directives)
        return NodeTemplate(
            name=name,
            kinds=shape.kinds,
            properties=properties,
            attributes=attributes,
            definitions=shape.properties,
            attribute_definitions=shape.attributes,
            capabilities=capabilities,
            requirements=(),
            interfaces=interfaces,
            artifacts=artifacts,
            assigned=shared.assigned
            if item.properties is None
            else self._united(shared.assigned, item.properties.values),
            instance_count=count,
            occurrences=item.occurrences,
            metadata={k: v.text for k, v in item.metadata.items()} if item.metadata else {},
            settings=settings,
            description=item.description.text if item.description else "",
            span=item.span,
            directives=directives,
            node_filter=self._filter(item, directives, shape),
            is_open=self._unit.dialect.is_untyped,
        )

    def _settings(
        self, name: str, item: entities.NodeTemplate, shape: NodeShape, shared: Settings, directives: Collection[str]
    ) -> Settings:
        """What its metadata and those of its type set; what is written there is kept."""
        settings, written = shared, shape.settings
        if item.metadata and (own := read_settings(item.at, item.metadata, self._diagnostics)):
            if SUBSTITUTE in directives:
                # Nothing of it is made but what the topology holds, whose nodes have settings of their own.
                refuse_settings(item.at, item.metadata, "a node that a topology stands for", self._diagnostics)
            else:
                written = {**shape.settings, **own}
                settings = settings_of(written)
        if written:
            self.settings[name] = written
        return settings

    def _share(self, shape: NodeShape) -> _Shared:
        kind = shape.kinds[0]
        if kind not in self._shared:
            interfaces = self._types.interfaces.finish(shape.interfaces, shape.artifacts, relationship=False)
            capabilities = {n: _unassigned(n, c) for n, c in shape.capabilities.items()}
            needed = (
                (name, d)
                for name, capability in shape.capabilities.items()
                for d in capability.properties.values()
                if d.required and not d.has_default
            )
            assigned = (n for n, d in shape.properties.items() if d.has_default and not is_bundled(d.span))
            self._shared[kind] = _Shared(
                interfaces,
                capabilities,
                _type_calls(shape, interfaces),
                frozenset(assigned),
                tuple(needed),
                settings_of(shape.settings),
            )
        return self._shared[kind]

    def _united(self, names: frozenset[str], others: Iterable[str]) -> frozenset[str]:
        """All of these names; very many templates assign the same."""
        key = names, tuple(others)
        if key not in self._unions:
            self._unions[key] = names.union(others)
        return self._unions[key]

    def _capabilities(
        self, item: entities.NodeTemplate, shape: NodeShape, shared: _Shared, what: str, *, complete: bool
    ) -> MappingType[str, Capability]:
        """The capabilities of a template; those of one that is not ``complete`` have their values elsewhere."""
        values = self._types.values
        found = dict(shared.capabilities) if item.capabilities else shared.capabilities
        mistaken: set[str] = set()
        for name, assignment in (item.capabilities or {}).items():
            definition = shape.capabilities.get(name)
            if definition is None:
                self._diagnostics.unknown(
                    "unknown-capability", f"capability of {what}", name, assignment.span, shape.capabilities
                )
                mistaken.update(nearest(name, [n for n in shape.capabilities if n not in (item.capabilities or ())]))
                continue
            if not definition.kinds:
                continue
            part = f'capability "{name}" of {what}'
            astray = _astray(assignment, definition.properties) if complete else definition.properties
            properties = values.fields(
                assignment.properties, definition.properties, part, "property", assignment, astray
            )
            own = assignment.occurrences is not None
            occurrences = self._occurrences(assignment, definition) if own else definition.occurrences
            assert isinstance(found, dict)
            found[name] = Capability(
                name,
                definition.kinds,
                properties,
                values.attributes(assignment.attributes, definition.attributes, part),
                definition.properties,
                definition.attributes,
                definition.assigned
                if assignment.properties is None
                else self._united(definition.assigned, assignment.properties.values),
                occurrences,
            )
        for name, needed in shared.needed if complete else ():
            written = name in (item.capabilities or ()) or is_lost(item.capabilities, name)
            if not written and name not in mistaken:
                hint = f'assign it below "capabilities: {name}: properties:"'
                values.missing(needed, f'capability "{name}" of {what} lacks the required property', item, hint)
        return found

    def _occurrences(
        self, assignment: entities.CapabilityAssignment, definition: CapabilityShape
    ) -> tuple[int, int | None]:
        if assignment.occurrences is None:
            return definition.occurrences
        low, high = assignment.occurrences
        least, most = definition.occurrences
        if low < least or (most is not None and (high is None or high > most)):
            related = (Related("defined here", definition.span),) if definition.span else ()
            self._diagnostics.error(
                "bad-occurrences",
                f'the occurrences of capability "{assignment.name}" go beyond its definition',
                assignment.span,
                related=related,
            )
        return low, high

    def _check_names(self, written: MappingType[str, entities.NodeTemplate]) -> None:
        taken: dict[str, entities.NodeTemplate] = {}
        for name, item in written.items():
            safe = self.sanitised[name] = sanitised(name)
            if name in KEYWORDS:
                self._diagnostics.error(
                    "reserved-name", f'"{name}" is a keyword of functions and cannot name a node', item.span
                )
            other = taken.setdefault(safe, item)
            if other is not item:
                self._diagnostics.error(
                    "duplicate-name",
                    f'"{name}" and "{other.name}" give the same instance names ({safe}_1, ...)',
                    item.span,
                    hint="rename one of them: only letters, digits and _ count",
                    related=(Related("the other one", other.span),),
                )

    def _directives(self, item: entities.NodeTemplate) -> tuple[str, ...]:
        """The directives of a template, each once (§3.8.3.3). "selectable" and "substitutable" are the words of the
        versions before 1.3; the words of 1.3 are taken there as well, without a word, since nothing else can be meant.
        """
        found: dict[str, None] = {}
        for written in item.directives or ():
            name = DEPRECATED_DIRECTIVES.get(written.text, written.text)
            if name not in DIRECTIVES:
                self._diagnostics.unknown("unknown-directive", "directive", name, written.span, DIRECTIVES)
                continue
            if name != written.text and self._unit.dialect.later is None:
                self._diagnostics.warning(
                    "deprecated", f'"{written.text}" is deprecated', written.span, hint=f"write {name}"
                )
            found[name] = None
        if len(found) == len(DIRECTIVES):
            self._diagnostics.error(
                "bad-directives",
                f'node template "{item.name}" is to be selected and to be substituted',
                item.span,
                hint="keep one of the directives",
            )
        return tuple(found)

    def _filter(self, item: entities.NodeTemplate, directives: tuple[str, ...], shape: NodeShape) -> NodeFilter | None:
        """The node filter of a template, which says something only of one that is chosen (R-3.8.3-3)."""
        if item.node_filter is None:
            return None
        if not directives and not item.directives:
            assert isinstance(item.at, Mapping)
            self._diagnostics.warning(
                "unused-filter",
                f'the node filter of "{item.name}" has no effect: the template stands for itself',
                item.at.key("node_filter").span,
                hint="add directives: [ select ], or remove it",
            )
        return self._filters.read(item.node_filter, self._unit, shape.kinds[0])


def _astray(
    item: entities.NodeTemplate | entities.CapabilityAssignment, definitions: MappingType[str, PropertyDefinition]
) -> Collection[str]:
    """The names of values that may be written in the wrong place: directly below an entity, or anywhere in what should
    have been its properties and could not be read."""
    if not isinstance(item.at, Mapping):
        return ()
    properties = item.at.values.get("properties")
    is_lost = properties is not None and item.properties is None and not is_null(properties)
    return frozenset(definitions) if is_lost else item.at.values


AnyTemplate = entities.NodeTemplate | entities.RelationshipTemplate


def copied(item: AnyTemplate, written: MappingType[str, AnyTemplate]) -> Copied | None:
    """The places of a copy and of its source; None where a template is not a copy, or its source was not read."""
    basis = written.get(item.copy.text) if item.copy is not None else None
    if basis is None or item.copy is None:
        return None
    begin, at = basis.span, basis.at
    return Copied(item.copy.span, Span(begin.source, begin.line, begin.column, at.end_line, at.end_column))


def sanitised(name: str) -> str:
    """A node's name as a part of shell names, from which instance ids are made."""
    if name.isidentifier() and name.isascii():
        return name
    safe = UNSAFE.sub("_", name)
    return f"_{safe}" if safe[:1].isdigit() else safe


def _unassigned(name: str, shape: CapabilityShape) -> Capability:
    return Capability(
        name,
        shape.kinds,
        {n: d.default for n, d in shape.properties.items() if d.has_default},
        {n: d.default for n, d in shape.attributes.items() if d.has_default},
        shape.properties,
        shape.attributes,
        shape.assigned,
        shape.occurrences,
    )


def held_calls(node: NodeTemplate) -> Iterator[Call]:
    """The calls in all values that a node template has, its own and those that its type gives it."""
    for value in (*node.properties.values(), *node.attributes.values()):
        yield from calls(value)
    for capability in node.capabilities.values():
        for value in (*capability.properties.values(), *capability.attributes.values()):
            yield from calls(value)
    for interface in node.interfaces.values():
        for operation in interface.operations.values():
            for item in operation.inputs.values():
                yield from calls(item.value)
    for artifact in node.artifacts.values():
        for value in artifact.properties.values():
            yield from calls(value)


def _type_calls(shape: NodeShape, interfaces: MappingType[str, Interface]) -> tuple[Call, ...]:
    """The calls in what a type gives its templates, each once."""
    groups = [shape.properties, shape.attributes]
    for capability in shape.capabilities.values():
        groups += [capability.properties, capability.attributes]
    defaults = (d.default for group in groups for d in group.values())
    operations = (o for i in interfaces.values() for o in i.operations.values())
    inputs = (i.value for o in operations for i in o.inputs.values())
    artifacts = (value for artifact in shape.artifacts.values() for value in artifact.properties.values())
    return tuple({id(c): c for value in chain(defaults, inputs, artifacts) for c in calls(value)}.values())
