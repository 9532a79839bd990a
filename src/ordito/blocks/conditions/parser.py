"""Reads the text of a condition: the part of CUE that a yes or no needs. Other forms of CUE are refused by name."""

from __future__ import annotations

from ordito.base.suggest import nearest
from ordito.blocks.conditions.patterns import NotAPattern, pattern
from ordito.blocks.conditions.tokens import Reader, Token, TokenKind
from ordito.blocks.conditions.trees import (
    KEYWORDS,
    LEVELS,
    AllOfKind,
    Bottom,
    Bound,
    CalledFunction,
    Field,
    Index,
    Listing,
    Literal,
    Meet,
    Name,
    Node,
    NotACondition,
    OperatorChain,
    OperatorLink,
    TextRange,
    Unary,
    ValuePath,
)

MOST_NESTED = 30
"""How deep brackets, operators before a value, and bounds may be nested."""

FUNCTIONS = {
    "len": 1,
    "strings.HasPrefix": 2,
    "strings.HasSuffix": 2,
    "strings.Contains": 2,
    "list.Contains": 2,
}
"""The functions, with the number of arguments that each takes."""
PACKAGES = ("strings", "list")
KINDS = ("bool", "int", "float", "number", "string")

_BOUNDS = frozenset(LEVELS[2]) - {"=="}
_CLOSING = {"(": ")", "[": "]"}
_CONSTANTS = {"true": True, "false": False, "null": None}
_REFUSED = {
    "{": "struct literals are not part of conditions",
    "}": "struct literals are not part of conditions",
    ":": "slices and struct literals are not part of conditions",
}
_COMPREHENSION = "comprehensions are not part of conditions"
_WORDS = {"and": "&&", "or": "||", "not": "!", "is": "==", "div": "", "quo": "", "mod": "", "rem": "", "in": ""}
"""Operators that are words, here or in other languages, and what to write instead."""


