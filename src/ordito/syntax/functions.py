"""Intrinsic functions as they are written (chapter 4): how to recognise a call and read its arguments."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import BOOLEANS, core_value, integer
from ordito.syntax.expressions import Call, Needs, Value


class Function(msgspec.Struct, frozen=True):
    """How a call of a function is written."""

    least: int
    """How many arguments it takes at least."""
    most: int | None
    """How many it takes at most, None for any number."""
    usage: str
    """The form that messages show."""
    scalar: bool = False
    """Whether a single argument may be written without a list."""
    gives: str = ""
    """The type of its result, "" where that depends on what it refers to."""
    computed: int | None = None
    """Where all arguments are names and indexes (a path): those from this position on may be calls, too."""


FUNCTIONS = {
    "concat": Function(1, None, "concat: [text, ...]", gives="string"),
    "join": Function(1, 2, "join: [[text, ...], delimiter]", gives="string"),
    "token": Function(3, 3, "token: [text, separators, index]", gives="string"),
    "get_input": Function(1, None, "get_input: name, or get_input: [name, key or index, ...]", scalar=True, computed=1),
    "get_property": Function(2, None, "get_property: [entity, (capability or requirement,) property, ...]", computed=1),
    "get_attribute": Function(
        2, None, "get_attribute: [entity, (capability or requirement,) attribute, ...]", computed=1
    ),
    "get_operation_output": Function(4, 4, "get_operation_output: [entity, interface, operation, output]"),
    "get_nodes_of_type": Function(1, 1, "get_nodes_of_type: node type", scalar=True, gives="list"),
    "get_artifact": Function(2, 4, "get_artifact: [entity, artifact, (location,) (remove)]", gives="string"),
}


BLUEPRINT = "cloudify."
"""How the names of functions begin that only blueprints have, whose names are lowered so: nobody can write them."""

OF_BLUEPRINTS = {
    f"{BLUEPRINT}merge": Function(1, None, "merge: [map, ...]", gives="map"),
    f"{BLUEPRINT}string_find": Function(2, 2, "string_find: [text, part]", gives="integer"),
    f"{BLUEPRINT}string_replace": Function(3, 4, "string_replace: [text, old, new, (count)]", gives="string"),
    f"{BLUEPRINT}string_split": Function(2, 3, "string_split: [text, separator, (index)]"),
    f"{BLUEPRINT}string_lower": Function(1, 1, "string_lower: text", scalar=True, gives="string"),
    f"{BLUEPRINT}string_upper": Function(1, 1, "string_upper: text", scalar=True, gives="string"),
    f"{BLUEPRINT}get_attributes_list": Function(
        2, None, "get_attributes_list: [node, runtime property, ...]", gives="list"
    ),
    f"{BLUEPRINT}get_attributes_dict": Function(
        2, None, "get_attributes_dict: [node, runtime property, ...]", gives="map"
    ),
    **{
        f"{BLUEPRINT}{name}": Function(1, None, f"{name}: ...", scalar=True, computed=0)
        for name in ("get_capability", "get_environment_capability", "get_group_capability", "get_consumers")
    },
}
"""The functions that only blueprints have."""

FORMS = {**FUNCTIONS, **OF_BLUEPRINTS}

OF_ENTITIES = frozenset({"get_property", "get_attribute", "get_operation_output", "get_artifact"})
"""The functions whose first argument is an entity."""


def call_in(node: Node) -> str:
    """The name of the function that a node calls, "" where it is plain data. A call is a map with exactly one key,
    which is the name of a function."""
    if type(node) is Mapping and len(node.keys) == 1:
        name = node.keys[0].text
        if name in FORMS:
            return name
    return ""


def has_shape(node: Mapping) -> bool:
    """Whether the value below the name of a function can be its arguments: a list, or a single value where the function
    takes one."""
    (key,) = node.keys
    written = node.values[key.text]
    scalar = isinstance(written, Scalar) and FORMS[key.text].scalar and not is_null(written)
    return scalar or isinstance(written, Sequence)


def meant_function(node: object) -> str:
    """The function whose misspelt name the only key of a map (a node or data) probably is, "" where there is none."""
    values: object = node.values if isinstance(node, Mapping) else node
    if not isinstance(values, dict) or len(values) != 1:
        return ""
    ((key, below),) = values.items()
    name = str(key)
    if name in FUNCTIONS:
        return ""
    near = nearest(name, FUNCTIONS) if name.startswith("get") or isinstance(below, Sequence | list) else []
    return near[0] if near else ""


def read_call(node: Mapping, diagnostics: Diagnostics, needs: object = None) -> Call | None:
    """Read a call; None, with a diagnostic, where its arguments do not fit. ``needs`` is that of the ``Call``."""
    (key,) = node.keys
    name = key.text
    written = node.values[name]
    function = FORMS[name]
    shown = name.removeprefix(BLUEPRINT)
    if isinstance(written, Sequence):
        items = written.items
    elif function.scalar and isinstance(written, Scalar):
        items = [written]
    else:
        diagnostics.error(
            "bad-call", f"{shown} takes a list of arguments", written.span, hint=f"write {function.usage}"
        )
        return None
    if len(items) < function.least or (function.most is not None and len(items) > function.most):
        diagnostics.error(
            "bad-call",
            f"{shown} takes {_count(function)}, not {len(items)}",
            written.span,
            hint=f"write {function.usage}",
        )
        return None
    if name in ARGUMENTS:
        arguments = ARGUMENTS[name](items, diagnostics)
    else:
        arguments = _path(items, diagnostics, function.computed)
    return None if arguments is None else Call(name, arguments, node.span, needs)


def _count(function: Function) -> str:
    if function.most == 1:
        return "1 argument"
    if function.most == function.least:
        return f"{function.least} arguments"
    if function.most is None:
        return f"at least {function.least} argument{'s' if function.least > 1 else ''}"
    return f"{function.least} to {function.most} arguments"


def read_untyped(node: Node, diagnostics: Diagnostics) -> Value:
    """Read a value where no type is declared: scalars by the core schema of YAML 1.2, calls as calls.

    The loader bounds how deep documents nest, so recursion is safe here.
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
            f'"{node.keys[0].text}" is not a function, so this is a plain map',
            node.keys[0].span,
            hint=f'did you mean "{near}"?',
        )
    return {k.text: read_untyped(v, diagnostics) for k, v in node.entries()}


