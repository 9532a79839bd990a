"""How much work one template may make: everything that could take long or grow counts what it costs, and the same
template costs the same everywhere."""

from __future__ import annotations

MOST_WORK = 2_000_000
"""Characters and entries that are looked at or made, passes through loops included."""


class OverBudget(Exception):
    """A template makes too much work, or too large a value."""


class Budget:
    """What is left to spend. Templates that ask for the values of others share one."""

    def __init__(self) -> None:
        self._left = MOST_WORK
        self._depth = 0

    def enter(self) -> None:
        """A template is begun: the outermost has the whole budget."""
        if self._depth == 0:
            self._left = MOST_WORK
        self._depth += 1

    def leave(self) -> None:
        """A template has ended."""
        self._depth -= 1

    def spend(self, work: int) -> None:
        """Count work. Raises ``OverBudget`` before it is done."""
        self._left -= work
        if self._left < 0:
            raise OverBudget(f"it makes more work than the {MOST_WORK:,} characters and entries that are permitted")


def weight(value: object) -> int:
    """How much there is in a value: its characters, and one for each entry and each single value in it."""
    total = 0
    waiting = [value]
    while waiting:
        current = waiting.pop()
        total += 1
        if isinstance(current, str):
            total += len(current)
        elif isinstance(current, dict):
            waiting.extend(current)
            waiting.extend(current.values())
        elif isinstance(current, list | tuple):
            waiting.extend(current)
        elif isinstance(current, range):
            total += len(current)
        if total > MOST_WORK:
            break
    return total
