"""Descriptors to be told about: the pipes and processes of all operations, in one place on the event loop.

The loop's own readers cost a handle, two look-ups and a callback each, twice for every operation. Here the loop has one
reader, and what it finds is called at once.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable


class Watch:
    """Calls back, on the running loop, when a descriptor can be read. A call may come for nothing: who is called must
    not wait."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[], object]] = {}
        self._epoll: select.epoll | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def add(self, descriptor: int, callback: Callable[[], object]) -> None:
        """Call whenever there is something to read, until ``remove``."""
        if self._epoll is None:
            self._epoll = select.epoll()
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # What an earlier loop watched, which has ended, is watched by this one from now on.
            loop.add_reader(self._epoll.fileno(), self._look)
            self._loop = loop
        self._epoll.register(descriptor, select.EPOLLIN)
        self._callbacks[descriptor] = callback

    def remove(self, descriptor: int) -> None:
        """Call no more; before the descriptor is closed."""
        if self._epoll is None or self._callbacks.pop(descriptor, None) is None:
            return
        self._epoll.unregister(descriptor)
        if not self._callbacks:
            if self._loop is not None and not self._loop.is_closed():
                self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = self._loop = None

    def _look(self) -> None:
        if self._epoll is None:
            return
        for descriptor, _ in self._epoll.poll(0):
            callback = self._callbacks.get(descriptor)
            if callback is not None:
                callback()
