"""How grammar is declared: an entity is a frozen class whose annotated fields are its keynames.

A field ``x: Annotated[T, Key(shape)]`` declares the keyname ``x``; the shape says what may stand there and reads it.
Reading never raises: every fault is a diagnostic, and reading goes on with what is there, so that one run finds all.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from ordito.base.diagnostics import Diagnostics, Related, suggestion
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import BOOLEANS, integer

T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound="Entity")


class Entity(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Something the grammar knows. ``at`` is where it is written, ``key`` the name it was given, if it has one."""

    at: Node
    key: Scalar | None = None

    SHORT: ClassVar[str] = ""
    """The keyname that a single value in place of the map gives, "" where there is no such short form."""
    VALUE: ClassVar[bool] = False
    """Whether the short form may be any value: a list, or a map with none of the keynames (§3.6.14.2)."""
    BARE: ClassVar[str] = ""
    """The keyname whose entries may also stand beside the keynames, a deprecated form (§3.6.20.2)."""
    WHAT: ClassVar[str] = "entity"
    """What messages call it."""

    @property
    def span(self) -> Span:
        """Where it is written: its name if it has one."""
        return self.key.span if self.key is not None else self.at.span

    @property
    def name(self) -> str:
        """The name it was given."""
        return self.key.text if self.key is not None else ""


class Reading:
    """What reading needs to know: where findings go and which dialect holds."""

    def __init__(self, diagnostics: Diagnostics, dialect: Dialect) -> None:
        self.diagnostics = diagnostics
        self.dialect = dialect

    def wrong_kind(self, node: Node, what: str, expected: str, hint: str = "") -> None:
        """Report that another kind of node is needed here."""
        self.diagnostics.error("wrong-form", f"{what} must be {expected}, not {node.kind}", node.span, hint=hint)


class Shape(Protocol[T_co]):
    """What may stand at a place."""

    def read(self, node: Node, what: str, reading: Reading) -> T_co | None:
        """Read a node; None where it cannot be read, with a diagnostic."""


class Key(msgspec.Struct, frozen=True, eq=False):
    """A keyname: its shape, whether it must be given, and the name it is written with where that is no identifier."""

    shape: Any
    required: bool = False
    written: str = ""
    instead: str = ""
    """For deprecated keynames: what to write instead."""
    later: str = ""
    """For keynames that are read but not acted on: what that means for the user."""


class Dialect(msgspec.Struct, frozen=True, eq=False):
    """A version of the language: its names, and the keynames that differ from the base grammar, per entity."""

    name: str
    uri: str
    overrides: MappingType[type, MappingType[str, Key | None]] = {}


_grammars: dict[tuple[int, type], dict[str, tuple[str, Key]]] = {}


def keynames(entity: type[Entity], dialect: Dialect) -> dict[str, tuple[str, Key]]:
    """The keynames of an entity in a dialect: as written -> (field, key)."""
    cache_key = (id(dialect), entity)
    found = _grammars.get(cache_key)
    if found is None:
        found = {}
        for field, hint in get_type_hints(entity, include_extras=True).items():
            if get_origin(hint) is Annotated:
                key = next((a for a in get_args(hint) if isinstance(a, Key)), None)
                if key is not None:
                    found[key.written or field] = (field, key)
        for written, override in dialect.overrides.get(entity, {}).items():
            if override is None:
                found.pop(written, None)
            else:
                found[written] = (found[written][0] if written in found else written, override)
        _grammars[cache_key] = found
    return found


