"""Alarms: the driver's clockwork for what is to happen later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarms:
    """Remembers numbers until their time has come; ``ring`` is called when one is due. Needs a running loop."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._handles: dict[int, asyncio.TimerHandle] = {}
        self._due: list[int] = []

    def set(self, number: int, seconds: float) -> None:
        """Have a number due so many seconds from now, whatever was said of it before."""
        if number in self._handles:
            self._handles[number].cancel()
        self._handles[number] = asyncio.get_running_loop().call_later(max(0.0, seconds), self._come, number)

    def take(self) -> list[int]:
        """The numbers that have become due since the last call."""
        due, self._due = self._due, []
        return due

    def stop(self) -> None:
        """Forget all of them."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()

    def _come(self, number: int) -> None:
        self._handles.pop(number, None)
        self._due.append(number)
        self._ring()
