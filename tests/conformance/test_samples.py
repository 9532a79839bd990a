"""How samples are read: what a variant takes out and puts in, and where its diagnostics are expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.samples import BadSample, Sample, numbers_at_start, read_sample

TEXT = """\
# R-1.2-3, R-1.2-5 to R-1.2-7: what is shown.
a: 1
  b: 2
#   ^^ warning odd: text
#! b: 3
#     ^ bad
#!-2
#! c: 4
#!   d: 5
#    ^ worse: why
#!-1
#@ 2:1 lacking
#!-0
#!<e: 6
#  ^ unknown
  f: 7
#= x/y: [1]
"""


def sample(folder: Path, text: str) -> Sample:
    (folder / "R-1.2-3.more.yaml").write_text(text, encoding="utf-8")
    return read_sample(folder / "R-1.2-3.more.yaml")


def test_variants(tmp_path: Path) -> None:
    """Lines keep their numbers, columns stay true, and one line above makes place unless the variant says otherwise."""
    read = sample(tmp_path, TEXT)
    rendered = [v.render(TEXT).split("\n") for v in read.variants]
    assert [sorted(v.removed) for v in read.variants] == [[3], [2, 3], [3], []]
    assert rendered[0][2:5] == ["# b: 2", "#   ^^ warning odd: text", "   b: 3"]
    assert rendered[1][1:3] == ["#: 1", "# b: 2"]
    assert rendered[1][7:9] == ["   c: 4", "     d: 5"]
    assert rendered[3][13] == "e: 6"
    assert all(len(r) == len(TEXT.split("\n")) for r in rendered)


def test_expectations(tmp_path: Path) -> None:
    """Carets speak of the line above them; an expectation of the twin goes with its line."""
    read = sample(tmp_path, TEXT)
    assert [e.place[1:] for e in read.expected] == [(3, 5, "warning", "odd")]
    assert [[e.place[1:] for e in v.expected] for v in read.variants] == [
        [(5, 7, "error", "bad")],
        [(9, 6, "error", "worse")],
        [(2, 1, "error", "lacking")],
        [(14, 1, "error", "unknown")],
    ]
    assert [len(read.expected_of(v)) for v in read.variants] == [1, 1, 1, 2]
    assert [(p.path, p.value) for p in read.parts] == [("x/y", [1])]


@pytest.mark.parametrize("text", ["a: 1\n#!b: 1\n", "a: 1\n#!b: 1\n#^ bad\n#^ bad\n"], ids=["none", "two"])
def test_one_diagnostic(tmp_path: Path, text: str) -> None:
    """A variant expects exactly one diagnostic."""
    with pytest.raises(BadSample, match="yaml:1: a variant expects one diagnostic"):
        sample(tmp_path, text)


def test_numbers() -> None:
    """A sample and a test name the requirements they show, ranges included, and no others that they only mention."""
    assert numbers_at_start("R-1.2-3, R-1.2-5 to R-1.2-7: as in R-9.9-9") == (
        "R-1.2-3",
        "R-1.2-5",
        "R-1.2-6",
        "R-1.2-7",
    )
    assert numbers_at_start("R-A-1 and R-2.1-1: text") == ("R-A-1", "R-2.1-1")
    assert numbers_at_start("R-4.8.1-1, -2,\n    R-3.6.16-t1: text") == (
        "R-4.8.1-1",
        "R-4.8.1-2",
        "R-3.6.16-t1",
    )
    assert numbers_at_start("Beyond R-1.2-3: text") == ()
