"""What may be written at a place of the grammar: texts, flags, entities, and maps and lists of them.

The ``read`` of each gives None, with a diagnostic, where a node cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Self, TypeAlias

import msgspec

from ordito.base.diagnostics import Related
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import BOOLEANS, integer
from ordito.syntax.grammar import Entity, Reading, read_entity

Metadata: TypeAlias = dict[str, Scalar]
"""Texts under names that the author chooses (§3.6.2)."""


class Text(msgspec.Struct, frozen=True):
    """A single value, kept with its place."""

    def read(self, node: Node, what: str, reading: Reading) -> Scalar | None:
        """The value with its place."""
        if isinstance(node, Scalar):
            if not is_null(node):
                return node
            reading.diagnostics.error(
                "empty-value", f"{what} has no value", node.span, hint="give a value or remove it"
            )
            return None
        reading.wrong_kind(node, what, "a single value")
        return None


class Flag(msgspec.Struct, frozen=True):
    """true or false."""

    def read(self, node: Node, what: str, reading: Reading) -> bool | None:
        """Which of the two."""
        if isinstance(node, Scalar) and node.plain and node.text in BOOLEANS:
            return BOOLEANS[node.text]
        shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
        reading.diagnostics.error(
            "bad-value",
            f"{what} must be true or false, not {shown}",
            node.span,
            hint="YAML 1.2 knows only true and false",
        )
        return None


class Whole(msgspec.Struct, frozen=True):
    """A whole number that is not negative."""

    def read(self, node: Node, what: str, reading: Reading) -> int | None:
        """The number."""
        number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is not None and number >= 0:
            return number
        shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
        reading.diagnostics.error("bad-value", f"{what} must be a whole number, not {shown}", node.span)
        return None


class Bounds(msgspec.Struct, frozen=True):
    """Occurrences: a list of a lower and an upper bound, which may be ``UNBOUNDED``."""

    def read(self, node: Node, what: str, reading: Reading) -> tuple[int, int | None] | None:
        """The two bounds, the upper None for ``UNBOUNDED``."""
        if isinstance(node, Sequence) and len(node.items) == 2:
            low, high = (integer(i.text) if isinstance(i, Scalar) else None for i in node.items)
            last = node.items[1]
            unbounded = isinstance(last, Scalar) and last.text == "UNBOUNDED"
            if low is not None and low >= 0 and (unbounded or (high is not None and high >= low)):
                return low, None if unbounded else high
        reading.diagnostics.error(
            "bad-value",
            f"{what} must be [lower, upper] with 0 <= lower <= upper",
            node.span,
            hint="for example [1, UNBOUNDED]",
        )
        return None


class Raw(msgspec.Struct, frozen=True):
    """Any value, which is read later, by its declared type."""

    def read(self, node: Node, what: str, reading: Reading) -> Node | None:
        """The node unchanged."""
        return node


class Assignments(msgspec.Struct, frozen=True):
    """A map of names to values, which are read later, by their declared types. ``hint`` is shown where another kind of
    node is written."""

    hint: str = ""

    def read(self, node: Node, what: str, reading: Reading) -> Mapping | None:
        """The map unchanged."""
        if isinstance(node, Mapping):
            return node
        if not is_null(node):
            hint = self.hint if isinstance(node, Sequence) else ""
            reading.wrong_kind(node, what, "a map of names to values", hint)
        return None


class Texts(msgspec.Struct, frozen=True):
    """A map of names to texts (metadata)."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Scalar] | None:
        """The texts by their names."""
        if isinstance(node, Mapping):
            found = {}
            for key, value in node.entries():
                text = Text().read(value, f'"{key.text}"', reading)
                if text is not None:
                    found[key.text] = text
            return found
        if not is_null(node):
            reading.wrong_kind(node, what, "a map of names to texts")
        return None


class One(msgspec.Struct, frozen=True, eq=False):
    """A single entity."""

    entity: Any

    @property
    def below(self) -> Any:
        """The entity whose keynames are written below the keyname with this shape."""
        return self.entity

    def read(self, node: Node, what: str, reading: Reading) -> Entity | None:
        """The entity."""
        return read_entity(self.entity, node, reading)


class Named(msgspec.Struct, frozen=True, eq=False):
    """A map of names to entities. With ``empty``, a name with nothing below it is an entity without content."""

    entity: Any
    empty: bool = False

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Any] | None:
        """The entities that can be read, by name."""
        if not isinstance(node, Mapping):
            if is_null(node):
                return None
            hint = "write name: ... lines, without dashes" if isinstance(node, Sequence) else ""
            reading.wrong_kind(node, what, "a map of names", hint)
            return self.lost()
        found = Entries()
        for key, value in zip(node.keys, node.values.values(), strict=True):
            if self.empty and is_null(value):
                item = self.entity(at=value, key=key)
            else:
                item = read_entity(self.entity, value, reading, key)
            if item is not None:
                found[key.text] = item
            else:
                found.lose((key.text,))
        return found

    def lost(self) -> Entries:
        """The value for a map that could not be read."""
        return Entries.unreadable()


