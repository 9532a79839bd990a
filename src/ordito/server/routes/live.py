"""The route of what happens: a stream of events that goes on from a cursor without gap or repetition."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ordito.ensemble.errors import EnsembleError
from ordito.server.call import ApiCall
from ordito.server.database.audit import AUDIT_TOPIC
from ordito.server.identity.principal import Principal
from ordito.server.identity.signing_in import by_credentials
from ordito.server.live.feed import Feed, Item, Place
from ordito.server.live.topics import LONGEST_CURSOR, OVERALL, Topic, cursor_text, places_in, topic_named
from ordito.server.permissions import Access, Permission
from ordito.server.places import directory_of, unknown_ensemble, unknown_project
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Fields, Reply, Route

SSE, NDJSON = "text/event-stream", "application/x-ndjson"
MOST_TOPICS = 16
Cursor = Annotated[str, msgspec.Meta(max_length=LONGEST_CURSOR)]
MOST_OF_ONE, MOST = 8, 2_000
HEARTBEAT = 15.0
ASK_AGAIN = 30.0
"""Seconds after which it is found out again whether a stream is still permitted."""

PATIENCE = 30.0
"""Seconds after which a client that takes nothing is left."""

COME_BACK = 5
"""Seconds after which a client may come back to a server that stops: it needs about as long to run again."""

LONGEST_WAIT = 30


class StreamFields(Fields, frozen=True):
    """What is followed."""

    topic: tuple[str, ...] = ()
    """At most 16 topics, as in ``job:shop/prod/A6BM5PEY0000``."""

    after: Annotated[tuple[Cursor, ...], msgspec.Meta(max_length=MOST_TOPICS)] = ()
    """The cursor to go on from, which the header ``Last-Event-ID`` says too; several where topics were read apart."""

    wait: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_WAIT)] = 0
    """For an answer in JSON: the seconds to wait for something new."""


class EventPage(msgspec.Struct, frozen=True):
    """Events, and where they go on."""

    items: tuple[msgspec.Raw, ...]
    next: str


ENDS = frozenset({"step.succeeded", "step.failed", "step.retrying", "job.finished"})
"""The events before which all is told that was printed until then: by their step, or by all of them."""


class _OfStep(msgspec.Struct):
    step: str = ""


_OF_STEP = msgspec.json.Decoder(_OfStep)


def _step_of(item: Item) -> str:
    """The step that an event is about, "" for none."""
    return _OF_STEP.decode(item.data).step


class _Stream:
    """Topics that are followed from their places on."""

    def __init__(self, call: ApiCall, feeds: Mapping[str, Feed], places: dict[str, Place]) -> None:
        self._call = call
        self._feeds = feeds
        self._places = {name: places[name] or feed.start for name, feed in feeds.items()}
        self._topics = tuple(map(topic_named, feeds))
        self._asked = time.monotonic()

    @property
    def cursor(self) -> str:
        return cursor_text(self._places)

    def news(self) -> list[tuple[Item, str]]:
        """What is new, each event with the cursor behind it."""
        found = []
        for name, item in self._in_order():
            self._places[name] = item.place
            found.append((item, self.cursor))
        return found

    def _in_order(self) -> Iterator[tuple[str, Item]]:
        """What is new of all topics: what a step prints comes after its start and before its end. A log is written
        before the end of its step is, and after its start; so it is read before its job is, and once more behind it."""
        logs = {topic.name: topic for topic in self._topics if topic.kind == "log"}
        printed = {name: deque(self._feeds[name].read(self._places[name])) for name in logs}
        before = {name: len(items) for name, items in printed.items()}
        others = {name: feed.read(self._places[name]) for name, feed in self._feeds.items() if name not in logs}
        for topic in self._topics:
            if topic.kind != "log":
                log = f"log:{topic.name.partition(':')[2]}" if topic.kind == "job" else ""
                lines = printed.get(log)
                if lines is None:
                    yield from ((topic.name, item) for item in others[topic.name])
                else:
                    yield from self._with_log(topic.name, others[topic.name], log, lines, before)
        for name, lines in printed.items():
            yield from ((name, lines.popleft()) for _ in range(min(before[name], len(lines))))

    def _with_log(
        self, job: str, items: Sequence[Item], log: str, lines: deque[Item], before: dict[str, int]
    ) -> Iterator[tuple[str, Item]]:
        """The events of a job, each end behind what was printed until then."""
        more = self._feeds[log].read(lines[-1].place if lines else self._places[log])
        lines.extend(more)
        is_whole = not more or not self._feeds[log].read(more[-1].place)
        last = {_step_of(line): at for at, line in enumerate(lines, 1)}
        told = 0
        for item in items:
            if item.type in ENDS:
                if not is_whole:
                    return  # It is read again once the log was read up to there.
                step = _step_of(item)
                until = last.get(step, 0) if step else told + len(lines)
                while told < until:
                    told += 1
                    before[log] -= 1
                    yield log, lines.popleft()
            yield job, item

    async def wait(self, events: list[asyncio.Event], seconds: float, *others: asyncio.Task[None]) -> None:
        """Wait until something may be new, one of the others has ended, or the server is to stop."""
        waiting = [asyncio.create_task(one.wait()) for one in (*events, self._call.services.draining)]
        try:
            await asyncio.wait((*waiting, *others), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    def changes(self) -> list[asyncio.Event]:
        return [feed.changed() for feed in self._feeds.values()]

    async def is_permitted(self) -> bool:
        """Whether the session or the token is still valid, and permits what is followed."""
        if time.monotonic() - self._asked < ASK_AGAIN:
            return True
        self._asked = time.monotonic()
        call, now = self._call, time.time()
        found = await call.services.database.read(lambda connection: by_credentials(connection, call.credentials, now))
        if found is None or not all(_may(found[0], topic) >= _may(call.principal, topic) for topic in self._topics):
            return False
        # What is told of many ensembles is told by what one may see now.
        call.who = found[0]
        return True


def _may(who: Principal, topic: Topic) -> frozenset[Permission]:
    """Of the permissions to see, those that somebody has for a topic."""
    if topic.kind == AUDIT_TOPIC:
        return who.on_server & {Permission.AUDIT}
    return who.permissions(topic.project, topic.ensemble) & {Permission.READ, Permission.LOGS}


def _wanted(topic: Topic) -> Permission:
    return Permission.LOGS if topic.kind == "log" else Permission.READ


async def _events(call: ApiCall) -> Reply:
    fields: StreamFields = call.query
    if not 1 <= len(fields.topic) <= MOST_TOPICS or len(set(fields.topic)) < len(fields.topic):
        raise ApiProblem("malformed", f"name 1 to {MOST_TOPICS} different topics", "as in ?topic=ensemble:shop/prod")
    topics = tuple(topic_named(name) for name in fields.topic)
    last = call.headers.get("last-event-id", "")
    after = (last,) if last else [one for one in fields.after if one]
    places = places_in(after, topics)
    directories = [await _permitted(call, topic) for topic in topics]
    for topic in topics:
        if topic.kind == "log":
            await call.read("logs.read", f"{topic.project}/{topic.ensemble}/{topic.job}")
    accept = call.headers.get("accept", "")
    kind = SSE if SSE in accept else NDJSON if NDJSON in accept else ""
    known, who = call.services.topics, call.principal.id
    if kind and (known.streams >= MOST or known.by_principal.get(who, 0) >= MOST_OF_ONE):
        raise ApiProblem("too-many", "there are too many open streams", "close one of them", again_in=5)
    if kind:
        return Reply(_Streaming(call, topics, directories, places, kind))
    return Reply(await _page(call, topics, directories, places, fields.wait))


def _sees(call: ApiCall, project: str, ensemble: str) -> bool:
    return call.may(Permission.READ, project, ensemble)


async def _permitted(call: ApiCall, topic: Topic) -> str:
    """The directory of a topic's ensemble, "" for a topic about many. Raises ``ApiProblem``."""
    if topic.kind == AUDIT_TOPIC and Permission.AUDIT not in call.principal.on_server:
        await call.denied(f"needs {Permission.AUDIT}")
        hint = "ask the administrators of the server for a role that has it"
        raise ApiProblem("forbidden", f'this needs the permission "{Permission.AUDIT}"', hint)
    if topic.kind in OVERALL:
        return ""
    permissions = call.principal.permissions(topic.project, topic.ensemble)
    if topic.kind == "project":
        if Permission.READ not in permissions:
            raise unknown_project(topic.project)
        return ""
    if Permission.READ not in permissions:
        raise unknown_ensemble(topic.project, topic.ensemble)
    if _wanted(topic) not in permissions:
        await call.denied(f"needs {_wanted(topic)}")
        hint = f'ask the owners of the project "{topic.project}" for a role that has it'
        raise ApiProblem("forbidden", f'this needs the permission "{_wanted(topic)}"', hint)
    return await call.services.database.read(lambda c: directory_of(c, topic.project, topic.ensemble))


