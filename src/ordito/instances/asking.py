"""How one value asks for others: what a step of an evaluation yields, and what it is sent back."""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from ordito.instances.context import Context
from ordito.syntax.expressions import Value

Path = tuple[str | int, ...]


class Ask(msgspec.Struct, frozen=True):
    """A request for a value in a context. ``name`` tells people which value it is; by ``key`` cycles are found, and a
    value that is asked for again is known, None for a value that nobody else can ask for."""

    value: Value
    context: Context
    name: str = ""
    key: tuple[object, ...] | None = None


Answer = object
"""Data, or ``Nothing``."""

Steps = Generator[Ask, Answer, Answer]


class _Missing:
    """The name is not declared where it was looked for."""


MISSING = _Missing()
