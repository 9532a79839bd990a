"""What cancels a running job: the user's interrupts, a request from another process, and the end of the time that the
command was given."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ordito.app.conversation import Conversation
from ordito.engine.control import JobControl
from ordito.ensemble.door import NOW, Door

GRACE = 10.0
"""Seconds for which running steps may go on after the command's time is over."""


class Canceller:
    """Brings requests to the job, and tells the conversation of them. ``timed_out`` is whether the time was over."""

    def __init__(self, conversation: Conversation, timeout: float | None) -> None:
        self.control = JobControl()
        self.timed_out = False
        self._conversation = conversation
        self._timeout = timeout

    @contextmanager
    def listening(self, door: Door) -> Iterator[None]:
        """Listen while the context lasts, in which an event loop runs."""
        loop = asyncio.get_running_loop()
        timers: list[asyncio.TimerHandle] = []
        if self._timeout is not None:
            timers.append(loop.call_later(self._timeout, self._time_is_over))
            timers.append(loop.call_later(self._timeout + GRACE, self._grace_is_over))
        if door.handle >= 0:
            loop.add_reader(door.handle, self._asked_at, door)
        try:
            with self._conversation.cancelling(lambda: _soon(loop, self._interrupted)):
                yield
        finally:
            for timer in timers:
                timer.cancel()
            if door.handle >= 0:
                loop.remove_reader(door.handle)

    def _interrupted(self) -> None:
        self._cancel("", at_once=False)

    def _asked_at(self, door: Door) -> None:
        for request in door.requests():
            self._cancel("asked by `ordito jobs cancel`", at_once=request == NOW)

    def _time_is_over(self) -> None:
        # What somebody has cancelled before is not cancelled by the clock.
        self.timed_out = not self.control.requests
        self._cancel(f"{self._timeout:g} seconds are over", at_once=False)

    def _grace_is_over(self) -> None:
        self._cancel(f"{GRACE:g} seconds more are over", at_once=True)

    def _cancel(self, why: str, *, at_once: bool) -> None:
        if self.control.requests < 2 and not (why and not at_once and self.control.requests):
            self.control.request_cancel(at_once=at_once)
            self._conversation.cancel_asked(self.control.requests, why)


def _soon(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    # A signal may come right when the loop has ended: then there is nothing left to cancel.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
