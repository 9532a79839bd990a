"""A part of a number of things, as people write it: ``2``, or ``25%``."""

from __future__ import annotations

import re

import msgspec

_NUMBER = re.compile(r"([1-9][0-9]{0,8})(%?)")
_WHOLE = 100


class Portion(msgspec.Struct, frozen=True):
    """A number, or a percentage (``is_percentage``); all of them where the amount is 0."""

    amount: int = 0
    is_percentage: bool = False

    def __str__(self) -> str:
        """As people write it; "" for all."""
        return f"{self.amount}{'%' if self.is_percentage else ''}" if self.amount else ""

    def of(self, count: int) -> int:
        """How many of ``count`` things it is: at least one, where there is one."""
        if not self.amount:
            return count
        return min(count, max(1, count * self.amount // _WHOLE) if self.is_percentage else self.amount)


ALL = Portion()


def portion_of(text: str) -> Portion | None:
    """The portion that a text means: a whole number of at least 1, or 1% to 100%; None where it is neither."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or (found[2] and int(found[1]) > _WHOLE):
        return None
    return Portion(int(found[1]), bool(found[2]))
