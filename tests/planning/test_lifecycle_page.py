"""The tables in docs/lifecycle.md are those that plans are woven from."""

from tools.lifecycle import DOCUMENT, document


def test_the_page_shows_the_table_that_is_used() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert document(text) == text, "make it again: python -m tools.lifecycle"
    assert text.count("`monitoring_agent.install`") == 1
