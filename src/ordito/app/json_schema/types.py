"""What the types of a service say about its templates, in JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.json_schema.values import Json, reference, required_names, values
from ordito.model.capabilities import CapabilityShape
from ordito.model.catalogue import ASKED, Catalogue
from ordito.model.interfaces import InterfaceParts
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.types import NodeShape, Types
from ordito.syntax import entities, policies, topology
from ordito.syntax.grammar import Entity

TEMPLATES: Mapping[str, type[Entity]] = {
    "node": entities.NodeTemplate,
    "relationship": entities.RelationshipTemplate,
    "group": topology.Group,
    "policy": policies.Policy,
}
"""The entities that have a type, by the kind of that."""

IN_NAMESPACE: Json = {"type": "string", "pattern": "^(?!tosca:)[^:]+:"}
"""A name with a prefix of the author's choice, or with the URI of its namespace."""

MAP: Json = {"type": ["object", "null"]}


class TypeSchemas:
    """The definitions of the types that a service's templates may have."""

    def __init__(self, types: Types, catalogue: Catalogue, *, closed: bool) -> None:
        """Where ``closed``, there are no other types than those that are known here."""
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
        """The names of the types of a kind that the service can use. Of policies any name may be that of a block."""
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
        """What holds for templates of a kind: their type is one of these, and then they look so."""
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
        """What stands at the keynames of a template of a type, and which properties it must assign."""
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