def read_entity(entity: type[E], node: Node, reading: Reading, key: Scalar | None = None) -> E | None:
    """Read an entity from its map, or from its short form where it has one."""
    grammar = keynames(entity, reading.dialect)
    if entity.VALUE and not is_null(node) and not (isinstance(node, Mapping) and grammar.keys() & node.values.keys()):
        return entity(at=node, key=key, **{entity.SHORT: node})
    if not isinstance(node, Mapping):
        if is_null(node) and not any(k.required for _, k in grammar.values()):
            return entity(at=node, key=key)
        if entity.SHORT and isinstance(node, Scalar) and not is_null(node):
            return entity(at=node, key=key, **{entity.SHORT: node})
        expected = "a map with its keynames" + (" or a single value" if entity.SHORT else "")
        reading.wrong_kind(node, _called(entity, key), expected, f"keynames: {', '.join(grammar)}")
        return None
    fields: dict[str, Any] = {}
    if entity.BARE and not grammar.keys() - {"type", "inputs", *DESCRIPTIVE} & node.values.keys():
        node = _gather_bare(entity, node, grammar, reading)
    for written, value in node.entries():
        known = grammar.get(written.text)
        if known is None:
            known = _unknown(entity, written, node, grammar, reading)
            if known is None:
                continue
        field, keyname = known
        if keyname.instead:
            reading.diagnostics.warning(
                "deprecated", f'"{written.text}" is deprecated', written.span, hint=f"write {keyname.instead}"
            )
        if keyname.later:
            reading.diagnostics.warning(
                "not-acted-on", f'"{written.text}" is read but not acted on', written.span, hint=keyname.later
            )
        content = keyname.shape.read(value, f'"{written.text}"', reading)
        if content is not None:
            fields[field] = content
        elif keyname.required:
            fields[field] = None
    missing = [w for w, (f, k) in grammar.items() if k.required and f not in fields]
    if missing:
        reading.diagnostics.error(
            "missing-keyname",
            f"{_called(entity, key)} lacks " + " and ".join(f'"{m}"' for m in missing),
            key.span if key is not None else node.span,
            hint=f"add {', '.join(missing)}",
        )
        return None
    if any(fields.get(f, key) is None for f, k in grammar.values() if k.required):
        return None
    return entity(at=node, key=key, **fields)


def _unknown(
    entity: type[Entity], written: Scalar, node: Mapping, grammar: dict[str, tuple[str, Key]], reading: Reading
) -> tuple[str, Key] | None:
    """Report an unknown keyname; where one that is missing is near it, go on as if that had been written, so that
    nothing that follows from the slip is reported as well."""
    free = [w for w in grammar if w not in node.values]
    reading.diagnostics.error(
        "unknown-keyname",
        f'{entity.WHAT} has no keyname "{written.text}"',
        written.span,
        hint=suggestion(written.text, nearest(written.text, free) or grammar),
    )
    near = nearest(written.text, free)
    return grammar[near[0]] if near else None


def _gather_bare(entity: type[Entity], node: Mapping, grammar: dict[str, tuple[str, Key]], reading: Reading) -> Mapping:
    """The map with entries that stand beside the keynames moved below the keyname they belong to."""
    bare = [(k, v) for k, v in node.entries() if k.text not in grammar and not nearest(k.text, grammar)]
    if not bare:
        return node
    first, last = bare[0][0], bare[-1][1]
    reading.diagnostics.warning(
        "deprecated",
        f"{entity.BARE} directly below {entity.WHAT} are deprecated",
        first.span,
        hint=f'put them below "{entity.BARE}:"',
    )
    place = (node.source, first.line, first.column, last.end_line, last.end_column)
    inner = Mapping(*place, [k for k, _ in bare], {k.text: v for k, v in bare})
    kept = [(k, v) for k, v in node.entries() if k.text not in inner.values]
    head = Scalar(node.source, first.line, first.column, first.end_line, first.end_column, entity.BARE, True)
    whole = (node.source, node.line, node.column, node.end_line, node.end_column)
    return Mapping(*whole, [*(k for k, _ in kept), head], {**{k.text: v for k, v in kept}, entity.BARE: inner})


DESCRIPTIVE = ("derived_from", "version", "metadata", "description")


def _called(entity: type[Entity], key: Scalar | None) -> str:
    return f'{entity.WHAT} "{key.text}"' if key is not None else entity.WHAT


