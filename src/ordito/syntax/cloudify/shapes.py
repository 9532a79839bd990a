"""What may be written at places of a blueprint that TOSCA reads in another way: truth in the words of YAML 1.1, numbers
with other bounds, values that may be empty, and maps of maps of operations."""

from __future__ import annotations

from typing import Any

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import decimal, integer
from ordito.syntax.cloudify.yaml_values import truth
from ordito.syntax.grammar import Reading, read_entity
from ordito.syntax.shapes import Entries, EntryList, Text


class YesNo(msgspec.Struct, frozen=True):
    """A truth value, in any of the words that YAML 1.1 has for it."""

    def read(self, node: Node, what: str, reading: Reading) -> bool | None:
        """Which of the two."""
        found = truth(node)
        if found is None:
            shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
            reading.diagnostics.error("bad-value", f"{what} must be true or false, not {shown}", node.span)
        return found


class Number(msgspec.Struct, frozen=True):
    """A number from ``least`` on; a whole one where ``whole``."""

    least: int
    whole: bool = False

    def read(self, node: Node, what: str, reading: Reading) -> float | None:
        """The number."""
        found: float | None = None
        if isinstance(node, Scalar) and node.plain:
            found = integer(node.text) if self.whole else decimal(node.text)
        if found is None or found < self.least:
            shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
            kind = "a whole number" if self.whole else "a number"
            message = f"{what} must be {kind} from {self.least} on, not {shown}"
            reading.diagnostics.error("bad-value", message, node.span)
            return None
        return found


class Optional(msgspec.Struct, frozen=True, eq=False):
    """What has another shape, or nothing at all."""

    shape: Any

    def read(self, node: Node, what: str, reading: Reading) -> Any:
        """What stands there; None for nothing."""
        return None if is_null(node) else self.shape.read(node, what, reading)


class Quoted(msgspec.Struct, frozen=True):
    """A text that YAML must not take for anything else: a number, such as a version, is written in quotes."""

    def read(self, node: Node, what: str, reading: Reading) -> Scalar | None:
        """The text."""
        text = Text().read(node, what, reading)
        if text is None or not text.plain or decimal(text.text) is None:
            return text
        reading.diagnostics.error(
            "bad-value", f"{what} must be a text, and {text.text} is a number", text.span, hint=f'write "{text.text}"'
        )
        return None


class AnyMap(msgspec.Struct, frozen=True):
    """A map of anything."""

    def read(self, node: Node, what: str, reading: Reading) -> Mapping | None:
        """The map unchanged."""
        if isinstance(node, Mapping):
            return node
        if not is_null(node):
            reading.wrong_kind(node, what, "a map")
        return None


class Tables(msgspec.Struct, frozen=True, eq=False):
    """A map of names to maps of names to entities: interfaces with their operations. ``entity`` is the class of
    these. An operation may be written with nothing below it."""

    entity: Any

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Table] | None:
        """The interfaces that can be read, by name."""
        if is_null(node):
            return None
        if not isinstance(node, Mapping):
            reading.wrong_kind(node, what, "a map of names of interfaces")
            return Entries.unreadable()
        found = Entries()
        for key, value in node.entries():
            table = Table(key, value)
            found[key.text] = table
            if is_null(value):
                continue
            if not isinstance(value, Mapping):
                reading.wrong_kind(value, f'interface "{key.text}"', "a map of names of operations")
                table.operations.all_lost = True
                continue
            for name, written in value.entries():
                entity = self.entity
                item = entity(at=written, key=name) if is_null(written) else read_entity(entity, written, reading, name)
                if item is None:
                    table.operations.lose((name.text,))
                else:
                    table.operations[name.text] = item
        return found


class Table:
    """An interface: its name, where its operations stand, and these by their names."""

    __slots__ = ("at", "key", "operations")

    def __init__(self, key: Scalar, at: Node) -> None:
        self.key = key
        self.at = at
        self.operations = Entries()


class Listed(msgspec.Struct, frozen=True, eq=False):
    """A list whose entries are entities."""

    entity: Any

    def read(self, node: Node, what: str, reading: Reading) -> list[Any] | None:
        """The entries that can be read."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            reading.wrong_kind(node, what, "a list", "write a dash before each entry")
            return EntryList.unreadable()
        found = EntryList()
        for item in node.items:
            read = read_entity(self.entity, item, reading)
            if read is None:
                found.all_lost = True
            else:
                found.append(read)
        return found
