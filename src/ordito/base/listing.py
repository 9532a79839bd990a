"""Lists of names for people: of very many only the first."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str], most: int = 12, *, between: str = ", ") -> str:
    """Names in one line; of more than ``most`` the first ones, and how many more there are."""
    every = list(names)
    comma = " " if between == ", " else between
    more = f"{comma}and {len(every) - most} more" if len(every) > most else ""
    return between.join(every[:most]) + more
