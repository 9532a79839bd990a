"""Gathering: what becomes ready at nearly the same time goes together, since a process of Ansible costs a second.

Operations become ready in waves: as many as may run at a time, or one after the other as those before them end. What
comes is kept until nothing came for a short while, but no longer than ``longest``; and while as many processes run as
may, what comes goes into the batches that wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


class _Group(Generic[T]):
    """What is kept for one batch."""

    def __init__(self, began: float) -> None:
        self.items: list[T] = []
        self.began = began
        self.timer: asyncio.TimerHandle | None = None


class Gathering(Generic[T]):
    """Collects items by key. ``begin`` is called with each batch, and may run it; ``running`` is held around that."""

    def __init__(self, begin: Callable[[list[T]], None], *, quiet: float, longest: float, most: int) -> None:
        """``quiet`` and ``longest`` are seconds, ``most`` is how many batches may run at a time."""
        self._begin = begin
        self._quiet = quiet
        self._longest = longest
        self._most = most
        self._running = 0
        self._groups: dict[str, _Group[T]] = {}
        self._due: list[str] = []

    def add(self, key: str, item: T) -> None:
        """Something more for the batch of a key."""
        loop = asyncio.get_running_loop()
        group = self._groups.setdefault(key, _Group(loop.time()))
        group.items.append(item)
        if group.timer is not None:
            group.timer.cancel()
        if key not in self._due:
            when = min(loop.time() + self._quiet, group.began + self._longest)
            group.timer = loop.call_at(when, self._is_due, key)

    def drop(self, wanted: Callable[[T], bool]) -> list[T]:
        """Take back what has not begun yet."""
        dropped: list[T] = []
        for group in self._groups.values():
            dropped += [item for item in group.items if wanted(item)]
            group.items = [item for item in group.items if not wanted(item)]
        return dropped

    @contextmanager
    def running(self) -> Iterator[None]:
        """A batch runs."""
        try:
            yield
        finally:
            self._running -= 1
            self._start()

    def _is_due(self, key: str) -> None:
        self._due.append(key)
        self._start()

    def _start(self) -> None:
        while self._due and self._running < self._most:
            group = self._groups.pop(self._due.pop(0))
            if group.items:
                self._running += 1
                self._begin(group.items)
