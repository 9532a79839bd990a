"""Types in the form in which they are shown: the parts of a type, where each comes from, and its schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.model.capabilities import CapabilityShape
from ordito.model.interfaces import InterfaceParts, OperationParts
from ordito.model.operation import Artifact, Input
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import Constraint, PropertyDefinition, Schema
from ordito.model.types import RequirementShape, Types
from ordito.model.unit import Definition, Unit
from ordito.model.units import Units
from ordito.source.nodes import Scalar
from ordito.source.package import Package
from ordito.syntax import entities
from ordito.syntax.expressions import as_written
from ordito.syntax.grammar import Entity

ASKED = ("node", "relationship", "capability", "data", "interface", "artifact", "group", "policy")
"""The kinds of types, in the order in which a name is searched for."""


class Origin(msgspec.Struct, frozen=True):
    """A type that declares or refines something, and where."""

    type: str
    span: Span | None


class Member(msgspec.Struct, frozen=True):
    """A part of a type."""

    section: str
    """Its kind (property, capability, operation ...)."""
    name: str
    description: str = ""
    schema: Schema | None = None
    """The schema of its values."""
    facts: Mapping[str, object] = {}
    """Further information about it."""
    members: tuple[Member, ...] = ()
    """Its own parts."""
    origins: tuple[Origin, ...] = ()
    """The types that declare and refine it, the declaring one first."""


class TypeView(msgspec.Struct, frozen=True):
    """A type."""

    kind: str
    kinds: tuple[str, ...]
    """Its full name and those of its ancestors."""
    description: str = ""
    facts: Mapping[str, object] = {}
    members: tuple[Member, ...] = ()
    span: Span | None = None

    @property
    def name(self) -> str:
        """The full name."""
        return self.kinds[0]


def read_types(package: Package, diagnostics: Diagnostics) -> Types | None:
    """The types of a service, flattened, even where its topology has errors; None where its file cannot be read."""
    units = Units(package, diagnostics)
    units.gather()
    types = Types(units, diagnostics)
    types.flatten()
    return types if units.entry is not None else None


class Catalogue:
    """All types that the entry file of a service can name."""

    def __init__(self, types: Types) -> None:
        assert types.units.entry is not None
        self._types = types
        self._entry: Unit = types.units.entry
        self._names = types.units.names

    def find(self, kind: str, name: str) -> TypeView | None:
        """The type of a kind with a name, which may be short, full or have a prefix."""
        if kind == "data" and name in PRIMITIVES:
            return TypeView("data", (name,), "A type of the language itself (§3.3).")
        definition = self._names.find(kind, name, self._entry) or self._names.definitions[kind].get(name)
        return self._view(definition) if definition is not None else None

    def names(self) -> Iterator[str]:
        """The names of all types, and the last parts of the names that come with the program."""
        yield from PRIMITIVES
        for kind in ASKED:
            yield from self._names.visible(kind, self._entry)
            for name, definition in self._names.definitions[kind].items():
                yield name
                if definition.unit.is_bundled:
                    yield name.rpartition(".")[2]

    def spellings(self, kind: str) -> dict[str, list[str]]:
        """The types of a kind that templates can have, by full name, with all names that the entry file can use."""
        found: dict[str, list[str]] = {}
        for name in dict.fromkeys((*self._names.visible(kind, self._entry), *self._short_names(kind))):
            definition = self._names.find(kind, name, self._entry)
            if definition is not None and VIEWS[kind](self, definition.name) is not None:
                found.setdefault(definition.name, []).append(name)
        return found

    def _short_names(self, kind: str) -> Iterator[str]:
        for name, definition in self._names.definitions[kind].items():
            if definition.unit.is_bundled:
                parts = name.split(".")
                yield from (".".join(parts[start:]) for start in range(1, len(parts)))
                yield from (f"tosca:{'.'.join(parts[start:])}" for start in range(len(parts)))

    def description(self, kind: str, name: str) -> str:
        """The description of a type."""
        text = self._names.definitions[kind][name].content.description
        return " ".join(text.text.split()) if text is not None else ""

    def inner(self, member: Member) -> TypeView | None:
        """The data type of a member's values, or of the entries of the list or map that it holds."""
        schema = member.schema
        while schema is not None:
            data = self._types.data.get(schema.type)
            inner = schema.entry or (data.entry if data is not None else None)
            if data is None or data.base not in {"list", "map"} or inner is None:
                return self.find("data", schema.type)
            schema = inner
        return None

    def _view(self, definition: Definition) -> TypeView | None:
        made = VIEWS[definition.kind](self, definition.name)
        if made is None:
            return None  # it holds errors, which are reported
        kinds, facts, members = made
        written = definition.content
        about: dict[str, object] = {}
        if written.version is not None:
            about["version"] = written.version.text
        if written.metadata:
            about["metadata"] = {name: text.text for name, text in written.metadata.items()}
        description = written.description.text if written.description is not None else ""
        return TypeView(definition.kind, kinds, description, {**facts, **about}, tuple(members), written.span)

    # -------------------------------------------------------------------------------------------- the kinds of types

    def _node(self, name: str) -> _Made | None:
        shape = self._types.nodes.get(name)
        if shape is None:
            return None
        members = [
            *self._values("node", shape.kinds, shape.properties, shape.attributes),
            *(self._capability(shape.kinds, n, c) for n, c in shape.capabilities.items()),
            *(self._requirement(shape.kinds, r) for r in shape.requirements.values()),
            *(self._interface("node", shape.kinds, i) for i in shape.interfaces.values()),
            *(self._artifact_member(shape.kinds, a) for a in shape.artifacts.values()),
        ]
        return shape.kinds, {}, members

    def _relationship(self, name: str) -> _Made | None:
        shape = self._types.relationships.get(name)
        if shape is None:
            return None
        members = [
            *self._values("relationship", shape.kinds, shape.properties, shape.attributes),
            *(self._interface("relationship", shape.kinds, i) for i in shape.interfaces.values()),
        ]
        return shape.kinds, _given(valid_target_types=list(shape.valid_target_types)), members

    def _capability_type(self, name: str) -> _Made | None:
        shape = self._types.capabilities.get(name)
        if shape is None:
            return None
        facts = _given(valid_source_types=list(shape.valid_source_types))
        return shape.kinds, facts, list(self._values("capability", shape.kinds, shape.properties, shape.attributes))

    def _data(self, name: str) -> _Made | None:
        shape = self._types.data.get(name)
        if shape is None:
            return None
        facts = _given(
            holds=schema_text(Schema(shape.base, shape.entry, shape.key)) if shape.base else "",
            constraints=[constraint_data(c) for c in shape.constraints],
        )
        return shape.kinds, facts, list(self._definitions("data", shape.kinds, "property", shape.properties))

    def _interface_type(self, name: str) -> _Made | None:
        shape = self._types.interfaces.shapes.get(name)
        if shape is None:
            return None
        return shape.kinds, {}, list(self._interface_members("interface", shape.kinds, shape))

    def _artifact(self, name: str) -> _Made | None:
        shape = self._types.artifacts.shapes.get(name)
        if shape is None:
            return None
        facts = _given(mime_type=shape.mime_type, file_ext=list(shape.extensions))
        return shape.kinds, facts, list(self._definitions("artifact", shape.kinds, "property", shape.properties))

    def _group(self, name: str) -> _Made | None:
        shape = self._types.groups.get(name)
        if shape is None:
            return None
        members = list(self._values("group", shape.kinds, shape.properties, shape.attributes))
        return shape.kinds, _given(members=list(shape.members)), members

    def _policy(self, name: str) -> _Made | None:
        shape = self._types.policies.get(name)
        if shape is None:
            return None
        members = list(self._definitions("policy", shape.kinds, "property", shape.properties))
        for trigger, (written, _) in shape.triggers.items():
            text = written.description.text if written.description is not None else ""
            origins = self._origins("policy", shape.kinds, ("triggers", trigger))
            members.append(Member("trigger", trigger, text, origins=origins))
        return shape.kinds, _given(targets=[target for _, target in shape.targets]), members

    # ----------------------------------------------------------------------------------------------- parts of types

    def _values(
        self,
        kind: str,
        kinds: tuple[str, ...],
        properties: Mapping[str, PropertyDefinition],
        attributes: Mapping[str, PropertyDefinition],
    ) -> Iterator[Member]:
        yield from self._definitions(kind, kinds, "property", properties)
        yield from self._definitions(kind, kinds, "attribute", attributes)

    def _definitions(
        self,
        kind: str,
        kinds: tuple[str, ...],
        section: str,
        definitions: Mapping[str, PropertyDefinition],
        refined: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
    ) -> Iterator[Member]:
        """Properties or attributes; ``refined`` are the node types that may refine them, and where they do."""
        for name, definition in definitions.items():
            origins = self._origins(kind, kinds, (PLURALS[section], name))
            more = self._origins("node", refined[0], (*refined[1], PLURALS[section], name))
            yield value_member(section, definition, (*origins, *more))

    def _capability(self, kinds: tuple[str, ...], name: str, shape: CapabilityShape) -> Member:
        facts = _given(
            type=shape.kinds[0] if shape.kinds else "",
            occurrences=bounds(shape.occurrences),
            valid_source_types=list(shape.valid_source_types),
        )
        refined = kinds, ("capabilities", name)
        members = (
            *self._definitions("capability", shape.kinds, "property", shape.properties, refined),
            *self._definitions("capability", shape.kinds, "attribute", shape.attributes, refined),
        )
        origins = self._origins("node", kinds, refined[1])
        return Member("capability", name, self._text(kinds, refined[1]), None, facts, members, origins)

    def _requirement(self, kinds: tuple[str, ...], shape: RequirementShape) -> Member:
        facts = _given(
            capability=shape.capability,
            node=shape.node,
            relationship=shape.relationship,
            occurrences=bounds(shape.occurrences),
        )
        origins = self._origins("node", kinds, ("requirements", shape.name))
        return Member("requirement", shape.name, facts=facts, origins=origins)

    def _interface(self, kind: str, kinds: tuple[str, ...], parts: InterfaceParts) -> Member:
        facts = _given(type=parts.kinds[0] if parts.kinds else "")
        members = tuple(self._interface_members(kind, kinds, parts))
        origins = self._origins(kind, kinds, ("interfaces", parts.name))
        return Member("interface", parts.name, "", None, facts, members, origins)

    def _interface_members(self, kind: str, kinds: tuple[str, ...], parts: InterfaceParts) -> Iterator[Member]:
        yield from (input_member(i) for i in parts.inputs.values())
        for section, found in (("operation", parts.operations), ("notification", parts.notifications)):
            for name, operation in found.items():
                origins = self._origins("interface", parts.kinds, (PLURALS[section], name))
                if kind != "interface":
                    path = "interfaces", parts.name, PLURALS[section], name
                    origins = (*origins, *self._origins(kind, kinds, path))
                yield operation_member(section, operation, origins)

    def _artifact_member(self, kinds: tuple[str, ...], artifact: Artifact) -> Member:
        facts = _given(type=artifact.kinds[0] if artifact.kinds else "", file=artifact.file)
        origins = self._origins("node", kinds, ("artifacts", artifact.name))
        return Member("artifact", artifact.name, facts=facts, origins=origins)

    # --------------------------------------------------------------------------------------- where parts are written

    def _origins(self, kind: str, kinds: tuple[str, ...], path: tuple[str, ...]) -> tuple[Origin, ...]:
        """The types of a chain that write what stands at a path of sections and names, the root first."""
        found = []
        for name in reversed(kinds):
            definition = self._names.definitions[kind].get(name)
            item = _written(definition.content, path) if definition is not None else None
            if isinstance(item, Entity):
                found.append(Origin(name, item.span))
        return tuple(found)

    def _text(self, kinds: tuple[str, ...], path: tuple[str, ...]) -> str:
        """The description of a part of a node type, by the closest type that gives one."""
        for kind in kinds:
            definition = self._names.definitions["node"].get(kind)
            item = _written(definition.content, path) if definition is not None else None
            text = getattr(item, "description", None)
            if isinstance(text, Scalar):
                return text.text
        return ""


