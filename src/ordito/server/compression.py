"""Compressing answers, for clients that take it.

What is secret for who asks must not be compressed: where somebody else can put a text of their choice beside it, the
length of the answer tells how much of that the secret has. Routes say so of their answers (``Route.is_secret``).
"""

from __future__ import annotations

import asyncio
import gzip
import re

from starlette.requests import Request
from starlette.responses import Response

LEVEL = 5
"""How hard gzip tries, of 9. More costs twice the time for some percent."""

SMALLEST = 1 << 10
"""Bytes; what is shorter gains nothing."""

LARGE = 1 << 15
"""Bytes; what is longer is compressed in a thread, so that others are answered meanwhile."""

_MEDIA = re.compile(r"(text/(?!event-stream)|application/(json|problem\+json|yaml)\b)")
_VARIANT = re.compile(r'-gzip"$')


class KeptGzip:
    """The compressed form of an answer that is kept: made once, when somebody takes it first."""

    def __init__(self) -> None:
        self._making: asyncio.Future[bytes] | None = None

    async def of(self, body: bytes) -> bytes:
        """The compressed form of the answer, which is always the same."""
        if self._making is None:
            self._making = asyncio.ensure_future(_packed(body))
        # Who asked first may leave; others wait for the same.
        return await asyncio.shield(self._making)


async def compress(response: Response, request: Request, kept: KeptGzip | None) -> None:
    """Compress a response where that is worth it and the client takes it. ``kept`` is where its body is kept."""
    # Responses that are sent piece by piece have no body.
    body = response.body if type(response) is Response else None
    if not isinstance(body, bytes) or not _MEDIA.match(response.headers.get("content-type", "")):
        return
    response.headers.add_vary_header("Accept-Encoding")
    if len(body) <= SMALLEST or "gzip" not in taken(request.headers.get("accept-encoding", "")):
        return
    response.body = await (kept.of(body) if kept is not None else _packed(body))
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(response.body))
    if "etag" in response.headers:
        # Other bytes need another tag.
        response.headers["ETag"] = f'{response.headers["ETag"][:-1]}-gzip"'


def plain_tag(tag: str) -> str:
    """The entity tag of an answer, by the one that it or its compressed form was given with."""
    return _VARIANT.sub('"', tag.strip())


async def _packed(body: bytes) -> bytes:
    # Without the time of day, so that the same is always the same.
    if len(body) <= LARGE:
        return gzip.compress(body, LEVEL, mtime=0)
    return await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)


def taken(accepted: str) -> set[str]:
    """The encodings that a client takes, by its ``Accept-Encoding``."""
    found = set()
    for one in accepted.split(","):
        name, _, weight = one.strip().partition(";")
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000"):
            found.add(name.strip().lower())
    return found
