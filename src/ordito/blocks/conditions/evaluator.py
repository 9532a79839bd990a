"""Evaluates a condition in a context: it is true or false, or has no answer for a reason.

As in CUE 0.4, ``&&`` and ``||`` have no answer where either side has none, and ``== _|_`` tells whether an expression
has none. So an expression without a value evaluates to a ``ConditionFailed``, which its context passes on and ``_|_``
can test for. Where Ordito cannot find the answer, because it does not support the expression or because it takes too
long, the exception is raised, and ``_|_`` cannot test for it. The depth of a tree is bounded, and data is compared
without recursion.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from ordito.base.patterns import TooMuchWork
from ordito.base.sensitive import SHOWN, shown
from ordito.base.suggest import nearest
from ordito.blocks.conditions.patterns import NotAPattern, pattern
from ordito.blocks.conditions.trees import (
    AllOfKind,
    Bottom,
    Bound,
    CalledFunction,
    ConditionFailed,
    Field,
    Index,
    Listing,
    Literal,
    Meet,
    Name,
    NoAnswer,
    Node,
    OperatorChain,
    OperatorLink,
    TextRange,
    Unary,
    ValuePath,
    references,
    written,
)
from ordito.blocks.conditions.values import ContextReading, a_kind, arithmetic, is_number, kind

MOST_OF_TEXT = 60
"""How much of the text of a condition a message repeats."""
MOST_EFFORT = 1_000_000
"""How long the patterns of one condition may take, in microseconds, roughly."""

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def evaluate(tree: Node, context: Mapping[str, object]) -> bool:
    """Whether a condition holds in a context of plain data, parts of which may be sensitive.

    Raises ``ConditionFailed`` where it has no answer: it names something that does not exist, its value is not a bool,
    and so on. A name that this context lacks (``previous`` in an installation) counts as a missing field; names that no
    context has are found before (``check.unknown``).
    """
    found = _Evaluation(context).value(tree)
    if isinstance(found, ConditionFailed):
        raise found
    if not isinstance(found, bool):
        hint = "compare it with something" if kind(found) != "null" else ""
        raise ConditionFailed(
            NoAnswer.NOT_A_BOOL, f"a condition is true or false, and this is {a_kind(found)}", tree.place, hint
        )
    return found


def referenced(tree: Node, context: Mapping[str, object]) -> dict[str, object]:
    """The values to which a condition refers, by the text of their paths, as they may be shown; missing ones are left
    out."""
    found: dict[str, object] = {}
    for reference in references(tree):
        text = written(reference)
        if text in found:
            continue
        evaluation = _Evaluation(context)
        try:
            value = evaluation.raw(reference)
        except ConditionFailed:
            continue
        if not isinstance(value, ConditionFailed):
            found[text] = SHOWN if evaluation.reading.was_sensitive else shown(value)
    return found


class _Evaluation:
    """One condition in one context. Each method gives a value, or a ``ConditionFailed`` for what has none."""

    def __init__(self, context: Mapping[str, object]) -> None:
        self._context = context
        self.reading = ContextReading()
        self._effort = 0

    def value(self, node: Node) -> object:
        """The value of a node."""
        return _VALUES[type(node)](self, node)

    def raw(self, node: Name | ValuePath) -> object:
        """What a name or a path leads to, as the context has it."""
        if isinstance(node, Name):
            return self._named(node)
        current = self._named(node.base) if isinstance(node.base, Name) else self.value(node.base)
        for position, step in enumerate(node.steps):
            if isinstance(current, ConditionFailed):
                return current
            current = self.reading.opened(current)
            if isinstance(step, Field):
                current = self._field(current, step.name, node, position)
            else:
                current = self._element(current, step, node, position)
        return current

    def literal(self, node: Literal) -> object:
        return node.value

    def reference(self, node: Name | ValuePath) -> object:
        found = self.raw(node)
        return found if isinstance(found, ConditionFailed) else self.reading.leaf(found, node.place)

    def _named(self, node: Name) -> object:
        if node.name not in self._context:
            close = nearest(node.name, self._context)
            hint = f"did you mean {' or '.join(close)}?" if close else ""
            return ConditionFailed(NoAnswer.UNDEFINED, f'there is no "{node.name}"', node.place, hint)
        return self._context[node.name]

    def _field(self, holder: object, name: str, path: ValuePath, position: int) -> object:
        place = path.steps[position].place
        if not isinstance(holder, Mapping):
            return ConditionFailed(
                NoAnswer.OPERANDS, f"{_before(path, position)} has no fields: it is {a_kind(holder)}", place
            )
        if name in holder:
            return holder[name]
        hint = "ask != _|_ whether it is there"
        if not _is_written(path.steps[position]):
            return ConditionFailed(NoAnswer.UNDEFINED, f"{_before(path, position)} has no such field", place, hint)
        close = [] if self.reading.was_sensitive else nearest(name, (key for key in holder if isinstance(key, str)))
        hint = f"did you mean {' or '.join(close)}?" if close else hint
        return ConditionFailed(NoAnswer.UNDEFINED, f'{_before(path, position)} has no field "{name}"', place, hint)

    def _element(self, holder: object, step: Index, path: ValuePath, position: int) -> object:
        index = self.value(step.index)
        if isinstance(index, ConditionFailed):
            return index
        if isinstance(index, str) and isinstance(holder, Mapping):
            return self._field(holder, index, path, position)
        if kind(index) != "int" or not isinstance(holder, list | tuple):
            what = f"{_before(path, position)} has no elements by {a_kind(index)}: it is {a_kind(holder)}"
            return ConditionFailed(NoAnswer.OPERANDS, what, step.place)
        assert isinstance(index, int)
        if not 0 <= index < len(holder):
            what = "the index is below 0" if index < 0 else f"{_before(path, position)} has no such element"
            return ConditionFailed(NoAnswer.INDEX, what, step.place)
        return holder[index]

    def listing(self, node: Listing) -> object:
        """A list. One with an element that has no value is a list in CUE all the same; here it has no answer."""
        items = [self.value(item) for item in node.items]
        failed = next((item for item in items if isinstance(item, ConditionFailed)), None)
        if failed is not None:
            raise failed
        return items

    def unary(self, node: Unary) -> object:
        found = self.value(node.operand)
        if isinstance(found, ConditionFailed):
            return found
        if node.operator == "!" and isinstance(found, bool):
            return not found
        if node.operator != "!" and is_number(found):
            return arithmetic(node.operator, 0, found, node.place) if node.operator == "-" else found
        return ConditionFailed(NoAnswer.OPERANDS, f"{node.operator} does not go with {a_kind(found)}", node.place)

    # -------------------------------------------------------------------------------------------------- operators

    def chain(self, node: OperatorChain) -> object:
        found = self.value(node.first)
        asks = isinstance(node.first, Bottom)
        for link in node.links:
            found = (
                self._asked(found, link, asks) if asks or isinstance(link.operand, Bottom) else self._link(found, link)
            )
            asks = False
        return found

    def _asked(self, left: object, link: OperatorLink, asks: bool) -> bool:
        """Whether something has a value, or has none: the side that is not ``_|_``."""
        found = self.value(link.operand) if asks else left
        return isinstance(found, ConditionFailed) == (link.operator == "==")

    def _link(self, left: object, link: OperatorLink) -> object:
        right = self.value(link.operand)
        for side in (left, right):
            if isinstance(side, ConditionFailed):
                return side
        return _OPERATORS[link.operator](self, link, left, right)

    def both(self, link: OperatorLink, left: object, right: object) -> object:
        for side in (left, right):
            if not isinstance(side, bool):
                return ConditionFailed(
                    NoAnswer.OPERANDS, f"{link.operator} does not go with {a_kind(side)}", link.place
                )
        return (left and right) if link.operator == "&&" else (left or right)

    def compared(self, link: OperatorLink, left: object, right: object) -> object:
        if left is None or right is None:
            return (left is right) == (link.operator == "==")
        if not _comparable(left, right):
            return _not_compared(link, left, right)
        return self.reading.equal(left, right, link.place) == (link.operator == "==")

    def ordered(self, link: OperatorLink, left: object, right: object) -> object:
        if not _comparable(left, right) or not (is_number(left) or isinstance(left, str)):
            return _not_compared(link, left, right)
        return _ORDERS[link.operator](left, right)

    def matched(self, link: OperatorLink, left: object, right: object) -> object:
        if not isinstance(left, str) or not isinstance(right, str):
            wrong = left if not isinstance(left, str) else right
            return ConditionFailed(NoAnswer.OPERANDS, f"{link.operator} does not go with {a_kind(wrong)}", link.place)
        return self._found(right, left, link.place) == (link.operator == "=~")

    def _found(self, text: str, value: str, place: TextRange) -> bool:
        """Whether a pattern is found in a value. Nothing of a pattern that the context holds is told."""
        try:
            wanted = pattern(text)
            self._effort += min(wanted.effort(value), MOST_EFFORT // 5)
            if self._effort > MOST_EFFORT:
                raise TooMuchWork
            return wanted.found_in(value)
        except NotAPattern:
            raise ConditionFailed(
                NoAnswer.PATTERN, "the text is not a regular expression, or one that is not supported", place
            ) from None
        except TooMuchWork:
            raise ConditionFailed(NoAnswer.TOO_MUCH, "the value is too long for the pattern", place) from None

    def computed(self, link: OperatorLink, left: object, right: object) -> object:
        return arithmetic(link.operator, left, right, link.place)

    # ------------------------------------------------------------------------------------------------------ bounds

    def meet(self, node: Meet) -> object:
        values = [o for o in node.operands if not isinstance(o, Bound | AllOfKind)]
        found = self.value(values[0])
        for other in values[1:]:
            found = self._met(found, self.value(other), other.place)
        for operand in node.operands:
            if isinstance(found, ConditionFailed):
                return found
            if isinstance(operand, Bound):
                found = self._bounded(found, operand)
            elif isinstance(operand, AllOfKind):
                found = _of_kind(found, operand)
        return found

    def _met(self, one: object, other: object, place: TextRange) -> object:
        for side in (one, other):
            if isinstance(side, ConditionFailed):
                return side
        if self.reading.identical(one, other, place):
            return one
        return ConditionFailed(NoAnswer.CONFLICT, "the values on both sides of & are not the same", place)

    def _bounded(self, value: object, bound: Bound) -> object:
        limit = self.value(bound.operand)
        if isinstance(limit, ConditionFailed):
            return limit
        conflict = ConditionFailed(NoAnswer.CONFLICT, f"the value is not in the bound {_short(bound)}", bound.place)
        if bound.operator == "!=" and limit is None:
            return conflict if value is None else value
        if bound.operator == "!=" and kind(limit) in {"bool", "list", "struct"}:
            raise ConditionFailed(
                NoAnswer.NOT_SUPPORTED, f"bounds by {a_kind(limit)} are not supported", bound.place, "write a != b"
            )
        if not _comparable(value, limit) or not (is_number(limit) or isinstance(limit, str)):
            return conflict
        if bound.operator in {"=~", "!~"} and not isinstance(limit, str):
            return conflict
        link = OperatorLink(bound.operator, bound.operand, bound.place)
        return value if _OPERATORS[bound.operator](self, link, value, limit) is True else conflict

    # --------------------------------------------------------------------------------------------------- functions

    def call(self, node: CalledFunction) -> object:
        arguments = [self.value(argument) for argument in node.arguments]
        for argument in arguments:
            if isinstance(argument, ConditionFailed):
                return argument
        if node.function == "len":
            return _length(arguments[0], node.place)
        if node.function == "list.Contains":
            return self._contains(arguments[0], arguments[1], node.place)
        text, part = arguments
        if not isinstance(text, str) or not isinstance(part, str):
            wrong = text if not isinstance(text, str) else part
            return ConditionFailed(
                NoAnswer.OPERANDS, f"{node.function} takes two strings, and is given {a_kind(wrong)}", node.place
            )
        return _TEXT_FUNCTIONS[node.function](text, part)

    def _contains(self, items: object, item: object, place: TextRange) -> object:
        if not isinstance(items, list | tuple):
            return ConditionFailed(
                NoAnswer.OPERANDS, f"list.Contains takes a list, and is given {a_kind(items)}", place
            )
        return any(self.reading.identical(one, item, place) for one in items)

    def bottom(self, node: Bottom) -> object:
        return ConditionFailed(NoAnswer.UNDEFINED, "_|_ has no value", node.place)


_VALUES: dict[type, Callable[[_Evaluation, Any], object]] = {
    Literal: _Evaluation.literal,
    Name: _Evaluation.reference,
    ValuePath: _Evaluation.reference,
    Listing: _Evaluation.listing,
    Unary: _Evaluation.unary,
    OperatorChain: _Evaluation.chain,
    Meet: _Evaluation.meet,
    CalledFunction: _Evaluation.call,
    Bottom: _Evaluation.bottom,
}
"""By class of node, the function that evaluates it; bounds and kinds have no value, and occur in a ``Meet`` only."""

_OPERATORS: dict[str, Callable[[_Evaluation, OperatorLink, object, object], object]] = {
    "||": _Evaluation.both,
    "&&": _Evaluation.both,
    "==": _Evaluation.compared,
    "!=": _Evaluation.compared,
    **dict.fromkeys(_ORDERS, _Evaluation.ordered),
    **dict.fromkeys(("=~", "!~"), _Evaluation.matched),
    **dict.fromkeys("+-*/", _Evaluation.computed),
}

_TEXT_FUNCTIONS: dict[str, Callable[[str, str], bool]] = {
    "strings.HasPrefix": str.startswith,
    "strings.HasSuffix": str.endswith,
    "strings.Contains": operator.contains,
}


def _comparable(left: object, right: object) -> bool:
    return kind(left) == kind(right) or (is_number(left) and is_number(right))


def _not_compared(link: OperatorLink, left: object, right: object) -> ConditionFailed:
    what = f"{link.operator} does not compare {a_kind(left)} with {a_kind(right)}"
    return ConditionFailed(NoAnswer.OPERANDS, what, link.place)


def _of_kind(value: object, wanted: AllOfKind) -> object:
    if wanted.name == kind(value) or (wanted.name == "number" and is_number(value)):
        return value
    return ConditionFailed(NoAnswer.CONFLICT, f"the value is {a_kind(value)}, not {wanted.name}", wanted.place)


def _length(value: object, place: TextRange) -> object:
    """As in CUE, the bytes of a text, the elements of a list, the fields of a struct."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, list | tuple | Mapping):
        return len(value)
    return ConditionFailed(NoAnswer.OPERANDS, f"{a_kind(value)} has no length", place)


def _is_written(step: Field | Index) -> bool:
    """Whether the name of a field stands in the condition; else it is a value, which is not told."""
    return isinstance(step, Field) or isinstance(step.index, Literal)


def _before(path: ValuePath, position: int) -> str:
    """The text of what a step of a path is taken from."""
    return _short(ValuePath(path.base, path.steps[:position], path.place) if position else path.base)


def _short(node: Node) -> str:
    text = written(node)
    return text if len(text) <= MOST_OF_TEXT else f"{text[:MOST_OF_TEXT]}..."
