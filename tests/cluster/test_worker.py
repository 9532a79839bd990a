"""Workers as processes: killed, paused, drained, alone and beside others. An item is carried out by one at a time, and
goes on where it was."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.leases import declare_lost
from ordito.cluster.store import Store
from tests.support.real.small_items import SmallJob, gate_of, notes_of
from tests.support.real.workers import TestWorker
from tests.support.serving import until

STEPS = 6
GATE = 3

LEASE = 2.0
"""Seconds; a worker judges others once it has renewed for so long."""


class Shop:
    """A store with ensembles whose items are small jobs."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.folder = folder

    def add(self, item: str, *, ensemble: str = "e1", steps: int = STEPS, gate: int = -1, dies: bool = False) -> None:
        """Add an item, which waits before the step ``gate`` until it is let on."""
        if not self.store.ensemble_id("shops", ensemble):
            self.store.add_ensemble(ensemble, "shops", ensemble)
        job = SmallJob(steps, str(self.folder / f"{ensemble}.notes"), gate=gate, dies=dies)
        with self.store.connection() as db:
            request = msgspec.json.encode(job)
            assert add_item(db, NewItem(id=item, ensemble=ensemble, kind="small", request=request, pool="eu"))

    def let_on(self) -> None:
        gate_of(self.folder / "e1.notes").touch()

    def rows(self, query: str) -> Sequence[tuple[object, ...]]:
        with self.store.connection() as db:
            return db.execute(query.encode()).fetchall()

    def state(self, item: str) -> object:
        return self.rows(f"SELECT state FROM ordito.item WHERE id = '{item}'")[0][0]

    def wait_for_state(self, item: str, state: str = "done") -> None:
        until(lambda: self.state(item), lambda found: found == state)

    def wait_for_records(self, count: int) -> None:
        until(lambda: self.rows("SELECT count(*) FROM ordito.record")[0][0], lambda found: int(str(found)) >= count)

    def holder(self) -> object:
        return self.rows("SELECT holder FROM ordito.ensemble WHERE id = 'e1'")[0][0]

    def check_done(self, item: str, *, ensemble: str = "e1", steps: int = STEPS) -> None:
        """Its records are there once each, in the order of epochs, and no process began a step after its successor."""
        assert self.rows(f"SELECT state, job, outcome FROM ordito.item WHERE id = '{item}'") == [
            ("done", f"job of {item}", b"ok")
        ]
        assert self.rows(f"SELECT holder, item FROM ordito.ensemble WHERE id = '{ensemble}'") == [(None, "")]
        where = f"ensemble = '{ensemble}' AND job = 'job of {item}'"
        records = self.rows(f"SELECT number, epoch FROM ordito.record WHERE {where} ORDER BY number")
        assert [number for number, _ in records] == list(range(steps))
        epochs = [int(str(epoch)) for _, epoch in records]
        assert epochs == sorted(epochs)
        assert self.rows(f"SELECT count(*) FROM ordito.job WHERE ensemble = '{ensemble}'") == [(1,)]
        notes = notes_of(self.folder / f"{ensemble}.notes")
        begun = [epoch for _, _, epoch in notes]
        assert begun == sorted(begun)
        assert len({(process, epoch) for _, process, epoch in notes}) == len(set(begun))
        # A step whose process ended between its record and its note has none; none was begun twice.
        assert len({step for step, _, _ in notes}) == len(notes)


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Shop:
    return Shop(store, tmp_path)


@pytest.fixture
def started(store: Store, tmp_path: Path) -> Iterator[Callable[..., TestWorker]]:
    """Starts workers, which end with the test."""
    workers: list[TestWorker] = []

    def start(name: str, *, lease: float = LEASE, slots: int = 2) -> TestWorker:
        found = TestWorker(store.address, tmp_path / name, lease=lease, slots=slots)
        found.start()
        workers.append(found)
        return found

    yield start
    for worker in workers:
        worker.kill()


Started = Callable[..., TestWorker]


def test_items_are_carried_out(shop: Shop, started: Started) -> None:
    """Those of several ensembles beside each other, those of one after each other."""
    for n in range(3):
        shop.add(f"a{n}", ensemble=f"e{n}", steps=3)
    worker = started("one")
    for n in range(3):
        shop.wait_for_state(f"a{n}")
        shop.check_done(f"a{n}", ensemble=f"e{n}", steps=3)
    worker.send(signal.SIGTERM)
    assert worker.process is not None
    assert worker.process.wait(60) == 0
    assert shop.rows("SELECT state FROM ordito.worker") == [("ended",)]
    assert "Traceback" not in worker.log()


def test_a_killed_runner_has_a_successor_at_once(shop: Shop, started: Started) -> None:
    """With a lease that nobody could wait for."""
    shop.add("a", gate=GATE)
    worker = started("one", lease=600.0)
    shop.wait_for_records(GATE)
    (runner,) = worker.runners()
    os.kill(runner, signal.SIGKILL)
    shop.let_on()
    shop.wait_for_state("a")
    shop.check_done("a")
    assert len({process for _, process, _ in notes_of(shop.folder / "e1.notes")}) == 2
    assert shop.rows("SELECT delivery, takeovers FROM ordito.item") == [(1, 1)]


