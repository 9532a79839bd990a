"""Parts of files that a page shows: each must be part of a file that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PLACES = ("examples", "tests", "src/ordito", "docs")
SUFFIXES = {
    "yaml": (".yaml", ".yml"),
    "json": (".json",),
    "jinja": (".j2", ".jinja", ".jinja2", ".conf"),
    "python": (".py",),
    "toml": (".toml",),
    "ini": (".ini", ".cfg", ".conf"),
    "cue": (".cue",),
    "bash": (".sh",),
}
GAPS = ("...", "# ...")


def is_part(fragment: str, files: Iterable[str]) -> bool:
    """Is this part of one of these texts, whatever its indentation there?

    A line ``...`` or ``# ...`` stands for any number of lines.
    """
    wanted = [line.rstrip() for line in dedent(fragment).splitlines()]
    while wanted and not wanted[-1]:
        wanted.pop()
    pieces = list(_pieces(wanted))
    if not pieces:
        return False
    first = pieces[0][0].strip()
    return any(first in text and _holds(text, pieces) for text in files)


def _pieces(lines: list[str]) -> Iterator[list[str]]:
    """What stands between gaps."""
    piece: list[str] = []
    for line in [*lines, GAPS[0]]:
        if line.strip() not in GAPS:
            piece.append(line)
        elif piece:
            yield piece
            piece = []


def _holds(text: str, pieces: list[list[str]]) -> bool:
    lines = [line.rstrip() for line in text.splitlines()]
    first = pieces[0][0]
    for start, line in enumerate(lines):
        indent = line[: len(line) - len(first)]
        if line.endswith(first) and not indent.strip() and _follow(lines, start, pieces, indent):
            return True
    return False


def _follow(lines: list[str], start: int, pieces: list[list[str]], indent: str) -> bool:
    at = start
    for number, piece in enumerate(pieces):
        wanted = [f"{indent}{line}" if line else "" for line in piece]
        last = at if number == 0 else len(lines) - len(wanted)
        found = next((k for k in range(at, last + 1) if lines[k : k + len(wanted)] == wanted), None)
        if found is None:
            return False
        at = found + len(wanted)
    return True


@cache
def repository_files(language: str) -> tuple[str, ...]:
    """The texts of all files of the repository that may hold a fragment in this language; those of pages are their
    own."""
    suffixes = SUFFIXES.get(language, (f".{language}",))
    return tuple(
        path.read_text(encoding="utf-8", errors="replace")
        for place in PLACES
        for path in sorted((ROOT / place).rglob("*"))
        if path.suffix in suffixes and path.is_file()
    )
