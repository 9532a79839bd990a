"""Connections: how long a client may take to send what it asks, and how many there may be at a time.

Without a bound, whoever opens connections and sends nothing, or one byte now and then, takes all descriptors of the
server; so the head of a request has to come within some seconds, and its body at some speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import time
from collections.abc import AsyncIterator

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ordito.server.problems import ApiProblem

HEAD_SECONDS = 20.0
"""Seconds within which the head of a request has to come, from the begin of the connection or of its first byte."""

BODY_SECONDS = 30.0
SLOWEST = 16_384
"""A body has so many seconds, and one more for each such number of bytes that have come."""

MOST_HEAD, MOST_URL = 16_384, 8_192
"""Bytes of the headers, and of the path with the query."""

OWN_DESCRIPTORS = 256
"""Descriptors that the server needs for itself: its database, files that are followed, processes."""

MOST_CONNECTIONS = 8_192


class PatientConnection(H11Protocol):
    """A connection that is closed where the head of its next request does not come in time."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._closing = self.loop.call_later(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._let()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._let()
        elif self._closing is None:
            self._closing = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _let(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


def most_connections() -> int:
    """Take all descriptors that this process may have, and say how many connections fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OWN_DESCRIPTORS
    able = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < able:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (able, hard))
            soft = able
    left = wanted if soft == resource.RLIM_INFINITY else soft
    return max(OWN_DESCRIPTORS, min(MOST_CONNECTIONS, left - OWN_DESCRIPTORS))


def check_head(request: Request) -> None:
    """Refuse headers and addresses that are too long. Raises ``ApiProblem``."""
    head = sum(len(name) + len(value) + 4 for name, value in request.headers.raw)
    url = len(request.scope.get("raw_path") or b"") + len(request.scope["query_string"])
    for size, most, what in ((head, MOST_HEAD, "headers"), (url, MOST_URL, "path and query")):
        if size > most:
            raise ApiProblem("too-large", f"the {what} of the request have more than {most} bytes", "send less")


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """The body of a request as it comes. Raises ``ApiProblem`` where it comes too slowly."""
    until, stream = time.monotonic() + BODY_SECONDS, request.stream()
    while True:
        try:
            piece = await asyncio.wait_for(anext(stream), max(0.0, until - time.monotonic()))
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ApiProblem("too-slow", "the body of the request did not come in time", "send it again") from None
        until += len(piece) / SLOWEST
        yield piece
