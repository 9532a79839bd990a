"""A JSON Schema of the templates of a service, from its types."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ordito.app.services.read import opened_types
from ordito.authoring.schema_values import (
    SCALAR,
    Json,
    data_type_definition,
    function_definition,
    reference,
    required_names,
    values,
)
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.model.capabilities import CapabilityShape
from ordito.model.catalogue import ASKED, Catalogue
from ordito.model.interfaces import InterfaceParts
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.types import NodeShape, Types
from ordito.syntax import activities, conditions, entities, policies, shapes, topology, workflows
from ordito.syntax.grammar import SURELY_DEFINING, Dialect, Entity, Key, keynames
from ordito.syntax.service_template import ServiceFile

TEMPLATES: Mapping[str, type[Entity]] = {
    "node": entities.NodeTemplate,
    "relationship": entities.RelationshipTemplate,
    "group": topology.Group,
    "policy": policies.Policy,
}
"""The entities that have a type, by the kind of the type."""

IN_NAMESPACE: Json = {"type": "string", "pattern": "^(?!tosca:)[^:]+:"}
"""A name with a prefix that the author chooses, or with the URI of its namespace."""

MAP: Json = {"type": ["object", "null"]}


class TypeSchemas:
    """The definitions of the types that a service's templates may have."""

    def __init__(self, types: Types, catalogue: Catalogue, *, closed: bool) -> None:
        """With ``closed``, no other types are allowed than the known ones."""
        self._closed = closed
        self._types = types
        self._known: Mapping[str, DataType] = types.data
        self._catalogue = catalogue
        self.definitions: dict[str, Json] = {}
        self.typed: dict[type[Entity], Json] = {}
        for kind in ASKED:
            self.definitions[f"{kind} types"] = self._names(kind)
        for kind, entity in TEMPLATES.items():
            self.typed[entity] = {"allOf": self._kind(kind)}

    def _names(self, kind: str) -> Json:
        """The names of the types of a kind that the service can use. For policies any name is allowed, because it may
        be that of a block."""
        spelt = {name for names in self._catalogue.spellings(kind).values() for name in names}
        if kind == "data":
            spelt.update(PRIMITIVES)
        # Versions before 1.3 call some normative types otherwise.
        assert self._types.units.entry is not None
        for old in self._types.units.entry.dialect.renamed.get(kind, ()):
            parts = old.split(".")
            spelt.update(".".join(parts[start:]) for start in range(len(parts)))
        names: Json = {"enum": sorted(spelt)}
        open_ended = not self._closed or kind == "policy"
        return {"anyOf": [names, {"type": "string"} if open_ended else IN_NAMESPACE]}

    def _kind(self, kind: str) -> list[Json]:
        """The schema of templates of a kind: the allowed types, and for each type its template."""
        names = self._catalogue.spellings(kind)
        clauses: list[Json] = [{"properties": {"type": {"$ref": f"#/$defs/{kind}%20types"}}}]
        for full, spelt in names.items():
            content, needed = self._template(kind, full)
            description = self._catalogue.description(kind, full)
            self.definitions[f"{kind} {full}"] = {
                "title": f"{kind} template of type {full}",
                **({"description": description} if description else {}),
                "properties": content,
            }
            is_one: Json = {"properties": {"type": {"enum": spelt}}, "required": ["type"]}
            clauses.append({"if": is_one, "then": {"$ref": reference(kind, full)}})
            if needed:
                # What is copied, selected or substituted need not be described in full.
                whole = {"not": {"anyOf": [{"required": ["copy"]}, {"required": ["directives"]}]}}
                clauses.append({"if": {"allOf": [is_one, whole]}, "then": self._needed(needed)})
        return clauses

    def _needed(self, names: list[str]) -> Json:
        return {"required": ["properties"], "properties": {"properties": {"required": names}}}

    def _template(self, kind: str, name: str) -> tuple[Json, list[str]]:
        """The keynames of a template of a type, and the properties that it must assign."""
        if kind == "node":
            shape = self._types.nodes[name]
            return self._node(shape), required_names(shape.properties)
        if kind == "relationship":
            found = self._types.relationships[name]
            content = self._valued(found.properties, found.attributes)
            return {
                **content,
                "interfaces": self._interfaces(found.interfaces),
            }, []  # they are completed by the requirements that use them
        if kind == "group":
            group = self._types.groups[name]
            return self._valued(group.properties, group.attributes), required_names(group.properties)
        policy = self._types.policies[name]
        return self._valued(policy.properties, None), required_names(policy.properties)

    def _node(self, shape: NodeShape) -> Json:
        requirements = {
            name: {"description": f"needs {r.capability}" + (f" of {r.node}" if r.node else "")}
            for name, r in shape.requirements.items()
        }
        capabilities = {name: self._capability(c) for name, c in shape.capabilities.items() if c.kinds}
        return {
            **self._valued(shape.properties, shape.attributes),
            "capabilities": {**MAP, "properties": capabilities, "additionalProperties": False},
            "requirements": {"items": {"properties": requirements, "additionalProperties": False}},
            "interfaces": self._interfaces(shape.interfaces),
        }

    def _capability(self, shape: CapabilityShape) -> Json:
        return {
            "description": f"a {shape.kinds[0]}",
            "properties": self._valued(shape.properties, shape.attributes),
        }

    def _valued(
        self, properties: Mapping[str, PropertyDefinition], attributes: Mapping[str, PropertyDefinition] | None
    ) -> Json:
        made: Json = {"properties": {**MAP, **values(properties, self._known)}}
        if attributes is not None:
            # Attributes have an extended form besides, so only their names are known.
            made["attributes"] = {**MAP, "properties": {name: {} for name in attributes}, "additionalProperties": False}
        return made

    def _interfaces(self, interfaces: Mapping[str, InterfaceParts]) -> Json:
        made = {}
        for name, parts in interfaces.items():
            operations = {
                operation: {"description": found.description} if found.description else {}
                for operation, found in parts.operations.items()
            }
            made[name] = {"properties": {"operations": {"properties": operations}}}
        return {"properties": made}


