"""Service templates that say in their own comments what must be found in them.

A comment of carets below a line expects a diagnostic there, carets below the text that it must underline::

          prot: 80
    #     ^^^^ unknown-property: did you mean "port"?

The code may follow the word ``warning`` or ``note``; what follows the colon must stand in the message or the hint.
Where no comment can stand (in the first columns, in block texts, behind broken YAML), ``#@ 3:1 code: text`` names line
and column, ``#@ types.yaml:3:1 code`` those of a file beside this one, and ``#@ - code`` expects a diagnostic without a
place.

A line ``#= nodes/app/properties/port: 80`` expects a part of the resolved model, the value written as JSON; only files
without errors have a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordito.base.diagnostics import Diagnostic, Diagnostics, Severity
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package
from ordito.syntax.expressions import as_written

_WHAT = r"(?:(?P<severity>warning|note) )?(?P<code>[a-z0-9-]+)(?:: (?P<text>.*))?"
_BELOW = re.compile(rf"\s*#\s*(?P<carets>\^+) {_WHAT}")
_PLACED = re.compile(rf"#@ (?:(?:(?P<file>[^:\s]+):)?(?P<line>\d+):(?P<column>\d+)|-) {_WHAT}")
_MODEL = re.compile(r"#= (?P<path>[^:]+(?::[^: ][^:]*)*): (?P<value>.*)")

Place = tuple[str, int, int, str, str]
"""File, line, column, severity and code."""


class Expected(msgspec.Struct, frozen=True):
    """One expected diagnostic; ``length`` is how much it underlines, 0 where that is not said."""

    file: str
    line: int
    column: int
    severity: str
    code: str
    text: str
    length: int = 0

    @property
    def place(self) -> Place:
        """What must agree exactly."""
        return self.file, self.line, self.column, self.severity, self.code


class ExpectedPart(msgspec.Struct, frozen=True):
    """A part of the model at a path, as plain data."""

    path: str
    value: Any


def read_expected(line: str, file: str, target: int, shift: int = 0) -> Expected | None:
    """What a comment expects; None for any other line. ``target`` is the line that carets stand below, in which all
    text stands ``shift`` columns further left than it is written."""
    if match := _PLACED.fullmatch(line):
        path = str(Path(file).parent / match["file"]) if match["file"] else file
        place = (path, int(match["line"]), int(match["column"])) if match["line"] else ("", 0, 0)
        return Expected(*place, match["severity"] or "error", match["code"], match["text"] or "")
    if match := _BELOW.fullmatch(line):
        place = (file, target, match.start("carets") + 1 - shift)
        length = len(match["carets"])
        return Expected(*place, match["severity"] or "error", match["code"], match["text"] or "", length)
    return None


def read_part(line: str) -> ExpectedPart | None:
    """The part of the model that a comment expects; None for any other line."""
    match = _MODEL.fullmatch(line)
    return ExpectedPart(match["path"], json.loads(match["value"])) if match else None


def expectations(path: Path) -> list[Expected]:
    """The diagnostics that the comments of a file expect."""
    found: list[Expected] = []
    target = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        expected = read_expected(line, str(path), target)
        if expected is not None:
            found.append(expected)
        else:
            target = number
    return found


def expected_parts(path: Path) -> list[ExpectedPart]:
    """The parts of the model that the comments of a file expect."""
    return [p for line in path.read_text(encoding="utf-8").splitlines() if (p := read_part(line)) is not None]


def resolve(path: Path) -> tuple[Service | None, Diagnostics]:
    """The service of a file, and what was found while it was read."""
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    return (resolve_service(package, diagnostics) if package is not None else None), diagnostics


def check_document(path: Path, expected: Iterable[Expected], parts: Iterable[ExpectedPart]) -> None:
    """All findings of a file are expected ones, and its model holds what is expected of it."""
    service, diagnostics = resolve(path)
    compare(diagnostics, list(expected))
    assert (service is None) == diagnostics.has_errors
    for wanted in parts:
        assert service is not None, f"{wanted.path}: there is no model"
        found = part(service, wanted.path)
        assert found == wanted.value, f"{wanted.path} is {found!r}"


def compare(diagnostics: Diagnostics, expected: list[Expected]) -> None:
    """The findings are exactly the expected ones: place, severity, code, a part of the text, what is underlined. A note
    that nothing expects is passed over: it says what is good to know, not what is wrong."""
    wanted = {e.place for e in expected}
    places = [place_of(d) for d in diagnostics if d.severity is not Severity.NOTE or place_of(d) in wanted]
    found = set(places)
    lines = [*(shown(d) for d in diagnostics.sorted()), *(f"UNEXPECTED {p}" for p in sorted(found - wanted))]
    lines += [f"MISSING    {p}" for p in sorted(wanted - found)]
    everything = "\n".join(lines)
    assert sorted(places) == sorted(e.place for e in expected), f"found:\n{everything}"
    for one in expected:
        same = [d for d in diagnostics if place_of(d) == one.place]
        assert any(one.text in f"{d.message}\n{d.hint}" for d in same), f"not said: {one.text}\n{everything}"
        spans = [d.span for d in same if d.span is not None and d.span.line == d.span.end_line]
        if one.length > 1 and spans:
            lengths = sorted(s.end_column - s.column for s in spans)
            assert one.length in lengths, f"{one.place} underlines {lengths} columns, not {one.length}\n{everything}"


def place_of(diagnostic: Diagnostic) -> Place:
    """Where a diagnostic stands and what it is."""
    span = diagnostic.span
    if span is None:
        return "", 0, 0, str(diagnostic.severity), diagnostic.code
    return str(Path(span.source.name)), span.line, span.column, str(diagnostic.severity), diagnostic.code


def shown(diagnostic: Diagnostic) -> str:
    """A diagnostic as a failing test shows it, with the line that it speaks of."""
    line = f"\n    {diagnostic.span.source.line(diagnostic.span.line)}" if diagnostic.span else ""
    return f"{diagnostic} | {diagnostic.hint}{line}"


def part(value: Any, path: str) -> object:
    """The part of a model at a path, as plain data: of what has a name or a key, that."""
    for name in path.split("/"):
        if isinstance(value, Mapping):
            value = value[name]
        elif isinstance(value, list | tuple):
            value = value[int(name)]
        else:
            value = getattr(value, name)
    if isinstance(value, tuple):
        return [getattr(v, "key", getattr(v, "name", v)) for v in value]
    if isinstance(value, frozenset):
        return sorted(value)
    return (
        [*value]
        if isinstance(value, Mapping)
        and any(isinstance(v, msgspec.Struct) and hasattr(v, "name") for v in value.values())
        else as_written(value)
    )