def _path(items: list[Node], diagnostics: Diagnostics, computed: int | None = None) -> tuple[Value, ...] | None:
    """Names and indexes: whole numbers without quotes after the first place are indexes, the rest is text. From the
    place ``computed`` on a call may give them."""
    found: list[Value] = []
    for position, item in enumerate(items):
        part = _name(item, position, diagnostics, computed is not None and position >= computed)
        if part is None:
            return None
        found.append(part)
    return tuple(found)


def _name(item: Node, position: int, diagnostics: Diagnostics, computed: bool) -> Value:
    """A name or an index; None where it is neither, which is reported."""
    if isinstance(item, Mapping) and call_in(item):
        if computed:
            return read_call(item, diagnostics, Needs.NAME)
        diagnostics.error(
            "bad-call",
            "a name is needed here, not a function",
            item.span,
            hint="write the name itself: what a function refers to must be known before anything runs",
        )
        return None
    if not isinstance(item, Scalar) or is_null(item):
        given = "which is empty" if is_null(item) else f"not {item.kind}"
        diagnostics.error("bad-call", f"a name or an index is needed here, {given}", item.span)
        return None
    index = integer(item.text) if item.plain and position > 0 else None
    return item.text if index is None else index


def _text(node: Node, diagnostics: Diagnostics, needs: Needs = Needs.TEXT) -> Value:
    """A part of a text: scalars keep the text they were written with."""
    if isinstance(node, Scalar) and not is_null(node):
        return node.text
    if isinstance(node, Mapping) and call_in(node):
        return read_call(node, diagnostics, needs)
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
        parts = _text(first, diagnostics, Needs.LIST)
        if parts is None:
            return None
    if len(items) == 1:
        return (parts,)
    delimiter = _text(items[1], diagnostics)
    return None if delimiter is None else (parts, delimiter)


def _token(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    text, separators = _text(items[0], diagnostics), _text(items[1], diagnostics)
    last = items[2]
    index: Value = integer(last.text) if isinstance(last, Scalar) and last.plain else None
    if isinstance(last, Mapping) and call_in(last):
        index = read_call(last, diagnostics, Needs.INDEX)
        if index is None:
            return None
    if text is None or separators is None:
        return None
    if separators == "":
        diagnostics.error("bad-call", "token needs at least one separator character", items[1].span)
        return None
    if index is None or (isinstance(index, int) and index < 0):
        diagnostics.error("bad-call", "the index of token is a whole number of at least 0", last.span)
        return None
    return text, separators, index


def _artifact(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    """Entity and artifact by their names, a path or LOCAL_FILE, and whether the copy is removed."""
    names = _path(items[:2], diagnostics)
    if names is None:
        return None
    names = tuple(str(n) for n in names)
    location = _text(items[2], diagnostics) if len(items) > 2 else None
    if len(items) < 3 or location is None:
        return names if len(items) < 3 else None
    if len(items) == 3:
        return (*names, location)
    last = items[3]
    if isinstance(last, Mapping) and call_in(last):
        remove: Value = read_call(last, diagnostics, Needs.FLAG)
    else:
        remove = BOOLEANS.get(last.text) if isinstance(last, Scalar) and last.plain else None
        if remove is None:
            diagnostics.error(
                "bad-call",
                "the last argument of get_artifact says whether the copy is removed: true or false",
                last.span,
            )
    return None if remove is None else (*names, location, remove)


def _values(items: list[Node], diagnostics: Diagnostics) -> tuple[Value, ...] | None:
    """Arguments that may be anything."""
    return tuple(read_untyped(i, diagnostics) for i in items)


ARGUMENTS: dict[str, Callable[[list[Node], Diagnostics], tuple[Value, ...] | None]] = {
    "concat": _concat,
    "join": _join,
    "token": _token,
    "get_artifact": _artifact,
    **dict.fromkeys((n for n in OF_BLUEPRINTS if not n.startswith(f"{BLUEPRINT}get_")), _values),
}
"""By function, how to read arguments that are not just names and indexes."""
