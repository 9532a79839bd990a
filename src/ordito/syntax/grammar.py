"""How the grammar is declared: an entity is a frozen class whose annotated fields are its keynames.

A field ``x: Annotated[T, Key(shape)]`` declares the keyname ``x``; the shape says what may stand there and reads it.
Reading never raises: every fault is a diagnostic, and reading goes on with the rest, so that one run finds all faults.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound="Entity")


class Entity(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """An entity of the grammar. ``at`` is the node it was read from, ``key`` its name where it has one."""

    at: Node
    key: Scalar | None = None

    SHORT: ClassVar[str] = ""
    """The keyname that a single value instead of a map sets, "" where there is no such short form."""
    VALUE: ClassVar[bool] = False
    """Whether the short form may be any value: a list, or a map with none of the keynames (§3.6.14.2)."""
    BARE: ClassVar[str] = ""
    """The keyname whose entries may also stand beside the keynames, a deprecated form (§3.6.20.2)."""
    MEANT: ClassVar[str] = ""
    """The keyname that a single value probably means where there is no short form."""
    WHAT: ClassVar[str] = "entity"
    """What messages call it."""
    NOTE: ClassVar[str] = ""
    """The hint for a keyname that it does not have."""
    LACKS: ClassVar[frozenset[str]] = frozenset()
    """Keynames that similar entities have and this one does not: for these the note is the hint."""
    ELSEWHERE: ClassVar[MappingType[str, str]] = {}
    """Names that people often write though they are not keynames, with what to write instead."""
    SECTIONS: ClassVar[bool] = False
    """Whether its keynames are only headings: then an unknown one may mean any of those that are not given."""

    @property
    def span(self) -> Span:
        """Where its name is written, or itself where it has none."""
        return self.key.span if self.key is not None else self.at.span

    @property
    def name(self) -> str:
        """Its name."""
        return self.key.text if self.key is not None else ""


class Reading:
    """The context of reading: the diagnostics and the dialect."""

    def __init__(self, diagnostics: Diagnostics, dialect: Dialect) -> None:
        self.diagnostics = diagnostics
        self.dialect = dialect
        self.grammars: dict[type, _Grammar] = {}
        """The keynames of the entities that have been read so far, in this dialect."""

    def wrong_kind(self, node: Node, what: str, expected: str, hint: str = "") -> None:
        """Report that a node has the wrong kind."""
        given = "and is empty" if is_null(node) else f"not {node.kind}"
        self.diagnostics.error("wrong-form", f"{what} must be {expected}, {given}", node.span, hint=hint)


class Shape(Protocol[T_co]):
    """What may be written at a place of the grammar."""

    def read(self, node: Node, what: str, reading: Reading) -> T_co | None:
        """Read a node; None, with a diagnostic, where it cannot be read. ``what`` is what messages call it."""


class Key(msgspec.Struct, frozen=True, eq=False):
    """A keyname."""

    shape: Shape[Any]
    """What may be written below it."""
    required: bool = False
    """Whether it must be given."""
    written: str = ""
    """How it is written, where that is not a Python identifier; else "", and the name of the field counts."""
    instead: str = ""
    """For deprecated keynames: what to write instead."""


class Dialect(msgspec.Struct, frozen=True, eq=False):
    """A version of TOSCA, and how it differs from the base grammar."""

    name: str
    """The value of ``tosca_definitions_version``."""
    uri: str
    """The URI of its namespace, which may be written instead."""
    overrides: MappingType[type, MappingType[str, Key | None]] = {}
    """Per entity, the keynames that mean something else, or None for those that this version lacks."""
    later: Dialect | None = None
    """The next version."""
    bare: bool = False
    """Whether operations are written beside the keynames of an interface, and nowhere else."""
    is_open: bool = False
    """Whether interfaces and their operations need no types, and values may be of any type."""
    is_untyped: bool = False
    """Whether operations may set attributes that no type declares."""
    is_free: bool = False
    """Whether what a type defines replaces what it inherits by that name, whatever that is, and the rules of the
    normative types of 1.3 are not asked."""
    is_lenient: bool = False
    """Whether what templates still lack is an error only where they are deployed."""
    climbs: bool = False
    """Whether a property that a node lacks is that of the nearest host which has it."""
    renamed: MappingType[str, MappingType[str, str]] = {}
    """Per kind, the normative types whose names differ in the latest version."""


class _Grammar(msgspec.Struct, frozen=True, eq=False):
    """The keynames of an entity in a dialect: as written -> (field, key); and which of them must be given."""

    keys: dict[str, tuple[str, Key]]
    required: tuple[tuple[str, str], ...]


_grammars: dict[tuple[int, type], _Grammar] = {}


def _grammar(entity: type[Entity], dialect: Dialect) -> _Grammar:
    cache_key = (id(dialect), entity)
    known = _grammars.get(cache_key)
    if known is not None:
        return known
    found: dict[str, tuple[str, Key]] = {}
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
    made = _Grammar(found, tuple((w, f) for w, (f, k) in found.items() if k.required))
    _grammars[cache_key] = made
    return made


def keynames(entity: type[Entity], dialect: Dialect) -> MappingType[str, Key]:
    """The keynames of an entity in a dialect, by how they are written."""
    return {written: key for written, (_, key) in _grammar(entity, dialect).keys.items()}


def read_entity(entity: type[E], node: Node, reading: Reading, key: Scalar | None = None) -> E | None:
    """Read an entity from its map, or from its short form where it has one; None where a required keyname is missing.
    Faults are diagnostics."""
    grammar = reading.grammars.get(entity)
    if grammar is None:
        grammar = reading.grammars[entity] = _grammar(entity, reading.dialect)
    keys = grammar.keys
    if not isinstance(node, Mapping):
        return _read_short(entity, node, grammar, reading, key)
    if entity.VALUE and entity.SHORT in keys and _is_value(node, keys):
        return entity(at=node, key=key, **{entity.SHORT: node})
    if entity.BARE and (reading.dialect.bare or OPERATION_SECTIONS.isdisjoint(node.values)):
        node = _gather_bare(entity, node, keys, reading)
    fields = _read_fields(entity, node, keys, reading)
    for _, field in grammar.required:
        if fields.get(field) is None:
            _report_missing(entity, node, grammar, fields, reading, key)
            return None
    fields["at"] = node
    fields["key"] = key
    return entity(**fields)


def _report_missing(
    entity: type[Entity],
    node: Mapping,
    grammar: _Grammar,
    fields: dict[str, Any],
    reading: Reading,
    key: Scalar | None,
) -> None:
    """Report the required keynames that are not given; of those that could not be read it has been said why."""
    missing = [written for written, field in grammar.required if field not in fields]
    if missing:
        reading.diagnostics.error(
            "missing-keyname",
            f"{_called(entity, key)} lacks " + " and ".join(f'"{m}"' for m in missing),
            key.span if key is not None else node.span,
            hint=f"add {', '.join(missing)}",
        )


def _is_value(node: Mapping, keys: MappingType[str, object]) -> bool:
    """Whether a map in the place of a definition is a value: something in it is no keyname, nor a slip of one, and it
    has none of the keynames that make a definition."""
    if not node.values or not SURELY_DEFINING.isdisjoint(node.values):
        return False
    strange = [name for name in node.values if name not in keys]
    return len(strange) == len(node.values) or any(not nearest(name, keys) for name in strange)


SURELY_DEFINING = frozenset({"type", "value"})


def _read_short(
    entity: type[E], node: Scalar | Sequence, grammar: _Grammar, reading: Reading, key: Scalar | None
) -> E | None:
    """Read what stands in place of the map of an entity. A section may be empty, an entry of one may not."""
    if is_null(node):
        if key is not None:
            reading.diagnostics.error(
                "empty-value",
                f"{_called(entity, key)} has nothing below it",
                key.span,
                hint=f"remove it, or give it what it needs: {', '.join(grammar.keys)}",
            )
            return None
        if not grammar.required:
            return entity(at=node)
    elif entity.SHORT in grammar.keys and (entity.VALUE or isinstance(node, Scalar)):
        return entity(at=node, key=key, **{entity.SHORT: node})
    expected = "a map with its keynames" + (" or a single value" if entity.SHORT in grammar.keys else "")
    hint = f"keynames: {', '.join(grammar.keys)}"
    if entity.MEANT and key is not None and isinstance(node, Scalar) and not is_null(node):
        hint = f"write {key.text}: {{ {entity.MEANT}: {node.text} }}"
    reading.wrong_kind(node, _called(entity, key), expected, hint)
    return None


def _read_fields(
    entity: type[Entity], node: Mapping, keys: dict[str, tuple[str, Key]], reading: Reading
) -> dict[str, Any]:
    """What the keynames of a map give; required ones that could not be read are None."""
    fields: dict[str, Any] = {}
    strange = False
    for written, value in zip(node.keys, node.values.values(), strict=True):
        known = keys.get(written.text) or _unknown(entity, written, node, keys, reading)
        if known is None:
            strange = True
            continue
        field, keyname = known
        if keyname.instead:
            _warn(written, keyname, reading)
        content = keyname.shape.read(value, f'"{written.text}"', reading)
        if content is not None or keyname.required:
            fields[field] = content
    if entity.SECTIONS and strange:
        for field, keyname in keys.values():
            if field not in fields and hasattr(keyname.shape, "lost"):
                fields[field] = keyname.shape.lost()
    return fields


def _warn(written: Scalar, keyname: Key, reading: Reading) -> None:
    reading.diagnostics.warning(
        "deprecated", f'"{written.text}" is deprecated', written.span, hint=f"write {keyname.instead}"
    )


def _unknown(
    entity: type[Entity], written: Scalar, node: Mapping, keys: dict[str, tuple[str, Key]], reading: Reading
) -> tuple[str, Key] | None:
    """Report an unknown keyname; where one that is missing is near it, go on as if that had been written, so that
    nothing that follows from the slip is reported as well."""
    version = _since(entity, written.text, reading.dialect)
    if version:
        _report_later(entity, written, version, reading)
        return None
    free = [w for w in keys if w not in node.values]
    meant = [w for w in [MISTAKEN.get(written.text, "")] if w in free] or nearest(written.text, free, SURELY_MEANT)
    reading.diagnostics.error(
        "unknown-keyname",
        f'{entity.WHAT} has no keyname "{written.text}"',
        written.span,
        hint=_keyname_hint(entity, written.text, keys, meant or nearest(written.text, free), reading),
    )
    return keys[meant[0]] if meant else None


def _keyname_hint(
    entity: type[Entity], written: str, keys: dict[str, tuple[str, Key]], near: list[str], reading: Reading
) -> str:
    """What to write in place of an unknown keyname, or where it belongs."""
    if written in entity.LACKS:
        return entity.NOTE
    if written in entity.ELSEWHERE:
        return entity.ELSEWHERE[written]
    below = {w: _keynames_below(k.shape, reading.dialect) for w, (_, k) in keys.items()}
    inside = [w for w, names in below.items() if written in names]
    if inside:
        return f'put it below "{inside[0]}:"'
    meant = [(w, n) for w, names in below.items() for n in nearest(written, names, SURELY_MEANT)]
    if meant and not nearest(written, keys, SURELY_MEANT):
        return f'write "{meant[0][1]}:", and put it below "{meant[0][0]}:"'
    if near:
        return f'write "{near[0]}"' if written in MISTAKEN else reading.diagnostics.suggestion(written, near)
    later = OPERATION_SECTIONS if reading.dialect.bare else ()
    known = f"keynames: {', '.join(w for w in keys if w not in later)}"
    return f"{known}; {entity.NOTE}" if entity.NOTE else known


def _keynames_below(shape: Shape[Any], dialect: Dialect) -> Iterable[str]:
    """The keynames of the entity that stands directly below a keyname, where one does."""
    below: type[Entity] | None = getattr(shape, "below", None)
    return _grammar(below, dialect).keys if below is not None else ()


def _since(entity: type[Entity], keyname: str, dialect: Dialect) -> str:
    """The first later version of the language in which an entity has a keyname, "" where there is none."""
    later = dialect.later
    while later is not None and keyname not in _grammar(entity, later).keys:
        later = later.later
    return later.name if later is not None else ""


def _report_later(entity: type[Entity], written: Scalar, version: str, reading: Reading) -> None:
    reading.diagnostics.error(
        "unknown-keyname",
        f'{entity.WHAT} has no keyname "{written.text}" in {reading.dialect.name}',
        written.span,
        hint=f"it has one since {version}: remove it, or raise tosca_definitions_version",
    )


MISTAKEN = {"derived_from": "type"}
"""Keynames that are often written where another is meant: a template has a type, only a type derives from one."""

SURELY_MEANT = 0.8
"""How similar a misspelt keyname must be to a known one for its value to be read as that of the known one."""


def _gather_bare(entity: type[Entity], node: Mapping, keys: dict[str, tuple[str, Key]], reading: Reading) -> Mapping:
    """The map with entries that stand beside the keynames moved below the keyname they belong to."""
    if reading.dialect.bare:
        _refuse_sections(entity, node, keys, reading)
    bare = [(k, v) for k, v in node.entries() if _is_bare(entity, k.text, v, keys, reading)]
    if not bare:
        return node
    first, last = bare[0][0], bare[-1][1]
    if not reading.dialect.bare:
        reading.diagnostics.warning(
            "deprecated",
            f"{entity.BARE} directly below {entity.WHAT} are deprecated",
            first.span,
            hint=f'put them below "{entity.BARE}:"',
        )
    place = (node.source, first.line, first.column, last.end_line, last.end_column)
    section = node.values.get(entity.BARE)
    moved = {k.text for k, _ in bare}
    if isinstance(section, Mapping) and entity.BARE not in moved:  # reported: what follows is none of its faults
        bare += [(k, v) for k, v in section.entries() if k.text not in node.values]
    inner = Mapping(*place, [k for k, _ in bare], {k.text: v for k, v in bare})
    kept = [(k, v) for k, v in node.entries() if k.text not in moved and k.text != entity.BARE]
    head = Scalar(node.source, first.line, first.column, first.end_line, first.end_column, entity.BARE, True)
    whole = (node.source, node.line, node.column, node.end_line, node.end_column)
    return Mapping(*whole, [*(k for k, _ in kept), head], {**{k.text: v for k, v in kept}, entity.BARE: inner})


def _is_bare(entity: type[Entity], name: str, value: Node, keys: dict[str, tuple[str, Key]], reading: Reading) -> bool:
    """Whether an entry beside the keynames is one that belongs below one of them.

    Where the version has no other place for such entries, they may have any name but a keyname. What is called like a
    section of later versions, or nearly like a keyname, is known by what stands below it.
    """
    near = nearest(name, keys, SURELY_MEANT)
    section = name in OPERATION_SECTIONS
    if not reading.dialect.bare or not (section or (near and name not in keys)):
        return name not in keys and not near
    if isinstance(value, Mapping):
        held: type[Entity] | None = getattr(keys[entity.BARE][1].shape, "entity", None)
        return held is not None and keynames(held, reading.dialect).keys() >= value.values.keys()
    unheard = Reading(Diagnostics(), reading.dialect)
    return is_null(value) or (
        isinstance(value, Scalar) and (section or keys[near[0]][1].shape.read(value, name, unheard) is None)
    )


def _refuse_sections(entity: type[Entity], node: Mapping, keys: dict[str, tuple[str, Key]], reading: Reading) -> None:
    """Report the keynames below which later versions put operations; they are read nevertheless."""
    later = reading.dialect.later
    while later is not None and later.bare:
        later = later.later
    for key, value in node.entries():
        given = key.text in OPERATION_SECTIONS and not _is_bare(entity, key.text, value, keys, reading)
        if given and later is not None:
            _report_later(entity, key, later.name, reading)


OPERATION_SECTIONS = frozenset({"operations", "notifications"})
"""Where one of these keynames is given, no operation may be written beside the keynames."""


def _called(entity: type[Entity], key: Scalar | None) -> str:
    return f'{entity.WHAT} "{key.text}"' if key is not None else entity.WHAT