_Made: TypeAlias = tuple[tuple[str, ...], dict[str, object], list[Member]]

VIEWS: Mapping[str, Callable[[Catalogue, str], _Made | None]] = {
    "node": Catalogue._node,  # noqa: SLF001  (the table of the class's own views)
    "relationship": Catalogue._relationship,  # noqa: SLF001
    "capability": Catalogue._capability_type,  # noqa: SLF001
    "data": Catalogue._data,  # noqa: SLF001
    "interface": Catalogue._interface_type,  # noqa: SLF001
    "artifact": Catalogue._artifact,  # noqa: SLF001
    "group": Catalogue._group,  # noqa: SLF001
    "policy": Catalogue._policy,  # noqa: SLF001
}


def value_member(section: str, definition: PropertyDefinition, origins: tuple[Origin, ...] = ()) -> Member:
    """A property, attribute or field."""
    facts: dict[str, object] = {"type": schema_text(definition.schema)}
    if section != "attribute":
        facts["required"] = definition.required
    if definition.has_default:
        facts["value" if definition.fixed else "default"] = as_written(definition.default)
    facts |= _given(
        constraints=[constraint_data(c) for c in definition.schema.constraints],
        status=definition.status if definition.status != "supported" else "",
        metadata=dict(definition.metadata),
    )
    return Member(section, definition.name, definition.description, definition.schema, facts, (), origins)


