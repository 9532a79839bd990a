"""How much is tried: a run that is to be quick tries little of what `./run crash` tries much of."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
Test = TypeVar("Test", bound=Callable[..., None])
THOROUGH = os.environ.get("ORDITO_THOROUGH") == "1"


def examples(few: int) -> int:
    """How many examples a property is tried with; ``few`` in a quick run, ten times as many in a thorough one."""
    return 10 * few if THOROUGH else few


def some(every: Sequence[T], step: int) -> list[T]:
    """All cases of a matrix in a thorough run; in a quick one a spread of them: the first of each ``step``."""
    return list(every if THOROUGH else every[::step])


def at_length(test: Test) -> Test | None:
    """A test that only a thorough run has: others show a part of the same in a quick one."""
    return test if THOROUGH else None
