"""The grammar of TOSCA in JSON Schema, made from its declaration: each entity with its keynames and its short form."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ordito.app.json_schema.values import SCALAR, Json
from ordito.syntax import activities, conditions, entities, policies, shapes, workflows
from ordito.syntax.grammar import SURELY_DEFINING, Dialect, Entity, Key, keynames
from ordito.syntax.service_template import ServiceFile

COPY = "copy"
NULL: Json = {"type": "null"}
"""A section without anything below it is taken for an empty one."""


class EntitySchemas:
    """The definitions of all entities that a service template may hold, by the names of their classes. ``typed`` gives
    what the types of a service add to entities that have a type."""

    def __init__(self, dialect: Dialect, typed: Mapping[type[Entity], Json]) -> None:
        self._dialect = dialect
        self._typed = typed
        self.definitions: dict[str, Json] = {}
        self.root = self.reference(ServiceFile)

    def reference(self, entity: type[Entity]) -> Json:
        """A reference to an entity's definition, which is made where it is asked for first."""
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
        """What may stand at a place of some shape; anything where that is not said here."""
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
        workflow, operation = self.reference(activities.WorkflowCall), self.reference(activities.OperationCall)
        kinds = {"delegate": workflow, "inline": workflow, "call_operation": operation, "set_state": SCALAR}
        return {**_single({}), "properties": kinds, "additionalProperties": False}


def _kind_of(entity: type[Entity], keyname: str) -> str:
    """The kind of types that a keyname names, "" where it names none, or other things as well."""
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
"""Which keynames of which entities name types of which kind."""


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
