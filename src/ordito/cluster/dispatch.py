"""Dispatch: how work items get to workers. Whoever delivers says nothing about the truth, which the leases are: an item
may be delivered twice, late, or to a worker that can do nothing with it.

The port has five methods. One adapter is here, for a single process; the other one is ``dbos.py``.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec
import psycopg

from ordito.cluster.connecting import Connection, StoreConnection, explained
from ordito.cluster.items import counted_up

CLASSES = ("urgent", "normal", "background")
"""The classes of items, the most urgent one first."""


class Delivery(msgspec.Struct, frozen=True):
    """An item on its way to a worker, for the so many-th time."""

    item: str
    number: int
    ensemble: str
    """Of one ensemble one item is carried out at a time."""

    pool: str
    klass: str
    delay: float = 0.0
    """Seconds before which it is not to arrive."""

    @property
    def id(self) -> str:
        """Its id: what is submitted twice under one id is there once."""
        return delivery_id(self.item, self.number)


class Queued(msgspec.Struct, frozen=True):
    """A delivery that has not ended."""

    item: str
    number: int
    klass: str
    worker: str
    """The worker that has claimed it, "" for none."""


Choose = Callable[[Connection], Iterable[Delivery]]
"""Changes rows of the store in a transaction, and says what is to be delivered if that is committed."""

CarryOut = Callable[[str, int], None]
"""Carries out a delivery of an item: its id and its number. The delivery has ended when it returns."""


class Serving(Protocol):
    """A worker that takes deliveries."""

    def stop(self) -> None:
        """Take no more, and wait until all that was taken has ended."""


class Dispatch(ABC):
    """Delivers items at least once, one at a time of an ensemble in each class. Every method may raise
    ``EnsembleError``."""

    @abstractmethod
    def submit(self, choose: Choose) -> list[Delivery]:
        """Enqueue what ``choose`` gives, in the transaction in which it changes rows: both are done, or none."""

    @abstractmethod
    def queued(self, pool: str) -> list[Queued]:
        """All deliveries to a pool that have not ended."""

    @abstractmethod
    def cancel(self, item: str, number: int) -> None:
        """End a delivery, whether it was claimed or not: the ensemble's next one may begin. Whoever carries it out is
        not disturbed, and its end counts for nothing."""

    @abstractmethod
    def serve(self, pool: str, worker: str, slots: int, carry_out: CarryOut) -> Serving:
        """Take deliveries to a pool, each in a thread of its own; of each class no more than its share."""

    def redeliver(self, item: str, number: int, delay: float = 0.0) -> bool:
        """End a delivery and make the next one of its item. Returns False where there is a later one already, or
        nothing is to be done any more. Whoever is killed in between may simply do it again."""
        self.cancel(item, number)
        return bool(self.submit(lambda db: redelivered(db, item, number, delay)))


def redelivered(db: Connection, item: str, number: int, delay: float = 0.0) -> list[Delivery]:
    """Count the deliveries of an item up, in a transaction: the next one, or none."""
    found = counted_up(db, item, number)
    return [] if found is None else [Delivery(item, number + 1, *found, delay)]


def delivery_id(item: str, number: int) -> str:
    """The id of a delivery."""
    return f"{item}.{number}"


def shares(slots: int) -> Mapping[str, int]:
    """How many deliveries of each class a worker with so many slots has at one time: of what can wait, half."""
    return {klass: max(1, slots // 2) if klass == "background" else slots for klass in CLASSES}


class _Waiting:
    """A delivery in the queues of this process."""

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.due = time.monotonic() + delivery.delay
        self.worker = ""


class InProcessDispatch(Dispatch):
    """Delivers within this process, and forgets everything with it."""

    def __init__(self, address: str) -> None:
        """``address`` is that of the store."""
        self._address = address
        self._known: set[str] = set()
        self._open: dict[str, _Waiting] = {}
        """By id, in the order in which they came."""

        self._changed = threading.Condition()

    def submit(self, choose: Choose) -> list[Delivery]:
        """See ``Dispatch``."""
        link = StoreConnection(self._address)
        try:
            db = link.connected()
            with db.transaction():
                given = list(choose(db))
        except psycopg.Error as error:
            raise explained("use", error) from error
        finally:
            link.close()
        with self._changed:
            for delivery in given:
                if delivery.id not in self._known:
                    self._known.add(delivery.id)
                    self._open[delivery.id] = _Waiting(delivery)
            self._changed.notify_all()
        return given

    def queued(self, pool: str) -> list[Queued]:
        """See ``Dispatch``."""
        with self._changed:
            return [
                Queued(one.delivery.item, one.delivery.number, one.delivery.klass, one.worker)
                for one in self._open.values()
                if one.delivery.pool == pool
            ]

    def cancel(self, item: str, number: int) -> None:
        """See ``Dispatch``."""
        self._end(delivery_id(item, number))

    def serve(self, pool: str, worker: str, slots: int, carry_out: CarryOut) -> Serving:
        """See ``Dispatch``."""
        return _ServingHere(self, pool, worker, slots, carry_out)

    def claim(self, pool: str, worker: str, room: Mapping[str, int]) -> Delivery | None:
        """Claim a delivery for a worker that has room for so many of each class."""
        with self._changed:
            busy = {(one.delivery.klass, one.delivery.ensemble) for one in self._open.values() if one.worker}
            now = time.monotonic()
            for one in self._open.values():
                found = one.delivery
                is_free = not one.worker and (found.klass, found.ensemble) not in busy
                if is_free and found.pool == pool and one.due <= now and room[found.klass] > 0:
                    one.worker = worker
                    return found
            due = [one.due for one in self._open.values() if not one.worker and one.due > now]
            self._changed.wait(min(due) - now if due else None)
            return None

    def wake(self) -> None:
        """Let all that wait for a delivery look again."""
        with self._changed:
            self._changed.notify_all()

    def _end(self, id: str) -> None:
        with self._changed:
            self._open.pop(id, None)
            self._changed.notify_all()

    def ended(self, delivery: Delivery) -> None:
        """Whoever has claimed a delivery has ended it."""
        self._end(delivery.id)


class _ServingHere:
    def __init__(self, dispatch: InProcessDispatch, pool: str, worker: str, slots: int, carry_out: CarryOut) -> None:
        self._dispatch = dispatch
        self._room = dict(shares(slots))
        self._carry_out = carry_out
        self._is_stopped = False
        self._at_work: set[threading.Thread] = set()
        self._thread = threading.Thread(target=self._take, args=(pool, worker), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._is_stopped = True
        self._dispatch.wake()
        self._thread.join()
        for thread in tuple(self._at_work):
            thread.join()

    def _take(self, pool: str, worker: str) -> None:
        while not self._is_stopped:
            found = self._dispatch.claim(pool, worker, self._room)
            if found is not None:
                self._room[found.klass] -= 1
                thread = threading.Thread(target=self._run, args=(found,), daemon=True)
                self._at_work.add(thread)
                thread.start()

    def _run(self, delivery: Delivery) -> None:
        try:
            self._carry_out(delivery.item, delivery.number)
        finally:
            self._room[delivery.klass] += 1
            self._dispatch.ended(delivery)
            self._at_work.discard(threading.current_thread())