class NamedList(msgspec.Struct, frozen=True, eq=False):
    """A list of maps with one name each, for entities in an order (requirements). With ``unique``, no name may occur
    twice."""

    entity: Any
    unique: bool = True

    def read(self, node: Node, what: str, reading: Reading) -> list[Any] | None:
        """The entities that can be read, in their order."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            reading.wrong_kind(node, what, "a list of one-key maps", 'write a dash before each name: "- name: ..."')
            return EntryList.unreadable()
        found = EntryList()
        first: dict[str, Scalar] = {}
        for item in node.items:
            if not isinstance(item, Mapping) or len(item.keys) != 1:
                self._wrong_entry(item, what, found, reading)
                continue
            (key,) = item.keys
            if self.unique and key.text in first:
                reading.diagnostics.error(
                    "duplicate-name",
                    f'"{key.text}" is given twice in {what}',
                    key.span,
                    related=(Related("first given here", first[key.text].span),),
                )
                continue
            first.setdefault(key.text, key)
            read = read_entity(self.entity, item.values[key.text], reading, key)
            if read is not None:
                found.append(read)
            else:
                found.lose((key.text,))
        return found

    def _wrong_entry(self, item: Node, what: str, found: EntryList, reading: Reading) -> None:
        several = isinstance(item, Mapping) and bool(item.keys)
        if isinstance(item, Mapping):
            found.lose(item.values)
        else:
            found.all_lost = True
        reading.diagnostics.error(
            "wrong-form",
            f"an entry of {what} must be a map with exactly one name",
            item.span,
            hint="indent the lines below the name deeper than it, and write a dash before each name" if several else "",
        )


class NamedOrListed(Named, frozen=True, eq=False):
    """A map of names to entities; a list of maps with one name each is accepted, too, with a warning (§3.10.1)."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Any] | None:
        """The entities that can be read, by name."""
        if not isinstance(node, Sequence):
            return super().read(node, what, reading)
        reading.diagnostics.warning(
            "map-expected", f"{what} is a map of names", node.span, hint="write name: ... lines, without dashes"
        )
        listed = NamedList(self.entity).read(node, what, reading)
        found = self.lost() if isinstance(listed, EntryList) and listed.all_lost else Entries()
        found.update((item.name, item) for item in listed or ())
        if isinstance(listed, EntryList):
            found.lose(listed.lost)
        return found


class TextOrTexts(msgspec.Struct, frozen=True):
    """A list of single values; one without a list is accepted, too, with a warning."""

    def read(self, node: Node, what: str, reading: Reading) -> list[Scalar] | None:
        """The values, with their places."""
        if not isinstance(node, Scalar) or is_null(node):
            return Many(Text()).read(node, what, reading)
        reading.diagnostics.warning("list-expected", f"{what} is a list", node.span, hint=f"write [ {node.text} ]")
        return [node]


class Many(msgspec.Struct, frozen=True, eq=False):
    """A list whose entries all have the same shape."""

    shape: Any

    def read(self, node: Node, what: str, reading: Reading) -> list[Any] | None:
        """The entries that can be read."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            hint = f"write [{node.text}]" if isinstance(node, Scalar) else "write a dash before each entry"
            reading.wrong_kind(node, what, "a list", hint)
            return EntryList.unreadable()
        found = EntryList()
        for item in node.items:
            read = self.shape.read(item, f"an entry of {what}", reading)
            if read is not None:
                found.append(read)
            else:
                found.all_lost = True
        return found


class Clauses(msgspec.Struct, frozen=True):
    """A list of constraint clauses, which are read later, by the type that they constrain; a single one may be written
    as a map (§3.6.3)."""

    def read(self, node: Node, what: str, reading: Reading) -> list[Node] | None:
        """The clauses unchanged."""
        if isinstance(node, Mapping) and len(node.keys) == 1:
            reading.diagnostics.warning(
                "list-expected",
                f"{what} is a list of clauses; this map is taken as the only one",
                node.span,
                hint=f"write a dash before {node.keys[0].text}",
            )
            return [node]
        return Many(Raw()).read(node, what, reading)


class Either(msgspec.Struct, frozen=True, eq=False):
    """A single value, or a node of another shape (``otherwise``)."""

    otherwise: Any

    def read(self, node: Node, what: str, reading: Reading) -> Any:
        """Read a single value as text, anything else by the other shape."""
        return (
            Text().read(node, what, reading) if isinstance(node, Scalar) else self.otherwise.read(node, what, reading)
        )


# Collections of entities that remember what could not be read, so that nothing follows from it.


class _Remembering:
    """What was written but could not be read. Nearly always that is nothing, for which no collection has a set."""

    lost: Set[str] = frozenset()
    all_lost = False

    @classmethod
    def unreadable(cls) -> Self:
        """What stands for a collection that could not be read."""
        found = cls()
        found.all_lost = True
        return found

    def lose(self, names: Iterable[str]) -> None:
        """Remember that these could not be read."""
        if not isinstance(self.lost, set):
            self.lost = set()
        self.lost.update(names)


class Entries(dict[str, Any], _Remembering):
    """Entities by name. ``lost`` names those that are written but could not be read; with ``all_lost``, even the names
    could not be read. They need not be reported as missing: the reason has been reported."""


class EntryList(list[Any], _Remembering):
    """Entities in order, each with a name; see ``Entries``."""


def is_lost(entries: object, name: str) -> bool:
    """Whether the entity of a name is written, or may be, but could not be read."""
    return isinstance(entries, _Remembering) and (entries.all_lost or name in entries.lost)


def has_lost(entries: object) -> bool:
    """Whether some entity is written, or may be, but could not be read."""
    return isinstance(entries, _Remembering) and (entries.all_lost or bool(entries.lost))
