"""The names nearest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SUGGESTIONS = 2
LEAST_RATIO = 0.66
MOST_CANDIDATES = 5_000
SWAPPED_RATIO = 0.9
"""How near names are that differ in the order of their letters only."""
SHORTENED_RATIO = 0.75
"""How near a name is to one that it is the beginning of, as ``int`` to ``integer``."""


def nearest(name: str, known: Iterable[str], least: float = LEAST_RATIO) -> list[str]:
    """At most two of the known names that are close to ``name``, the closest first; ``least`` says how close, from 0.66
    to 1.

    Names are compared without case, and dotted names without the parts they begin with in common, so that
    ``tosca.nodes.Foo`` is not taken for ``tosca.nodes.Root``; a name without dots is compared with the last part of
    dotted ones, so that ``Comptue`` finds ``tosca.nodes.Compute``. Only the first few thousand names are looked at,
    which bounds the work on very large documents.
    """
    wanted = name.casefold()
    scored: list[tuple[float, str]] = []
    for index, candidate in enumerate(known):
        if index >= MOST_CANDIDATES:
            break
        ratio = _closeness(wanted, candidate.casefold())
        if ratio >= least:
            scored.append((ratio, candidate))
    scored.sort(key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    if not scored:
        return []
    best = scored[0][0]
    return [candidate for ratio, candidate in scored[:MOST_SUGGESTIONS] if ratio >= best - 0.1]


def _closeness(wanted: str, candidate: str) -> float:
    last = candidate.rpartition(".")[2]
    if last == candidate:
        return _ratio(wanted, candidate)
    if "." not in wanted:
        return max(_ratio(wanted, candidate), _ratio(wanted, last))
    begin = 0
    for position, (one, other) in enumerate(zip(wanted, candidate, strict=False), start=1):
        if one != other:
            break
        if one == ".":
            begin = position
    return _ratio(wanted[begin:], candidate[begin:])


def _ratio(a: str, b: str) -> float:
    if a == b:
        return 1.0
    shortened = SHORTENED_RATIO if len(a) > 2 and b.startswith(a) else 0.0
    if abs(len(a) - len(b)) > max(len(a), len(b)) * (1 - LEAST_RATIO) * 1.5:
        return shortened
    if sorted(a) == sorted(b):
        return SWAPPED_RATIO
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return max(shortened, matcher.ratio()) if matcher.quick_ratio() >= LEAST_RATIO else shortened
