"""One slip in how a real service is written, after which it is no YAML, gives one finding near where it was made, and
nothing that only follows from it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package

SHOP = Path(__file__).parents[2] / "examples" / "shop"
FILES = ("service.yaml", "types.yaml")

Slip = Callable[[str], str | None]


def second_colon(line: str) -> str | None:
    return re.sub(r": (\w+)$", r": Note: \1", line) if re.search(r": \w+$", line) else None


def at_sign(line: str) -> str | None:
    return re.sub(r": (\w[^:{}\[\]]*)$", r": @\1", line) if re.search(r": \w[^:{}\[\]]*$", line) else None


def text_behind_quotes(line: str) -> str | None:
    return re.sub(r": (\w+)$", r': "\1" more', line) if re.search(r": \w+$", line) else None


def forgotten_space(line: str) -> str | None:
    return line.replace(": ", ":", 1) if re.fullmatch(r" *\w+: \w+", line) else None


def forgotten_comma(line: str) -> str | None:
    found = re.search(r"(\w), (\w)", line) if re.search(r"[\[{]", line) else None
    return line[: found.start() + 1] + line[found.start() + 2 :] if found else None


def closed_twice(line: str) -> str | None:
    return f"{line} }}" if line.endswith(("}", "]")) else None


SLIPS: tuple[Slip, ...] = (second_colon, at_sign, text_behind_quotes, forgotten_space, forgotten_comma, closed_twice)


def slips(text: str, slip: Slip) -> list[tuple[int, str]]:
    """Every line of a text with a slip: its number, and the text with it."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        changed = slip(line) if not line.lstrip().startswith("#") else None
        if changed is not None:
            found.append((number + 1, "\n".join([*lines[:number], changed, *lines[number + 1 :]])))
    return found


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("slip", SLIPS, ids=lambda s: s.__name__)
def test_one_slip(file: str, slip: Slip, tmp_path: Path) -> None:
    """R-2.1-1: a finding is about the slip, reading goes on, and nothing that follows from it is said."""
    for name in FILES:
        shutil.copy(SHOP / name, tmp_path)
    made = slips((SHOP / file).read_text(encoding="utf-8"), slip)
    for line, text in made[::2]:
        (tmp_path / file).write_text(f"{text}\nstrange_key: 1\n", encoding="utf-8")
        diagnostics = Diagnostics()
        package = open_package(str(tmp_path / "service.yaml"), diagnostics)
        assert package is not None
        resolve_service(package, diagnostics)
        errors = [d for d in diagnostics if d.severity is Severity.ERROR]
        shown = [f"{file}:{line}: {text.splitlines()[line - 1]}", *map(str, errors)]
        assert [d.code for d in errors if d.span and d.span.line > text.count("\n")] == ["unknown-keyname"], shown
        assert len(errors) <= 2, shown
        assert all(d.span and abs(d.span.line - line) <= 1 for d in errors if d.code == "yaml-syntax"), shown
