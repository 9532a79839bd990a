"""The values of the topology's inputs: what the user gives, by the declared types, completed with defaults
(§3.6.14, §3.9.3.2)."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.sensitive import SHOWN, Sensitive, revealed
from ordito.base.sensitive import is_sensitive as has_sensitive_parts
from ordito.base.span import SourceText, Span
from ordito.model.rules.check import check_rules_with_inputs
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.sensitivity import Mark, Marks, hide, says_sensitive
from ordito.model.service import Service
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.package import load_text
from ordito.syntax.expressions import Value, is_static

TEXTUAL = frozenset({"string", "version", "timestamp"})


def bind_inputs(
    service: Service,
    given: MappingType[str, object],
    diagnostics: Diagnostics,
    *,
    quiet: Collection[str] = (),
    whose: str = "",
) -> dict[str, Value]:
    """The value of every input.

    ``given`` maps names to located nodes (from a file), to texts (from the command line), or to a list or map of plain
    data. Unknown names, values of the wrong type or outside of their constraints, and required inputs without any value
    are errors. Inputs that are not required and have no value are left out. The values named in ``quiet`` are not
    shown, like those of sensitive and of unknown inputs. ``whose`` is the name of their owner in messages, "" for the
    service. Values are wrapped if they are given, named or declared as sensitive.
    """
    whose = whose or f'service "{service.name}"'
    values = Values(service.data_types, diagnostics, literal=True)
    bound: dict[str, Value] = {}
    secret = {*quiet, *(name for name, value in given.items() if isinstance(value, Sensitive))}
    for name, value in given.items():
        definition = service.inputs.get(name)
        before = diagnostics.errors
        if definition is not None and (name in secret or is_sensitive(definition)):
            bound[name] = _read_quietly(name, revealed(value), definition, service, diagnostics)
            continue
        if isinstance(value, Sensitive):
            value = SHOWN
        node = _as_node(name, value, definition, service, diagnostics)
        if definition is None:
            if node is not None:
                hide(node)  # It may be a secret whose name was mistyped.
            diagnostics.error(
                "unknown-input",
                f'{whose} has no input "{name}"',
                node.span if node is not None else None,
                hint=diagnostics.suggestion(name, service.inputs),
            )
        elif diagnostics.errors > before:
            bound[name] = None
        elif node is not None and (definition.fixed or not is_null(node) or definition.schema.type == "null"):
            bound[name] = _read(node, definition, values)
    _complete(service, bound, diagnostics)
    wrapped = _wrapped(service, bound, secret)
    if service.inputs and not diagnostics.has_errors:
        plain = {name: value for name, value in bound.items() if not has_sensitive_parts(wrapped[name])}
        check_rules_with_inputs(service, plain, diagnostics)
    return wrapped


def _wrapped(service: Service, bound: MappingType[str, Value], secret: Collection[str]) -> dict[str, Value]:
    """The values with what is sensitive wrapped: those that were given so, and what is declared so."""
    marks = Marks(service.data_types)
    found: dict[str, Value] = {}
    for name, value in bound.items():
        mark = marks.of(service.inputs.get(name))
        found[name] = marks.wrap(value, Mark(whole=True) if name in secret else mark)  # type: ignore[assignment]
    return found


def _complete(service: Service, bound: dict[str, Value], diagnostics: Diagnostics) -> None:
    """Give defaults to the inputs that have no value yet."""
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


def known_inputs(
    inputs: MappingType[str, PropertyDefinition],
    data_types: MappingType[str, DataType],
    given: MappingType[str, object],
) -> dict[str, Value]:
    """The values of inputs as far as they are known: given ones that are sound, and defaults, without wrapping what is
    sensitive. Nothing is reported: that is for ``bind_inputs`` to do, when the service is resolved."""
    sound = {name: definition for name, definition in inputs.items() if definition.schema.type in data_types}
    topology = Service("", "", (), sound, {}, {}, {}, {}, data_types)
    known = {name: value for name, value in given.items() if name in sound}
    bound = bind_inputs(topology, known, Diagnostics())
    values = {name: revealed(v) for name, v in bound.items() if v is not None}
    return {name: v for name, v in values.items() if is_static(v)}  # type: ignore[misc, arg-type]


def _read(node: Node, definition: PropertyDefinition, values: Values) -> Value:
    """The value that a node gives an input; None with a diagnostic where it does not fit."""
    what = f'input "{definition.name}"'
    if definition.fixed:
        values.diagnostics.error(
            "fixed-value",
            f"{what} has a fixed value and cannot be given",
            node.span,
            hint="leave it out",
            related=(Related("fixed here", definition.span),) if definition.span else (),
        )
        return None
    # It is told with the value that is read now.
    values.checker.note_status(definition, "input", None)
    before = values.diagnostics.errors
    read = values.read(node, definition.schema, what, definition.span)
    if values.diagnostics.errors > before:
        return None
    if not is_static(read):
        values.diagnostics.error(
            "bad-value", f"{what} is given by a value, not by a function", node.span, hint="write the value itself"
        )
        return None
    return read


def is_sensitive(definition: PropertyDefinition) -> bool:
    """Whether the metadata of an input say that its values are secret: then no message shows them."""
    return says_sensitive(definition.metadata)


def _read_quietly(
    name: str, value: object, definition: PropertyDefinition, service: Service, diagnostics: Diagnostics
) -> Value:
    """The value of a sensitive input. Of one that does not fit nothing is said but that."""
    found = Diagnostics()
    values = Values(service.data_types, found, literal=True)
    node = _as_node(name, value, definition, service, found)
    if node is not None:
        hide(node)
    read = _read(node, definition, values) if node is not None and not found.has_errors else None
    if found.has_errors:
        diagnostics.error(
            "bad-value",
            f'the value given for input "{name}" does not fit what is declared',
            definition.span,
            hint="the value is not shown, since it is sensitive",
        )
        return None
    return read


def _as_node(
    name: str,
    value: object,
    definition: PropertyDefinition | None,
    service: Service,
    diagnostics: Diagnostics,
) -> Node | None:
    """A given value as a located node."""
    if isinstance(value, Scalar | Sequence | Mapping):
        return value
    shown = f"-i {name}"
    if not isinstance(value, str):
        document = load_text(shown, msgspec.json.encode(value).decode(), diagnostics)
        return document.root if document is not None else None
    textual = definition is None or service.data_types[definition.schema.type].base in TEXTUAL
    if textual or not value.strip():
        source = SourceText(shown, value)
        if not _is_text(value):
            diagnostics.error(
                "encoding",
                f'the value of input "{name}" is not valid text',
                Span(source, 1, 1, 1, 2),
                hint="give UTF-8",
            )
            return None
        return Scalar(source, 1, 1, 1, len(value) + 1, value, not textual)
    document = load_text(shown, value, diagnostics)
    return document.root if document is not None else None


def _is_text(value: str) -> bool:
    """Whether a text can be encoded: arguments of the command line may hold bytes that are no text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
