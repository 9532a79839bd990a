"""Topics: what can be followed.

| topic | tells |
|---|---|
| ``plan:P/E/ID`` | ``plan.changed``: a plan has come into another state; the place is the number of an event |
| ``plans:P/E`` | the same of all plans of an ensemble |
| ``inbox`` | the same of all plans that one may see |
| ``audit`` | ``audit.written``: a row of the audit log, for those who may read it; the place is that of an event |
| ``project:P`` | ``project.changed``: something of a project was set, as its packages, members, rules, webhooks;
  the place is that of an event |
| ``ensembles`` | what the server tells of all ensembles that one may see: plans, jobs, drift, freezes |
| ``ensemble:P/E`` | ``ensemble.changed``: something of it is not as before; ``instances.changed``: what a job does
  to instances, in columns; ``statuses.changed``: how instances are with what they depend on; ``lock.changed``,
  ``queue.changed``, ``freeze.changed`` and what else the server tells of it; the place is a stamp, a job, an offset in
  its events, the number of an event of the server, and a round of statuses |
| ``job:P/E/JOB`` | the events of a job; the place is an offset in their file |
| ``log:P/E/JOB`` | what the operations of a job print, as ``step.log``; the place is an offset in the log |
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import frames_from
from ordito.server.database.audit import AUDIT_TOPIC, DONE
from ordito.server.live.ensemble import EnsembleFeed, Ensembles, is_of_freezes
from ordito.server.live.feed import AT_ONCE, Feed, Item, Place
from ordito.server.live.outbox import OutboxTail, ToldEvent
from ordito.server.live.statuses import AskStatuses
from ordito.server.live.tail import FileTail
from ordito.server.problems import ApiProblem
from ordito.server.route import FARTHEST
from ordito.source.reach import within

Sees = Callable[[str, str], bool]
"""Whether an ensemble may be seen, by its project and its name."""

LOG_BYTES = 1 << 18


class Topic(msgspec.Struct, frozen=True):
    """What is followed."""

    name: str
    kind: str
    project: str
    ensemble: str
    job: str = ""
    """The id of a job, or of a plan."""


def topic_named(name: str) -> Topic:
    """The topic that a name means. Raises ``ApiProblem``."""
    kind, _, rest = name.partition(":")
    parts = rest.split("/")
    if name in OVERALL:
        return Topic(name, name, "", "")
    wanted = {"project": 1, "ensemble": 2, "plans": 2, "plan": 3, "job": 3, "log": 3}.get(kind)
    is_job = kind in ("job", "log")
    if wanted is None or len(parts) != wanted or not all(parts) or (is_job and not is_change_id(parts[2])):
        hint = (
            "write ensembles, inbox, audit, project:PROJECT, ensemble:PROJECT/ENSEMBLE, plans:PROJECT/ENSEMBLE, "
            "plan:PROJECT/ENSEMBLE/ID, job:PROJECT/ENSEMBLE/JOB or log:PROJECT/ENSEMBLE/JOB"
        )
        raise ApiProblem("unknown-topic", f'there is no topic "{name}"', hint)
    return Topic(name, kind, parts[0], *(parts[1:] or [""]))


class Topics:
    """All that is followed now."""

    def __init__(self, outbox: OutboxTail, ask: AskStatuses, touch: Callable[[Path], None]) -> None:
        """``ask`` finds out effective statuses; ``touch`` is told again and again of each directory in which something
        is followed."""
        self._outbox = outbox
        self._touch = touch
        self._tails: dict[Path, FileTail] = {}
        self._ensembles = Ensembles(self.tail, self.leave, outbox, ask, touch)
        self.streams = 0
        """How many streams are open."""

        self.by_principal: dict[str, int] = {}
        """How many streams each principal has."""

    def open(self, topic: Topic, directory: str, *, logs: bool, sees: Sees) -> Feed:
        """Follow a topic of the ensemble in a directory; without ``logs`` nothing is told that operations print or are
        given. ``sees`` says which ensembles may be seen, for a topic that is about many."""
        if topic.kind in TOLD:
            return _OutboxFeed(self._outbox, topic, sees)
        if topic.kind == "ensemble":
            return EnsembleFeed((topic.project, topic.ensemble), self._ensembles, directory, self._outbox)
        layout = Layout(Path(directory))
        if topic.kind == "log":
            return _LogFeed(self, topic, layout)
        return _JobFeed(self, topic, layout, logs=logs)

    def tail(self, path: Path, *, keeps: bool = True) -> FileTail:
        """The tail of a file, which is entered; it ``keeps`` the newest lines."""
        found = self._tails.setdefault(path, FileTail(path, keeps=keeps, touch=self._touch))
        found.enter()
        return found

    def leave(self, tail: FileTail) -> None:
        """A tail is not followed any more by one who has entered it."""
        if tail.leave():
            del self._tails[tail.path]


ENSEMBLES = "ensembles"
OVERALL = frozenset({"inbox", ENSEMBLES, AUDIT_TOPIC})
"""The topics that are about no single ensemble: about all that one may see, or about the server."""

TOLD = OVERALL | {"plan", "plans", "project"}
"""The kinds of topics whose events the server tells."""

OF_PROJECT = ("account.", "bindings.", "ensemble.", "package.", "project.", "rules.", "webhook.")
"""What the actions begin with that change how a project is set."""


def place_of_event(number: int) -> str:
    """The place behind an event of the server: a text, so that it differs from having no place."""
    return str(min(number, FARTHEST))


class _OutboxFeed:
    def __init__(self, outbox: OutboxTail, topic: Topic, sees: Sees) -> None:
        self._outbox = outbox
        self._topic = topic
        self._sees = sees
        # Who begins to follow all ensembles wants no history.
        self.start: Place = place_of_event(outbox.newest if topic.kind != "plan" else 0)
        self._looked_at = 0
        """Up to here there was nothing of this topic behind the place that was read last."""

    def read(self, place: Place) -> list[Item]:
        at = int(place) if isinstance(place, str) and place.isdecimal() else 0
        newest = self._outbox.newest
        kind = self._topic.kind
        topic = f"plan:{self._topic.job}" if kind == "plan" else AUDIT_TOPIC if kind in (AUDIT_TOPIC, "project") else ""
        events = self._outbox.read(max(at, self._looked_at), self._is_wanted, topic)
        if not events:
            self._looked_at = newest
        kind = "project.changed" if kind == "project" else ""
        return [Item(kind or event.type, self._told(event), place_of_event(event.number)) for event in events]

    def _told(self, event: ToldEvent) -> bytes:
        """An event under the name of the topic that is followed: who follows several finds it by that."""
        said = msgspec.json.decode(event.body)
        if self._topic.kind == "project":
            # Who has done it is for those who may read the audit log.
            said = {"type": "project.changed", "project": said["project"], "action": said["action"]}
        return msgspec.json.encode({**said, "topic": self._topic.name})

    def _is_wanted(self, event: ToldEvent) -> bool:
        topic = self._topic
        if topic.kind == AUDIT_TOPIC:
            return event.topic == AUDIT_TOPIC
        if topic.kind == "project":
            return event.topic == AUDIT_TOPIC and _is_set_in(event, topic.project)
        if topic.kind == "plan":
            return event.topic == f"plan:{topic.job}" and self._is_here(event)
        if topic.kind == "plans":
            return event.topic.startswith("plan:") and self._is_here(event)
        if topic.kind == ENSEMBLES and is_of_freezes(event):
            # Which of the ensembles are frozen by it, whoever follows them knows: the list of freezes says no more.
            return not event.project or self._sees(event.project, event.ensemble)
        if not event.ensemble or not self._sees(event.project, event.ensemble):
            return False
        return topic.kind == ENSEMBLES or event.topic.startswith("plan:")

    def _is_here(self, event: ToldEvent) -> bool:
        return (event.project, event.ensemble) == (self._topic.project, self._topic.ensemble)

    def changed(self) -> asyncio.Event:
        return self._outbox.changed

    def close(self) -> None:
        """Nothing is kept for it."""


class _Deed(msgspec.Struct):
    action: str = ""
    project: str = ""
    outcome: str = ""


_DEED = msgspec.json.Decoder(_Deed)


def _is_set_in(event: ToldEvent, project: str) -> bool:
    """Whether a row of the audit log says that a project was set in another way."""
    deed = _DEED.decode(event.body)
    return deed.project == project and deed.outcome == DONE and deed.action.startswith(OF_PROJECT)


UNTOLD = ("tail", "outputs", "inputs")
"""The fields of events that only those see who may read logs."""


class _JobFeed:
    start: Place = 0

    def __init__(self, topics: Topics, topic: Topic, layout: Layout, *, logs: bool) -> None:
        self._topics = topics
        self._head = b'{"topic":%b,' % msgspec.json.encode(topic.name)
        self._logs = logs
        self._record, path = layout.job_record(topic.job), layout.events(topic.job)
        self._tail = topics.tail(path)

    def read(self, place: Place) -> list[Item]:
        at = place if isinstance(place, int) else 0
        if not at and self._record.exists() and not self._tail.path.exists():
            detail = {"hint": "the events of this job are not kept any more: read the job instead"}
            return [Item("stream.gap", self._head[:-1] + b"," + msgspec.json.encode(detail)[1:], 1)]
        found = self._tail.read(at, AT_ONCE)
        return [self._item(line, end) for end, line in found]

    def _item(self, line: bytes, place: int) -> Item:
        if not self._logs:
            line = told_without_printed(line)
        kind = _TYPE.decode(line).type
        return Item(kind, self._head + line.strip()[1:], place)

    def changed(self) -> asyncio.Event:
        return self._tail.changed

    def close(self) -> None:
        self._topics.leave(self._tail)


def told_without_printed(line: bytes) -> bytes:
    """An event as those see it who may not read logs."""
    if not any(f'"{name}":'.encode() in line for name in UNTOLD):
        return line
    return msgspec.json.encode(_without_printed(msgspec.json.decode(line, type=dict[str, object]))) + b"\n"


def _without_printed(fields: dict[str, object]) -> dict[str, object]:
    """The fields of an event, or of an outcome in it, without what was printed and given."""
    return {
        name: _without_printed(value) if isinstance(value, dict) else value
        for name, value in fields.items()
        if name not in UNTOLD
    }


class _Type(msgspec.Struct):
    type: str


_TYPE = msgspec.json.Decoder(_Type)


class _LogFeed:
    start: Place = 0

    def __init__(self, topics: Topics, topic: Topic, layout: Layout) -> None:
        self._topics = topics
        self._topic = topic
        # The log is no file of lines: only that it grows is taken from its tail.
        self._path = layout.log(topic.job)
        self._tail = topics.tail(self._path, keeps=False)

    def read(self, place: Place) -> list[Item]:
        at = place if isinstance(place, int) else 0
        found = []
        with within(self._path.parents[2]):
            frames = list(frames_from(self._path, at, LOG_BYTES))
        for frame in frames:
            text = frame.content.decode("utf-8", "replace")
            data = {"topic": self._topic.name, "type": "step.log", "step": frame.step, "text": text,
                    "offset": frame.begin, "next": frame.end}  # fmt: skip
            found.append(Item("step.log", msgspec.json.encode(data), frame.end))
        return found

    def changed(self) -> asyncio.Event:
        return self._tail.changed

    def close(self) -> None:
        self._topics.leave(self._tail)


# ------------------------------------------------------------------------------------------------------------ cursors

LONGEST_CURSOR = 2_048


def cursor_text(places: Mapping[str, Place]) -> str:
    """The cursor of a stream: where it is in each of its topics, by their names."""
    known = {_mark(name): place for name, place in places.items()}
    return base64.urlsafe_b64encode(msgspec.json.encode(known)).decode().rstrip("=")


def overall_cursor(number: int) -> str:
    """The cursor with which the topic about all ensembles goes on behind an event of the server."""
    return cursor_text({ENSEMBLES: place_of_event(number)})


def _mark(topic: str) -> str:
    """A name in short, so that cursors of many topics stay short."""
    return hashlib.blake2s(topic.encode(), digest_size=4).hexdigest()


def places_in(cursors: Sequence[str], topics: Sequence[Topic]) -> dict[str, Place]:
    """Where a stream of these topics goes on: each where one of the cursors says, else at its beginning. Raises
    ``ApiProblem``."""
    known: dict[str, Place] = {}
    for cursor in cursors:
        known |= _places(cursor)
    marks = {topic.name: _mark(topic.name) for topic in topics}
    if known and known.keys().isdisjoint(marks.values()):
        raise _no_cursor()
    return {name: known.get(mark, 0) for name, mark in marks.items()}


def _places(cursor: str) -> dict[str, Place]:
    try:
        if len(cursor) > LONGEST_CURSOR:
            raise ValueError(cursor)
        plain = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        places = msgspec.json.decode(plain, type=dict[str, Place])
        if any(isinstance(place, int) and not 0 <= place <= FARTHEST for place in places.values()):
            raise ValueError(places)
    except (msgspec.DecodeError, ValueError):
        raise _no_cursor() from None
    return places


def _no_cursor() -> ApiProblem:
    hint = "open the stream without a cursor, or with one that was given for one of its topics"
    return ApiProblem("bad-cursor", "this is no cursor of a stream of these topics", hint)
