"""The keywords of JSON Schema, one function each: it says what is wrong with a value, "" where nothing is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from ordito.base.patterns import TooMuchWork, compile_pattern

MOST_EFFORT = 2_000_000
"""How long the check of one value may take, in microseconds, roughly."""
MOST_LEVELS = 100

Check = Callable[["KeywordSpot", Any, Any], str]
"""The function of a keyword. It gets where the keyword stands, its value in the schema, and the value to check."""


class TooMuchToCheck(ValueError):
    """Checking a value would take too long, or never end."""


class SchemaCheck:
    """The check of one value by a schema: where references lead, and how much work has been done."""

    def __init__(self, targets: Mapping[str, Any], *, siblings: bool) -> None:
        self.targets = targets
        self.siblings = siblings
        """Whether keywords beside ``$ref`` count, which they do since the draft of 2019."""
        self._effort = 0
        self._level = 0

    def spend(self, effort: int) -> None:
        """Count work that is about to be done. Raises ``TooMuchToCheck`` where it is more than allowed."""
        self._effort += effort
        if self._effort > MOST_EFFORT:
            raise TooMuchToCheck("it takes too long to check it by its schema")

    def check(self, value: Any, schema: Any, at: str) -> str:
        """What is wrong with a value by a schema, "" where nothing is; ``at`` is the value's place in the document."""
        if isinstance(schema, bool):
            return "" if schema else f"{KeywordSpot(self, {}, at)} is not allowed"
        self._level += 1
        if self._level > MOST_LEVELS:
            raise TooMuchToCheck("it cannot be checked, since its schema leads too deep")
        spot = KeywordSpot(self, schema, at)
        alone = "$ref" in schema and not self.siblings
        for keyword, wanted in schema.items():
            if alone and keyword != "$ref":
                continue
            check = KEYWORDS.get(keyword)
            self.spend(1 + (len(wanted) if isinstance(wanted, list | dict) else 0))
            problem = check(spot, wanted, value) if check is not None else ""
            if problem:
                self._level -= 1
                return problem
        self._level -= 1
        return ""


class KeywordSpot(msgspec.Struct):
    """A keyword applied to a value."""

    frame: SchemaCheck
    """The check that this is part of."""
    schema: Mapping[str, Any]
    """The schema in which the keyword stands."""
    at: str
    """The place of the value in its document."""

    def check(self, value: Any, schema: Any, part: object = "") -> str:
        """What is wrong with the same value, or with a ``part`` of it, by another schema; "" where nothing is."""
        return self.frame.check(value, schema, f"{self.at}/{part}" if part != "" else self.at)

    def fits(self, value: Any, schema: Any, part: object = "") -> bool:
        """Whether a value is what another schema asks for."""
        return not self.check(value, schema, part)

    def __str__(self) -> str:
        return f'"{self.at}"' if self.at else "the value"


def same(frame: SchemaCheck, value: Any) -> Any:
    """A form of a JSON value that is equal where JSON values are: 1 equals 1.0, but true does not equal 1."""
    frame.spend(1)
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", tuple(same(frame, v) for v in value))
    if isinstance(value, dict):
        return ("dict", frozenset((k, same(frame, v)) for k, v in value.items()))
    return value


