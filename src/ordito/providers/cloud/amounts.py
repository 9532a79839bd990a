"""Sizes as templates have them, and as clouds count them."""

from __future__ import annotations

import math

from ordito.base.scalar_units import amount

SIZE = "scalar-unit.size"
GIGABYTE, DECIMAL_GIGABYTE = 2**30, 10**9


def in_bytes(size: object) -> int:
    """The bytes of a size, 0 for none."""
    return math.ceil(amount(str(size), SIZE)) if size not in (None, "") else 0


def gigabytes(size: object) -> int:
    """A size as clouds count it: in GiB, the next one that is enough; whole decimal gigabytes count as as many."""
    count = in_bytes(size)
    return count // DECIMAL_GIGABYTE if count % DECIMAL_GIGABYTE == 0 else math.ceil(count / GIGABYTE)