def input_member(item: Input) -> Member:
    """An input of an operation."""
    facts = _given(type=schema_text(item.schema) if item.schema is not None else "")
    if item.schema is not None:
        facts["required"] = item.required
    if item.has_value:
        facts["value"] = as_written(item.value)
    return Member("input", item.name, "", item.schema, facts, (), (Origin("", item.span),) if item.span else ())


def operation_member(section: str, parts: OperationParts, origins: tuple[Origin, ...] = ()) -> Member:
    """An operation or notification."""
    written = parts.implementation[0] if parts.implementation is not None else None
    primary = written if isinstance(written, Scalar) or written is None else written.primary
    named = primary.file if isinstance(primary, entities.ArtifactDefinition) else primary
    facts = _given(
        implementation=named.text if named is not None else "",
        outputs={name: list(path) for name, path in parts.outputs.items()},
    )
    members = tuple(input_member(i) for i in parts.inputs.values())
    return Member(section, parts.name, parts.description, None, facts, members, origins)


def schema_text(schema: Schema) -> str:
    """A schema in words: ``map of integer``."""
    if schema.entry is None:
        return schema.type
    key = f" from {schema_text(schema.key)}" if schema.key is not None else ""
    of = "to" if key else "of"
    return f"{schema.type}{key} {of} {schema_text(schema.entry)}"


def constraint_data(constraint: Constraint) -> dict[str, object]:
    """A constraint as it is written."""
    return {constraint.operator: as_written(constraint.operand)}


def bounds(occurrences: tuple[int, int | None]) -> list[object]:
    """Occurrences as they are written."""
    low, high = occurrences
    return [low, "UNBOUNDED" if high is None else high]


def _given(**facts: Any) -> dict[str, object]:
    """The facts that say something."""
    return {name: value for name, value in facts.items() if value not in ("", [], {}, None)}


def _written(content: object, path: tuple[str, ...]) -> object:
    """What an entity holds at a path of sections and names; None where it does not write that."""
    found: Any = content
    for position, part in enumerate(path):
        if position % 2 == 0:
            found = getattr(found, part, None)
        elif isinstance(found, Mapping):
            found = found.get(part)
        else:
            found = next((item for item in found or () if item.name == part), None)
    return found


PLURALS = {
    "property": "properties",
    "attribute": "attributes",
    "capability": "capabilities",
    "requirement": "requirements",
    "interface": "interfaces",
    "operation": "operations",
    "notification": "notifications",
    "input": "inputs",
    "artifact": "artifacts",
    "trigger": "triggers",
}
"""The sections in which the parts of a type are written."""
