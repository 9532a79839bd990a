"""Documents made from those of the tests by mutating bytes, lines and structures: the quick form of ``./run fuzz``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import strange
from tests.support.thorough import examples
from tools import fuzz


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random=st.randoms(use_true_random=False))
def test_strange_documents(random: Random) -> None:
    """R-14.3-1: whatever a document holds, reading it gives a service or says what is wrong with it."""
    origin, data = strange.strange(random)
    with tempfile.TemporaryDirectory() as folder:
        strange.check(Path(folder), origin, data)


def test_a_number_makes_the_same_document() -> None:
    """What was found once can be made again."""
    assert [*fuzz.made(range(5))] == [*fuzz.made(range(5))]


def test_an_exception_is_found_and_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A find names the exception, and only the lines that lead to it are left."""

    def check(folder: Path, origin: Path, data: bytes) -> None:
        if b"bad" in data:
            raise ValueError(len(data))

    monkeypatch.setattr(strange, "check", check)
    cases = [fuzz.Case(i, Path(__file__), d) for i, d in enumerate([b"fine", b"a\nb\nbad\nc\nd", b"never read"])]
    count, problem = fuzz.read_all(cases)
    assert count == 1
    assert "ValueError" in problem
    assert fuzz.smaller(cases[1], problem).data == b"bad"


def test_endless_reading_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that takes too long, or too much memory, is a find and ends only the process that read it."""

    def endless(folder: Path, origin: Path, data: bytes) -> None:
        while True:
            pass

    def boundless(folder: Path, origin: Path, data: bytes) -> None:
        bytearray(2 * fuzz.MOST_BYTES)

    monkeypatch.setattr(fuzz, "MOST_SECONDS", 0.1)
    case = fuzz.Case(0, Path(__file__), b"x")
    monkeypatch.setattr(strange, "check", endless)
    assert fuzz.read_all([case]) == (0, "more than 0.1 s of CPU")
    monkeypatch.setattr(strange, "check", boundless)
    assert "MemoryError" in fuzz.read_all([case])[1]
