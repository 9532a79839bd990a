"""Findings: collected, each once, with hints that name what was probably meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.base import suggest
from ordito.base.diagnostics import Diagnostics, InvalidDocument, Severity, suggestion
from ordito.base.span import SourceText, Span
from ordito.base.suggest import nearest

SOURCE = SourceText("file.yaml", "first\r\nsecond\nthird\u2028fourth")


def test_places_in_a_text() -> None:
    """Lines end as YAML's lines do; an offset behind the last character is a place, too."""
    assert [SOURCE.line(n) for n in range(6)] == ["", "first", "second", "third", "fourth", ""]
    assert str(SOURCE.span_at(0)) == "file.yaml:1:1"
    assert str(SOURCE.span_at(8)) == "file.yaml:2:2"
    assert str(SOURCE.span_at(len(SOURCE.text))) == "file.yaml:4:7"
    assert str(SourceText("empty", "").span_at(0)) == "empty:1:1"


def test_each_finding_once() -> None:
    """What several readers find at one place is kept once, but counted each time."""
    diagnostics = Diagnostics()
    place = Span(SOURCE, 2, 1, 2, 7)
    for _ in range(3):
        diagnostics.error("code", "message", place)
    diagnostics.warning("code", "another message", place)
    diagnostics.error("code", "message", Span(SOURCE, 1, 1, 1, 2))
    diagnostics.error("code", "message", None)
    assert (len(diagnostics), diagnostics.errors, diagnostics.has_errors) == (4, 5, True)
    assert [str(d) for d in diagnostics.sorted()] == [
        "error[code]: message",
        "file.yaml:1:1: error[code]: message",
        "file.yaml:2:1: error[code]: message",
        "file.yaml:2:1: warning[code]: another message",
    ]


def test_warnings_are_no_errors() -> None:
    """A warning alone stops nothing."""
    diagnostics = Diagnostics()
    diagnostics.warning("code", "message", None)
    assert diagnostics.errors == 0
    others = Diagnostics()
    others.error("code", "message", None)
    diagnostics.extend(others)
    assert diagnostics.has_errors
    assert str(InvalidDocument(diagnostics)) == "error[code]: message"
    assert [d.severity for d in InvalidDocument(diagnostics).diagnostics] == [Severity.WARNING, Severity.ERROR]


def test_suggestions_are_bounded() -> None:
    """A run with very many unknown names stops looking for near ones: that would take longer than all the rest."""
    diagnostics = Diagnostics()
    for number in range(600):
        diagnostics.unknown("code", "thing", f"nam{number}", None, ["name"])
    hints = [d.hint for d in diagnostics]
    assert hints[0] == 'did you mean "name"?'
    assert hints[-1] == ""
    assert len(hints) == 600


@pytest.mark.parametrize("known", [[f"component_{n}" for n in range(3_000)], [f"c{n}" for n in range(3_000)]])
def test_suggestions_compare_few_names(known: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """However many names are unknown among however many, few are looked at and very few compared exactly."""
    looked_at: list[str] = []
    compared: list[str] = []
    ratio, matched = suggest._ratio, suggest._matched

    def counted_ratio(a: str, b: str, least: float, effort: suggest.Effort) -> float:
        looked_at.append(b)
        return ratio(a, b, least, effort)

    def counted_match(a: str, b: str) -> float:
        compared.append(b)
        return matched(a, b)

    monkeypatch.setattr(suggest, "_ratio", counted_ratio)
    monkeypatch.setattr(suggest, "_matched", counted_match)
    diagnostics = Diagnostics()
    hints = [diagnostics.suggestion(f"{name}x", known) for name in known]
    assert hints[0].startswith(f'did you mean "{known[0]}"')
    assert hints[-1] == ""
    assert len(looked_at) < 250_000
    assert len(compared) < 15_000
    looked_at.clear()
    diagnostics = Diagnostics()
    assert {diagnostics.suggestion("zork", reversed(known)) for _ in range(20)} == {""}
    assert len(looked_at) == len(known)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("prot", ["port", "protocol", "host"], ["port"]),
        ("Comptue", ["tosca.nodes.Compute", "tosca.nodes.Database"], ["tosca.nodes.Compute"]),
        ("tosca.nodes.Comptue", ["tosca.nodes.Compute", "tosca.nodes.Root"], ["tosca.nodes.Compute"]),
        ("tosca.nodes.Foo", ["tosca.nodes.Root", "tosca.nodes.Compute"], []),
        ("tosca.node.Compute", ["tosca.nodes.Compute", "tosca.nodes.Database"], ["tosca.nodes.Compute"]),
        ("my.Ap", ["my.App", "tosca.nodes.Root"], ["my.App"]),
        ("PORT", ["port"], ["port"]),
        ("int", ["integer", "float"], ["integer"]),
        ("str", ["string", "integer"], ["string"]),
        ("Owm", ["Own", "Standard"], ["Own"]),
        ("create", ["delete", "start"], []),
        ("x", ["y"], []),
        ("", [""], [""]),
        ("name", [], []),
    ],
)
def test_nearest(name: str, known: list[str], expected: list[str]) -> None:
    """Slips of the finger are found, whatever stands before the last dot; other names are not suggested."""
    assert nearest(name, known) == expected


@given(name=st.text(max_size=12), known=st.lists(st.text(max_size=12), max_size=20))
def test_nearest_of_any(name: str, known: list[str]) -> None:
    """At most two names, all of them known; the name itself comes first if it is known."""
    found = nearest(name, known)
    assert len(found) <= 2
    assert set(found) <= set(known)
    if name in known:
        assert found[0].casefold() == name.casefold()


def test_suggestion_texts() -> None:
    """With no near name all are listed where they are few."""
    assert suggestion("prot", ["port"]) == 'did you mean "port"?'
    assert suggestion("zzz", ["b", "a"]) == "known here: a, b"
    assert suggestion("zzz", []) == "there is none here"
    assert suggestion("zzz", [str(n) for n in range(100)]) == ""
    assert suggestion("prot", ["port"], note="look there") == 'did you mean "port"? Look there'