# The whole schema of a service's templates.

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class MadeSchema(msgspec.Struct, frozen=True):
    """A schema, the findings about its service, and the files from which that was read."""

    schema: Json
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[str, ...] = ()


def json_schema(service: str, *, fetch: bool = False) -> MadeSchema:
    """The schema of templates that use the types of a service, or with "" only those of the program. With ``fetch``,
    URLs that it names are fetched. A service with errors gives a schema of what can be read; raises ``InvalidDocument``
    if nothing can."""
    diagnostics = Diagnostics()
    package, types = opened_types(service, diagnostics, fetch=fetch)
    return MadeSchema(schema_of_types(types, closed=bool(service)), tuple(diagnostics.sorted()), package.sources)


def schema_of_types(types: Types, *, closed: bool = True) -> Json:
    """The schema of templates that use these types, with ``closed`` no others."""
    assert types.units.entry is not None
    typed = TypeSchemas(types, Catalogue(types), closed=closed)
    grammar = EntitySchemas(types.units.entry.dialect, typed.typed)
    data = {f"data {name}": data_type_definition(d, types.data) for name, d in types.data.items()}
    definitions = {**grammar.definitions, "function": function_definition(), **typed.definitions, **data}
    return {"$schema": DRAFT, "title": "TOSCA service template", **grammar.root, "$defs": definitions}


# The grammar of TOSCA in JSON Schema, made from its declaration: each entity with its keynames and its short form.

COPY = "copy"
NULL: Json = {"type": "null"}
"""A section without content counts as an empty one."""


class EntitySchemas:
    """The definitions of all entities that a service template may contain, by the names of their classes. ``typed``
    gives what the types of a service add to entities that have a type."""

    def __init__(self, dialect: Dialect, typed: Mapping[type[Entity], Json]) -> None:
        self._dialect = dialect
        self._typed = typed
        self.definitions: dict[str, Json] = {}
        self.root = self.reference(ServiceFile)

    def reference(self, entity: type[Entity]) -> Json:
        """A reference to an entity's definition, which is made when it is first needed."""
        name = entity.__name__
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name].update(self._entity(entity))
        return {"$ref": f"#/$defs/{name}"}

    def _entity(self, entity: type[Entity]) -> Json:
        keys = keynames(entity, self._dialect)
        made: Json = {
            "title": entity.WHAT,
            "description": " ".join(inspect.cleandoc(entity.__doc__ or "").split()),
            "type": "object",
            "properties": {name: self._keyname(entity, name, key) for name, key in keys.items()},
        }
        required = [name for name, key in keys.items() if key.required]
        if required and COPY in keys:
            made["anyOf"] = [{"required": required}, {"required": [COPY]}]  # the copied template gives what is missing
        elif required:
            made["required"] = required
        if not entity.BARE:
            made["additionalProperties"] = False
        if entity in self._typed:
            made = {**made, **self._typed[entity]}
        return self._with_short_form(entity, made, required)

    def _with_short_form(self, entity: type[Entity], made: Json, required: list[str]) -> Json:
        if entity.VALUE:
            # A value may stand here that looks like anything but a definition.
            defining = [{"required": [name]} for name in sorted(SURELY_DEFINING)]
            value: Json = {"not": {"type": "object", "anyOf": defining}}
            return {"title": made["title"], "anyOf": [made, value]}
        forms = [made]
        if entity.SHORT:
            forms.append(self._keyname(entity, entity.SHORT, keynames(entity, self._dialect)[entity.SHORT]))
        if not required:
            forms.append(NULL)
        return {"title": made["title"], "anyOf": forms} if len(forms) > 1 else made

    def _keyname(self, entity: type[Entity], name: str, key: Key) -> Json:
        made = self.shape(key.shape)
        if kind := _kind_of(entity, name):
            names: Json = {"$ref": f"#/$defs/{kind}%20types"}
            made = {"type": ["array", "null"], "items": names} if isinstance(key.shape, shapes.Many) else names
        if key.instead:
            return {"allOf": [made], "deprecated": True, "description": f"Deprecated: write {key.instead}."}
        return made

    def shape(self, shape: Any) -> Json:
        """The schema of a shape; it allows anything for shapes that are not described here."""
        for kind, write in SHAPES.items():
            if isinstance(shape, kind):
                return write(self, shape)
        return {}

    def _one(self, shape: shapes.One) -> Json:
        return self.reference(shape.entity)

    def _named(self, shape: shapes.Named) -> Json:
        return {"type": ["object", "null"], "additionalProperties": self.reference(shape.entity)}

    def _named_list(self, shape: shapes.NamedList) -> Json:
        return {"type": ["array", "null"], "items": _single(self.reference(shape.entity))}

    def _many(self, shape: shapes.Many) -> Json:
        return {"type": ["array", "null"], "items": self.shape(shape.shape)}

    def _either(self, shape: shapes.Either) -> Json:
        return {"anyOf": [SCALAR, self.shape(shape.otherwise)]}

    def _policies(self, _: object) -> Json:
        policy = self.reference(policies.Policy)
        return {
            "anyOf": [
                {"type": "array", "items": _single(policy)},
                {"type": ["object", "null"], "additionalProperties": policy},
            ]
        }

    def _activities(self, _: object) -> Json:
        workflow, operation = self.reference(activities.WorkflowCall), self.reference(activities.CallOperation)
        kinds = {"delegate": workflow, "inline": workflow, "call_operation": operation, "set_state": SCALAR}
        return {**_single({}), "properties": kinds, "additionalProperties": False}


