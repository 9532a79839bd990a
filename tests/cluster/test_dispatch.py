"""Both adapters of dispatch: at least once, one at a time of an ensemble, cancel, delivery anew, shares of classes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from ordito.cluster.connecting import Connection
from ordito.cluster.dbos import DbosDispatch
from ordito.cluster.dispatch import Delivery, Dispatch, InProcessDispatch, Queued, Serving
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.store import Store

PATIENCE = 60.0
"""Seconds within which what is expected has happened, or never will."""


class Carrying:
    """Carries out deliveries: notes them, and lets each end when it is told to."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._may_end: set[str] = set()
        self.begun: list[tuple[str, int]] = []
        self.at_work: Counter[str] = Counter()
        self.ends_at_once = False

    def __call__(self, item: str, number: int) -> None:
        with self._changed:
            self.begun.append((item, number))
            self.at_work[item] += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.ends_at_once or item in self._may_end, PATIENCE)
            self.at_work[item] -= 1
            self._changed.notify_all()

    def let_end(self, *items: str) -> None:
        with self._changed:
            self._may_end.update(items)
            self._changed.notify_all()

    def let_all_end(self) -> None:
        with self._changed:
            self.ends_at_once = True
            self._changed.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE), self.begun


@pytest.fixture(params=["in process", "dbos"])
def dispatch(request: pytest.FixtureRequest, store: Store) -> Iterator[Dispatch]:
    if request.param == "in process":
        yield InProcessDispatch(store.address)
        return
    found = DbosDispatch(store.address, poll=0.05)
    yield found
    found.close()


@pytest.fixture
def carrying() -> Carrying:
    return Carrying()


@pytest.fixture
def serving(dispatch: Dispatch, carrying: Carrying) -> Iterator[Serving]:
    """A worker with four slots."""
    found = dispatch.serve("eu", "w1", 4, carrying)
    yield found
    carrying.let_all_end()
    found.stop()


def given(dispatch: Dispatch, *deliveries: Delivery) -> None:
    dispatch.submit(lambda _: deliveries)


def delivery(item: str, ensemble: str, klass: str = "normal", number: int = 1) -> Delivery:
    return Delivery(item, number, ensemble, "eu", klass)


def item(id: str) -> NewItem:
    return NewItem(id=id, ensemble="e1", kind="apply", request=b"{}", pool="eu")


def test_what_is_submitted_is_delivered(dispatch: Dispatch, carrying: Carrying, serving: Serving) -> None:
    """Submitted twice, it is there once; to another pool, it waits."""
    given(dispatch, delivery("a", "e1"), Delivery("b", 1, "e2", "us", "normal"))
    given(dispatch, delivery("a", "e1"))
    carrying.wait(lambda: carrying.begun == [("a", 1)])
    assert dispatch.queued("eu") == [Queued("a", 1, "normal", "w1")]
    assert dispatch.queued("us") == [Queued("b", 1, "normal", "")]
    carrying.let_end("a")
    given(dispatch, delivery("c", "e1"))
    carrying.wait(lambda: carrying.begun == [("a", 1), ("c", 1)])


def test_a_submission_is_all_or_nothing(dispatch: Dispatch, store: Store) -> None:
    store.add_ensemble("e1", "shops", "shop")

    def fails(db: Connection) -> list[Delivery]:
        add_item(db, item("b"))
        raise LookupError

    def works(db: Connection) -> list[Delivery]:
        assert add_item(db, item("a"))
        assert not add_item(db, item("a"))
        return [delivery("a", "e1")]

    with pytest.raises(LookupError):
        dispatch.submit(fails)
    assert dispatch.submit(works) == [delivery("a", "e1")]
    assert [one.item for one in dispatch.queued("eu")] == ["a"]
    with store.connection() as db:
        assert db.execute("SELECT id, pool, state FROM ordito.item").fetchall() == [("a", "eu", "waiting")]


def test_one_of_an_ensemble_at_a_time(dispatch: Dispatch, carrying: Carrying, serving: Serving) -> None:
    given(dispatch, *(delivery(f"{ensemble}{n}", ensemble) for n in range(3) for ensemble in ("x", "y")))
    for _ in range(3):
        carrying.wait(lambda: sum(carrying.at_work.values()) == 2)
        at_work = [item for item, count in carrying.at_work.items() if count]
        assert sorted(item[0] for item in at_work) == ["x", "y"]
        carrying.let_end(*at_work)
        carrying.wait(lambda: not any(carrying.at_work[item] for item in at_work))  # noqa: B023
    assert sorted(carrying.begun) == [(f"{e}{n}", 1) for e in "xy" for n in range(3)]


def test_what_is_cancelled_before_it_is_taken_never_begins(dispatch: Dispatch, carrying: Carrying) -> None:
    given(dispatch, delivery("a", "e1"), delivery("b", "e1"))
    dispatch.cancel("a", 1)
    dispatch.cancel("nobody", 1)
    serving = dispatch.serve("eu", "w1", 4, carrying)
    carrying.wait(lambda: bool(carrying.begun))
    assert carrying.begun == [("b", 1)]
    carrying.let_all_end()
    serving.stop()
    assert dispatch.queued("eu") == []


def test_what_was_claimed_is_delivered_anew(
    dispatch: Dispatch, carrying: Carrying, serving: Serving, store: Store
) -> None:
    """While the first delivery is still at work, and whose end counts for nothing."""
    store.add_ensemble("e1", "shops", "shop")

    def choose(db: Connection) -> list[Delivery]:
        add_item(db, item("a"))
        db.execute("UPDATE ordito.item SET state = 'queued', delivery = 1 WHERE id = 'a'")
        return [delivery("a", "e1")]

    dispatch.submit(choose)
    carrying.wait(lambda: carrying.begun == [("a", 1)])
    assert dispatch.redeliver("a", 1) is True
    assert dispatch.redeliver("a", 1) is False
    carrying.wait(lambda: carrying.begun == [("a", 1), ("a", 2)])
    assert [one.number for one in dispatch.queued("eu")] == [2]
    carrying.let_all_end()
    carrying.wait(lambda: carrying.at_work["a"] == 0)
    with store.connection() as db:
        assert db.execute("SELECT delivery FROM ordito.item").fetchall() == [(2,)]


def test_what_can_wait_gets_half_of_the_slots(dispatch: Dispatch, carrying: Carrying, serving: Serving) -> None:
    given(dispatch, *(delivery(f"b{n}", f"e{n}", "background") for n in range(6)))
    carrying.wait(lambda: len(carrying.begun) == 2)
    given(dispatch, *(delivery(f"n{n}", f"f{n}") for n in range(2)), delivery("u", "g", "urgent"))
    carrying.wait(lambda: {item for item, _ in carrying.begun} >= {"n0", "n1", "u"})
    assert sorted(item[0] for item, _ in carrying.begun) == ["b", "b", "n", "n", "u"]
    carrying.let_all_end()
    carrying.wait(lambda: len(carrying.begun) == 9)
