"""Output as lines of text, whatever pieces it comes in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ordito.engine.steps import LONGEST_LINE, TAIL_LINES, PrintedLines


def lines_of(pieces: list[bytes]) -> tuple[list[str], tuple[str, ...]]:
    printed = PrintedLines()
    found = [text for piece in pieces if (text := printed.feed(piece))]
    if rest := printed.end():
        found.append(rest)
    return "\n".join(found).split("\n") if found else [], printed.tail


@given(st.text(st.characters(exclude_characters="\r")), st.lists(st.integers(0, 200)))
def test_the_text_is_the_same_however_it_is_cut(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    pieces = [data[a:b] for a, b in pairwise(places)]
    lines, tail = lines_of(pieces)
    expected = data.decode().removesuffix("\n").split("\n") if data and data != b"\n" else []
    assert [line for line in lines if line] == [line for line in expected if line]
    assert len(tail) <= TAIL_LINES


def test_what_is_no_utf8_is_replaced() -> None:
    assert lines_of([b"a\xffb\r\n", b"\xe2\x82"]) == (["a\ufffdb", "\ufffd"], ("a\ufffdb", "\ufffd"))


def test_a_line_without_end_costs_no_memory() -> None:
    printed = PrintedLines()
    for _ in range(100):
        printed.feed(b"x" * 1_000)
    assert sum(len(line) for line in printed.tail) <= 100_000
    assert all(len(line) <= LONGEST_LINE + 1_000 for line in printed.tail)
    assert len(printed.end()) < LONGEST_LINE
