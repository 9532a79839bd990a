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


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029", "\r", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        "node_types:\ntopolo|gy_template:\n  node_templates:\n      properties: { name: y }",
        "tosca_definitions_version: Far:\ntosca.nodes.Root |\nimports: [ scripts, ./main.yaml, profile:ordito ]",
        f"metadata:\n  a: 1\n  templat|e_version: 1.0.0\ntopology_template: {'[' * 101} x {']' * 101}",
        (
            "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    o|ne:\n"
            "      type: DBMS\n      properties: { root_password: { get_property: [ one, root_password ] } }"
        ),
    ],
)
def test_faults_in_lines_with_other_ends(tmp_path: Path, text: str, end: str) -> None:
    """Behind a fault that was repaired in a line with such an end places are those in the file."""
    strange.check(tmp_path, Path("other.yaml"), text.replace("|", end).encode())


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
