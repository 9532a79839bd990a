"""Conditions as trees: each part as it was written, with its place; and trees turned into text again.

Chains of operators and paths are flat, so that a tree is only as deep as the brackets of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum

import msgspec

# What is wrong with a condition, and where in its text.


class TextRange(msgspec.Struct, frozen=True):
    """A part of the text of a condition."""

    offset: int
    """Its first character, from 0."""
    end: int
    """The character after its last one."""
    line: int
    """The line where it begins, from 1."""
    column: int
    """The column where it begins, from 1."""

    def to(self, other: TextRange) -> TextRange:
        """The range from here to the end of another one."""
        return TextRange(self.offset, other.end, self.line, self.column)

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class NotACondition(ValueError):
    """A text cannot be read as a condition. ``message`` says what is wrong at ``place``, ``hint`` what to write (or
    "")."""

    def __init__(self, message: str, place: TextRange, hint: str = "") -> None:
        super().__init__(f"{place}: {message}")
        self.message = message
        self.place = place
        self.hint = hint


class NoAnswer(Enum):
    """Why a condition has no answer."""

    UNDEFINED = "undefined"
    """Something that it names does not exist."""
    NOT_A_BOOL = "not a bool"
    """Its value is neither true nor false."""
    OPERANDS = "operands"
    """An operator or a function is applied to values of a kind that it does not take."""
    CONFLICT = "conflict"
    """The operands of ``&`` are different values, or a value is out of bounds."""
    INDEX = "index"
    """An index is not one, or the list is shorter."""
    NUMBER = "number"
    """A division by zero, or a number that cannot be computed exactly."""
    PATTERN = "pattern"
    """A text is not a regular expression, or one that is not supported."""
    NOT_SUPPORTED = "not supported"
    """CUE may have an answer, but Ordito does not support the expression."""
    TOO_MUCH = "too much"
    """The answer would take too long."""


class ConditionFailed(Exception):
    """A condition has no answer: ``message`` says why at ``place`` of its text, ``hint`` what to do (or "").

    Neither shows a value: they hold names, kinds and the text of the condition only.
    """

    def __init__(self, reason: NoAnswer, message: str, place: TextRange, hint: str = "") -> None:
        super().__init__(f"{place}: {message}")
        self.reason = reason
        self.message = message
        self.place = place
        self.hint = hint


class Literal(msgspec.Struct, frozen=True, tag=True):
    """A value that is written out: ``null``, a truth value, an integer, a float (a ``Decimal``), or a string."""

    value: None | bool | int | Decimal | str
    place: TextRange


class Name(msgspec.Struct, frozen=True, tag=True):
    """A name of the context: ``values``."""

    name: str
    place: TextRange


class Field(msgspec.Struct, frozen=True, tag=True):
    """A step to a field of a struct: ``.name`` or ``."name"``."""

    name: str
    place: TextRange


class Index(msgspec.Struct, frozen=True, tag=True):
    """A step to an element of a list or a field of a struct: ``[0]``, ``["name"]``."""

    index: Node
    place: TextRange


class ValuePath(msgspec.Struct, frozen=True, tag=True):
    """Steps into a value: ``values.tags[0]``."""

    base: Node
    steps: tuple[Field | Index, ...]
    place: TextRange


class Listing(msgspec.Struct, frozen=True, tag=True):
    """A list that is written out."""

    items: tuple[Node, ...]
    place: TextRange


class Unary(msgspec.Struct, frozen=True, tag=True):
    """``!x``, ``-x`` or ``+x``."""

    operator: str
    operand: Node
    place: TextRange


class OperatorLink(msgspec.Struct, frozen=True, tag=True):
    """An operator and its right operand."""

    operator: str
    operand: Node
    place: TextRange
    """The operator's."""


class OperatorChain(msgspec.Struct, frozen=True, tag=True):
    """Operators of one precedence, from left to right: ``a - b + c``."""

    first: Node
    links: tuple[OperatorLink, ...]
    place: TextRange


class Meet(msgspec.Struct, frozen=True, tag=True):
    """The value that meets all operands: ``x & >=3``. At least one of them is a value, the others may be bounds and
    kinds."""

    operands: tuple[Node, ...]
    place: TextRange


class Bound(msgspec.Struct, frozen=True, tag=True):
    """A bound of a value: ``>=3``. Occurs in a ``Meet`` only."""

    operator: str
    operand: Node
    place: TextRange


class AllOfKind(msgspec.Struct, frozen=True, tag=True):
    """All values of a kind: ``string``. Occurs in a ``Meet`` only."""

    name: str
    place: TextRange


