"""Queries: questions that are answered in processes of their own."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable

import msgspec

from ordito.app.surroundings import Surroundings, around
from ordito.results.failure import Trouble
from ordito.server.problems import FAULT_HINT, ApiProblem
from ordito.server.processes.calls import FAULT, REFUSAL, RESULT, Query, StoredAt
from ordito.server.processes.link import Died, ForkLink, memory_file
from ordito.server.processes.looks import CHANGES

_LOG = logging.getLogger(__name__)

CHUNK = 1 << 20


class QueryLimits(msgspec.Struct, frozen=True):
    """What queries may use: how many at a time, seconds, bytes of address space, and seconds to wait for a place."""

    parallel: int
    seconds: float = 30.0
    memory: int = 4 << 30
    patience: float = 10.0
    surroundings: Surroundings = Surroundings(())
    """What every query may reach besides what it is about."""


class Queries:
    """Asks questions in processes of their own."""

    def __init__(self, limits: QueryLimits, link: ForkLink) -> None:
        self.limits = limits
        self._link = link
        self._places = asyncio.Semaphore(limits.parallel)
        self.busy = 0
        """How many queries run."""

        self.stored: Callable[[str], StoredAt | None] = _nowhere
        """Says where in a store the ensemble of a directory is."""

        self.told: Callable[[str, float], None] = _nobody
        """Is told of each look that was asked, and how many seconds that took."""

    async def ask(self, look: str, directory: str, parameters: bytes, reads: tuple[str, ...] | None = None) -> bytes:
        """The JSON of a result. ``reads`` is what the query may read, None for all that is in the directory. Raises
        ``ApiProblem``."""
        places = (directory,) if reads is None else reads
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.patience)
        except TimeoutError:
            raise ApiProblem(
                "busy", f"no process was free within {self.limits.patience:g} s", "ask again in a while", again_in=5
            ) from None
        self.busy += 1
        began = time.monotonic()
        try:
            try:
                return await self._ask(look, directory, parameters, places)
            except Died:
                if look in CHANGES:
                    raise
                return await self._ask(look, directory, parameters, places)
        except Died:
            _LOG.error("the fork server died while it answered %s", look)
            raise ApiProblem(
                "internal", "the processes that answer end before they have answered", FAULT_HINT
            ) from None
        finally:
            self.busy -= 1
            self._places.release()
            self.told(look, time.monotonic() - began)

    async def _ask(self, look: str, directory: str, parameters: bytes, places: tuple[str, ...]) -> bytes:
        number, limits = self._link.next_number(), self.limits
        given = memory_file("query", parameters)
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(writing, True)
        try:
            surroundings = around(limits.surroundings, places)
            query = Query(number, look, directory, limits.seconds, limits.memory, surroundings, self.stored(directory))
            ended = self._link.ask(query, (given, writing))
        except Died:
            os.close(reading)
            raise
        finally:
            os.close(given)
            os.close(writing)
        try:
            found = await _all_of(reading)
            status = await ended
        except asyncio.CancelledError:
            self._link.kill(number)
            raise
        finally:
            self._link.forget(number)
        return _read(found, status, look, limits)


def _nowhere(_: str) -> StoredAt | None:
    return None


def _nobody(_: str, __: float) -> None:
    pass


async def _all_of(handle: int) -> bytes:
    """All that is written into a pipe, which is closed."""
    loop, pieces = asyncio.get_running_loop(), []
    done: asyncio.Future[None] = loop.create_future()

    def take() -> None:
        try:
            piece = os.read(handle, CHUNK)
        except BlockingIOError:
            return
        pieces.append(piece)
        if not piece and not done.done():
            done.set_result(None)

    loop.add_reader(handle, take)
    try:
        await done
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return b"".join(pieces)


def _read(found: bytes, status: int, look: str, limits: QueryLimits) -> bytes:
    """The result in what a query process has written. Raises ``ApiProblem``."""
    kind, body = found[:1], found[1:]
    if kind == RESULT and not status:
        return body
    if kind == REFUSAL:
        trouble = msgspec.json.decode(body, type=Trouble)
        raise ApiProblem.of(trouble.failure, trouble.diagnostics)
    if kind == FAULT:
        _LOG.error("a fault while answering %s:\n%s", look, body.decode("utf-8", "replace"))
        raise ApiProblem("internal", "a fault of Ordito itself", FAULT_HINT)
    if status == -signal.SIGALRM:
        raise ApiProblem("too-costly", f"answering this takes more than {limits.seconds:g} s", "ask for less at once")
    _LOG.error("the process that answered %s ended with status %d", look, status)
    raise ApiProblem("internal", "the process that was to answer has died", FAULT_HINT)
