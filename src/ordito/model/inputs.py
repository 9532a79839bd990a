"""The values of the topology's inputs: what the user gives, by the declared types, completed with defaults
(§3.6.14, §3.9.3.2)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related, suggestion
from ordito.base.span import SourceText
from ordito.model.service import PropertyDefinition, Schema, Service
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.package import load_text
from ordito.syntax.expressions import Call, Value, is_static

TEXTUAL = frozenset({"string", "version", "timestamp"})


def bind_inputs(
    service: Service, given: MappingType[str, object], diagnostics: Diagnostics, *, origin: str = "-i"
) -> dict[str, Value]:
    """The value of every input.

    ``given`` maps names to located nodes (from a file), to texts (from the command line; ``origin`` names the
    option in messages), or to a list or map of plain data. Unknown names, values of the wrong type or outside of
    their constraints, and required inputs without any value are errors. Inputs that are not required and have no
    value are left out.
    """
    values = Values(service.data_types, diagnostics)
    bound: dict[str, Value] = {}
    for name, value in given.items():
        definition = service.inputs.get(name)
        node = _as_node(name, value, definition, origin, diagnostics)
        if definition is None:
            diagnostics.error(
                "unknown-input",
                f'service "{service.name}" has no input "{name}"',
                node.span if node is not None else None,
                hint=suggestion(name, service.inputs),
            )
        elif definition.fixed:
            related = (Related("fixed here", definition.span),) if definition.span else ()
            diagnostics.error(
                "fixed-value",
                f'input "{name}" has a fixed value and cannot be given',
                node.span if node is not None else None,
                related=related,
            )
        elif node is not None and not (is_null(node) and definition.schema.type != "null"):
            before = len(diagnostics)
            read = values.read(node, definition.schema, f'input "{name}"', definition.span)
            if len(diagnostics) == before:
                if is_static(read):
                    bound[name] = read
                else:
                    diagnostics.error("bad-value", f'input "{name}" is given by a value, not by a function', node.span)
            else:
                bound[name] = None
    for name, definition in service.inputs.items():
        if name in bound:
            continue
        if definition.has_default:
            bound[name] = definition.default
        elif definition.required:
            diagnostics.error(
                "missing-input",
                f'input "{name}" ({definition.schema.type}) has no value',
                definition.span,
                hint=f"give it with -i {name}=VALUE, or in a file with -I FILE",
            )
    if not diagnostics.has_errors:
        _check_uses(service, bound, values)
    return bound


def _as_node(
    name: str, value: object, definition: PropertyDefinition | None, origin: str, diagnostics: Diagnostics
) -> Node | None:
    """A given value as a located node."""
    if isinstance(value, Scalar | Sequence | Mapping):
        return value
    shown = f"{origin} {name}"
    if not isinstance(value, str):
        document = load_text(shown, msgspec.json.encode(value).decode(), diagnostics)
        return document.root if document is not None else None
    textual = definition is None or _is_textual(definition.schema)
    if textual or not value.strip():
        source = SourceText(shown, value)
        return Scalar(source, 1, 1, 1, len(value) + 1, value, not textual)
    document = load_text(shown, value, diagnostics)
    return document.root if document is not None else None


def _is_textual(schema: Schema) -> bool:
    return schema.type in TEXTUAL


def _check_uses(service: Service, bound: MappingType[str, Value], values: Values) -> None:
    """Check input values against the properties that take them as they are (R-3.6.11-2)."""
    for node in service.nodes.values():
        _check_properties(node.properties, node.definitions, bound, values)
        for capability in node.capabilities.values():
            _check_properties(capability.properties, capability.definitions, bound, values)
        for relationship in node.requirements:
            _check_properties(relationship.properties, relationship.definitions, bound, values)


def _check_properties(
    properties: MappingType[str, Value],
    definitions: MappingType[str, PropertyDefinition],
    bound: MappingType[str, Value],
    values: Values,
) -> None:
    for name, value in properties.items():
        if not isinstance(value, Call) or value.function != "get_input" or len(value.arguments) != 1:
            continue
        given = bound.get(str(value.arguments[0]))
        schema = definitions[name].schema
        data_type = values.data_types[schema.type]
        if given is not None and (schema.constraints or data_type.constraints):
            values.check(given, schema, data_type, value.span, f'property "{name}"')