def shown(value: Any) -> str:
    """A value as messages show it."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str) and len(value) > 60:
        value = f"{value[:60]}..."
    return msgspec.json.encode(value).decode()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


IS_TYPE: dict[str, Callable[[Any], bool]] = {
    "array": lambda v: isinstance(v, list),
    "boolean": lambda v: isinstance(v, bool),
    "integer": _is_integer,
    "null": lambda v: v is None,
    "number": _is_number,
    "object": lambda v: isinstance(v, dict),
    "string": lambda v: isinstance(v, str),
}


def _type(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    names = wanted if isinstance(wanted, list) else [wanted]
    if any(IS_TYPE[n](value) for n in names):
        return ""
    return f"{spot} is {shown(value)}, not of type {' or '.join(names)}"


def _enum(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    kept = same(spot.frame, value)
    if any(same(spot.frame, w) == kept for w in wanted):
        return ""
    return f"{spot} is {shown(value)}, not one of {', '.join(shown(w) for w in wanted[:12])}"


def _const(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    return (
        "" if same(spot.frame, value) == same(spot.frame, wanted) else f"{spot} is {shown(value)}, not {shown(wanted)}"
    )


def _bound(low: bool, excluding: str) -> Check:
    """``minimum`` (or ``maximum``), with the flag by which draft 4 excludes the bound itself."""

    def check(spot: KeywordSpot, wanted: Any, value: Any) -> str:
        if not _is_number(value):
            return ""
        beyond = value < wanted if low else value > wanted
        if beyond or (value == wanted and spot.schema.get(excluding) is True):
            return f"{spot} is {shown(value)}, which is {'below' if low else 'above'} {shown(wanted)}"
        return ""

    return check


def _exclusive(low: bool) -> Check:
    def check(spot: KeywordSpot, wanted: Any, value: Any) -> str:
        if isinstance(wanted, bool) or not _is_number(value) or (value > wanted if low else value < wanted):
            return ""
        return f"{spot} is {shown(value)}, which is not {'above' if low else 'below'} {shown(wanted)}"

    return check


def _multiple(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not _is_number(value) or (Fraction(str(value)) / Fraction(str(wanted))).denominator == 1:
        return ""
    return f"{spot} is {shown(value)}, which is not a multiple of {shown(wanted)}"


def _size(kind: type, least: bool, unit: str) -> Check:
    def check(spot: KeywordSpot, wanted: Any, value: Any) -> str:
        if not isinstance(value, kind) or (len(value) >= wanted if least else len(value) <= wanted):  # type: ignore[arg-type]
            return ""
        size = len(value)  # type: ignore[arg-type]
        return f"{spot} has {size} {unit}, {'fewer' if least else 'more'} than {shown(wanted)}"

    return check


def _found(frame: SchemaCheck, text: str, value: str) -> bool:
    pattern = compile_pattern(text)
    frame.spend(pattern.effort(value))
    try:
        return pattern.found_in(value)
    except TooMuchWork as error:
        raise TooMuchToCheck(f"a text in it {error}") from None


def _pattern(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, str) or _found(spot.frame, wanted, value):
        return ""
    return f"{spot} is {shown(value)}, which does not match {wanted}"


def _items(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, list):
        return ""
    if isinstance(wanted, list):
        return _each(spot, zip(value, wanted, strict=False))
    start = len(spot.schema.get("prefixItems", ()))
    return _each(spot, ((v, wanted) for v in value[start:]), start)


def _prefix_items(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    return _each(spot, zip(value, wanted, strict=False)) if isinstance(value, list) else ""


def _additional_items(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    first = spot.schema.get("items")
    if not isinstance(value, list) or not isinstance(first, list):
        return ""
    return _each(spot, ((v, wanted) for v in value[len(first) :]), len(first))


def _each(spot: KeywordSpot, pairs: Any, start: int = 0) -> str:
    problems = (spot.check(v, s, n) for n, (v, s) in enumerate(pairs, start))
    return next((p for p in problems if p), "")


def _contains(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, list):
        return ""
    least, most = spot.schema.get("minContains", 1), spot.schema.get("maxContains", len(value))
    count = sum(spot.fits(v, wanted, n) for n, v in enumerate(value))
    return "" if least <= count <= most else f"{spot} has {count} entries of the kind that it must contain"


def _unique(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not wanted or not isinstance(value, list) or len({same(spot.frame, v) for v in value}) == len(value):
        return ""
    return f"{spot} has the same entry twice"


def _properties(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    problems = (spot.check(value[n], s, n) for n, s in wanted.items() if n in value)
    return next((p for p in problems if p), "")


def _pattern_properties(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    problems = (spot.check(v, s, n) for p, s in wanted.items() for n, v in value.items() if _found(spot.frame, p, n))
    return next((p for p in problems if p), "")


def _additional(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    named, patterns = spot.schema.get("properties", {}), spot.schema.get("patternProperties", {})
    for name, inner in value.items():
        if name in named or any(_found(spot.frame, p, name) for p in patterns):
            continue
        problem = spot.check(inner, wanted, name)
        if problem:
            return problem
    return ""


def _property_names(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    problems = (spot.check(n, wanted, n) for n in (value if isinstance(value, dict) else ()))
    return next((p for p in problems if p), "")


def _required(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    missing = next((n for n in wanted if n not in value), None)
    return "" if missing is None else f'{spot} lacks "{missing}"'


def _dependencies(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    for name, asked in wanted.items() if isinstance(value, dict) else ():
        if name not in value:
            continue
        problem = _required(spot, asked, value) if isinstance(asked, list) else spot.check(value, asked)
        if problem:
            return problem
    return ""


def _all_of(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    return next((p for p in (spot.check(value, s) for s in wanted) if p), "")


def _any_of(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    problems = []
    for inner in wanted:
        problem = spot.check(value, inner)
        if not problem:
            return ""
        problems.append(problem)
    return problems[0] if len(problems) == 1 else f"{spot} fits none of the {len(problems)} kinds that are allowed"


def _one_of(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    count = sum(spot.fits(value, s) for s in wanted)
    return "" if count == 1 else f"{spot} fits {count} of the {len(wanted)} kinds of which it must fit one"


def _not(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    return f"{spot} is {shown(value)}, which is excluded" if spot.fits(value, wanted) else ""


def _if(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    branch = "then" if spot.fits(value, wanted) else "else"
    return spot.check(value, spot.schema[branch]) if branch in spot.schema else ""


def _ref(spot: KeywordSpot, wanted: Any, value: Any) -> str:
    return spot.check(value, spot.frame.targets[wanted])


KEYWORDS: dict[str, Check] = {
    "$ref": _ref,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound(True, "exclusiveMinimum"),
    "maximum": _bound(False, "exclusiveMaximum"),
    "exclusiveMinimum": _exclusive(True),
    "exclusiveMaximum": _exclusive(False),
    "multipleOf": _multiple,
    "minLength": _size(str, True, "characters"),
    "maxLength": _size(str, False, "characters"),
    "pattern": _pattern,
    "items": _items,
    "prefixItems": _prefix_items,
    "additionalItems": _additional_items,
    "minItems": _size(list, True, "entries"),
    "maxItems": _size(list, False, "entries"),
    "uniqueItems": _unique,
    "contains": _contains,
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "minProperties": _size(dict, True, "fields"),
    "maxProperties": _size(dict, False, "fields"),
    "dependencies": _dependencies,
    "dependentRequired": _dependencies,
    "dependentSchemas": _dependencies,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}
"""The keywords that say something about values; all others annotate."""
