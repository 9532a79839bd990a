"""The names nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import msgspec

MOST_SUGGESTIONS = 2
LEAST_RATIO = 0.66
MOST_CANDIDATES = 5_000
TIE = 0.1
"""How much less similar than the first name a second one may be."""
SWAPPED_RATIO = 0.9
"""The similarity of names that differ only in the order of their letters."""
SHORTENED_RATIO = 0.75
"""The similarity of a name to a longer one that begins with it, as ``int`` to ``integer``."""


MATCHING = 20
"""The cost of an exact comparison, as a multiple of the cost of a first look at a name."""


class Effort(msgspec.Struct):
    """How much work is left for the search for near names: one for a name looked at, ``MATCHING`` for a comparison."""

    left: int


def nearest(name: str, known: Iterable[str], least: float = LEAST_RATIO, effort: Effort | None = None) -> list[str]:
    """At most two of the known names that are close to ``name``, the closest first; ``least`` says how close, from 0.66
    to 1.

    Names are compared without case, and dotted names without the parts they begin with in common, so that
    ``tosca.nodes.Foo`` is not taken for ``tosca.nodes.Root``; a name without dots is compared with the last part of
    dotted ones, so that ``Comptue`` finds ``tosca.nodes.Compute``. Only the first few thousand names are looked at,
    and only until the ``effort`` that is given is spent, which bounds the work on very large documents.
    """
    wanted = name.casefold()
    effort = effort if effort is not None else Effort(MATCHING * MOST_CANDIDATES)
    best = least
    scored: list[tuple[float, str]] = []
    for index, candidate in enumerate(known):
        if index >= MOST_CANDIDATES or effort.left <= 0:
            break
        effort.left -= 1
        ratio = _closeness(wanted, candidate.casefold(), max(least, best - TIE), effort)
        if ratio >= least:
            scored.append((ratio, candidate))
            best = max(best, ratio)
    scored.sort(key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    return [candidate for ratio, candidate in scored[:MOST_SUGGESTIONS] if ratio >= best - TIE]


def _closeness(wanted: str, candidate: str, least: float, effort: Effort) -> float:
    last = candidate.rpartition(".")[2]
    if last == candidate:
        return _ratio(wanted, candidate, least, effort)
    if "." not in wanted:
        return max(_ratio(wanted, candidate, least, effort), _ratio(wanted, last, least, effort))
    begin = 0
    for position, (one, other) in enumerate(zip(wanted, candidate, strict=False), start=1):
        if one != other:
            break
        if one == ".":
            begin = position
    return _ratio(wanted[begin:], candidate[begin:], least, effort)


def _ratio(a: str, b: str, least: float, effort: Effort) -> float:
    """How close two names are, where that is ``least`` or more: else anything below."""
    if a == b:
        return 1.0
    shortened = SHORTENED_RATIO if len(a) > 2 and b.startswith(a) else 0.0
    enough = max(least, shortened) * (len(a) + len(b)) / 2
    if min(len(a), len(b)) < enough:
        return shortened
    common = sum([min(count, b.count(letter)) for letter, count in _letters(a)])
    if common < enough:
        return shortened
    if common == len(a) == len(b):
        return SWAPPED_RATIO
    effort.left -= MATCHING
    return max(shortened, _matched(a, b))


@lru_cache(maxsize=256)
def _letters(name: str) -> list[tuple[str, int]]:
    """The letters of a name, and how often each of them is in it."""
    return [(letter, name.count(letter)) for letter in set(name)]


def _matched(a: str, b: str) -> float:
    """How close two names are by the parts that they have in common, in order."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, a, b, autojunk=False).ratio()
