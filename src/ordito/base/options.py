"""Options, each declared once as an annotated field of a frozen struct, and what is derived from the declaration.

A field is declared ``name: Annotated[type, Option("--flag", "What help says.")] = default``. The options of a command
line (`cli/request_options.py`), the words of a command that asks for the same (``words``), and what the record of a job
keeps (``recorded``, ``from_record``) all come from that. A field whose type is another such struct is a group.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Annotated, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from ordito.base.portion import Portion, portion_of

S = TypeVar("S", bound=msgspec.Struct)


class Option(msgspec.Struct, frozen=True):
    """How a command line gives a field its value by an option."""

    flag: str
    """The option, as in ``--replace``. Without its dashes it is the key in the record of a job."""
    help: str
    """What help says of it. Words in braces are those of the request that takes it (``Request.wording``)."""
    metavar: str = ""
    """The placeholder of the value in help."""
    opposite: str = ""
    """The option that says no: it makes a truth value false, and a text ``NO``."""
    opposite_help: str = ""
    """What help says of the opposite, where it has a line of its own."""
    choices: tuple[str, ...] = ()
    """The values that are allowed, empty for any."""
    unit: str = ""
    """``seconds`` for a number of seconds, ``duration`` for a time as people write it, "" for any other value."""
    least: int | None = None
    """The smallest number."""
    most: int | None = None
    """The largest number."""
    is_path: bool = False
    """Whether a value is the path of a file, which is recorded relative to the ensemble."""
    shows_default: bool = False
    """Whether help shows the default."""
    is_recorded: bool = True
    """Whether the record of the job keeps it. Options for reading a service are not kept, but their results are."""


class Argument(msgspec.Struct, frozen=True):
    """How a command line gives a field its value by words that are no options."""

    metavar: str = ""
    """The placeholder in help; "" for the name of the field."""
    is_required: bool = False
    """Whether it has to be given."""
    least: int | None = None
    """The smallest number."""
    is_path: bool = False
    """Whether it is the path of a file, which is recorded relative to the ensemble."""
    prefix: str = ""
    """A prefix that users may leave out."""
    is_read: bool = True
    """Whether it is an argument of its own; otherwise the request takes it out of other arguments."""
    help: str = ""
    """What it is, for forms; the help of a command line says it in its text."""


NO = "no"
"""The value that the opposite of an option gives a text."""


class Declared(msgspec.Struct, frozen=True):
    """A field of a struct of options."""

    name: str
    kind: object
    """Its type."""
    default: object
    """Its value where none is given; ``msgspec.NODEFAULT`` where one has to be given."""
    by: Option | Argument | None
    """How a command line gives it; None for a group, and for a field that no command line gives."""

    @property
    def group(self) -> type[msgspec.Struct] | None:
        """The struct of the group, None where the field is not a group."""
        is_struct = self.by is None and isinstance(self.kind, type) and issubclass(self.kind, msgspec.Struct)
        return self.kind if is_struct else None  # type: ignore[return-value]

    @property
    def key(self) -> str:
        """Its key in the record of a job, "" where that does not keep it."""
        is_kept = isinstance(self.by, Option) and self.by.is_recorded
        return self.by.flag.lstrip("-").replace("-", "_") if is_kept and isinstance(self.by, Option) else ""

    @property
    def is_several(self) -> bool:
        """Whether it is a list or a map, whose values are given one by one."""
        return get_origin(self.kind) in {tuple, Mapping}


@cache
def declared(kind: type[msgspec.Struct]) -> tuple[Declared, ...]:
    """The fields of a struct of options, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in msgspec.structs.fields(kind):
        hint, by = hints[field.name], None
        if get_origin(hint) is Annotated:
            hint, *said = get_args(hint)
            by = next((one for one in said if isinstance(one, Option | Argument)), None)
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        found.append(Declared(field.name, hint, default, by))
    return tuple(found)


def _said(options: msgspec.Struct) -> Iterator[tuple[Declared, object]]:
    """The fields that have another value than they have where nothing is said, those of groups too."""
    for field in declared(type(options)):
        value = getattr(options, field.name)
        if field.group is not None:
            yield from _said(value)
        elif field.by is not None and value != field.default:
            yield field, value


def words(options: msgspec.Struct, only: Collection[str] = ()) -> tuple[str, ...]:
    """The words of a command line that give these options; of the fields named in ``only``, or of all where it is
    empty."""
    return tuple(w for field, value in _said(options) if not only or field.name in only for w in _words(field, value))


def _words(field: Declared, value: object) -> Iterator[str]:
    by = field.by
    assert by is not None
    if isinstance(by, Argument):
        for one in _texts(value):
            yield one.removeprefix(by.prefix)
    elif isinstance(value, bool) or value == NO:
        yield by.flag if value is True else by.opposite
    else:
        for one in _texts(value):
            yield from (by.flag, one)


def _texts(value: object) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, one in value.items()]
    return list(map(str, value)) if isinstance(value, tuple) else [str(value)]


def recorded(options: msgspec.Struct) -> dict[str, object]:
    """The given options by their names, as plain data for the record of a job."""
    return {field.key: _plain(value) for field, value in _said(options) if field.key}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Portion) else value


def from_record(kind: type[S], said: Mapping[str, object]) -> S:
    """The options that the record of a job keeps. A value that does not fit its option counts as not given."""
    found: dict[str, object] = {}
    for field in declared(kind):
        if field.group is not None:
            found[field.name] = from_record(field.group, said)
        elif field.key in said:
            found[field.name] = _given(field, said[field.key])
    return kind(**found)


def _given(field: Declared, value: object) -> object:
    if field.kind is Portion:
        return portion_of(str(value)) or field.default
    try:
        return msgspec.convert(value, field.kind)
    except msgspec.ValidationError:
        return field.default


def with_paths(options: S, seen: Callable[[str], str]) -> S:
    """The same options with ``seen`` applied to every path, also in groups."""
    changed: dict[str, object] = {}
    for field in declared(type(options)):
        value = getattr(options, field.name)
        if field.group is not None:
            changed[field.name] = with_paths(value, seen)
        elif field.by is not None and field.by.is_path and value:
            changed[field.name] = tuple(map(seen, value)) if isinstance(value, tuple) else seen(value)
    return msgspec.structs.replace(options, **changed)
