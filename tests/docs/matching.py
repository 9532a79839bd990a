"""What a command printed against what the page shows of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

ANY = "..."


def matches(expected: Sequence[str], got: Sequence[str]) -> bool:
    """Are these the lines that are expected, in order and completely?

    A line of three dots alone stands for any number of lines, three dots within a line for any text. Blanks at the end
    of lines, and empty lines at the end of all, do not count.
    """
    expected, got = _trimmed(expected), _trimmed(got)
    # Those of the expected lines that can be reached; few lines are dots, so few are.
    reached = _skip(expected, {0})
    for line in got:
        going = {at for at in reached if at < len(expected) and expected[at].strip() == ANY}
        going |= {at + 1 for at in reached if at < len(expected) and _line(expected[at]).fullmatch(line)}
        reached = _skip(expected, going)
        if not reached:
            return False
    return len(expected) in reached


def _trimmed(lines: Sequence[str]) -> list[str]:
    found = [line.rstrip() for line in lines]
    while found and not found[-1]:
        found.pop()
    return found


def _skip(expected: Sequence[str], places: set[int]) -> set[int]:
    """The places, and those behind dots that may stand for nothing."""
    found = set(places)
    for at in sorted(places):
        while at < len(expected) and expected[at].strip() == ANY:
            at += 1
            found.add(at)
    return found


@cache
def _line(expected: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, expected.split(ANY))))
