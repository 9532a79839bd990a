"""Finding out about an operation whose connection was lost: the host is reached again, and asked until the operation
has ended."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from ordito.executors.copies import Unusable
from ordito.executors.remote.connection import CommandChannel, HostTimeouts
from ordito.executors.remote.host import AttemptOnHost, RemoteHost
from ordito.work.targets import Unreachable

LONGEST_PAUSE = 2.0
"""The most seconds between two questions; each pause is twice as long as the one before."""

GONE_PAUSE = 0.2
"""Seconds that a shell gets to record the end of an operation whose process is gone."""


class OutputListener(Protocol):
    """Gets the rest of an operation's output, and says whether the operation may go on."""

    @property
    def is_wanted(self) -> bool:
        """Whether the operation may go on."""

    def heard_out(self, data: bytes) -> None:
        """A piece of its output."""


async def await_end(
    host: RemoteHost,
    identity: str,
    slot: str,
    patience: HostTimeouts,
    listener: OutputListener,
    most: float | None = None,
) -> AttemptOnHost | str | None:
    """What is known of an attempt when it no longer runs, is no longer wanted, or ``most`` seconds have passed. None if
    it never began. A text that says why, if the host cannot be reached within ``patience.reconnect``."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    until, pause = began + patience.reconnect, 0.02
    reading: _Reading | None = None
    try:
        while True:
            try:
                found = await host.find(identity, slot)
            except (Unreachable, Unusable) as error:
                if loop.time() > until or not listener.is_wanted:
                    return str(error)
                host.connector.forget_failure(host.target)
                await asyncio.sleep(patience.pause)
                continue
            until = loop.time() + patience.reconnect
            is_late = most is not None and loop.time() > began + most
            if found is None or found.state != "running" or not listener.is_wanted or is_late:
                if reading is not None and found is not None and found.state != "running":
                    await reading.finish(patience.linger)
                return found
            if reading is None or reading.is_over:
                reading = await _read_on(host, found, listener)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
    finally:
        if reading is not None:
            reading.close()


async def end_or_find(
    host: RemoteHost, found: AttemptOnHost, patience: HostTimeouts
) -> tuple[AttemptOnHost, list[int]]:
    """End a running operation with everything that it started, and forget its result; the result of one that has ended
    by itself is kept. Returns what is known of it then, and the ids of processes that cannot be ended. Raises
    ``Unreachable`` and ``Unusable``."""
    if found.state == "gone":
        # The shell beside it may be about to write down how it has ended.
        await asyncio.sleep(GONE_PAUSE)
        found = await host.find(found.identity) or found
    if found.state == "ended":
        return found, []
    unended = await host.end(found, patience.grace)
    if not unended:
        # It may have ended before anybody could end it.
        found = await host.find(found.identity) or found
    if found.state != "ended":
        await host.drop(found.slot, found.identity)
    return found, unended


async def _read_on(host: RemoteHost, found: AttemptOnHost, listener: OutputListener) -> _Reading | None:
    """Read the operation's pipe, which would fill up otherwise."""
    reading = _Reading(listener)
    words = ["cat", f"/proc/{found.pid}/fd/1"]
    try:
        reading.channel = await host.connector.start(host.target, words, reading)
    except Unreachable:
        return None
    reading.channel.write_end()
    return reading


class _Reading:
    """Goes on reading what an operation prints."""

    def __init__(self, listener: OutputListener) -> None:
        self._listener = listener
        self._end = asyncio.Event()
        self.channel: CommandChannel | None = None

    @property
    def is_over(self) -> bool:
        return self._end.is_set()

    def heard_out(self, data: bytes) -> None:
        self._listener.heard_out(data)

    def heard_err(self, data: bytes) -> None:
        """Ignore errors: the pipe may not exist."""

    def ended(self, status: int | None, lost: str = "") -> None:
        self._end.set()

    async def finish(self, seconds: float) -> None:
        """Read what is left of the output."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._end.wait(), seconds)

    def close(self) -> None:
        if self.channel is not None and not self._end.is_set():
            self.channel.close()