def test_a_killed_fork_server_is_replaced(shop: Shop, started: Started) -> None:
    """Its runner goes on."""
    shop.add("a", gate=GATE)
    worker = started("one", lease=600.0)
    shop.wait_for_records(GATE)
    (server,) = worker.fork_servers()
    os.kill(server, signal.SIGKILL)
    shop.let_on()
    shop.wait_for_state("a")
    shop.check_done("a")
    shop.add("b", ensemble="e2", steps=2)
    shop.wait_for_state("b")
    assert len({process for _, process, _ in notes_of(shop.folder / "e1.notes")}) == 1


def test_a_worker_that_starts_again_does_not_wait_for_its_lease(shop: Shop, started: Started) -> None:
    """Its runners end with it, and its successor in the same home knows that."""
    shop.add("a", gate=GATE)
    worker = started("one", lease=600.0)
    shop.wait_for_records(GATE)
    worker.kill()
    shop.let_on()
    worker.start()
    shop.wait_for_state("a")
    shop.check_done("a")
    assert sorted(shop.rows("SELECT state FROM ordito.worker")) == [("lost",), ("ready",)]


@pytest.mark.parametrize("how", ["worker", "both"])
def test_another_worker_takes_over(shop: Shop, started: Started, how: str) -> None:
    shop.add("a", gate=GATE)
    one = started("one")
    shop.wait_for_records(GATE)
    holder = shop.holder()
    two = started("two")
    until(lambda: shop.rows("SELECT name FROM ordito.worker"), lambda found: len(found) == 2)
    if how == "both":
        for runner in one.runners():
            os.kill(runner, signal.SIGSTOP)
            os.kill(runner, signal.SIGKILL)
    one.kill()
    until(shop.holder, lambda found: found not in (holder, None))
    shop.let_on()
    shop.wait_for_state("a")
    shop.check_done("a")
    assert shop.rows("SELECT why FROM ordito.tenure ORDER BY epoch") == [("taken over",), ("done",)]
    assert "taken over" in two.log()


def test_who_was_paused_for_longer_than_its_lease_writes_nothing_more(shop: Shop, started: Started) -> None:
    shop.add("a", gate=GATE)
    one = started("one")
    shop.wait_for_records(GATE)
    holder = shop.holder()
    two = started("two")
    one.send(signal.SIGSTOP, with_runners=True)
    until(shop.holder, lambda found: found not in (holder, None))
    one.send(signal.SIGCONT, with_runners=True)
    shop.let_on()
    shop.wait_for_state("a")
    shop.check_done("a")
    until(one.log, lambda text: "was taken over by another worker" in text)
    # It goes on working, with what comes next.
    two.send(signal.SIGTERM)
    assert two.process is not None
    assert two.process.wait(60) == 0
    shop.add("b", ensemble="e2", steps=2)
    shop.wait_for_state("b")


def test_a_worker_that_drains_hands_its_jobs_over(shop: Shop, started: Started) -> None:
    """Without any lease that would have to run out."""
    shop.add("a", gate=GATE)
    one = started("one", lease=600.0)
    shop.wait_for_records(GATE)
    two = started("two", lease=600.0)
    until(lambda: shop.rows("SELECT name FROM ordito.worker"), lambda found: len(found) == 2)
    one.send(signal.SIGTERM)
    assert one.process is not None
    assert one.process.wait(60) == 0
    shop.let_on()
    shop.wait_for_state("a")
    shop.check_done("a")
    assert shop.rows("SELECT why FROM ordito.tenure ORDER BY epoch") == [("handed over",), ("done",)]
    assert two.process is not None


def test_a_job_is_cancelled(shop: Shop, started: Started) -> None:
    shop.add("a", gate=GATE)
    started("one")
    shop.wait_for_records(GATE)
    with shop.store.connection() as db:
        db.execute("UPDATE ordito.item SET cancel = 'soft'")
    shop.wait_for_state("a")
    assert shop.rows("SELECT outcome FROM ordito.item") == [(b"cancelled",)]


def test_an_item_that_does_not_get_on_needs_attention(shop: Shop, started: Started) -> None:
    """And the ensemble is free for others."""
    shop.add("a", dies=True)
    worker = started("one", lease=600.0)
    shop.wait_for_state("a", "attention")
    until(lambda: "needs attention" in worker.log() and shop.holder() is None, bool)
    assert shop.rows("SELECT takeovers FROM ordito.item") == [(3,)]
    shop.add("b", steps=2)
    shop.wait_for_state("b")


def test_a_worker_that_was_declared_lost_ends(shop: Shop, started: Started) -> None:
    shop.add("a", gate=GATE)
    one = started("one")
    shop.wait_for_records(GATE)
    link = StoreConnection(shop.store.address)
    assert declare_lost(link, str(shop.holder()))
    link.close()
    assert one.process is not None
    assert one.process.wait(60) != 0
    assert "was declared lost" in one.log()
