"""Intrinsic functions as they are written (chapter 4): recognising a call and reading its arguments."""

from __future__ import annotations

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import core_value, integer
from ordito.syntax.expressions import Call, Value


class Function(msgspec.Struct, frozen=True):
    """The written form of a function: how many arguments it takes, whether all of them are names or indexes (a
    path), whether a single one may stand without a list, and the form shown in messages."""

    least: int
    most: int | None
    usage: str
    path: bool = False
    scalar: bool = False


FUNCTIONS = {
    "concat": Function(1, None, "concat: [text, ...]"),
    "join": Function(1, 2, "join: [[text, ...], delimiter]"),
    "token": Function(3, 3, "token: [text, separators, index]"),
    "get_input": Function(1, None, "get_input: name, or get_input: [name, key or index, ...]", path=True, scalar=True),
    "get_property": Function(2, None, "get_property: [entity, (capability or requirement,) property, ...]", path=True),
    "get_attribute": Function(
        2, None, "get_attribute: [entity, (capability or requirement,) attribute, ...]", path=True
    ),
    "get_operation_output": Function(4, 4, "get_operation_output: [entity, interface, operation, output]", path=True),
    "get_artifact": Function(2, 4, "get_artifact: [entity, artifact, (location,) (remove)]", path=True),
}

LATER_FUNCTIONS = {"get_nodes_of_type"}
"""Functions of TOSCA 1.3 that are recognised and refused, since nothing evaluates them yet."""


def call_in(node: Node) -> str:
    """The name of the function that a node calls, "" where it is plain data: a map with exactly one key that is a
    function's name is a call."""
    if isinstance(node, Mapping) and len(node.keys) == 1:
        name = node.keys[0].text
        if name in FUNCTIONS or name in LATER_FUNCTIONS:
            return name
    return ""


def meant_function(node: Node) -> str:
    """The function that a map with one key probably means by it, "" where it looks like data."""
    if not isinstance(node, Mapping) or len(node.keys) != 1 or call_in(node):
        return ""
    name = node.keys[0].text
    near = nearest(name, FUNCTIONS) if name.startswith("get") or isinstance(node.values[name], Sequence) else []
    return near[0] if near else ""


def read_call(node: Mapping, diagnostics: Diagnostics) -> Call | None:
    """Read a call; None where its arguments do not fit, with a diagnostic."""
    (key,) = node.keys
    written = node.values[key.text]
    if key.text in LATER_FUNCTIONS:
        diagnostics.error("not-supported-yet", f"{key.text} is not evaluated in this version", key.span)
        return None
    function = FUNCTIONS[key.text]
    if isinstance(written, Sequence):
        items = written.items
    elif function.scalar and isinstance(written, Scalar):
        items = [written]
    else:
        diagnostics.error(
            "bad-call", f"{key.text} takes a list of arguments", written.span, hint=f"write {function.usage}"
        )
        return None
    if len(items) < function.least or (function.most is not None and len(items) > function.most):
        count = f"{function.least}" if function.least == function.most else f"at least {function.least}"
        if function.most not in {None, function.least}:
            count = f"{function.least} to {function.most}"
        diagnostics.error(
            "bad-call",
            f"{key.text} takes {count} arguments, not {len(items)}",
            written.span,
            hint=f"write {function.usage}",
        )
        return None
    read = _path if function.path else ARGUMENTS[key.text]
    arguments = read(items, diagnostics)
    if arguments is None:
        return None
    return Call(key.text, arguments, node.span)


def read_untyped(node: Node, diagnostics: Diagnostics) -> Value:
    """Read a value where no type is declared: scalars by the core schema of YAML 1.2, calls as calls.

    The nesting of documents is bounded by the loader, so recursion is safe here.
    """
    if isinstance(node, Scalar):
        return core_value(node)
    if isinstance(node, Sequence):
        return [read_untyped(i, diagnostics) for i in node.items]
    if call_in(node):
        return read_call(node, diagnostics)
    if near := meant_function(node):
        diagnostics.warning(
            "no-call",
            f'"{node.keys[0].text}" is no function, so this is a plain map',
            node.keys[0].span,
            hint=f'did you mean "{near}"?',
        )
    return {k.text: read_untyped(v, diagnostics) for k, v in node.entries()}


def _path(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    """Names and indexes: whole numbers without quotes after the second place are indexes, the rest is text."""
    found: list[Value] = []
    for position, item in enumerate(items):
        if not isinstance(item, Scalar) or is_null(item):
            given = "which is empty" if is_null(item) else f"not {item.kind}"
            diagnostics.error("bad-call", f"a name or an index is needed here, {given}", item.span)
            return None
        index = integer(item.text) if item.plain and position > 0 else None
        found.append(item.text if index is None else index)
    return tuple(found)


def _text(node: Node, diagnostics: Diagnostics) -> Value:
    """A part of a text: scalars keep the text they were written with."""
    if isinstance(node, Scalar) and not is_null(node):
        return node.text
    if isinstance(node, Mapping) and call_in(node):
        return read_call(node, diagnostics)
    given = "which is empty" if is_null(node) else f"not {node.kind}"
    near = meant_function(node)
    hint = f'did you mean "{near}"?' if near else ""
    diagnostics.error("bad-call", f"a text or a function is needed here, {given}", node.span, hint=hint)
    return None


def _concat(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    parts = tuple(_text(i, diagnostics) for i in items)
    return None if None in parts else parts


def _join(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    first = items[0]
    parts: Value
    if isinstance(first, Sequence):
        read = _concat(first.items, diagnostics)
        if read is None:
            return None
        parts = list(read)
    else:
        if not call_in(first):
            diagnostics.error(
                "bad-call", "join takes a list of texts first", first.span, hint=f"write {FUNCTIONS['join'].usage}"
            )
            return None
        parts = _text(first, diagnostics)
        if parts is None:
            return None
    if len(items) == 1:
        return (parts,)
    delimiter = _text(items[1], diagnostics)
    return None if delimiter is None else (parts, delimiter)


def _token(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    text, separators = _text(items[0], diagnostics), _text(items[1], diagnostics)
    last = items[2]
    index = integer(last.text) if isinstance(last, Scalar) and last.plain else None
    if text is None or separators is None:
        return None
    if separators == "":
        diagnostics.error("bad-call", "token needs at least one separator character", items[1].span)
        return None
    if index is None or index < 0:
        diagnostics.error("bad-call", "the index of token is a whole number from 0 on", last.span)
        return None
    return text, separators, index


ARGUMENTS = {"concat": _concat, "join": _join, "token": _token}
