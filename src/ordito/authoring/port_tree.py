"""The document of a ported service: what it was read as, with the types that it uses, each of which says all of itself
anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar
from ordito.syntax import entities
from ordito.syntax.dialects import LANGUAGE, TOSCA_1_3
from ordito.syntax.entity_nodes import node_of
from ordito.syntax.service_template import ServiceFile

VERSION = "tosca_definitions_version"


def ported_tree(content: ServiceFile, name: str) -> MappingNode:
    """The document. ``name`` is what the service is called where nothing in it says that."""
    assert content.lowered is not None
    if not content.lowered.is_shaped:
        content = _Complete(content).file()
    tree = content.at if content.lowered is not None and content.lowered.is_shaped else node_of(content)
    assert isinstance(tree, MappingNode)
    return _headed(tree, content, name)


def _headed(tree: MappingNode, content: ServiceFile, name: str) -> MappingNode:
    """The document with its version, and its metadata behind it."""
    assert content.lowered is not None
    version = tree.key(VERSION)
    metadata = dict(content.metadata or {})
    metadata.setdefault("template_name", _text(name, version))
    facts = [(_text(n, v, plain=True), v) for n, v in metadata.items()]
    facts.append((_text(LANGUAGE, version, plain=True), _text(content.lowered.language, version)))
    written = tree.values[VERSION]
    head: list[tuple[Scalar, Node]] = [
        (version, _text(TOSCA_1_3.name, written, plain=True)),
        (_text("metadata", version, plain=True), _map(facts, version)),
    ]
    rest = [(k, v) for k, v in tree.entries() if k.text not in (VERSION, "metadata")]
    return _map([*head, *rest], tree)


class _Complete:
    """Makes the operations and properties of a file say all of themselves, and leaves out types that nothing uses."""

    def __init__(self, content: ServiceFile) -> None:
        self._content = content
        self._nodes: Mapping[str, Any] = content.node_types or {}
        self._relationships: Mapping[str, Any] = content.relationship_types or {}
        self._data: Mapping[str, Any] = content.data_types or {}
        self._optional: set[tuple[str, str]] = set()
        """Types, with their properties that a template lacks though they are required."""

    def file(self) -> ServiceFile:
        """The file."""
        topology = self._content.topology_template
        assert topology is not None
        templates = {name: self._template(item) for name, item in (topology.node_templates or {}).items()}
        nodes = self._used(self._nodes, (t.type.text for t in templates.values()))
        parts = [r.relationship for t in templates.values() for r in t.requirements or ()]
        links = [part.type.text for part in parts if part is not None and part.type is not None]
        relationships = self._used(self._relationships, links)
        data = self._used(
            self._data, self._data_names([*nodes.values(), *relationships.values()], topology.inputs or {})
        )
        return msgspec.structs.replace(
            self._content,
            data_types={n: self._type(i, self._data) for n, i in data.items()} or None,
            node_types={n: self._type(i, self._nodes) for n, i in nodes.items()} or None,
            relationship_types={n: self._type(i, self._relationships) for n, i in relationships.items()} or None,
            topology_template=msgspec.structs.replace(
                topology,
                inputs=topology.inputs or None,
                outputs=topology.outputs or None,
                node_templates=templates or None,
                groups=topology.groups or None,
                policies=topology.policies or None,
            ),
        )

    def _used(self, types: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
        """The types of these names, with what they derive from, in their order."""
        wanted: set[str] = set()
        for name in names:
            current = name
            while current in types and current not in wanted:
                wanted.add(current)
                parent = types[current].derived_from
                current = parent.text if parent is not None else ""
        return {name: item for name, item in types.items() if name in wanted}

    def _data_names(self, types: list[Any], inputs: Mapping[str, Any]) -> list[str]:
        """The data types of properties and inputs, and those of their fields."""
        waiting = [p for t in types for p in (t.properties or {}).values()] + [*inputs.values()]
        found: list[str] = []
        while waiting:
            item = waiting.pop()
            for part in (item, item.entry_schema):
                name = part.type.text if part is not None and part.type is not None else ""
                while name in self._data and name not in found:
                    found.append(name)
                    waiting += (self._data[name].properties or {}).values()
                    parent = self._data[name].derived_from
                    name = parent.text if parent is not None else ""
        return found

    # Types.

    def _type(self, item: Any, types: Mapping[str, Any]) -> Any:
        properties = {
            name: msgspec.structs.replace(p, required=False) if (item.name, name) in self._optional else p
            for name, p in (item.properties or {}).items()
        }
        changes: dict[str, Any] = {"properties": properties or None}
        if getattr(item, "interfaces", None):
            before = self._chain(types, item.name)[1:]
            changes["interfaces"] = {
                name: _interface(i, {n: _anew(o, _inherited(before, name, n)) for n, o in (i.operations or {}).items()})
                for name, i in item.interfaces.items()
            }
        return msgspec.structs.replace(item, **changes)

    # Templates.

    def _template(self, item: entities.NodeTemplate) -> entities.NodeTemplate:
        chain = self._chain(self._nodes, item.type.text)
        if item.incomplete:
            given = item.properties.values if item.properties is not None else {}
            for kind in chain:
                self._optional.update((kind.name, name) for name in (kind.properties or {}) if name not in given)
        requirements = [
            msgspec.structs.replace(r, relationship=self._relationship(r.relationship)) if r.relationship else r
            for r in item.requirements or ()
        ]
        return msgspec.structs.replace(
            item, interfaces=self._interfaces(item.interfaces, chain), requirements=requirements or None
        )

    def _relationship(self, item: entities.RelationshipPart) -> entities.RelationshipPart:
        chain = self._chain(self._relationships, item.type.text) if item.type is not None else []
        return msgspec.structs.replace(item, interfaces=self._interfaces(item.interfaces, chain))

    def _chain(self, types: Mapping[str, Any], name: str) -> list[Any]:
        found: list[Any] = []
        while name in types and types[name] not in found:
            found.append(types[name])
            parent = types[name].derived_from
            name = parent.text if parent is not None else ""
        return found

    def _interfaces(
        self, written: Mapping[str, entities.InterfaceDefinition] | None, chain: list[Any]
    ) -> dict[str, entities.InterfaceDefinition] | None:
        if not written:
            return None
        return {
            name: _interface(
                item, {n: self._operation(o, _inherited(chain, name, n)) for n, o in (item.operations or {}).items()}
            )
            for name, item in written.items()
        }

    def _operation(
        self, item: entities.OperationDefinition, inherited: entities.OperationDefinition | None
    ) -> entities.OperationDefinition:
        """An operation of a template with the inputs that it takes from its type."""
        if item.replaces or inherited is None or inherited.inputs is None:
            return _anew(item, inherited)
        given = item.inputs.values if item.inputs is not None else {}
        more = [
            (key, declared.values["default"])
            for key, declared in inherited.inputs.entries()
            if key.text not in given and isinstance(declared, MappingNode) and "default" in declared.values
        ]
        own = [*item.inputs.entries()] if item.inputs is not None else []
        whole = msgspec.structs.replace(item, inputs=_map([*more, *own], item.at) if more or own else None)
        return _anew(whole, inherited)


def _inherited(chain: list[Any], interface: str, operation: str) -> entities.OperationDefinition | None:
    """The operation of the nearest type that has it."""
    for kind in chain:
        known = (kind.interfaces or {}).get(interface)
        if known is not None and operation in (known.operations or {}):
            found: entities.OperationDefinition = known.operations[operation]
            return found
    return None


def _interface(
    item: entities.InterfaceDefinition, operations: dict[str, entities.OperationDefinition]
) -> entities.InterfaceDefinition:
    """An interface with these operations; a type that is only its name is left out."""
    kind = item.type if item.type is not None and item.type.text != item.name else None
    return msgspec.structs.replace(item, type=kind, operations=operations)


def _anew(
    item: entities.OperationDefinition, inherited: entities.OperationDefinition | None
) -> entities.OperationDefinition:
    """An operation that takes the place of what is inherited, also where it does nothing."""
    if item.implementation is None and inherited is not None and inherited.implementation is not None:
        return msgspec.structs.replace(item, implementation=entities.Implementation(at=item.key or item.at))
    return item


def _text(content: str, at: Node, *, plain: bool = False) -> Scalar:
    return Scalar(at.source, at.line, at.column, at.end_line, at.end_column, content, plain)


def _map(entries: list[tuple[Scalar, Any]], at: Node) -> MappingNode:
    place = (at.source, at.line, at.column, at.end_line, at.end_column)
    return MappingNode(*place, [k for k, _ in entries], {k.text: v for k, v in entries})