class CalledFunction(msgspec.Struct, frozen=True, tag=True):
    """A call of a function by its full name: ``strings.HasPrefix``."""

    function: str
    arguments: tuple[Node, ...]
    place: TextRange


class Bottom(msgspec.Struct, frozen=True, tag=True):
    """``_|_``, which means any error. Occurs beside ``==`` and ``!=`` only."""

    place: TextRange


Node = Literal | Name | ValuePath | Listing | Unary | OperatorChain | Meet | Bound | AllOfKind | CalledFunction | Bottom

LEVELS = (
    ("||",),
    ("&&",),
    ("==", "!=", "<", "<=", ">", ">=", "=~", "!~"),
    ("+", "-"),
    ("*", "/"),
)
"""The operators between values, the weakest binding first. ``&`` binds weaker than all of them."""

LEVEL = {operator: level for level, operators in enumerate(LEVELS, start=1) for operator in operators}
ATOM = 7
"""The level of expressions that never need brackets; that of ``!x`` and of bounds is one below, that of ``&`` is 0."""

KEYWORDS = frozenset({"true", "false", "null", "for", "in", "if", "let"})
"""Words that cannot be names, not even of fields."""

_IDENTIFIER = re.compile(r"[^\W\d_]\w*")
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def references(tree: Node) -> Iterator[Name | ValuePath]:
    """The names, and the paths that begin with one, in a tree from left to right, each in full length; those inside an
    index after the path that the index is part of."""
    waiting: list[Node] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Name) or (isinstance(node, ValuePath) and isinstance(node.base, Name)):
            yield node
        waiting.extend(reversed(_inside(node)))


def written(tree: Node) -> str:
    """The text of a tree. Reading it gives the same tree except for the places."""
    return _text(tree, 0)


def _inside(node: Node) -> list[Node]:
    """What a node is made of; not the name that a path begins with."""
    if isinstance(node, ValuePath):
        base = [] if isinstance(node.base, Name) else [node.base]
        return [*base, *(step.index for step in node.steps if isinstance(step, Index))]
    if isinstance(node, OperatorChain):
        return [node.first, *(link.operand for link in node.links)]
    if isinstance(node, Unary | Bound):
        return [node.operand]
    if isinstance(node, Listing):
        return list(node.items)
    if isinstance(node, Meet):
        return list(node.operands)
    return list(node.arguments) if isinstance(node, CalledFunction) else []


def _text(node: Node, level: int) -> str:
    """The text of a node where operators of lower levels need brackets."""
    own = _level(node)
    text = _plain_text(node)
    return f"({text})" if own < level else text


def _level(node: Node) -> int:
    if isinstance(node, Meet):
        return 0
    if isinstance(node, OperatorChain):
        return LEVEL[node.links[0].operator]
    return ATOM - 1 if isinstance(node, Unary | Bound) else ATOM


def _plain_text(node: Node) -> str:
    if isinstance(node, OperatorChain):
        above = _level(node) + 1
        links = (f" {link.operator} {_text(link.operand, above)}" for link in node.links)
        return _text(node.first, above) + "".join(links)
    if isinstance(node, Meet):
        return " & ".join(_text(operand, 1) for operand in node.operands)
    if isinstance(node, Unary | Bound):
        return node.operator + _spaced(_text(node.operand, ATOM - 1))
    if isinstance(node, ValuePath):
        base = _text(node.base, ATOM)
        return (f"({base})" if base[0].isdigit() else base) + "".join(map(_step_text, node.steps))
    return _atom_text(node)


def _spaced(operand: str) -> str:
    """An operand that does not grow together with the operator before it, as ``!`` and ``=~`` would."""
    return f" {operand}" if operand[:1] in {"=", "~", "<", ">", "!", "-", "+"} else operand


def _atom_text(node: Node) -> str:
    if isinstance(node, Literal):
        return _literal_text(node.value)
    if isinstance(node, Listing):
        return f"[{', '.join(_text(item, 0) for item in node.items)}]"
    if isinstance(node, CalledFunction):
        return f"{node.function}({', '.join(_text(argument, 0) for argument in node.arguments)})"
    return node.name if isinstance(node, Name | AllOfKind) else "_|_"


def _step_text(step: Field | Index) -> str:
    if isinstance(step, Index):
        return f"[{_text(step.index, 0)}]"
    plain = _IDENTIFIER.fullmatch(step.name) and step.name not in KEYWORDS
    return f".{step.name}" if plain else f".{_literal_text(step.name)}"


def _literal_text(value: None | bool | int | Decimal | str) -> str:
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    return f"{text}.0" if isinstance(value, Decimal) and text.isdigit() else text


def _character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    return character if character.isprintable() else f"\\U{ord(character):08x}"
