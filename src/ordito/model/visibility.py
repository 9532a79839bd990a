"""Which files see which without a prefix: those that they import so, directly or through others (§3.2, §3.6.8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property


class Visibility:
    """Answers for files by their numbers; ``imports`` gives, per file, those that it imports without a prefix.

    What a file reaches is kept as the bits of one number, and is found only when somebody asks for more than a direct
    import. Files that import each other in a circle reach the same.
    """

    def __init__(self, imports: Sequence[Sequence[int]]) -> None:
        self._imports = imports

    def sees(self, file: int, other: int) -> bool:
        """Whether a file sees another one, or is it."""
        return file == other or other in self._imports[file] or bool(self._reached[file] >> other & 1)

    def see_together(self, file: int, others: Sequence[int], group: Sequence[int]) -> bool:
        """Whether some file of a group sees a file together with one of some others."""
        wanted = sum(1 << other for other in others)
        return any(self._reached[member] >> file & 1 and self._reached[member] & wanted for member in group)

    @cached_property
    def _reached(self) -> list[int]:
        """What each file reaches, itself included; found by Tarjan's algorithm, on a stack of its own."""
        count = len(self._imports)
        reached = [0] * count
        order = [0] * count
        low = [0] * count
        circle: list[int] = []
        clock = 0
        for root in range(count):
            path = [(root, iter(self._imports[root]))] if not order[root] else []
            while path:
                file, following = path[-1]
                if not order[file]:
                    clock += 1
                    order[file] = low[file] = clock
                    circle.append(file)
                other = next(following, None)
                if other is None:
                    path.pop()
                    if path:
                        low[path[-1][0]] = min(low[path[-1][0]], low[file])
                    self._close(file, order, low, circle, reached)
                elif not order[other]:
                    path.append((other, iter(self._imports[other])))
                elif not reached[other]:
                    low[file] = min(low[file], order[other])
        return reached

    def _close(self, file: int, order: list[int], low: list[int], circle: list[int], reached: list[int]) -> None:
        """Give all files of a circle what they reach, once the first of them is done."""
        if low[file] != order[file]:
            return
        members: list[int] = []
        while not members or members[-1] != file:
            members.append(circle.pop())
        bits = 0
        for member in members:
            bits |= 1 << member
            for other in self._imports[member]:
                bits |= reached[other]
        for member in members:
            reached[member] = bits
