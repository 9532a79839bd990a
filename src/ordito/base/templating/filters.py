"""The filters of template strings: each says before it runs how large its result will be."""

from __future__ import annotations

import base64
import functools
import json
import math
import posixpath
import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from jinja2 import Undefined

from ordito.base.templating.written import WrittenNumber
from ordito.base.text import as_text

FROM_JINJA = (
    *("map", "select", "reject", "selectattr", "rejectattr", "unique", "sort", "dictsort", "min", "max"),
    *("first", "last", "items", "groupby"),
)
MOST_INDENT = 100
MOST_DECIMALS = 20


def filters(budget: Budget, given: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """All filters by name, whose work counts against a budget; ``given`` are those of Jinja."""
    own: dict[str, Callable[..., Any]] = {
        "default": _default,
        "d": _default,
        "lower": lambda value: text_of(value).lower(),
        "upper": lambda value: text_of(value).upper(),
        "capitalize": lambda value: text_of(value).capitalize(),
        "title": lambda value: text_of(value).title(),
        "trim": lambda value, letters=None: text_of(value).strip(letters),
        "replace": functools.partial(_replace, budget),
        "join": functools.partial(_join, budget),
        "split": lambda value, by=None: text_of(value).split(by),
        "indent": functools.partial(_indent, budget),
        "length": len,
        "count": len,
        "list": list,
        "reverse": lambda value: value[::-1] if isinstance(value, str) else list(value)[::-1],
        "string": text_of,
        "int": _int,
        "float": _float,
        "abs": abs,
        "round": _round,
        "sum": _sum,
        "bool": _bool,
        "tojson": lambda value: msgspec.json.encode(plain_of(value)).decode(),
        "fromjson": lambda value: json.loads(text_of(value)),
        "b64encode": lambda value: base64.b64encode(text_of(value).encode()).decode(),
        "b64decode": lambda value: base64.b64decode(text_of(value), validate=True).decode(),
        "urlencode": lambda value: quote(text_of(value), safe=""),
        "quote": lambda value: shlex.quote(text_of(value)),
        "basename": lambda value: posixpath.basename(text_of(value)),
        "dirname": lambda value: posixpath.dirname(text_of(value)),
    }
    found = {name: _counted(filter_, budget) for name, filter_ in own.items()}
    found.update({name: _counted(given[name], budget) for name in FROM_JINJA})
    found["_weighed"] = functools.partial(_weighed, budget)
    found["_counted"] = functools.partial(_passes, budget)
    found["_joined"] = lambda parts: _join(budget, parts)
    return found


def text_of(value: object) -> str:
    """The text of a value inside a text: as operations see it, with numbers as they were written."""
    if isinstance(value, str):
        return value
    if isinstance(value, Undefined):
        return str(value)  # Says what is not there.
    return as_text(plain_of(value)) if not isinstance(value, WrittenNumber) else value.written


def plain_of(value: object) -> object:
    """Plain data: numbers without the memory of how they were written."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return finite(float(value))
    if isinstance(value, Mapping):
        return {text_of(key): plain_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_of(item) for item in value]
    return text_of(value) if isinstance(value, str | Undefined) else [plain_of(v) for v in _iterable(value)]


def finite(value: float) -> float:
    """The number itself. Raises ``ValueError`` for infinity and NaN, which no file can hold."""
    if not math.isfinite(value):
        raise ValueError("it computes a number that is too large, or not a number")
    return value


def _counted(filter_: Callable[..., Any], budget: Budget) -> Callable[..., Any]:
    """A filter whose work counts: what goes in, and what comes out."""

    def run(*arguments: Any, **named: Any) -> Any:
        budget.spend(weight(arguments) + weight(named))
        found = filter_(*arguments, **named)
        if not isinstance(found, str | list | tuple | dict) and isinstance(found, Iterable):
            found = list(_passes(budget, found)) if not isinstance(found, Undefined) else found
        budget.spend(weight(found))
        return found

    # Jinja sees by this whether a filter wants its context.
    run.__dict__.update(getattr(filter_, "__dict__", {}))
    return run


def _weighed(budget: Budget, value: Any) -> Any:
    budget.spend(weight(value))
    return value


def _passes(budget: Budget, values: Iterable[Any], work: int = 1) -> Iterable[Any]:
    for value in _iterable(values):
        budget.spend(work)
        yield value


def _iterable(value: Any) -> Iterable[Any]:
    if not isinstance(value, Iterable):
        raise TypeError(f"{type(value).__name__} is not a list")
    return value


def _default(value: Any, fallback: Any = "", boolean: bool = False) -> Any:
    return fallback if isinstance(value, Undefined) or (boolean and not value) else value


def _replace(budget: Budget, value: Any, old: str, new: str) -> str:
    text = text_of(value)
    budget.spend(len(text) + (text.count(old) * len(text_of(new))))
    return text.replace(old, text_of(new))


def _join(budget: Budget, values: Iterable[Any], by: str = "") -> str:
    texts = []
    for value in _iterable(values):
        texts.append(text_of(value))
        budget.spend(len(texts[-1]) + len(by) + 1)
    return by.join(texts)


def _indent(budget: Budget, value: Any, width: int = 4, first: bool = False) -> str:
    if not 0 <= width <= MOST_INDENT:
        raise ValueError(f"the width of an indentation is 0 to {MOST_INDENT}")
    lines = text_of(value).split("\n")
    budget.spend(len(lines) * width)
    margin = " " * width
    return "\n".join(margin + line if line and (first or number) else line for number, line in enumerate(lines))


def _round(value: Any, decimals: int = 0) -> Any:
    if abs(decimals) > MOST_DECIMALS:
        raise ValueError(f"numbers are rounded to at most {MOST_DECIMALS} decimals")
    return round(value, decimals) if decimals else round(value)


def _int(value: Any, base: int = 10) -> int:
    try:
        return int(value, base) if isinstance(value, str) else int(value)
    except ValueError as error:
        # What Python says quotes the text, which may be the value of a sensitive input.
        raise ValueError("int is given a value that is not a whole number") from error


def _float(value: Any) -> float:
    try:
        return finite(float(value))
    except ValueError as error:
        raise ValueError("float is given a value that is not a number") from error


def _sum(values: Iterable[Any]) -> Any:
    total: Any = 0
    for value in _iterable(values):
        if not isinstance(value, int | float):
            raise TypeError("only numbers are summed up")
        total += value
    return total


def _bool(value: Any) -> bool:
    found = {"true": True, "false": False}.get(text_of(value).lower())
    if found is None:
        raise ValueError("a truth value is true or false")
    return found


# How much work one template may make: everything that could take long or grow counts what it costs, and the same
# template costs the same everywhere.

MOST_WORK = 2_000_000
"""How many characters and entries a template may read or make, counted in each pass of a loop."""


class OverBudget(Exception):
    """A template needs too much work, or makes too large a value."""


class Budget:
    """How much work is left. A template and those whose values it uses share one budget."""

    def __init__(self) -> None:
        self._left = MOST_WORK
        self._depth = 0

    def enter(self) -> None:
        """Begin a template: the outermost one has the whole budget."""
        if self._depth == 0:
            self._left = MOST_WORK
        self._depth += 1

    def leave(self) -> None:
        """End a template."""
        self._depth -= 1

    def spend(self, work: int) -> None:
        """Count work before it is done. Raises ``OverBudget`` where it is too much."""
        self._left -= work
        if self._left < 0:
            raise OverBudget(f"it needs more work than the {MOST_WORK:,} characters and entries that are permitted")


def weight(value: object) -> int:
    """The size of a value: its characters, and one for each entry and each single value in it."""
    total = 0
    waiting = [value]
    while waiting:
        current = waiting.pop()
        total += 1
        if isinstance(current, str):
            total += len(current)
        elif isinstance(current, dict):
            waiting.extend(current)
            waiting.extend(current.values())
        elif isinstance(current, list | tuple):
            waiting.extend(current)
        elif isinstance(current, range):
            total += len(current)
        if total > MOST_WORK:
            break
    return total
