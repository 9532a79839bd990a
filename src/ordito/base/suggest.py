"""The names nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

MOST_SUGGESTIONS = 2
LEAST_RATIO = 0.7
MOST_CANDIDATES = 5_000
SWAPPED_RATIO = 0.9
"""How near names are that differ in the order of their letters only."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """At most two of the known names that are close to ``name``, the closest first.

    Names are compared without case; for dotted names the last part counts as well, so that
    ``Comptue`` finds ``tosca.nodes.Compute``. Only the first few thousand names are looked at, which
    bounds the work on very large documents.
    """
    wanted = name.casefold()
    scored: list[tuple[float, str]] = []
    for index, candidate in enumerate(known):
        if index >= MOST_CANDIDATES:
            break
        ratio = max(_ratio(wanted, form) for form in {candidate.casefold(), candidate.casefold().rpartition(".")[2]})
        if ratio >= LEAST_RATIO:
            scored.append((ratio, candidate))
    scored.sort(key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    if not scored:
        return []
    best = scored[0][0]
    return [candidate for ratio, candidate in scored[:MOST_SUGGESTIONS] if ratio >= best - 0.1]


def _ratio(a: str, b: str) -> float:
    if a == b:
        return 1.0
    if abs(len(a) - len(b)) > max(len(a), len(b)) * (1 - LEAST_RATIO) * 1.5:
        return 0.0
    if sorted(a) == sorted(b):
        return SWAPPED_RATIO
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= LEAST_RATIO else 0.0
