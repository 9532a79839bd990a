"""What several operations tell, in one bounded line of waiting."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")

MOST_BYTES = 1024 * 1024
"""Bytes of output that may wait to be taken; then the operations have to wait until some is taken."""


class Source(Protocol):
    """Something that can stop telling for a while."""

    def resume(self) -> None:
        """There is room again."""


class Stream(Generic[T]):
    """Items go in from callbacks of the loop and come out in order; each weighs some bytes of memory."""

    def __init__(self) -> None:
        self._items: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._held: list[Source] = []
        self._waiter: asyncio.Future[None] | None = None

    def put(self, item: T, weight: int = 0) -> None:
        """Add an item; never waits."""
        self._items.append((item, weight))
        self._bytes += weight
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def is_full(self) -> bool:
        """Whether no more output should be put in."""
        return self._bytes >= MOST_BYTES

    def hold(self, source: Source) -> None:
        """Have a source called when there is room again."""
        self._held.append(source)

    async def get(self) -> T:
        """The next item, when there is one. Only one may wait at a time."""
        while not self._items:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        item, weight = self._items.popleft()
        self._bytes -= weight
        if self._held and self._bytes < MOST_BYTES // 2:
            held, self._held = self._held, []
            for source in held:
                source.resume()
        return item
