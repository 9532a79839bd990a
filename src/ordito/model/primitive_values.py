"""Values of the primitive types: from a node to data, with what is wrong reported at its place (§3.3).

A reader is given the node, the name of the type that is declared (which may be derived from the primitive one), what
the value is called in messages, where its type was declared, and where findings go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.scalar_units import UNITS, NotAScalarUnit, canonical
from ordito.base.span import Span
from ordito.base.timestamps import parse_timestamp
from ordito.base.versions import Version
from ordito.source.nodes import NULLS, Node, Scalar, Sequence, is_null
from ordito.source.scalars import BOOLEANS, MOST_DIGITS, decimal, integer, is_number
from ordito.syntax.expressions import Value
from ordito.syntax.functions import meant_function

PRIMITIVES = (
    "string",
    "integer",
    "float",
    "boolean",
    "timestamp",
    "null",
    "version",
    "range",
    "list",
    "map",
    *UNITS,
)
EXAMPLES = {
    "integer": "give a whole number such as 80",
    "float": "give a number such as 0.5",
    "boolean": "write true or false",
}
MEANT_BOOLEANS = {
    **dict.fromkeys(("yes", "on", "y", "true", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "false", "0"), "false"),
}
MOST_SHOWN = 40
UNBOUNDED = "UNBOUNDED"


def wrong(
    node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics, hint: str = ""
) -> None:
    """Report that a node is no value of a type."""
    shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
    related = (Related(f"{type_name} is declared here", declared),) if declared else ()
    article = "an" if type_name[0] in "aeiou" else "a"
    if near := meant_function(node):
        hint = f'did you mean the function "{near}"?'
    elif isinstance(node, Scalar) and not node.plain and hint in EXAMPLES.values():
        hint = f"{hint}, without quotes"
    diagnostics.error(
        "bad-value",
        f"{what}: {shown} is not {article} {type_name}",
        node.span,
        hint=hint or EXAMPLES.get(type_name, ""),
        related=related,
    )


def _string(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    if isinstance(node, Scalar):
        if node.plain and node.text in NULLS:
            diagnostics.error("missing-value", f"{what} is empty", node.span, hint='write "" for an empty text')
        return node.text
    wrong(node, type_name, what, declared, diagnostics)
    return None


def _integer(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
    if number is None:
        if isinstance(node, Scalar) and node.plain and is_number(node.text) and len(node.text) > MOST_DIGITS:
            _too_big(node, what, diagnostics)
        else:
            wrong(node, type_name, what, declared, diagnostics, EXAMPLES["integer"])
    return number


def _float(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    number = decimal(node.text) if isinstance(node, Scalar) and node.plain else None
    if number is None:
        if isinstance(node, Scalar) and node.plain and is_number(node.text):
            _too_big(node, what, diagnostics)
        else:
            wrong(node, type_name, what, declared, diagnostics, EXAMPLES["float"])
    return number


def _too_big(node: Scalar, what: str, diagnostics: Diagnostics) -> None:
    """Report a number that is none that can be kept."""
    shown = node.text if len(node.text) <= MOST_SHOWN else f"{node.text[:MOST_SHOWN]}..."
    diagnostics.error("bad-value", f"{what}: {shown} is too large a number", node.span, hint="write a smaller one")


def _boolean(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    if isinstance(node, Scalar) and node.plain and node.text in BOOLEANS:
        return BOOLEANS[node.text]
    meant = MEANT_BOOLEANS.get(node.text.casefold()) if isinstance(node, Scalar) and node.plain else None
    hint = f"write true or false (here: {meant}); YAML 1.2 knows only these" if meant else EXAMPLES["boolean"]
    wrong(node, type_name, what, declared, diagnostics, hint)
    return None


def _null(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    if not is_null(node):
        wrong(node, type_name, what, declared, diagnostics)
    return None


def _timestamp(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    if not isinstance(node, Scalar):
        wrong(node, type_name, what, declared, diagnostics)
        return None
    try:
        parse_timestamp(node.text)
    except ValueError as error:
        diagnostics.error("bad-value", f"{what}: {error}", node.span)
    return node.text


def _version(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    if not isinstance(node, Scalar):
        wrong(node, type_name, what, declared, diagnostics)
        return None
    try:
        Version.parse(node.text)
    except ValueError as error:
        diagnostics.error("bad-value", f"{what}: {error}", node.span)
    return node.text


def _range(node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics) -> Value:
    usage = "give [lower, upper]; the upper bound may be UNBOUNDED"
    if not isinstance(node, Sequence):
        wrong(node, type_name, what, declared, diagnostics, usage)
        return None
    reason = "a range has two bounds"
    if len(node.items) == 2:
        low, high = (integer(i.text) if isinstance(i, Scalar) and i.plain else None for i in node.items)
        first, last = node.items
        if isinstance(first, Scalar) and first.text == UNBOUNDED:
            reason = "only the upper bound may be UNBOUNDED"
        elif low is not None and isinstance(last, Scalar) and last.text == UNBOUNDED:
            return [low, UNBOUNDED]
        elif low is None or high is None:
            reason = "the bounds of a range are whole numbers"
        elif low <= high:
            return [low, high]
        else:
            reason = f"the upper bound {high} is below the lower bound {low}"
    related = (Related(f"{type_name} is declared here", declared),) if declared else ()
    diagnostics.error("bad-value", f"{what}: {reason}", node.span, hint=usage, related=related)
    return None


def _scalar_unit(
    kind: str, node: Node, type_name: str, what: str, declared: Span | None, diagnostics: Diagnostics
) -> Value:
    if not isinstance(node, Scalar):
        wrong(node, type_name, what, declared, diagnostics)
        return None
    try:
        value = canonical(node.text, kind)
    except NotAScalarUnit as error:
        diagnostics.error("bad-value", f"{what}: {error}", node.span, hint=error.hint)
        return None
    unit = value.partition(" ")[2]
    if kind != "scalar-unit.size" and not node.text.rstrip().endswith(unit):
        diagnostics.warning("unit-case", f"{what}: the unit is written {unit}", node.span, hint=f"write {value}")
    return value


Reader = Callable[[Node, str, str, Span | None, Diagnostics], Value]
READERS: Mapping[str, Reader] = {
    "string": _string,
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "null": _null,
    "timestamp": _timestamp,
    "version": _version,
    "range": _range,
    **{kind: partial(_scalar_unit, kind) for kind in UNITS},
}
"""The readers of primitive types, save those of list and map, whose values have parts."""
