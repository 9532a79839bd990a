"""Follow what happens at a server: its events, each once, whatever becomes of the connection meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from ordito.client.connection import LONG_PATIENCE, ServerConnection, pauses_between
from ordito.client.errors import ServerError
from ordito.results.failure import Failure

NDJSON = "application/x-ndjson"
AGAIN = frozenset({"unreachable-server", "draining", "busy", "too-many", "no-space"})
"""Failures after which the stream is opened again."""

CLOSING, DENIED, GAP, LIVE = "stream.closing", "stream.denied", "stream.gap", "stream.live"


class StreamEvent(msgspec.Struct, frozen=True):
    """An event."""

    topic: str
    type: str
    line: bytes
    """Its JSON as it was written where it happened: without topic and cursor."""


class _StreamLine(msgspec.Struct):
    type: str
    topic: str = ""
    cursor: str = ""


_LINE = msgspec.json.Decoder(_StreamLine)


def follow(connection: ServerConnection, *topics: str, patience: float = LONG_PATIENCE) -> Iterator[StreamEvent | None]:
    """The events of topics from their first one on, and then as they happen, for as long as they are taken. None stands
    for the moment at which all that was known is told, and for each one at which there is nothing new.

    A lost connection is opened again behind the last event. Raises ``ServerError`` where the server is not reached for
    longer than there is ``patience``, where it does not permit to follow, and where events are not kept any more.
    """
    cursor, pauses, until = "", pauses_between(), time.monotonic() + patience
    while True:
        try:
            query = {"topic": topics, "after": cursor or None}
            for text in connection.lines("/events", query, NDJSON):
                pauses, until = pauses_between(), time.monotonic() + patience
                connection.absence.ended()
                if not text:
                    yield None
                    continue
                found = _LINE.decode(text)
                cursor = found.cursor or cursor
                if found.type == CLOSING:
                    break
                _refuse(found.type)
                yield None if found.type == LIVE else _event(found, text)
        except ServerError as error:
            if error.failure.code not in AGAIN or time.monotonic() >= until:
                raise
            connection.absence.failed(error, until)
        if time.monotonic() >= until:
            raise _lost(connection)
        time.sleep(next(pauses))


def _refuse(kind: str) -> None:
    if kind == GAP:
        raise ServerError(
            Failure("forgotten", "the events are not kept any more", "`ordito jobs show` says what it did")
        )
    if kind == DENIED:
        hint = "ask an owner of the project, or sign in again"
        raise ServerError(Failure("forbidden", "following is not permitted any more", hint))


def _lost(connection: ServerConnection) -> ServerError:
    message = f"the server {connection.url} is not reached: its stream breaks off again and again"
    return ServerError(Failure("unreachable-server", message, "look whether a proxy in between ends long answers"))


def _event(found: _StreamLine, text: bytes) -> StreamEvent:
    begin = b'{"topic":%b,' % msgspec.json.encode(found.topic)
    end = b',"cursor":"%b"}' % found.cursor.encode()
    line = text
    if found.topic and line.startswith(begin):
        line = b"{" + line[len(begin) :]
    if line.endswith(end):
        line = line[: -len(end)] + b"}"
    return StreamEvent(found.topic, found.type, line + b"\n")
