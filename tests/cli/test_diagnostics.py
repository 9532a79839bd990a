"""Diagnostics show the line they speak of, with a caret that stands under what they mean."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostic, Related, Severity
from ordito.base.span import SourceText, Span
from ordito.base.text_width import width
from ordito.cli import diagnostics
from ordito.cli.channel import Channel, Color
from ordito.cli.text_width import columns
from ordito.results.findings import total
from tests.cli.channels import channel, written

SOURCE = SourceText(
    "t.yaml",
    "inputs:\n  port:\n    type: integer\n    default: eighty\n\tkey: value\n  名前: wrong\n",
)


def shown(diagnostic: Diagnostic, to: Channel | None = None) -> list[str]:
    return list(diagnostics.lines(diagnostic, to or channel()))


def error(span: Span | None, message: str = "wrong", hint: str = "", *related: Related) -> Diagnostic:
    return Diagnostic(Severity.ERROR, "bad-value", message, span, hint, related)


def test_excerpt_caret_related_place_and_help() -> None:
    declared = Related("declared here", Span(SOURCE, 3, 11, 3, 18))
    found = error(Span(SOURCE, 4, 14, 4, 20), '"eighty" is not an integer', "give a whole number", declared)
    assert shown(found) == [
        'error[bad-value]: "eighty" is not an integer',
        " --> t.yaml:4:14",
        "  │",
        "3 │     type: integer",
        "  │           ------- declared here",
        "4 │     default: eighty",
        "  │              ^^^^^^",
        "  = help: give a whole number",
    ]


def test_lines_that_are_left_out_are_marked() -> None:
    found = error(Span(SOURCE, 4, 14, 4, 20), "wrong", "", Related("begins here", Span(SOURCE, 1, 1, 1, 7)))
    assert shown(found)[3:] == [
        "1 │ inputs:",
        "  │ ------ begins here",
        "...",
        "4 │     default: eighty",
        "  │              ^^^^^^",
    ]


def test_the_caret_stands_right_behind_tabs_and_wide_characters() -> None:
    assert shown(error(Span(SOURCE, 5, 2, 5, 5)))[3:] == ["5 │     key: value", "  │     ^^^"]
    assert shown(error(Span(SOURCE, 6, 7, 6, 12)))[3:] == ["6 │   名前: wrong", "  │         ^^^^^"]


def test_a_place_in_another_file_has_an_excerpt_of_its_own() -> None:
    other = SourceText("types.yaml", "node_types:\n  Web:\n")
    found = error(Span(SOURCE, 2, 3, 2, 7), "wrong", "", Related("declared here", Span(other, 2, 3, 2, 6)))
    lines = shown(found)
    assert " --> t.yaml:2:3" in lines
    assert " ::: types.yaml:2:3" in lines
    assert lines[-1] == "  │   --- declared here"


def test_several_labels_of_one_line_have_a_row_each() -> None:
    found = error(Span(SOURCE, 3, 5, 3, 9), "wrong", "", Related("this one", Span(SOURCE, 3, 11, 3, 18)))
    assert shown(found)[3:] == ["3 │     type: integer", "  │           ------- this one", "  │     ^^^^"]


def test_a_span_over_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert shown(error(Span(SOURCE, 2, 3, 4, 20)))[3:] == ["2 │   port:", "  │   ^^^^^"]


def test_a_place_behind_the_end_of_a_line_or_text_still_has_a_caret() -> None:
    assert shown(error(Span(SOURCE, 1, 8, 1, 9)))[3:] == ["1 │ inputs:", "  │        ^"]
    assert shown(error(Span(SOURCE, 99, 1, 99, 2)))[1:] == ["  --> t.yaml:99:1"]


def test_without_a_place_there_is_no_excerpt() -> None:
    assert shown(error(None, "no such file", "look again")) == [
        "error[bad-value]: no such file",
        "  = help: look again",
    ]


def test_long_lines_are_cut_around_the_caret() -> None:
    source = SourceText("long.yaml", "x" * 500 + "WRONG" + "y" * 500)
    head, caret = shown(error(Span(source, 1, 501, 1, 506)))[3:]
    assert width(head) <= 100
    assert "…" in head
    at = caret.index("^")
    assert caret.count("^") == 5
    assert head[at : at + 5] == "WRONG"


def test_text_cannot_steer_the_terminal() -> None:
    source = SourceText("evil.yaml", "a: \x1b[2Jb")
    for line in shown(error(Span(source, 1, 4, 1, 5), "it says \x1b[31m", "\x07")):
        assert "\x1b" not in line
        assert "\x07" not in line


def test_ascii_where_the_encoding_has_nothing_else() -> None:
    to = channel("latin-1")
    diagnostics.render([error(Span(SOURCE, 4, 14, 4, 20))], to)
    assert written(to).isascii()


def test_colour_says_nothing_that_the_text_does_not() -> None:
    found = error(Span(SOURCE, 4, 14, 4, 20), "wrong", "help", Related("declared", Span(SOURCE, 3, 11, 3, 18)))
    painted = channel(color=Color.ALWAYS)
    diagnostics.render([found], painted)
    plain = channel()
    diagnostics.render([found], plain)
    assert "\x1b[1;31m" in written(painted)
    assert re.sub(r"\x1b\[[0-9;]*m", "", written(painted)) == written(plain)


def test_very_many_are_counted_instead_of_shown() -> None:
    to = channel()
    diagnostics.render([error(None, f"number {n}") for n in range(1_000)], to)
    text = written(to)
    assert text.count("error[bad-value]") == diagnostics.MOST_SHOWN
    assert "and 900 more" in text
    assert text.endswith("1000 errors\n")


def test_total_counts_by_severity() -> None:
    warning = Diagnostic(Severity.WARNING, "c", "m")
    assert total([error(None), warning, warning]) == "1 error, 2 warnings"


def test_data_has_places_or_null() -> None:
    found = error(Span(SOURCE, 4, 14, 4, 20), "wrong", "help", Related("declared", Span(SOURCE, 3, 11, 3, 18)))
    assert json.loads(json.dumps(diagnostics.as_data(found))) == {
        "code": "bad-value",
        "severity": "error",
        "message": "wrong",
        "file": "t.yaml",
        "line": 4,
        "column": 14,
        "end_line": 4,
        "end_column": 20,
        "hint": "help",
        "related": [
            {"message": "declared", "file": "t.yaml", "line": 3, "column": 11, "end_line": 3, "end_column": 18}
        ],
    }
    assert diagnostics.as_data(error(None))["line"] is None


@given(
    text=st.text(alphabet=st.characters(blacklist_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=300),
    begin=st.integers(1, 310),
    length=st.integers(0, 40),
)
@example(text="*", begin=1, length=0)
@example(text=" ", begin=1, length=0)
def test_the_caret_is_under_the_text_it_means(text: str, begin: int, length: int) -> None:
    source = SourceText("t.yaml", text)
    lines = shown(error(Span(source, 1, begin, 1, begin + length)))
    if not text.strip(" "):
        return
    head, caret = lines[3:]
    assert width(caret) <= width(head) + 1 + length
    cells = columns(text)
    marked = "".join(cells[begin - 1 : begin - 1 + max(length, 1)])
    if width("".join(cells)) <= 90 and begin - 1 + length <= len(cells) and width(marked):
        before = width("1 │ ") + width("".join(cells[: begin - 1]))
        assert caret.index("^") == before
        assert caret.count("^") == width(marked)


@pytest.mark.parametrize("name", ["NO_COLOR", "FORCE_COLOR"])
def test_colour_follows_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv(name, "1")
    assert channel(color=Color.AUTO).has_color is (name == "FORCE_COLOR")
    assert channel(color=Color.NEVER).has_color is False
    assert channel(color=Color.ALWAYS).has_color is True
