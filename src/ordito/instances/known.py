"""Values that an evaluation knows already, and how large values may become."""

from __future__ import annotations

from ordito.base.sensitive import Sensitive
from ordito.instances.context import EvaluationError

MOST_SIZE = 16_000_000
"""The most characters that a value may have as a text: functions can double a value in each of a hundred lines."""

MOST_DEPTH = 100
"""How deep lists and maps may lie in each other, as in documents; what reads values may recurse."""


class Known:
    """The answers of one state of things, by the key of what was asked; and the sizes of the lists and maps in them."""

    __slots__ = ("_sizes", "answers")

    def __init__(self) -> None:
        self.answers: dict[tuple[object, ...], object] = {}
        self._sizes: dict[int, tuple[object, int, int]] = {}
        """By id: a list or map, which keeps its id its own; its size; and how deep lists and maps lie in it."""

    def bounded(self, made: list[object] | dict[str, object]) -> list[object] | dict[str, object]:
        """A list or map made of values that are bounded. Raises ``EvaluationError`` where it becomes too large."""
        self._size(made)
        return made

    def _size(self, value: object) -> None:
        """Find out about how many characters a value has; its parts are counted as often as they occur in it."""
        open_values: list[object] = [value]
        while open_values:
            current = open_values[-1]
            if not isinstance(current, list | dict) or id(current) in self._sizes:
                open_values.pop()
                continue
            parts = _parts(current)
            unknown = [p for p in parts if isinstance(p, list | dict) and id(p) not in self._sizes]
            if unknown:
                open_values.extend(unknown)
                continue
            inner = [self._sizes[id(p)] for p in parts if isinstance(p, list | dict)]
            size = 2 + sum(_length(p) for p in parts) + sum(i[1] for i in inner)
            depth = 1 + max((i[2] for i in inner), default=0)
            if size > MOST_SIZE:
                raise EvaluationError(f"a value becomes larger than {MOST_SIZE:,} characters")
            if depth > MOST_DEPTH:
                raise EvaluationError(f"lists and maps are put into each other more than {MOST_DEPTH} times")
            self._sizes[id(current)] = (current, size, depth)
            open_values.pop()


def _parts(value: list[object] | dict[str, object]) -> list[object]:
    return list(value.values()) if isinstance(value, dict) else value


def _length(value: object) -> int:
    if isinstance(value, Sensitive):
        return len(str(value.reveal()))
    if isinstance(value, list | dict):
        return 0
    return len(value) + 2 if isinstance(value, str) else 8
