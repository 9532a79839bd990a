"""Conditions over attributes, as they are written (§3.6.24, §3.6.25): and, or, not, and assertions."""

from __future__ import annotations

import msgspec

from ordito.base.span import Span
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.syntax.grammar import Reading

AND, OR, NOT, ASSERT = "and", "or", "not", "assert"
OPERATORS = (AND, OR, NOT, ASSERT)


class Assertion(msgspec.Struct, frozen=True, eq=False):
    """An attribute, and the constraint clauses that its value must all meet (§3.6.24)."""

    attribute: Scalar
    constraints: tuple[Node, ...]


class Clause(msgspec.Struct, frozen=True, eq=False):
    """Clauses and assertions joined by ``and``, ``or`` or ``not``; ``not`` holds where not all of its parts hold."""

    operator: str
    parts: tuple[Clause | Assertion, ...]
    span: Span


class Conditions(msgspec.Struct, frozen=True):
    """A condition: one clause, or a list of clauses that must all hold."""

    def read(self, node: Node, what: str, reading: Reading) -> Clause | None:
        """The clause; None, with a diagnostic, where it cannot be read. The loader bounds how deep documents nest."""
        if isinstance(node, Sequence):
            return _joined(AND, node, what, reading)
        return _clause(node, what, reading)


def _clause(node: Node, what: str, reading: Reading) -> Clause | None:
    """One clause: a map with one operator, or with assertions side by side."""
    if not isinstance(node, Mapping) or not node.keys:
        reading.wrong_kind(node, what, "a condition clause", "for example - state: [ { equal: started } ]")
        return None
    operators = [key for key in node.keys if key.text in OPERATORS]
    if not operators:
        return _asserted(node, node.keys, reading)
    operator, *rest = (operators[0], *(k for k in node.keys if k is not operators[0]))
    if rest:
        reading.diagnostics.error(
            "mutually-exclusive",
            f'"{rest[0].text}" cannot stand beside "{operator.text}" in one condition clause',
            rest[0].span,
            hint='make each an entry of the list, or put them below "and:"',
        )
        return None
    if operator.text == ASSERT:
        reading.diagnostics.warning(
            "deprecated", '"assert" is deprecated', operator.span, hint="write and, or the assertions alone"
        )
    name = AND if operator.text == ASSERT else operator.text
    return _joined(name, node.values[operator.text], f'"{operator.text}"', reading)


def _joined(operator: str, node: Node, what: str, reading: Reading) -> Clause | None:
    """A list of clauses under an operator."""
    if not isinstance(node, Sequence):
        hint = "write a dash before each clause"
        reading.wrong_kind(node, what, "a list of condition clauses", hint)
        return None
    if not node.items:
        reading.diagnostics.error(
            "empty-value", f"{what} has no condition clause", node.span, hint="add a clause, or remove it"
        )
        return None
    parts = [_clause(item, f"an entry of {what}", reading) for item in node.items]
    read = tuple(p for p in parts if p is not None)
    return Clause(operator, read, node.span) if len(read) == len(parts) else None


def _asserted(node: Mapping, keys: list[Scalar], reading: Reading) -> Clause | None:
    """Assertions side by side, which must all hold."""
    found = []
    for key in keys:
        value = node.values[key.text]
        if is_null(value) or (isinstance(value, Sequence) and not value.items):
            reading.diagnostics.error(
                "empty-value",
                f'the assertion about "{key.text}" has no constraint',
                value.span,
                hint=f"for example {key.text}: [ {{ equal: started }} ]",
            )
            return None
        clauses = value.items if isinstance(value, Sequence) else [value]
        found.append(Assertion(key, tuple(clauses)))
    return Clause(AND, tuple(found), node.span)
