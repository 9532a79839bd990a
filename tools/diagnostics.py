"""Writes ``docs/diagnostics.md`` from the pages of the diagnostic codes: ``python -m tools.diagnostics``."""

from __future__ import annotations

from pathlib import Path

from ordito.cli.pages import as_markdown, page_codes, read_page

DOCUMENT = Path(__file__).parent.parent / "docs" / "diagnostics.md"

HEAD = """\
# What Ordito finds, code by code

Each finding carries a code that never changes its meaning. `ordito explain CODE` shows what is said here: what a code
means, a document that gives it, and the same document without the fault.

<!-- Made by `python -m tools.diagnostics` from src/ordito/cli/codes; a test sees that it is up to date. -->
"""


def document() -> str:
    """The whole document."""
    lines = [HEAD]
    for code in page_codes():
        page = read_page(code)
        assert page is not None
        lines += as_markdown(page)
    return "\n".join(lines).rstrip("\n") + "\n"


if __name__ == "__main__":
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(document(), encoding="utf-8")