def parse(text: str) -> Node:
    """The tree of a condition. Raises ``NotACondition``, with the place in the text, where it cannot be read."""
    return _Parser(Reader(text).tokens()).read()


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def read(self) -> Node:
        """The tree of the whole text."""
        if self._ended():
            raise NotACondition("a condition is missing: the text is empty", self._next.place)
        tree = self._value()
        if not self._ended():
            raise self._unexpected()
        return tree

    # ----------------------------------------------------------------------------------------------- the levels

    def _value(self) -> Node:
        """An expression that has a value, which a bound alone has not."""
        return _with_value(self._meet())

    def _meet(self) -> Node:
        first = self._chain(0)
        operands = [first]
        while self._take_operator(("&",)) is not None:
            operands.append(self._chain(0))
        if self._is_sign("|"):
            raise NotACondition(
                "disjunctions (|) are not part of conditions", self._next.place, 'write x == "a" || x == "b"'
            )
        if len(operands) == 1:
            return first
        place = first.place.to(operands[-1].place)
        flat: list[Node] = []
        for operand in operands:
            _not_bottom(operand)
            flat.extend(operand.operands if isinstance(operand, Meet) else [operand])
        return Meet(tuple(flat), place)

    def _chain(self, level: int) -> Node:
        """Operators of a level and those that bind tighter."""
        if level == len(LEVELS):
            return self._unary()
        first = self._chain(level + 1)
        links: list[OperatorLink] = []
        while (operator := self._take_operator(LEVELS[level])) is not None:
            operand = self._chain(level + 1)
            links.append(OperatorLink(operator.text, operand, operator.place))
        if not links:
            return first
        _check_operands(first, links)
        return OperatorChain(first, tuple(links), first.place.to(links[-1].operand.place))

    def _unary(self) -> Node:
        token = self._next
        if token.kind is not TokenKind.SIGN or token.text not in {"!", "-", "+", "*", *_BOUNDS}:
            return self._path()
        if token.text == "*":
            raise NotACondition("defaults (*) are not part of conditions", token.place)
        self._at += 1
        self._go_in(token.place)
        operand = _with_value(self._unary())
        self._depth -= 1
        place = token.place.to(operand.place)
        if token.text not in _BOUNDS:
            return Unary(token.text, operand, place)
        if token.text in {"=~", "!~"}:
            _check_pattern(operand)
        return Bound(token.text, operand, place)

    # ------------------------------------------------------------------------------------------------ one value

    def _path(self) -> Node:
        base = self._primary()
        steps: list[Field | Index] = []
        while not self._next.starts_line and (self._is_sign(".") or self._is_sign("[")):
            steps.append(self._field() if self._is_sign(".") else self._index())
        if not steps:
            return base
        base = _with_value(base)
        place = base.place.to(steps[-1].place)
        if isinstance(base, ValuePath):
            return ValuePath(base.base, (*base.steps, *steps), place)
        return ValuePath(base, tuple(steps), place)

    def _field(self) -> Field:
        point = self._take()
        token = self._take()
        if token.kind is TokenKind.STRING:
            return Field(str(token.value), point.place.to(token.place))
        if token.kind is not TokenKind.NAME:
            found = _called(token)
            raise NotACondition(f"the name of a field must follow a point, not {found}", token.place)
        if token.text in KEYWORDS or token.text.startswith(("_", "#")):
            what = "a keyword" if token.text in KEYWORDS else "the name of something hidden, or of a definition"
            raise NotACondition(f'"{token.text}" after a point is {what}', token.place, f'write ."{token.text}"')
        return Field(token.text, point.place.to(token.place))

    def _index(self) -> Index:
        opened = self._take()
        self._go_in(opened.place)
        index = self._value()
        closed = self._close(opened)
        self._depth -= 1
        return Index(index, opened.place.to(closed.place))

    def _primary(self) -> Node:
        token = self._take()
        if token.kind in {TokenKind.NUMBER, TokenKind.STRING}:
            return Literal(token.value, token.place)
        if token.kind is TokenKind.NAME:
            return self._named(token)
        if token.text == "_|_":
            return Bottom(token.place)
        if token.text == "(":
            self._go_in(token.place)
            inner = self._meet()
            self._close(token)
            self._depth -= 1
            return _not_bottom(inner)
        if token.text == "[":
            items, closed = self._items(token)
            return Listing(items, token.place.to(closed.place))
        message = _REFUSED.get(token.text, f"expected a value, found {_called(token)}")
        raise NotACondition(message, token.place)

    def _named(self, token: Token) -> Node:
        name = token.text
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name], token.place)
        if name in {"for", "if", "let", "in"}:
            raise NotACondition(_COMPREHENSION, token.place)
        if name == "import":
            raise NotACondition(
                "imports are not part of conditions", token.place, f"{' and '.join(PACKAGES)} need none"
            )
        if name.startswith(("_", "#")):
            what = "hidden" if name.startswith("_") else "a definition"
            raise NotACondition(f'"{name}" is {what}, which nothing in a condition is', token.place)
        if name in PACKAGES:
            return self._in_package(token)
        if self._is_sign("(") and not self._next.starts_line:
            return self._call(name, token.place)
        if name in FUNCTIONS:
            raise NotACondition(f'"{name}" is a function', token.place, f"write {name}(values.a)")
        return AllOfKind(name, token.place) if name in KINDS else Name(name, token.place)

    def _in_package(self, token: Token) -> Node:
        if not self._is_sign("."):
            known = ", ".join(name for name in FUNCTIONS if name.startswith(f"{token.text}."))
            raise NotACondition(f'"{token.text}" is a package of functions', token.place, f"it has {known}")
        field = self._field()
        return self._call(f"{token.text}.{field.name}", token.place.to(field.place))

    def _call(self, name: str, place: TextRange) -> Node:
        if name not in FUNCTIONS:
            close = nearest(name, FUNCTIONS)
            hint = f"did you mean {' or '.join(close)}?" if close else f"the functions are {', '.join(FUNCTIONS)}"
            raise NotACondition(f'there is no function "{name}" in conditions', place, hint)
        if not self._is_sign("("):
            raise NotACondition(f'"{name}" is a function', place, f'write {name}(values.a, "b")')
        arguments, closed = self._items(self._take())
        place = place.to(closed.place)
        if len(arguments) != FUNCTIONS[name]:
            count = FUNCTIONS[name]
            raise NotACondition(
                f'"{name}" takes {count} argument{"s" * (count > 1)}, and is given {len(arguments)}', place
            )
        return CalledFunction(name, arguments, place)

    def _items(self, opened: Token) -> tuple[tuple[Node, ...], Token]:
        """Expressions with commas between them, and the bracket that closes."""
        self._go_in(opened.place)
        items: list[Node] = []
        while not self._is_sign(_CLOSING[opened.text]):
            if self._is_sign("..."):
                raise NotACondition("open lists (...) are not part of conditions", self._next.place)
            items.append(self._value())
            if not self._is_sign(",") or self._next.starts_line:
                break
            self._at += 1
        if not self._is_sign(_CLOSING[opened.text]):
            raise self._unexpected(f'"," or "{_CLOSING[opened.text]}"')
        self._depth -= 1
        return tuple(items), self._take()

    # ------------------------------------------------------------------------------------------------ the tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        if token.kind is not TokenKind.END:
            self._at += 1
        return token

    def _ended(self) -> bool:
        return self._next.kind is TokenKind.END

    def _is_sign(self, text: str) -> bool:
        return self._next.kind is TokenKind.SIGN and self._next.text == text

    def _take_operator(self, known: tuple[str, ...]) -> Token | None:
        """The next token if it is one of the operators. One at the beginning of a line is none: CUE ends an expression
        where a line ends behind a value."""
        token = self._next
        if token.kind is not TokenKind.SIGN or token.text not in known or token.starts_line:
            return None
        self._at += 1
        return token

    def _close(self, opened: Token) -> Token:
        closing = _CLOSING[opened.text]
        if not self._is_sign(closing) or self._next.starts_line:
            raise self._unexpected(f'"{closing}"')
        return self._take()

    def _go_in(self, place: TextRange) -> None:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise NotACondition(f"a condition is nested at most {MOST_NESTED} levels deep", place)

    def _unexpected(self, wanted: str = "") -> NotACondition:
        """The fault that something else than ``wanted``, or an operator, comes next."""
        token = self._next
        if token.kind is not TokenKind.END and token.starts_line:
            return NotACondition(
                "CUE ends an expression where a line ends after a value",
                token.place,
                "let the line before end with an operator, or write one line",
            )
        if token.text in _WORDS:
            return NotACondition(f'"{token.text}" is not an operator', token.place, _word_hint(token.text))
        if token.text in {"if", "for"}:
            return NotACondition(_COMPREHENSION, token.place)
        if token.text in _REFUSED:
            return NotACondition(_REFUSED[token.text], token.place)
        expected = wanted or ("an operator" if token.kind is not TokenKind.SIGN else "the end")
        return NotACondition(f"expected {expected}, found {_called(token)}", token.place)


