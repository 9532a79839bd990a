"""Declarations of what a section of the inventory may contain: keys, and the kind of value of each.

A value may refer to another place (a secret, a variable, a file, a template). So each declaration is used twice: when
the inventory is read, where such values are skipped, and when the values are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.base.sensitive import Sensitive, is_sensitive
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, is_null
from ordito.source.nodes import Sequence as SequenceNode
from ordito.source.reach import OUTSIDE, is_given
from ordito.source.scalars import BOOLEANS, core_value, integer

SIZE, TIME, FREQUENCY = "scalar-unit.size", "scalar-unit.time", "scalar-unit.frequency"
LONGEST_TIME = 86_400.0


class ValueReading(msgspec.Struct, frozen=True):
    """One reading of values: ``resolve`` gives the value that a node means, and whether it is secret; None for a value
    that is not looked up now."""

    diagnostics: Diagnostics
    resolve: Callable[[Node], tuple[Node | None, bool]]

    def wrong(self, node: Node, what: str, meant: str, *, secret: bool = False, hint: str = "") -> None:
        """Report a wrong value; ``what`` names it, ``meant`` says what it must be."""
        found = "" if secret else f', not "{node.text}"' if isinstance(node, Scalar) else f", not {node.kind}"
        self.diagnostics.error("bad-value", f"{what} must be {meant}{found}", node.span, hint=hint)


Json: TypeAlias = dict[str, object]
ELSEWHERE: Json = {"$ref": "#/$defs/elsewhere"}
"""In a JSON Schema: a value that refers to another place."""
SCALAR: Json = {"type": ["string", "number", "boolean"]}
"""A single value: texts need no quotes, so YAML may read one as a number."""
NULL: Json = {"type": "null"}


class ValueKind(Protocol):
    """A kind of values."""

    def schema(self) -> Json:
        """The JSON Schema of what may be written, in which ``ELSEWHERE`` is defined."""

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The value of a node, None if it is not known; errors are reported. ``what`` names the value in messages."""


