"""The list of requirements, and the reasons of those that no test shows."""

from __future__ import annotations

from collections import Counter

from tools.conformance import TABLE, faults, read_requirements, read_state, render
from tools.mutation import checks, disable, in_fork

TWICE = {"R-3.4.4-1", "R-3.6.25-1", "R-3.6.25-2"}
"""Required by two chapters, under one number."""


def test_every_requirement_is_listed() -> None:
    """All lines of the requirements are there, each with what kind of proof it needs."""
    numbers = Counter(r.number for r in read_requirements())
    assert sum(times for number, times in numbers.items() if not number.startswith(("R-CFY-", "R-A4C-"))) == 710
    assert sum(number.startswith("R-CFY-") for number in numbers) == 275
    assert sum(number.startswith("R-A4C-") for number in numbers) == 135
    assert {n for n, times in numbers.items() if times > 1} == TWICE
    assert all(set(r.kinds) <= set("VIWB-") and r.strength in "MSOND" and r.words for r in read_requirements())


def test_nothing_is_wrongly_named() -> None:
    """Samples, docstrings and reasons name requirements that exist, and give no reason for what is shown."""
    assert [f for f in faults(read_state()) if "is shown by nothing" not in f] == []


def test_the_table_holds_every_requirement() -> None:
    """The page for people has a line for each requirement."""
    text = render(read_state())
    assert sum(line.startswith("| R-") for line in text.splitlines()) == 710 + 275 + 135


def test_the_table_is_up_to_date() -> None:
    """The page that is kept says what samples and tests show now; as long as something is missing it is a draft."""
    kept = TABLE.read_text(encoding="utf-8")
    if "| MISSING |" not in kept:
        assert kept == render(read_state()), "write it anew with: ./run conformance --dry"


def test_checks_can_be_disabled() -> None:
    """Each place that reports a diagnostic can be replaced by nothing, to see whether a test notices."""
    found = checks()
    assert len(found) >= 100

    def disable_all() -> dict[tuple[str, int], list[str]]:
        for check in found[::10]:
            disable(check)
        return {}

    assert in_fork(disable_all) == {}
