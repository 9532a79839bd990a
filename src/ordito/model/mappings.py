"""Attribute mappings: the attributes that outputs of operations are written to (§3.6.15)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

from ordito.base.diagnostics import Diagnostics
from ordito.model.operation import Interface, Notification, Operation
from ordito.model.places import Place
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.source.parts import span_inside

Mapped = Operation | Notification
"""The calls whose outputs are mapped to attributes."""


class AttributeMappings:
    """Checks that what outputs are mapped to exists."""

    def __init__(
        self,
        nodes: MappingType[str, NodeTemplate],
        data_types: MappingType[str, DataType],
        diagnostics: Diagnostics,
    ) -> None:
        self._nodes = nodes
        self._data_types = data_types
        self._diagnostics = diagnostics
        self._reported: set[tuple[int, str]] = set()
        self._mapping: dict[int, tuple[MappingType[str, Interface], list[Mapped]]] = {}

    def check(self, interfaces: MappingType[str, Interface], place: Place) -> None:
        """Check the mappings of interfaces as they hold in a place (R-3.6.15-5)."""
        kept = self._mapping.get(id(interfaces))
        if kept is None:
            mapping: list[Mapped] = []
            for interface in interfaces.values():
                mapping += [o for o in interface.operations.values() if o.outputs]
                if interface.notifications:
                    mapping += [n for n in interface.notifications.values() if n.outputs]
            kept = interfaces, mapping
            self._mapping[id(interfaces)] = kept
        for operation in kept[1]:
            for output, path in operation.outputs.items():
                if (id(operation), output) not in self._reported:
                    for holder in _holders(str(path[0]), place, self._nodes):
                        self._check(output, path, holder, operation)

    def _check(
        self, output: str, path: tuple[str | int, ...], holder: NodeTemplate | Relationship, operation: Mapped
    ) -> None:
        name = str(path[1])
        owner, at = _mapped_to(holder, path)
        if owner is not holder and name in _attributes(holder):
            span = operation.output_spans.get(output)
            self._diagnostics.warning(
                "ambiguous-name",
                f'output "{output}" is mapped to capability "{name}", and there is an attribute of that name as well',
                span_inside(span, (1,)) if span is not None else None,
                hint="rename one of them to be clear",
            )
        known = _attributes(owner)
        if isinstance(owner, Capability) and not owner.kinds:
            return  # it could not be read, which is reported
        definition = known.get(str(path[at]))
        if definition is None:
            names = [*known, *(owner.capabilities if isinstance(owner, NodeTemplate) else ())]
            where = f'capability "{owner.name}"' if isinstance(owner, Capability) else owner.type
            self._report(f'{where} has no attribute "{path[at]}"', "unknown-attribute", output, operation, at, names)
            return
        self._check_inside(output, at + 1, definition, operation)

    def _check_inside(self, output: str, start: int, definition: PropertyDefinition, operation: Mapped) -> None:
        """Check the names that lead into an attribute, as far as its type declares them."""
        path = operation.outputs[output]
        schema = definition.schema
        for at in range(start, len(path)):
            declared = self._data_types.get(schema.type)
            if declared is None:
                return
            if declared.base == "":
                field = declared.properties.get(str(path[at]))
                if field is None:
                    message = f'{declared.name} has no field "{path[at]}"'
                    self._report(message, "unknown-field", output, operation, at, [*declared.properties])
                    return
                schema = field.schema
            elif declared.base in {"list", "map"}:
                entry = schema.entry or declared.entry
                if declared.base == "list" and not str(path[at]).isdecimal():
                    message = f'"{path[at]}" is not an index, and the attribute is a list there'
                    self._report(message, "bad-mapping", output, operation, at, [])
                    return
                if entry is None:
                    return
                schema = entry
            else:
                message = f'a {schema.type} has no part "{path[at]}"'
                self._report(message, "bad-mapping", output, operation, at, [])
                return

    def _report(self, message: str, code: str, output: str, operation: Mapped, at: int, names: list[str]) -> None:
        """Report a mapping once, however many templates share it."""
        self._reported.add((id(operation), output))
        path = operation.outputs[output]
        shown = ", ".join(str(p) for p in path)
        span = operation.output_spans.get(output)
        hint = self._diagnostics.suggestion(str(path[at]), names) if code.startswith("unknown") else ""
        self._diagnostics.error(
            code,
            f'output "{output}" is mapped to [{shown}], which does not exist: {message}',
            span_inside(span, (at,)) if span is not None else None,
            hint=hint,
        )


def _holders(
    entity: str, place: Place, nodes: MappingType[str, NodeTemplate]
) -> tuple[NodeTemplate | Relationship, ...]:
    """What SELF, SOURCE or TARGET is in a place."""
    relationship = place.relationship
    if relationship is None:
        return (place.node,) if place.node is not None else ()
    if entity == "SELF":
        return (relationship,)
    node = nodes.get(relationship.source if entity == "SOURCE" else relationship.target)
    return (node,) if node is not None else ()


def _mapped_to(
    holder: NodeTemplate | Relationship, path: tuple[str | int, ...]
) -> tuple[NodeTemplate | Relationship | Capability, int]:
    """Whose attribute a mapping names, and at which position of the path."""
    capability = mapped_capability(holder, path[1:]) if isinstance(holder, NodeTemplate) else None
    if capability is not None:
        return capability, 2
    return holder, 1


def mapped_capability(node: NodeTemplate, path: tuple[str | int, ...]) -> Capability | None:
    """The capability whose attribute a path leads to, None where the path begins with an attribute of the node.

    A name that may mean either means the capability, if that has the attribute that is named next.
    """
    capability = node.capabilities.get(str(path[0]))
    if capability is None or len(path) < 2:
        return None
    has_it = str(path[1]) in capability.attribute_definitions or str(path[1]) in capability.definitions
    return capability if has_it or str(path[0]) not in _attributes(node) else None


def _attributes(
    holder: NodeTemplate | Relationship | Capability,
) -> MappingType[str, PropertyDefinition]:
    """What can be written to: attributes, and properties, of which each is one as well."""
    return {**holder.definitions, **holder.attribute_definitions}
