"""JSON Schema: whether a JSON document meets a schema (drafts 4 to 2020-12, TOSCA 1.3 §3.6.3.2, §5.3.2).

It is a validator of our own, since schemas and values come from anywhere: it fetches nothing, and both patterns and the
whole check are limited in time. ``format`` and other keywords that only annotate are ignored. Keywords that depend on
other documents, or on which parts of a schema have been evaluated, are not supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from ordito.base.json_keywords import SchemaCheck, TooMuchToCheck
from ordito.base.patterns import compile_pattern

MOST_LEVELS = 50
TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMA_MAPS = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas")
SCHEMAS = ("not", "additionalProperties", "additionalItems", "contains", "propertyNames", "if", "then", "else")
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
DYNAMIC = ("$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems")
OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")


class SchemaNotSupported(ValueError):
    """The schema may be valid, but uses keywords or references that cannot be checked here."""


class JsonSchema:
    """A valid schema. Raises ``ValueError`` with the reason for a text that is not a schema, and
    ``SchemaNotSupported`` for a schema that cannot be applied."""

    def __init__(self, text: str) -> None:
        self._root = read_json(text)
        old = isinstance(self._root, dict) and str(self._root.get("$schema", ""))
        self._old = any(draft in old for draft in OLD_DRAFTS) if old else False
        self._anchors: dict[str, Any] = {}
        self._targets: dict[str, Any] = {}
        self._checked: set[int] = set()
        self._refers: list[str] = []
        self._check(self._root)

    def violation(self, text: str) -> str:
        """What is wrong with a JSON document by this schema, "" where nothing is. Raises ``ValueError`` for a text that
        is not JSON, or is nested too deeply."""
        value = read_json(text)
        frame = SchemaCheck(self._targets, siblings=not self._old)
        try:
            return frame.check(value, self._root, "")
        except TooMuchToCheck as error:
            return str(error)

    def _check(self, root: Any) -> None:
        """Check a schema and all that it leads to, without recursion."""
        waiting = [root]
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, dict) and id(schema) not in self._checked:
                self._checked.add(id(schema))
                self._check_keywords(schema)
                self._note_names(schema)
                waiting.extend(_inner(schema))
            elif not isinstance(schema, dict | bool):
                raise ValueError(f"a schema is an object, not {_shown(schema)}")
            if not waiting:
                waiting.extend(self._referred())

    def _check_keywords(self, schema: dict[str, Any]) -> None:
        for keyword in DYNAMIC:
            if keyword in schema:
                raise SchemaNotSupported(f'"{keyword}" is not supported')
        for keyword, value in schema.items():
            problem = _problem(keyword, value)
            if problem:
                raise ValueError(f'"{keyword}" {problem}')
        if "$ref" in schema:
            self._refers.append(schema["$ref"])

    def _note_names(self, schema: dict[str, Any]) -> None:
        for keyword in ("id", "$id", "$anchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                self._anchors.setdefault(f"#{name}" if keyword == "$anchor" else name, schema)

    def _referred(self) -> Iterator[Any]:
        """The schemas that references lead to."""
        refers, self._refers = self._refers, []
        for refer in refers:
            if refer not in self._targets:
                self._targets[refer] = self._target(refer)
            yield self._targets[refer]

    def _target(self, refer: str) -> Any:
        if refer in self._anchors:
            return self._anchors[refer]
        base, _, pointer = refer.partition("#")
        start = self._root if not base else self._anchors.get(base, self._anchors.get(f"{base}#"))
        if start is None:
            raise SchemaNotSupported(f'"{refer}" leads to another document, which is not fetched')
        if not pointer:
            return start
        if not pointer.startswith("/"):
            raise ValueError(f'"{refer}" leads nowhere')
        for part in unquote(pointer).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(start, dict) and name in start:
                start = start[name]
            elif (
                isinstance(start, list)
                and name.isascii()
                and name.isdecimal()
                and len(name) < 7
                and int(name) < len(start)
            ):
                start = start[int(name)]
            else:
                raise ValueError(f'"{refer}" leads nowhere')
        return start


def read_json(text: str) -> Any:
    """A JSON document as plain data. Raises ``ValueError`` where the text is not JSON, or is nested too deeply."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError) as error:
        raise ValueError(f"it is not valid JSON: {error}") from None
    level, deeper = 0, [value]
    while deeper:
        level += 1
        if level > MOST_LEVELS:
            raise ValueError(f"its JSON is nested deeper than {MOST_LEVELS} levels")
        containers = [c for c in deeper if isinstance(c, dict | list)]
        deeper = [v for c in containers for v in (c.values() if isinstance(c, dict) else c)]
    return value


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    """The schemas directly inside a schema."""
    for keyword in SCHEMAS:
        if keyword in schema:
            yield schema[keyword]
    for keyword in SCHEMA_LISTS:
        yield from schema.get(keyword, ())
    for keyword in SCHEMA_MAPS:
        yield from schema.get(keyword, {}).values()
    items = schema.get("items", True)
    yield from items if isinstance(items, list) else [items]
    yield from (d for d in schema.get("dependencies", {}).values() if not isinstance(d, list))


