"""One slip of the finger, anywhere in a real service, gives one finding where it was made, or one at each use of the
name that it changed; nothing else is reported."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package

SHOP = Path(__file__).parents[2] / "examples" / "shop"
WORD = re.compile(r"[A-Za-z_][\w.]{2,}")
EVERY = 3
"""Every third slip is enough: they fall on all kinds of words."""


def slips(text: str) -> list[tuple[int, str, str, str]]:
    """Every word of a text with two of its letters swapped: line number, the word, the slip, and the text with it."""
    lines = text.split("\n")
    found = []
    for number, line in enumerate(lines):
        for match in WORD.finditer(line) if "description" not in line and "#" not in line else ():
            word = match[0]
            pairs = [
                i for i in range(len(word) // 2, len(word) - 1) if word[i : i + 2].isalpha() and word[i] != word[i + 1]
            ]
            if pairs:
                at = pairs[0]
                slip = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
                changed = [*lines[:number], line[: match.start()] + slip + line[match.end() :], *lines[number + 1 :]]
                found.append((number + 1, word, slip, "\n".join(changed)))
    return found


@pytest.mark.parametrize("file", ["service.yaml", "types.yaml"])
def test_one_slip(file: str, tmp_path: Path) -> None:
    """R-2.1-1: every name is checked, and a finding is about the slip, not about what follows from it."""
    for name in ("service.yaml", "types.yaml"):
        shutil.copy(SHOP / name, tmp_path)
    for line, word, slip, text in slips((SHOP / file).read_text(encoding="utf-8"))[::EVERY]:
        (tmp_path / file).write_text(text, encoding="utf-8")
        diagnostics = Diagnostics()
        package = open_package(str(tmp_path / "service.yaml"), diagnostics)
        assert package is not None
        resolve_service(package, diagnostics)
        errors = [d for d in diagnostics if d.severity is Severity.ERROR]
        here = [d for d in errors if d.span and d.span.line == line and d.span.source.name.endswith(file)]
        about = [d for d in errors if d not in here and (word in d.message or slip in d.message)]
        other = [str(d) for d in errors if d not in here and d not in about]
        assert not other, f"{file}:{line}: {word} -> {slip}"
        assert len(here) <= 1, f"{file}:{line}: {word} -> {slip}"
