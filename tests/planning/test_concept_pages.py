"""The tables in docs/concepts are those that the program goes by."""

from pathlib import Path

import pytest

from tools.concepts import page, pages


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_a_page_shows_what_is_used(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert page(path.name, text) == text, "make it again: python -m tools.concepts"
    assert text.count("<!-- table: ") == text.count("<!-- end: ") > 0
