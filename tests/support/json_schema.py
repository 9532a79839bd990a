"""A small validator of JSON Schema (2020-12): the keywords that `ordito schema` writes, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
SAID = {"title", "description", "default", "deprecated", "$schema", "$defs", "readOnly"}


class Validator:
    """Checks data against a schema. Raises ``AssertionError`` for a keyword that it does not know."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def errors(self, data: Any) -> list[str]:
        """What is wrong with data, each with its place."""
        return list(self._check(data, self._schema, ""))

    def _check(self, data: Any, schema: Any, at: str) -> Iterator[str]:
        if schema is False:
            yield f"{at}: nothing may stand here"
        if isinstance(schema, bool):
            return
        for keyword, value in schema.items():
            if keyword in SAID or keyword in {"then", "else"}:
                continue
            check = getattr(self, f"_{keyword.lstrip('$').lower()}", None)
            assert check is not None, f"unknown keyword {keyword}"
            yield from check(data, value, schema, at)

    def _holds(self, data: Any, schema: Any) -> bool:
        return next(self._check(data, schema, ""), None) is None

    def _ref(self, data: Any, value: str, schema: Any, at: str) -> Iterator[str]:
        found = self._schema
        for part in value.removeprefix("#/").split("/"):
            found = found[unquote(part).replace("~1", "/").replace("~0", "~")]
        yield from self._check(data, found, at)

    def _type(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        names = [value] if isinstance(value, str) else value
        kinds = tuple(kind for name in names for kind in TYPES[name])
        fits = isinstance(data, kinds) and (not isinstance(data, bool) or "boolean" in names)
        if not fits:
            yield f"{at}: {data!r} is none of {names}"

    def _enum(self, data: Any, value: list[Any], schema: Any, at: str) -> Iterator[str]:
        if not any(type(data) is type(v) and data == v for v in value):
            yield f"{at}: {data!r} is not in {value[:5]}"

    def _const(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        yield from self._enum(data, [value], schema, at)

    def _properties(self, data: Any, value: dict[str, Any], schema: Any, at: str) -> Iterator[str]:
        for name, inner in value.items():
            if isinstance(data, dict) and name in data:
                yield from self._check(data[name], inner, f"{at}/{name}")

    def _additionalproperties(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        known = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        for name in data if isinstance(data, dict) else ():
            if name not in known and not any(re.search(pattern, name) for pattern in patterns):
                yield from self._check(data[name], value, f"{at}/{name}")

    def _patternproperties(self, data: Any, value: dict[str, Any], schema: Any, at: str) -> Iterator[str]:
        for name in data if isinstance(data, dict) else ():
            for pattern, inner in value.items():
                if re.search(pattern, name):
                    yield from self._check(data[name], inner, f"{at}/{name}")

    def _required(self, data: Any, value: list[str], schema: Any, at: str) -> Iterator[str]:
        if isinstance(data, dict):
            yield from (f"{at}: {name} is missing" for name in value if name not in data)

    def _items(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        for number, item in enumerate(data if isinstance(data, list) else ()):
            yield from self._check(item, value, f"{at}/{number}")

    def _allof(self, data: Any, value: list[Any], schema: Any, at: str) -> Iterator[str]:
        for inner in value:
            yield from self._check(data, inner, at)

    def _anyof(self, data: Any, value: list[Any], schema: Any, at: str) -> Iterator[str]:
        if not any(self._holds(data, inner) for inner in value):
            yield from self._check(data, value[0], at)

    def _not(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        if self._holds(data, value):
            yield f"{at}: must not be so"

    def _if(self, data: Any, value: Any, schema: Any, at: str) -> Iterator[str]:
        yield from self._check(data, schema.get("then" if self._holds(data, value) else "else", True), at)

    def _pattern(self, data: Any, value: str, schema: Any, at: str) -> Iterator[str]:
        if isinstance(data, str) and not re.search(value, data):
            yield f"{at}: {data!r} does not match {value}"

    def _bound(self, data: Any, at: str, *, holds: bool) -> Iterator[str]:
        if not holds:
            yield f"{at}: {data!r} is out of bounds"

    def _minimum(self, data: Any, value: float, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not _is_number(data) or data >= value)

    def _maximum(self, data: Any, value: float, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not _is_number(data) or data <= value)

    def _exclusiveminimum(self, data: Any, value: float, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not _is_number(data) or data > value)

    def _exclusivemaximum(self, data: Any, value: float, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not _is_number(data) or data < value)

    def _minlength(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, str) or len(data) >= value)

    def _maxlength(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, str) or len(data) <= value)

    def _minitems(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, list) or len(data) >= value)

    def _maxitems(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, list) or len(data) <= value)

    def _minproperties(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, dict) or len(data) >= value)

    def _maxproperties(self, data: Any, value: int, schema: Any, at: str) -> Iterator[str]:
        yield from self._bound(data, at, holds=not isinstance(data, dict) or len(data) <= value)


def _is_number(data: Any) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool)
