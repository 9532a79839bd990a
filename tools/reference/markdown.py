"""Small parts of Markdown that the pages of the reference are put together from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

MADE = "<!-- Made by `python -m tools.reference`; a test sees that it is up to date. -->"


def code(text: str) -> str:
    """A text as code, also in a cell of a table."""
    return f"`{cell(text)}`"


def cell(text: str) -> str:
    """A text as it stands in a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, whose cells are Markdown already, and an empty one after it."""
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def joined(lines: Iterable[str]) -> str:
    """A document of lines."""
    return "\n".join(lines).rstrip("\n") + "\n"