def _kind_of(entity: type[Entity], keyname: str) -> str:
    """The kind of types that a keyname names, "" if it names none, or also other things."""
    if keyname == "derived_from":
        return OF_TYPES.get(entity, "")
    return next((kind for base, name, kind in NAMING if name == keyname and issubclass(entity, base)), "")


OF_TYPES: Mapping[type[Entity], str] = {
    entities.NodeType: "node",
    entities.RelationshipType: "relationship",
    entities.CapabilityType: "capability",
    entities.DataType: "data",
    entities.InterfaceType: "interface",
    entities.ArtifactType: "artifact",
    entities.GroupType: "group",
}
NAMING: tuple[tuple[type[Entity], str, str], ...] = (
    (entities.SchemaDefinition, "type", "data"),
    (entities.PropertyDefinition, "type", "data"),
    (entities.AttributeDefinition, "type", "data"),
    (entities.CapabilityDefinition, "type", "capability"),
    (entities.CapabilityDefinition, "valid_source_types", "node"),
    (entities.CapabilityType, "valid_source_types", "node"),
    (entities.RelationshipType, "valid_target_types", "capability"),
    (entities.RequirementDefinition, "capability", "capability"),
    (entities.RequirementDefinition, "node", "node"),
    (entities.InterfaceDefinition, "type", "interface"),
    (entities.ArtifactDefinition, "type", "artifact"),
)
"""Keynames that name types: the entity, the keyname, and the kind of types."""


def _single(content: Json) -> Json:
    """A map with exactly one name."""
    return {"type": "object", "additionalProperties": content, "minProperties": 1, "maxProperties": 1}


ASSIGNED: Json = {"type": ["object", "null"]}
TEXTS: Json = {"type": ["object", "null"], "additionalProperties": SCALAR}
BOUND: Json = {"anyOf": [{"type": "integer", "minimum": 0}, {"const": "UNBOUNDED"}]}
NAMES: Json = {"anyOf": [{"type": ["array", "null"], "items": SCALAR}, SCALAR]}
CONDITION: Json = {"type": ["array", "object"]}
CLAUSES: Json = {"type": ["array", "object", "null"]}

SHAPES: Mapping[type, Callable[[EntitySchemas, Any], Json]] = {
    shapes.Text: lambda made, shape: SCALAR,  # noqa: ARG005  (the table has one form for all)
    shapes.Flag: lambda made, shape: {"type": "boolean"},  # noqa: ARG005
    shapes.Whole: lambda made, shape: {"type": "integer", "minimum": 0},  # noqa: ARG005
    shapes.Bounds: lambda made, shape: {"type": "array", "items": BOUND, "minItems": 2, "maxItems": 2},  # noqa: ARG005
    shapes.Assignments: lambda made, shape: ASSIGNED,  # noqa: ARG005
    shapes.Texts: lambda made, shape: TEXTS,  # noqa: ARG005
    shapes.Clauses: lambda made, shape: CLAUSES,  # noqa: ARG005
    conditions.Conditions: lambda made, shape: CONDITION,  # noqa: ARG005
    workflows.StepNames: lambda made, shape: NAMES,  # noqa: ARG005
    shapes.One: EntitySchemas._one,  # noqa: SLF001  (the table of the class's own shapes)
    shapes.Named: EntitySchemas._named,  # noqa: SLF001
    shapes.NamedList: EntitySchemas._named_list,  # noqa: SLF001
    shapes.Many: EntitySchemas._many,  # noqa: SLF001
    shapes.Either: EntitySchemas._either,  # noqa: SLF001
    policies.Policies: EntitySchemas._policies,  # noqa: SLF001
    activities.Activities: EntitySchemas._activities,  # noqa: SLF001
}