def _with_value(node: Node) -> Node:
    """A node that has a value; ``NotACondition`` where it is only a bound of one."""
    bare = isinstance(node, Bound | AllOfKind) or (
        isinstance(node, Meet) and all(isinstance(operand, Bound | AllOfKind) for operand in node.operands)
    )
    if bare:
        hint = (
            "write (values.a & >=3) != _|_" if not isinstance(node, AllOfKind) else "write (values.a & string) != _|_"
        )
        raise NotACondition("this is a condition for a value, and has no value itself", node.place, hint)
    return _not_bottom(node)


def _not_bottom(node: Node) -> Node:
    if isinstance(node, Bottom):
        raise NotACondition("_|_ is allowed only beside == or !=", node.place, "write values.a != _|_")
    return node


def _check_operands(first: Node, links: list[OperatorLink]) -> None:
    """That operators stand between values, or ask with ``_|_`` whether there is one."""
    operands = [first, *(link.operand for link in links)]
    for position, operand in enumerate(operands):
        beside = links[max(position - 1, 0)].operator
        if not (isinstance(operand, Bottom) and beside in {"==", "!="}):
            _with_value(operand)
    for link in links:
        if link.operator in {"=~", "!~"}:
            _check_pattern(link.operand)


def _check_pattern(operand: Node) -> None:
    if not isinstance(operand, Literal) or not isinstance(operand.value, str):
        return
    try:
        pattern(operand.value)
    except NotAPattern as fault:
        raise NotACondition(fault.message, operand.place, fault.hint) from None


def _called(token: Token) -> str:
    return "the end" if token.kind is TokenKind.END else f"`{token.text[:40]}`"


def _word_hint(word: str) -> str:
    operator = _WORDS.get(word, "")
    return f"write {operator}" if operator else ""