def _problem(keyword: str, value: Any) -> str:
    """What is wrong with the value of a keyword; "" where nothing is, or it is none that is known."""
    if keyword in SCHEMA_LISTS:
        return "" if isinstance(value, list) and value else "needs a list of schemas"
    if keyword in SCHEMA_MAPS:
        if not isinstance(value, Mapping):
            return "needs an object of schemas"
        return next(filter(None, map(_bad_pattern, value)), "") if keyword == "patternProperties" else ""
    if keyword in COUNTS:
        return "" if _is_count(value) else "needs a whole number of at least 0"
    if keyword in NUMBERS:
        return _bad_number(keyword, value)
    check = OTHERS.get(keyword)
    return check(value) if check is not None else ""


def _bad_number(keyword: str, value: Any) -> str:
    if isinstance(value, bool):
        return "" if keyword.startswith("exclusive") else "needs a number"
    if not isinstance(value, int | float):
        return "needs a number"
    return "needs a number above 0" if keyword == "multipleOf" and value <= 0 else ""


def _bad_pattern(text: Any) -> str:
    if not isinstance(text, str):
        return "needs a text"
    try:
        compile_pattern(text)
    except ValueError as error:
        return f"holds {text}: {error}"
    return ""


def _is_count(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool) and value >= 0) or (
        isinstance(value, float) and value >= 0 and value.is_integer()
    )


def _bad_type(value: Any) -> str:
    names = value if isinstance(value, list) else [value]
    good = bool(names) and all(isinstance(n, str) and n in TYPES for n in names)
    return "" if good else f"needs one of {', '.join(sorted(TYPES))}, not {_shown(value)}"


def _bad_names(value: Any) -> str:
    return "" if isinstance(value, list) and all(isinstance(v, str) for v in value) else "needs a list of texts"


def _bad_dependencies(value: Any) -> str:
    good = isinstance(value, dict) and not any(_bad_names(v) for v in value.values())
    return "" if good else "needs an object of lists of texts"


def _bad_old_dependencies(value: Any) -> str:
    good = isinstance(value, dict) and not any(isinstance(v, list) and _bad_names(v) for v in value.values())
    return "" if good else "needs an object of schemas and lists of texts"


OTHERS: dict[str, Callable[[Any], str]] = {
    "type": _bad_type,
    "enum": lambda value: "" if isinstance(value, list) else "needs a list of values",
    "required": _bad_names,
    "dependentRequired": _bad_dependencies,
    "dependencies": _bad_old_dependencies,
    "pattern": _bad_pattern,
    "uniqueItems": lambda value: "" if isinstance(value, bool) else "needs true or false",
    "$ref": lambda value: "" if isinstance(value, str) else "needs a text",
    "items": lambda value: "" if isinstance(value, dict | list | bool) else "needs a schema",
}


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()[:80]


# Whether a text is well-formed XML, without anything that could lead out of it or make it grow.


def xml_problem(text: str) -> str:
    """Why a text is not a well-formed XML document, "" where it is. Declarations of entities are refused: they could
    make a short text fill the memory, or read files."""
    from xml.parsers import expat

    def refuse_entity(name: str, *_: object) -> None:
        raise ValueError(f'it declares the entity "{name}", which is not allowed')

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(text.strip().encode("utf-8", errors="replace"), True)
    except ValueError as error:
        return str(error)
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1} of it"
        return f"it is not well-formed XML: {expat.ErrorString(error.code)} ({where})"
    return ""