class Text(msgspec.Struct, frozen=True):
    """A single value, kept with its place."""

    def read(self, node: Node, what: str, reading: Reading) -> Scalar | None:
        """Read it."""
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
        """Read it."""
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
        """Read it."""
        number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is not None and number >= 0:
            return number
        shown = f'"{node.text}"' if isinstance(node, Scalar) else node.kind
        reading.diagnostics.error("bad-value", f"{what} must be a whole number, not {shown}", node.span)
        return None


class Bounds(msgspec.Struct, frozen=True):
    """Occurrences: a list of a lower and an upper bound, the upper may be UNBOUNDED (None)."""

    def read(self, node: Node, what: str, reading: Reading) -> tuple[int, int | None] | None:
        """Read it."""
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
    """Anything; it is read later, by the type declared for it."""

    def read(self, node: Node, what: str, reading: Reading) -> Node | None:
        """Take the node as it is."""
        return node


class Assignments(msgspec.Struct, frozen=True):
    """A map of names to values that are read later, by the types declared for them."""

    def read(self, node: Node, what: str, reading: Reading) -> Mapping | None:
        """Take the map as it is."""
        if isinstance(node, Mapping):
            return node
        if not is_null(node):
            reading.wrong_kind(node, what, "a map of names to values")
        return None


class Texts(msgspec.Struct, frozen=True):
    """A map of names to texts (metadata)."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Scalar] | None:
        """Read it."""
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
    """One entity."""

    entity: Any

    def read(self, node: Node, what: str, reading: Reading) -> Entity | None:
        """Read it."""
        return read_entity(_entity(self.entity), node, reading)


class Named(msgspec.Struct, frozen=True, eq=False):
    """A map of names to entities."""

    entity: Any

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Entity] | None:
        """Read it."""
        if not isinstance(node, Mapping):
            if not is_null(node):
                hint = "write name: ... lines, without dashes" if isinstance(node, Sequence) else ""
                reading.wrong_kind(node, what, "a map of names", hint)
            return None
        entity = _entity(self.entity)
        found = {}
        for key, value in node.entries():
            item = read_entity(entity, value, reading, key)
            if item is not None:
                found[key.text] = item
        return found


class NamedList(msgspec.Struct, frozen=True, eq=False):
    """A list of maps with one name each, for what has an order (requirements)."""

    entity: Any
    unique: bool = True

    def read(self, node: Node, what: str, reading: Reading) -> list[Entity] | None:
        """Read it."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            reading.wrong_kind(node, what, "a list of one-key maps", 'write a dash before each name: "- name: ..."')
            return None
        entity = _entity(self.entity)
        found: list[Entity] = []
        first: dict[str, Scalar] = {}
        for item in node.items:
            if not isinstance(item, Mapping) or len(item.keys) != 1:
                hint = "indent the lines below the name one level deeper" if isinstance(item, Mapping) else ""
                reading.diagnostics.error(
                    "wrong-form", f"an entry of {what} must be a map with exactly one name", item.span, hint=hint
                )
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
            read = read_entity(entity, item.values[key.text], reading, key)
            if read is not None:
                found.append(read)
        return found


class Many(msgspec.Struct, frozen=True, eq=False):
    """A list of things of one shape."""

    shape: Any

    def read(self, node: Node, what: str, reading: Reading) -> list[Any] | None:
        """Read it."""
        if is_null(node):
            return None
        if not isinstance(node, Sequence):
            reading.wrong_kind(node, what, "a list", f"write [{node.text}]" if isinstance(node, Scalar) else "")
            return None
        items = (self.shape.read(item, f"an entry of {what}", reading) for item in node.items)
        return [i for i in items if i is not None]


class Either(msgspec.Struct, frozen=True, eq=False):
    """A single value, or something more elaborate."""

    otherwise: Any

    def read(self, node: Node, what: str, reading: Reading) -> Any:
        """Read a single value as text, anything else by the other shape."""
        return (
            Text().read(node, what, reading) if isinstance(node, Scalar) else self.otherwise.read(node, what, reading)
        )


def _entity(entity: Any) -> type[Any]:
    """An entity class may be given as a function that returns it, for entities that contain each other."""
    return entity if isinstance(entity, type) else entity()
