"""Lists of names for people: of very many only the first; ids that follow each other as a range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def listed(names: Iterable[str], most: int = 12, *, between: str = ", ") -> str:
    """Names in one line; of more than ``most`` the first ones, and how many more there are."""
    every = list(names)
    comma = " " if between == ", " else between
    more = f"{comma}and {len(every) - most} more" if len(every) > most else ""
    return between.join(every[:most]) + more


FEW = 4
"""How many parts are shown of many ids."""


def spans(ids: Sequence[str]) -> str:
    """Ids of instances of one node, by their numbers, in one line: at least three numbers that follow each other as the
    first and the last of them, and how many there are in all where they are not all written."""
    runs: list[list[str]] = []
    last = 0
    for number, name in sorted((int(name.rpartition("_")[2]), name) for name in ids):
        if runs and number == last + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
        last = number
    parts = [p for run in runs for p in ([f"{run[0]} .. {run[-1]}"] if len(run) > 2 else run)]
    shown = ", ".join(parts[:FEW]) + (" ..." if len(parts) > FEW else "")
    return shown if len(parts) == len(ids) <= FEW else f"{shown} ({len(ids)})"