def _opened(call: ApiCall, topics: tuple[Topic, ...], directories: list[str]) -> dict[str, Feed]:
    found: dict[str, Feed] = {}
    for topic, directory in zip(topics, directories, strict=True):
        logs = call.may(Permission.LOGS, topic.project, topic.ensemble)
        found[topic.name] = call.services.topics.open(topic, directory, logs=logs, sees=partial(_sees, call))
    return found


async def _page(
    call: ApiCall, topics: tuple[Topic, ...], directories: list[str], places: dict[str, Place], wait: int
) -> EventPage:
    feeds = _opened(call, topics, directories)
    try:
        stream = _Stream(call, feeds, places)
        until = time.monotonic() + wait
        while True:
            changes = stream.changes()
            news, left = stream.news(), until - time.monotonic()
            if news or left <= 0 or call.services.draining.is_set():
                return EventPage(tuple(msgspec.Raw(item.data) for item, _ in news), stream.cursor)
            await stream.wait(changes, left)
    finally:
        for feed in feeds.values():
            feed.close()


class _Streaming(Response):
    """A response that goes on until its client or the server leaves."""

    def __init__(
        self, call: ApiCall, topics: tuple[Topic, ...], directories: list[str], places: dict[str, Place], kind: str
    ) -> None:
        super().__init__(media_type=kind)
        self._call = call
        self._topics = topics
        self._directories = directories
        self._places = places
        self._kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        known, who = self._call.services.topics, self._call.principal.id
        feeds = _opened(self._call, self._topics, self._directories)
        known.streams += 1
        known.by_principal[who] = known.by_principal.get(who, 0) + 1
        leaving = asyncio.create_task(_left(receive))
        try:
            raw = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            async for text in self._texts(_Stream(self._call, feeds, self._places), leaving):
                await asyncio.wait_for(send({"type": "http.response.body", "body": text, "more_body": True}), PATIENCE)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (TimeoutError, OSError):
            # Whoever takes nothing, or is gone, comes back with its cursor.
            return
        finally:
            leaving.cancel()
            for feed in feeds.values():
                feed.close()
            known.streams -= 1
            known.by_principal[who] -= 1
            if not known.by_principal[who]:
                del known.by_principal[who]

    async def _texts(self, stream: _Stream, leaving: asyncio.Task[None]) -> AsyncIterator[bytes]:
        draining, is_live, since = self._call.services.draining, False, time.monotonic()
        while not leaving.done():
            changes = stream.changes()
            try:
                news = stream.news()
            except EnsembleError:
                yield self._own("stream.gap", stream.cursor)
                return
            if news:
                since = time.monotonic()
                yield b"".join(self._text(item.type, item.data, cursor) for item, cursor in news)
                continue
            if draining.is_set():
                yield self._own("stream.closing", stream.cursor, again_in=COME_BACK)
                return
            if not await stream.is_permitted():
                yield self._own("stream.denied", stream.cursor)
                return
            if not is_live:
                is_live = True
                yield self._own("stream.live", stream.cursor)
            elif time.monotonic() - since >= HEARTBEAT:
                since = time.monotonic()
                yield b": \n\n" if self._kind == SSE else b"\n"
            await stream.wait(changes, HEARTBEAT, leaving)

    def _own(self, kind: str, cursor: str, **more: int) -> bytes:
        return self._text(kind, msgspec.json.encode({"type": kind, "next": cursor, **more}), cursor)

    def _text(self, kind: str, data: bytes, cursor: str) -> bytes:
        if self._kind == SSE:
            return b"id: %b\nevent: %b\ndata: %b\n\n" % (cursor.encode(), kind.encode(), data)
        return data[:-1] + b',"cursor":"%b"}\n' % cursor.encode()


async def _left(receive: Receive) -> None:
    """Ends when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


TABLE = (
    Route(
        method="GET",
        path=BASE + "/events",
        access=Access.ME,
        summary="Follow topics: as server-sent events, as lines of JSON, or as one page, by `Accept`.",
        handler=_events,
        query=StreamFields,
        answers=(EventPage,),
        problems=("bad-cursor", "unknown-topic", "unknown-ensemble", "forbidden"),
        verb="jobs events",
    ),
)
