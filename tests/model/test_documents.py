"""Service templates as data: each file below ``data`` says in its comments what must be found in it.

A comment of carets below a line expects a diagnostic there, carets below the text that it must underline::

          prot: 80
    #     ^^^^ unknown-property: did you mean "port"?

The code may follow the word ``warning``; what follows the colon must stand in the message or the hint. Where no comment
can stand (in the first columns, in block texts, behind broken YAML), ``#@ 3:1 code: text`` names line and column, and
``#@ - code`` a diagnostic without a place. All findings of a file must be expected, and nothing else is reported.

A line ``#= nodes/app/properties/port: 80`` expects a part of the resolved model, the value written as JSON; only files
without errors have a model. Files in a folder named after a case are its imports, and hold expectations likewise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.model.resolve import resolve_service
from ordito.source.package import open_package
from ordito.syntax.expressions import as_written

DATA = Path(__file__).parent / "data"
CASES = sorted(DATA.glob("*/*.yaml"))

BELOW = re.compile(r"\s*#\s*(?P<carets>\^+) (?:(?P<severity>warning) )?(?P<code>[a-z-]+)(?:: (?P<text>.*))?")
PLACED = re.compile(r"#@ (?P<place>\d+:\d+|-) (?:(?P<severity>warning) )?(?P<code>[a-z-]+)(?:: (?P<text>.*))?")
MODEL = re.compile(r"#= (?P<path>[^:]+(?::[^: ][^:]*)*): (?P<value>.*)")


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
    def place(self) -> tuple[str, int, int, str, str]:
        """What must agree exactly."""
        return self.file, self.line, self.column, self.severity, self.code


def expectations(path: Path) -> list[Expected]:
    """The diagnostics that the comments of a file expect."""
    found: list[Expected] = []
    target = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if match := PLACED.fullmatch(line):
            row, _, column = match["place"].partition(":")
            place = ("", 0, 0) if row == "-" else (str(path), int(row), int(column))
            found.append(Expected(*place, match["severity"] or "error", match["code"], match["text"] or ""))
        elif match := BELOW.fullmatch(line):
            column_of_carets = match.start("carets") + 1
            severity, length = match["severity"] or "error", len(match["carets"])
            place = (str(path), target, column_of_carets)
            found.append(Expected(*place, severity, match["code"], match["text"] or "", length))
        else:
            target = number
    return found


def place_of(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    """Where a diagnostic stands and what it is."""
    span = diagnostic.span
    if span is None:
        return "", 0, 0, str(diagnostic.severity), diagnostic.code
    return str(Path(span.source.name)), span.line, span.column, str(diagnostic.severity), diagnostic.code


def shown(diagnostic: Diagnostic) -> str:
    """A diagnostic as a failing test shows it."""
    return f"{diagnostic} | {diagnostic.hint}"


@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_document(case: Path) -> None:
    """R-1.4-1: a document is validated without anything else, and every fault in it is reported, each once."""
    files = [case, *sorted((case.parent / case.stem).rglob("*.yaml"))]
    expected = [e for f in files for e in expectations(f)]
    diagnostics = Diagnostics()
    package = open_package(str(case), diagnostics)
    service = resolve_service(package, diagnostics) if package is not None else None

    everything = "\n".join(shown(d) for d in diagnostics.sorted())
    assert sorted(place_of(d) for d in diagnostics) == sorted(e.place for e in expected), everything
    for wanted in expected:
        same = [d for d in diagnostics if place_of(d) == wanted.place]
        assert any(wanted.text in f"{d.message}\n{d.hint}" for d in same), f"{wanted}\n{everything}"
        spans = [d.span for d in same if d.span is not None and d.span.line == d.span.end_line]
        if wanted.length > 1 and spans:
            assert any(s.end_column - s.column == wanted.length for s in spans), f"{wanted}: {spans}"
    assert (service is None) == diagnostics.has_errors

    models = [match for line in case.read_text(encoding="utf-8").splitlines() if (match := MODEL.fullmatch(line))]
    for match in models:
        assert service is not None
        assert part(service, match["path"]) == json.loads(match["value"]), match["path"]


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
    return [*value] if isinstance(value, Mapping) and path.endswith("operations") else as_written(value)
