"""Fully qualified names of blocks: ``opm.dev/lifecycle/data@v0#Backup``.

A path of at least two segments, the major version, and the name of the block. Only the major version is part of the
name: the minor version is chosen where the block is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

import msgspec

from ordito.base.suggest import nearest

EXAMPLE = "ordito.dev/lifecycle/health@v1#WaitForHealthy"
MOST_CHARACTERS = 250
"""As for all names: longer ones could not be names of files."""
MOST_SUGGESTIONS = 2

_SEGMENT = re.compile(r"[a-z0-9.-]+")
_NOT_IN_SEGMENT = re.compile(r"[^a-z0-9.-]")
_MAJOR = re.compile(r"0|[1-9][0-9]{0,8}")
_NAME = re.compile(r"[A-Z][a-zA-Z0-9]*")
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9]")


class NamePart(Enum):
    """A part of a name."""

    PATH = "path"
    MAJOR = "version"
    NAME = "name"


class NotAnFqn(ValueError):
    """A text is not a fully qualified name. ``part`` is wrong at ``offset`` (characters, from 0) of the text; the
    message says why, ``hint`` what to write."""

    def __init__(self, part: NamePart, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.part = part
        self.offset = offset
        self.hint = hint


class Fqn(msgspec.Struct, frozen=True, order=True):
    """The name of a block: ``path`` (``opm.dev/lifecycle/data``), ``major`` version, and ``name`` (``Backup``)."""

    path: str
    major: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}@v{self.major}#{self.name}"


def parse(text: str) -> Fqn:
    """The name that a text holds. Raises ``NotAnFqn`` where it is not one."""
    if len(text) > MOST_CHARACTERS:
        raise NotAnFqn(NamePart.PATH, 0, f"the name of a block has at most {MOST_CHARACTERS} characters")
    path, at, rest = text.partition("@")
    if not at:
        path = text.partition("#")[0]
    _check_path(path)
    if not at:
        raise NotAnFqn(NamePart.MAJOR, len(path), 'the version is missing: "@v" and a number', f"as in {path}@v1#Name")
    major, hash_sign, name = rest.partition("#")
    number = _major(major, len(path) + 1)
    if not hash_sign:
        raise NotAnFqn(
            NamePart.NAME, len(text), 'the name of the block is missing: "#" and a name', f"as in {text}#Name"
        )
    _check_name(name, len(text) - len(name))
    return Fqn(path, number, name)


def nearest_names(text: str, known: Iterable[Fqn]) -> list[Fqn]:
    """At most two known names that are probably meant: first other versions of the same block, the newest first, then
    blocks of that name at other paths, then names with a similar spelling. ``text`` need not be a well-formed name."""
    every = sorted(set(known))
    path, _, name = text.partition("#")
    path = path.partition("@")[0]
    name = name or path.rpartition("/")[2]
    versions = sorted((f for f in every if f.path == path and f.name == name), key=lambda f: -f.major)
    namesakes = [f for f in every if f.name == name and f.path != path]
    spelt = nearest(text, map(str, every))
    alike = nearest(name, {f.name for f in every if f.path == path})
    found = [*map(str, versions), *map(str, namesakes)]
    found += [str(f) for other in alike for f in every if f.path == path and f.name == other]
    found += spelt
    by_text = {str(f): f for f in every}
    return [by_text[one] for one in dict.fromkeys(found) if one != text][:MOST_SUGGESTIONS]


def _check_path(path: str) -> None:
    wrong = _NOT_IN_SEGMENT.search(path.replace("/", "-"))
    if wrong is not None:
        hint = f"write {path.lower()}" if wrong.group().isupper() else ""
        raise NotAnFqn(
            NamePart.PATH,
            wrong.start(),
            f'the path holds "{wrong.group()}": it has lower-case letters, digits, "." and "-"',
            hint,
        )
    segments = path.split("/")
    offset = 0
    for segment in segments:
        if not _SEGMENT.fullmatch(segment) or not segment.strip("."):
            what = f'the segment "{segment}" of the path' if segment else "a segment of the path"
            raise NotAnFqn(NamePart.PATH, offset, f"{what} is not a name", f"as in {EXAMPLE}")
        offset += len(segment) + 1
    if len(segments) < 2:
        raise NotAnFqn(
            NamePart.PATH, 0, 'the path has only one segment: two or more, with "/" between them', f"as in {EXAMPLE}"
        )


def _major(text: str, offset: int) -> int:
    if not text.startswith("v"):
        hint = f"write @v{text}" if text.isascii() and text.isdigit() else f"as in {EXAMPLE}"
        raise NotAnFqn(NamePart.MAJOR, offset, 'the version after "@" begins with "v"', hint)
    digits = text[1:]
    if _MAJOR.fullmatch(digits):
        return int(digits)
    first = re.match(r"0*([0-9]{1,9})", digits)
    hint = f"write v{int(first[1])}" if first else f"as in {EXAMPLE}"
    raise NotAnFqn(NamePart.MAJOR, offset, f'the version "{text}" is not "v" and the number of the major version', hint)


def _check_name(name: str, offset: int) -> None:
    if _NAME.fullmatch(name):
        return
    if not name:
        raise NotAnFqn(NamePart.NAME, offset, 'the name of the block is missing after "#"', f"as in {EXAMPLE}")
    wrong = _NOT_IN_NAME.search(name)
    if wrong is not None:
        raise NotAnFqn(
            NamePart.NAME,
            offset + wrong.start(),
            f'the name "{name}" holds "{wrong.group()}": it has letters and digits only',
        )
    hint = f"write #{name[0].upper()}{name[1:]}" if name[0].isalpha() else f"as in {EXAMPLE}"
    raise NotAnFqn(NamePart.NAME, offset, f'the name "{name}" does not begin with a capital letter', hint)
