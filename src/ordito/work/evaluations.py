"""Conditions that must hold in several evaluations: what triggers remember, and how values are combined (§3.6.22.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec

from ordito.base.scalar_units import UNITS, NotAScalarUnit, amount, canonical
from ordito.base.sensitive import Sensitive, is_sensitive, revealed
from ordito.instances.conditions import About, ConditionEvaluator, Verdict
from ordito.instances.context import EvaluationError, Nothing, Trace
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Data
from ordito.model.imperative import Assertion, Condition, Trigger
from ordito.model.schema import Schema

MOST_REMEMBERED = 10_000
"""How many evaluations a trigger remembers for one entity."""

LAST, COUNT, AVERAGE = "last", "count", "average"


class Evaluation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One evaluation of a trigger's condition: when it was, in seconds since the epoch, whether the condition held, and
    the values that the attributes had then, by their names; some may be sensitive."""

    at: float
    holds: bool
    values: Mapping[str, object] = {}


class Evaluated(msgspec.Struct, frozen=True):
    """The result of one more evaluation: whether the condition exists now, why not (``said``), and what is to be
    remembered: nothing once it exists, so that counting begins again."""

    exists: bool
    said: str = ""
    remembered: tuple[Evaluation, ...] = ()


def evaluate_once_more(
    evaluator: Evaluator, trigger: Trigger, about: About | None, at: float, before: Sequence[Evaluation]
) -> Evaluated:
    """Evaluate the condition of a trigger about an entity (None if the event alone counts), at a moment.

    It exists once it has held in as many evaluations as the trigger asks for: with a period in that many of those
    within it, however many did not; without one in that many in a row. What is compared is the value that the method
    makes of those of these evaluations.
    """
    wanted, period = wanted_of(trigger), period_of(trigger)
    conditions = ConditionEvaluator(evaluator)
    condition = trigger.condition
    values = _values(conditions, condition, about) if condition is not None and about is not None else {}
    recent = _recent(before, at, period, wanted)
    window = [*recent, Evaluation(at, holds=False, values=values)]
    verdict = Verdict(holds=True)
    if condition is not None and about is not None:
        asked = conditions if trigger.method == LAST else Combined(evaluator, trigger.method, window)
        verdict = asked.of(condition, about)
    window[-1] = Evaluation(at, holds=verdict.holds, values=values)
    hits = sum(e.holds for e in window) if period else len(list(_tail(window)))
    if verdict.holds and hits >= wanted:
        return Evaluated(exists=True)
    remembered = tuple(window[-MOST_REMEMBERED:]) if remembers(trigger) else ()
    return Evaluated(exists=False, said=_said(verdict, hits, wanted, trigger), remembered=remembered)


def wanted_of(trigger: Trigger) -> int:
    """The number of evaluations in which the condition of a trigger must hold."""
    return max(1, trigger.evaluations or 1)


def period_of(trigger: Trigger) -> float:
    """The seconds within which it must hold that often; 0 for no period."""
    return float(amount(trigger.period, "scalar-unit.time")) if trigger.period else 0.0


def remembers(trigger: Trigger) -> bool:
    """Whether evaluations of a trigger's condition depend on earlier ones."""
    return bool(trigger.period) or wanted_of(trigger) > 1


def _recent(before: Sequence[Evaluation], at: float, period: float, wanted: int) -> list[Evaluation]:
    if period:
        return [e for e in before if at - period < e.at <= at]
    return list(before[-(wanted - 1) :]) if wanted > 1 else []


def _tail(window: Sequence[Evaluation]) -> Iterator[Evaluation]:
    """The last evaluations that held, up to one that did not."""
    for one in reversed(window):
        if not one.holds:
            return
        yield one


def _said(verdict: Verdict, hits: int, wanted: int, trigger: Trigger) -> str:
    if wanted == 1:
        return f"its condition does not hold: {verdict}"
    within = f" within {trigger.period}" if trigger.period else " in a row"
    held = f"its condition has held in {hits} of {wanted} evaluations{within}"
    return held if verdict.holds else f"{held}; now it does not: {verdict}"


def _values(conditions: ConditionEvaluator, condition: Condition, about: About) -> dict[str, object]:
    """The values of the attributes that a condition is about, of those that have one."""
    found: dict[str, object] = {}
    for name in dict.fromkeys(_names(condition)):
        try:
            value = conditions.value(about, name)
        except EvaluationError:
            continue
        if value is not None and not isinstance(value, Nothing):
            found[name] = value
    return found


def _names(condition: Condition) -> Iterator[str]:
    """Conditions nest no deeper than documents do, so recursion is safe here."""
    for part in condition.parts:
        if isinstance(part, Assertion):
            yield part.attribute
        else:
            yield from _names(part)


class Combined(ConditionEvaluator):
    """Conditions about what a method makes of the values that several evaluations have found. Numbers and scalars with
    a unit are combined; of anything else the last value counts, and ``count`` counts whatever it is."""

    def __init__(self, evaluator: Evaluator, method: str, window: Sequence[Evaluation]) -> None:
        super().__init__(evaluator)
        self._method = method
        self._window = window

    def value(self, about: About, name: str, trace: Trace | None = None) -> Data | Nothing:
        """The value that the method makes of those that the attribute had."""
        found = [e.values[name] for e in self._window if name in e.values]
        if not found:
            return super().value(about, name, trace)
        combined = combine([revealed(value) for value in found], self._method)
        return Sensitive(combined) if any(map(is_sensitive, found)) else combined

    def _misfit(self, value: object, schema: Schema | None) -> str:
        # The average of integers is compared, though it need not be one.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if is_number else super()._misfit(value, schema)


def combine(values: Sequence[object], method: str) -> object:
    """What a method (``last``, ``count``, ``average``, ``sum``, ``minimum``, ``maximum``) makes of values, of which
    there is one at least."""
    if method == COUNT:
        return len(values)
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(values):
        return _combined(numbers, method)
    kind = _unit(values)
    if kind is None or method == LAST:
        return values[-1]
    amounts = [amount(canonical(str(value), kind), kind) for value in values]
    base = next(unit for unit, factor in UNITS[kind].items() if factor == 1)
    return f"{float(_exact(amounts, method)):.12g} {base}"


def _combined(numbers: Sequence[int | float], method: str) -> int | float:
    if method == LAST:
        return numbers[-1]
    if method == "minimum":
        return min(numbers)
    if method == "maximum":
        return max(numbers)
    total = sum(numbers)
    return total / len(numbers) if method == AVERAGE else total


def _exact(amounts: Sequence[Fraction], method: str) -> Fraction:
    if method == "minimum":
        return min(amounts)
    if method == "maximum":
        return max(amounts)
    total = sum(amounts, Fraction(0))
    return total / len(amounts) if method == AVERAGE else total


def _unit(values: Sequence[object]) -> str | None:
    """The kind of scalar with a unit that all values are; None for none."""
    for kind in UNITS:
        try:
            for value in values:
                canonical(value if isinstance(value, str) else "", kind)
        except NotAScalarUnit:
            continue
        return kind
    return None
