"""The topic of an ensemble: that something of it is not as before, and what a job changes of instances meanwhile.

An ensemble that is followed has a stamp, which is looked at again and again, and where a job runs the tail of its
events. What happens to instances is told in columns, all together that has come since the last time: ten thousand
instances may change within a second, and whoever shows them wants the last state of each. What that means for those
that depend on them is told a little later (``statuses.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.events_file import lines_from
from ordito.ensemble.job_mark import marked
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.ensemble.owner import LockOwner
from ordito.results.picture.letters import STATES, STATUSES, letters
from ordito.server.answers import stamp_of
from ordito.server.live.feed import Item, Place
from ordito.server.live.outbox import OutboxTail, ToldEvent
from ordito.server.live.statuses import AskStatuses, LiveStatuses
from ordito.server.live.tail import FileTail
from ordito.source.new_files import open_regular
from ordito.source.reach import within

STAMP_PAUSE = 0.25
FREEZE, LOCK, STATUSES_CHANGED = "freeze.changed", "lock.changed", "statuses.changed"

REMEMBERED = 60.0
"""Seconds for which it is remembered what was told of an ensemble that nobody follows any more."""

COLLECTED = 0.1
"""Seconds for which changes of instances are collected. What comes after a longer rest is told at once."""

MOST_LINES = 20_000
"""So many events of a job are read at once."""


def is_of_freezes(event: ToldEvent) -> bool:
    """Whether an event tells that something is frozen, or is not any more."""
    return event.type == FREEZE


class EnsemblePlace(msgspec.Struct, frozen=True):
    """Where who follows an ensemble is: what was last told of it, and how far the events of a job were read."""

    stamp: str = ""
    job: str = ""
    offset: int = 0
    told: int = -1
    """The number of the last event of the server that was told, -1 where that is not known."""

    round: int = 0
    """The last round of effective statuses that was told, 0 for none: then all of them are told once."""

    @property
    def text(self) -> str:
        """The place in a cursor."""
        told = str(self.told) if self.told >= 0 else ""
        return f"{self.stamp} {self.job} {self.offset} {told} {self.round}"


def ensemble_place(place: Place) -> EnsemblePlace:
    """The place that a text means; the beginning for any other text."""
    parts = place.split(" ") if isinstance(place, str) else []
    if not 3 <= len(parts) <= 5 or not all(one.isdecimal() and len(one) < 20 for one in parts[2:] if one):
        return EnsemblePlace()
    # Earlier servers told nothing of their own, and no effective statuses.
    told, of_round = (*parts[3:], "", "")[:2]
    return EnsemblePlace(parts[0], parts[1], int(parts[2] or 0), int(told) if told else -1, int(of_round or 0))


def present_place(directory: str, told: int = -1) -> EnsemblePlace:
    """Where an ensemble is now, and the server with what it tells. Who reads it afterwards sees at least what has
    happened up to here."""
    try:
        layout = Layout(Path(directory))
        job = marked(layout.journal)
        return EnsemblePlace(stamp_of(directory), job, whole_end(directory, job) if job else 0, told)
    except (EnsembleError, OSError):
        # Who asks for the ensemble itself is told why it cannot be read.
        return EnsemblePlace("unreadable", told=told)


LONGEST_LINE = 1 << 16


def whole_end(directory: str, job: str) -> int:
    """Where the last whole line of the events of a job ends: the next one may just be written. 0 without events."""
    try:
        with open_regular(Layout(Path(directory)).events(job)) as file:
            size = file.seek(0, os.SEEK_END)
            begin = file.seek(max(0, size - LONGEST_LINE))
            last = file.read(size - begin).rfind(b"\n")
            return begin + last + 1 if last >= 0 else 0
    except (EnsembleError, OSError):
        return 0


Enter = Callable[[Path], FileTail]
Leave = Callable[[FileTail], None]


class Ensembles:
    """The ensembles that somebody follows."""

    def __init__(
        self, enter: Enter, leave: Leave, outbox: OutboxTail, ask: AskStatuses, touch: Callable[[Path], None]
    ) -> None:
        """``enter`` gives the tail of a file, which ``leave`` takes back; ``touch`` is told of each look."""
        self._touch = touch
        self._outbox = outbox
        self._enter = enter
        self._leave = leave
        self._ask = ask
        self._watched: dict[str, _Watched] = {}
        self._left: dict[str, float] = {}
        """When those were left that nobody follows now."""

    def watch(self, directory: str) -> _Watched:
        """An ensemble that somebody begins to follow."""
        self._left.pop(directory, None)
        self._forget()
        found = self._watched.get(directory)
        if found is None:
            found = _Watched(directory, self._enter, self._leave, self._outbox, self._ask, self._touch)
            self._watched[directory] = found
        found.enter()
        return found

    def leave(self, watched: _Watched) -> None:
        """An ensemble is not followed any more by one who has begun to."""
        if watched.leave():
            # Who asks for one part after the other comes back soon, and wants only what is new.
            self._left[watched.directory] = time.monotonic()
        self._forget()

    def _forget(self) -> None:
        for directory, since in list(self._left.items()):
            if time.monotonic() - since < REMEMBERED:
                # They are in the order in which they were left.
                return
            del self._left[directory], self._watched[directory]


class _Watched:
    """An ensemble, looked at again and again while somebody follows it."""

    def __init__(
        self,
        directory: str,
        enter: Enter,
        leave: Leave,
        outbox: OutboxTail,
        ask: AskStatuses,
        touch: Callable[[Path], None],
    ) -> None:
        self.directory = directory
        self._looks = touch
        self.statuses = LiveStatuses(directory, ask, self._tell)
        self._outbox = outbox
        self.layout = Layout(Path(directory))
        self.now = EnsemblePlace()
        self.changed = asyncio.Event()
        self.tail: FileTail | None = None
        """The events of the job that runs."""

        self._enter_tail = enter
        self._leave_tail = leave
        self._watchers = 0
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._told = 0.0
        self._touched_in, self._touched_at = "", 0
        """The job whose events were looked through for changed instances, and how far."""

    def enter(self) -> None:
        self._watchers += 1
        if not self._tasks:
            self._take(self._present())
            if self.now.job != self._touched_in or not self.now.job:
                # What happened while nobody followed is not known.
                self.statuses.forget()
                self._touched_in, self._touched_at = self.now.job, self.now.offset
            if self.now.job:
                self.statuses.touch()
            self._tasks = asyncio.create_task(self._look()), asyncio.create_task(self.statuses.keep())

    def leave(self) -> bool:
        self._watchers -= 1
        if not self._watchers:
            for task in self._tasks:
                task.cancel()
            self._tasks = ()
            self._follow("")
            # The next look at it gets a tail of its own.
            self.now = EnsemblePlace()
        return not self._watchers

    def _take(self, now: EnsemblePlace) -> None:
        if now.job != self.now.job:
            self._follow(now.job)
        self.now = now

    def _follow(self, job: str) -> None:
        if self.tail is not None:
            self._leave_tail(self.tail)
        self.tail = self._enter_tail(self.layout.events(job)) if job else None

    def _present(self) -> EnsemblePlace:
        return present_place(self.directory, self._outbox.newest)

    async def _look(self) -> None:
        while True:
            self._looks(self.layout.root)
            has_lines = await self._pause()
            before, now = self.now, self._present()
            self._take(now)
            if has_lines or now.job != before.job:
                self._touch(now.job)
            # The file may have had lines before the tail had them: then it is no news where it ends.
            if has_lines or now != before:
                self._tell()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def _touch(self, job: str) -> None:
        """Have the statuses of what a job has changed found out."""
        if job != self._touched_in:
            self._touched_in, self._touched_at = job, 0
        self.statuses.touch(self._changed_by(job) if job else ())

    def _changed_by(self, job: str) -> Iterator[str]:
        """The instances whose own status has changed in what was not looked through yet."""
        with contextlib.suppress(EnsembleError):
            while lines := self.lines(job, self._touched_at):
                for _, line in lines:
                    if b'"instance.state"' in line:
                        yield _TOLD.decode(line).instance
                self._touched_at = lines[-1][0]

    def lines(self, job: str, offset: int) -> list[tuple[int, bytes]]:
        """Events of a job behind an offset, each with the offset behind it. Raises ``EnsembleError``."""
        path = self.layout.events(job)
        if self.tail is not None and self.tail.path == path:
            return self.tail.read(offset, MOST_LINES)
        found = []
        with within(self.directory):
            for line in islice(lines_from(path, offset), MOST_LINES):
                offset += len(line)
                found.append((offset, line))
        return found

    async def _pause(self) -> bool:
        """Wait for something; returns whether the tail has got lines."""
        if self.tail is None:
            await asyncio.sleep(STAMP_PAUSE)
            return False
        try:
            await asyncio.wait_for(self.tail.changed.wait(), STAMP_PAUSE)
        except TimeoutError:
            return False
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._told + COLLECTED - loop.time())
        self._told = loop.time()
        return True


class EnsembleFeed:
    """An ensemble, followed by one stream."""

    def __init__(self, of: tuple[str, str], ensembles: Ensembles, directory: str, outbox: OutboxTail) -> None:
        """``of`` are the project and the name."""
        self._of = of
        self._name = f"ensemble:{of[0]}/{of[1]}"
        self._outbox = outbox
        self._looked_at, self._behind = outbox.newest, 0
        """Up to here the server had nothing to tell of it, where it was read last: for who has no place in that, and
        for who has one."""

        self._ensembles = ensembles
        self._watched = ensembles.watch(directory)
        self._held_by: str | None = None
        """Who worked on it when that was told last."""

        self.start: Place = 0

    def read(self, place: Place) -> list[Item]:
        """What is told behind a place. Raises ``EnsembleError``."""
        now = self._watched.now
        # Who has no place yet reads the ensemble itself first.
        known = place if isinstance(place, str) else EnsemblePlace("", now.job, now.offset, now.told).text
        at, found = self._told(ensemble_place(known))
        # Of a job that has ended meanwhile, what it did last is told before what the next one does.
        for job, offset in {at.job: at.offset, now.job: at.offset if now.job == at.job else 0}.items():
            if job:
                at = self._take(msgspec.structs.replace(at, job=job, offset=offset), found)
        if (told := self._watched.statuses.behind(at.round)) is not None:
            at = msgspec.structs.replace(at, round=told.round)
            data = {"topic": self._name, "type": STATUSES_CHANGED, **told.columns}
            found.append(Item(STATUSES_CHANGED, msgspec.json.encode(data), at.text))
        if at.stamp != now.stamp:
            owner = self._holder()
            held_by = str(owner) if owner else None
            if at.stamp and held_by != self._held_by:
                # Its place is before the change of the ensemble, which says the same: who comes back is told both.
                lock = {"topic": self._name, "type": LOCK, "holder": held_by}
                found.append(Item(LOCK, msgspec.json.encode(lock), at.text))
            self._held_by = held_by
            at = msgspec.structs.replace(at, stamp=now.stamp)
            data = {"topic": self._name, "type": "ensemble.changed", "holder": held_by}
            found.append(Item("ensemble.changed", msgspec.json.encode(data), at.text))
        return found

    def _told(self, at: EnsemblePlace) -> tuple[EnsemblePlace, list[Item]]:
        """What the server tells of it behind a place, and the place behind that."""
        found, newest = [], self._outbox.newest
        # Who has no place behind an event wants no history.
        first = max(at.told, self._behind) if at.told >= 0 else self._looked_at
        for event in self._outbox.read(first, self._is_wanted):
            at = msgspec.structs.replace(at, told=event.number)
            said = {**msgspec.json.decode(event.body, type=dict[str, object]), "topic": self._name}
            found.append(Item(event.type, msgspec.json.encode(said), at.text))
        if not found:
            self._looked_at = self._behind = newest
        return at, found

    def _is_wanted(self, event: ToldEvent) -> bool:
        if is_of_freezes(event):
            return event.project in ("", self._of[0]) and event.ensemble in ("", self._of[1])
        return event.topic == self._name

    def _take(self, at: EnsemblePlace, found: list[Item]) -> EnsemblePlace:
        """Find what a job has changed behind a place; returns the place behind that."""
        lines, changes = self._watched.lines(at.job, at.offset), _Changes()
        for _, line in lines:
            changes.add(line)
        behind = msgspec.structs.replace(at, offset=lines[-1][0] if lines else at.offset)
        if changes.there:
            data = {"topic": self._name, "type": "instances.changed", "job": at.job, **changes.columns}
            found.append(Item("instances.changed", msgspec.json.encode(data), behind.text))
        return behind

    def _holder(self) -> LockOwner | None:
        with contextlib.suppress(EnsembleError):
            return holder(self._watched.layout)
        return None

    def changed(self) -> asyncio.Event:
        """Is set when there may be more."""
        return self._watched.changed

    def close(self) -> None:
        """It is not followed any more."""
        self._ensembles.leave(self._watched)


class _Told(msgspec.Struct, frozen=True):
    """What is taken from an event."""

    type: str
    instance: str = ""
    operation: str = ""
    state: str = ""
    local: str = ""
    no_op: bool = False


_TOLD = msgspec.json.Decoder(_Told)
ENDS = frozenset({"step.succeeded", "step.failed", "step.skipped", "step.retrying"})


class _Changes:
    """The last states of instances, and the operation that runs on each, "" for none any more."""

    def __init__(self) -> None:
        self._states: dict[str, tuple[str, str]] = {}
        self._running: dict[str, str] = {}

    @property
    def there(self) -> bool:
        return bool(self._states or self._running)

    def add(self, line: bytes) -> None:
        if b'"instance":' not in line:
            return
        event = _TOLD.decode(line)
        if event.no_op:
            return
        if event.type == "instance.state":
            self._states[event.instance] = event.state, event.local
        elif event.type == "step.started":
            self._running[event.instance] = event.operation
        elif event.type in ENDS:
            self._running[event.instance] = ""

    @property
    def columns(self) -> dict[str, object]:
        states = {
            "id": list(self._states),
            "state": letters((state for state, _ in self._states.values()), STATES),
            "local": letters((local for _, local in self._states.values()), STATUSES),
        }
        return {"instances": states, "running": {"id": list(self._running), "operation": list(self._running.values())}}