class _Leaf:
    """One value, written as a scalar."""

    def __init__(self, meant: str, parse: Callable[[Scalar], object], written: Json) -> None:
        self._meant = meant
        self._parse = parse
        self._written = written

    def schema(self) -> Json:
        """Its form, or a value that refers to another place."""
        return {"anyOf": [{**self._written, "description": self._meant}, ELSEWHERE, NULL]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The value; one from a secret is ``Sensitive``."""
        found, secret = reading.resolve(node)
        if found is None or is_null(found):
            return None
        value = self._parse(found) if isinstance(found, Scalar) else None
        if value is None:
            reading.wrong(node, what, self._meant, secret=secret or found is not node)
            return None
        return Sensitive(value) if secret else value


class OneOf:
    """One of several words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def schema(self) -> Json:
        """The words, or a value that refers to another place."""
        return {"anyOf": [{"enum": list(self._words)}, ELSEWHERE, NULL]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The word."""
        found, _ = reading.resolve(node)
        if found is None or is_null(found):
            return None
        text = found.text if isinstance(found, Scalar) else ""
        if text in self._words:
            return text
        hint = reading.diagnostics.suggestion(text, self._words)
        reading.wrong(node, what, f"one of {', '.join(self._words)}", hint=hint)
        return None


class ListOf:
    """A list of values of a kind, or a single one."""

    def __init__(self, kind: ValueKind) -> None:
        self._kind = kind

    def schema(self) -> Json:
        """A list, or one of its values."""
        one = self._kind.schema()
        return {"anyOf": [{"type": "array", "items": one}, one]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The values of the list."""
        items = node.items if isinstance(node, SequenceNode) else [node]
        found = [self._kind.read(item, what, reading) for item in items]
        return [value for value in found if value is not None]


class MapOf:
    """A map of values of one kind, by names that the user chooses."""

    def __init__(self, kind: ValueKind, check: Callable[[str], str] = lambda _: "") -> None:
        self._kind = kind
        self._check = check

    def schema(self) -> Json:
        """A map with any names."""
        return {"anyOf": [{"type": "object", "additionalProperties": self._kind.schema()}, ELSEWHERE, NULL]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The values by name; ``check`` says what is wrong with a name."""
        entries = _entries(node, what, reading)
        for key in entries.keys if entries is not None else ():
            if problem := self._check(key.text):
                reading.diagnostics.error("bad-value", f'"{key.text}" {problem}', key.span)
        if entries is None:
            return {}
        found = {n: self._kind.read(v, f'"{n}" of {what}', reading) for n, v in entries.values.items()}
        return {name: value for name, value in found.items() if value is not None}


class KnownEntries:
    """A map with known keys."""

    def __init__(self, **kinds: ValueKind) -> None:
        self.kinds: Mapping[str, ValueKind] = kinds

    def schema(self) -> Json:
        """A map with these keys and no others."""
        known = {name: kind.schema() for name, kind in self.kinds.items()}
        made = {"type": "object", "properties": known, "additionalProperties": False}
        return {"anyOf": [made, ELSEWHERE, NULL]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The values by key."""
        entries = _entries(node, what, reading)
        if entries is None:
            return {}
        for key in entries.keys:
            if key.text not in self.kinds:
                reading.diagnostics.unknown("unknown-keyname", "key", key.text, key.span, self.kinds)
        found = {
            name: self.kinds[name].read(value, f'"{name}" of {what}', reading)
            for name, value in entries.values.items()
            if name in self.kinds
        }
        return {name: value for name, value in found.items() if value is not None}


class FlagOr:
    """True, false, or a value of another kind: ``become: true`` as well as ``become: {user: db}``."""

    def __init__(self, kind: ValueKind) -> None:
        self._kind = kind

    def schema(self) -> Json:
        """True, false, or the other value."""
        return {"anyOf": [{"type": "boolean"}, self._kind.schema()]}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """True, False, or the other value."""
        if isinstance(node, Scalar) and node.plain and node.text in BOOLEANS:
            return BOOLEANS[node.text]
        return self._kind.read(node, what, reading)


class Plain:
    """Data of any form."""

    def schema(self) -> Json:
        """Anything."""
        return {}

    def read(self, node: Node, what: str, reading: ValueReading) -> object:
        """The data, by the YAML 1.2 core schema; values from secrets are ``Sensitive``."""
        found, secret = reading.resolve(node)
        if found is None:
            return None
        value: object
        if isinstance(found, Scalar):
            value = core_value(found)
        elif isinstance(found, SequenceNode):
            value = [self.read(item, what, reading) for item in found.items]
        else:
            value = {name: self.read(item, what, reading) for name, item in found.values.items()}
        return Sensitive(value) if secret and not is_sensitive(value) else value


def _entries(node: Node, what: str, reading: ValueReading) -> MappingNode | None:
    found, _ = reading.resolve(node) if not isinstance(node, MappingNode) else (node, False)
    if found is None or is_null(found):
        return None
    if not isinstance(found, MappingNode):
        reading.wrong(node, what, "a map")
        return None
    return found


# ------------------------------------------------------------------------------------------------------- the leaves


def _text(scalar: Scalar) -> str | None:
    return scalar.text.strip() or None


def _lines(scalar: Scalar) -> str | None:
    return scalar.text or None


def _flag(scalar: Scalar) -> bool | None:
    return BOOLEANS.get(scalar.text)


def whole(least: int, most: int) -> ValueKind:
    """A whole number within bounds."""

    def parse(scalar: Scalar) -> int | None:
        number = integer(scalar.text)
        return number if number is not None and least <= number <= most else None

    bounded: Json = {"type": "integer", "minimum": least, "maximum": most}
    written: Json = {"anyOf": [bounded, {"type": "string", "pattern": "^[0-9]+$"}]}
    return _Leaf(f"a whole number from {least} to {most}", parse, written)


def _number(scalar: Scalar) -> float | int | None:
    value = core_value(scalar)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else None


def _seconds(scalar: Scalar) -> float | None:
    text = scalar.text
    try:
        written = text if any(c.isalpha() for c in text) else f"{text} s"
        seconds = float(amount(canonical(written, TIME), TIME))
    except NotAScalarUnit:
        return None
    return seconds if 0 <= seconds <= LONGEST_TIME else None


def _unit(kind: str) -> Callable[[Scalar], str | None]:
    def parse(scalar: Scalar) -> str | None:
        try:
            return canonical(scalar.text, kind)
        except NotAScalarUnit:
            return None

    return parse


OF_FLAG: Json = {"anyOf": [{"type": "boolean"}, {"enum": ["true", "false"]}]}
OF_NUMBER: Json = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9.]+$"}]}
OF_TIME: Json = {"anyOf": [{"type": "number", "minimum": 0, "maximum": LONGEST_TIME}, {"type": "string"}]}
WITH_UNIT: Json = {"type": "string", "pattern": "[0-9]\\s*[A-Za-z]+\\s*$"}

TEXT: ValueKind = _Leaf("a text", _text, SCALAR)
LINES: ValueKind = _Leaf("a text", _lines, SCALAR)
"""A text in which every blank matters: a password, a key."""
FLAG: ValueKind = _Leaf("true or false", _flag, OF_FLAG)
NUMBER: ValueKind = _Leaf("a number that is not negative", _number, OF_NUMBER)
SECONDS: ValueKind = _Leaf('a time of at most a day, such as "10 s"', _seconds, OF_TIME)
SIZE_VALUE: ValueKind = _Leaf('a size, such as "4 GB"', _unit(SIZE), WITH_UNIT)
FREQUENCY_VALUE: ValueKind = _Leaf('a frequency, such as "2 GHz"', _unit(FREQUENCY), WITH_UNIT)
PLAIN: ValueKind = Plain()


# A section of the inventory, as the provider gets it that it belongs to.


class NoValue(Exception):
    """A value of the inventory that refers to another place cannot be read, or is wrong. The text is for people and
    contains no secret."""


class InventorySection(msgspec.Struct, frozen=True):
    """A section of the inventory."""

    name: str
    node: Node | None
    """What is written below its name, None for nothing."""

    diagnostics: Diagnostics
    """Gets the errors while the inventory is read: then the command ends with all of them."""

    folder: Path
    """The absolute path of the folder of the inventory: relative paths in it begin there, and what a provider must
    remember between commands is kept in ``.ordito`` in it."""

    file: str
    """The path of the inventory, for messages."""

    later: Callable[[Node], bool]
    """Says of a value whether it refers to another place."""

    fetch: Callable[[Node], tuple[Node, bool]]
    """Gives for such a value the one that is meant, and whether it is secret. Raises ``NoValue``."""

    defaults: Mapping[str, Node] = {}
    """The entries of ``defaults`` of the inventory for how hosts are reached."""

    ensemble: str = ""
    """The absolute path of the ensemble's directory."""

    @property
    def entries(self) -> Mapping[str, Node]:
        """The entries of the section, if it is a map."""
        return self.node.values if isinstance(self.node, MappingNode) else {}

    def check(self, node: Node | None, kind: ValueKind, what: str) -> object:
        """Report what is wrong with a part of the section; returns its value, as far as it is known without looking up
        other places."""
        if node is None:
            return None
        reading = ValueReading(self.diagnostics, lambda n: (None, False) if self.later(n) else (n, False))
        return kind.read(node, what, reading)

    def value(self, node: Node, kind: ValueKind, what: str) -> object:
        """The present values of a part of the section; secrets are ``Sensitive``. Raises ``NoValue``."""
        found = Diagnostics()
        reading = ValueReading(found, lambda n: self.fetch(n) if self.later(n) else (n, False))
        value = kind.read(node, what, reading)
        for problem in found.sorted():
            if problem.severity is Severity.ERROR:
                raise NoValue(f"{problem.span}: {problem.message}" if problem.span else problem.message)
        return value

    def path(self, text: str) -> str:
        """The absolute path of a file that the section names. Raises ``NoValue`` if it may not be read here."""
        found = self.folder / Path(text).expanduser()
        if not is_given(found):
            raise NoValue(f'the file "{text}" cannot be used: {OUTSIDE}')
        return str(found)
