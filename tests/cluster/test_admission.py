"""Admission: which items get into the queues, and that projects get equal parts whatever they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from ordito.cluster.admission import admit
from ordito.cluster.dispatch import Dispatch, InProcessDispatch
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.leases import WorkerLease, WorkerRow
from ordito.cluster.store import Store
from tests.support.thorough import THOROUGH

MANY = 1_000 if THOROUGH else 60
ROUNDS = 1_000 if THOROUGH else 50


class Pool:
    """A pool with one worker, whose items are carried out by hand."""

    def __init__(self, store: Store, slots: int) -> None:
        self.dispatch: Dispatch = InProcessDispatch(store.address)
        row = WorkerRow(id="w1", name="one", machine="m", boot="1", pool="eu", slots=slots)
        self.lease = WorkerLease(store.address, row, lease=3_600.0)
        self._open = ExitStack()
        self._db = self._open.enter_context(store.connection())
        self.set("INSERT INTO ordito.pool (name) VALUES ('eu')")

    def add(self, project: str, ensemble: str, *items: str, klass: str = "normal") -> None:
        new_one = "INSERT INTO ordito.ensemble (id, project, name) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
        self.set(new_one, (ensemble, project, ensemble))
        with self._db.transaction():
            for item in items:
                new = NewItem(id=item, ensemble=ensemble, kind="apply", request=b"{}", klass=klass, pool="eu")
                assert add_item(self._db, new)

    def admitted(self) -> list[str]:
        return [one.item for one in admit(self.dispatch, "eu")]

    def set(self, statement: str, values: Sequence[object] = ()) -> None:
        self._db.execute(statement.encode(), values)

    def done(self, items: Sequence[str]) -> None:
        self.set("UPDATE ordito.item SET state = 'done', worker = '' WHERE id = ANY(%s)", (list(items),))

    def claimed(self, items: Sequence[str]) -> None:
        self.set("UPDATE ordito.item SET worker = 'w1' WHERE id = ANY(%s)", (list(items),))

    def close(self) -> None:
        self.lease.close()
        self._open.close()


@pytest.fixture
def pool(store: Store) -> Iterator[Pool]:
    found = Pool(store, slots=2)
    yield found
    found.close()


def test_the_queues_are_kept_short(pool: Pool) -> None:
    """Twice as many as there are free slots; of an ensemble one."""
    pool.add("p", "e0", "a0", "a1", "a2")
    for n in range(1, 9):
        pool.add("p", f"e{n}", f"b{n}")
    assert pool.admitted() == ["a0", "b1", "b2", "b3"]
    assert pool.admitted() == []
    pool.claimed(["a0"])
    # One slot is free, and three wait for it.
    assert pool.admitted() == []
    pool.done(["a0", "b1", "b2"])
    assert pool.admitted() == ["a1", "b4", "b5"]
    pool.claimed(["a1", "b4"])
    assert pool.admitted() == []


def test_a_pool_without_a_living_worker_or_that_is_held_gets_nothing(pool: Pool) -> None:
    pool.add("p", "e0", "a0")
    pool.set("UPDATE ordito.pool SET is_held = true")
    assert pool.admitted() == []
    pool.set("UPDATE ordito.pool SET is_held = false")
    pool.set("UPDATE ordito.worker SET lease_until = clock_timestamp()")
    assert pool.admitted() == []
    pool.lease.renew()
    assert pool.admitted() == ["a0"]


def test_urgent_ones_go_first_and_what_can_wait_gets_half(pool: Pool) -> None:
    for n in range(6):
        pool.add("p", f"b{n}", f"b{n}", klass="background")
    assert pool.admitted() == ["b0", "b1"]
    for n in range(3):
        pool.add("p", f"n{n}", f"n{n}")
    pool.add("p", "u0", "u0", klass="urgent")
    assert pool.admitted() == ["u0", "n0", "n1", "n2"]


def test_a_project_has_no_more_jobs_than_it_may(pool: Pool) -> None:
    pool.set("INSERT INTO ordito.project (id, most_jobs) VALUES ('p', 1)")
    for n in range(3):
        pool.add("p", f"e{n}", f"a{n}")
        pool.add("q", f"f{n}", f"b{n}")
    assert pool.admitted() == ["a0", "b0", "b1", "b2"]
    pool.done(["b0", "b1", "b2"])
    assert pool.admitted() == []
    pool.done(["a0"])
    assert pool.admitted() == ["a1"]


def shares_of(pool: Pool, rounds: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for _ in range(rounds):
        items = pool.admitted()
        found.update(item.partition("-")[0] for item in items)
        pool.claimed(items[:1])
        pool.done(items)
    return found


def test_projects_get_equal_parts_whatever_they_have(store: Store) -> None:
    """Within a tenth, with one ensemble and with a thousand."""
    pool = Pool(store, slots=1)
    for n in range(MANY):
        pool.add("large", f"large{n}", *(f"large-{n}-{k}" for k in range(3)))
    for name in ("a", "b", "c", "z"):
        pool.add(name, name, *(f"{name}-{k}" for k in range(ROUNDS)))
    found = shares_of(pool, ROUNDS)
    assert found.total() == 2 * ROUNDS
    fair = found.total() / 5
    assert all(abs(found[name] - fair) <= fair / 10 for name in ("large", "a", "b", "c", "z")), found
    pool.close()


def test_projects_get_parts_by_their_weight(store: Store) -> None:
    pool = Pool(store, slots=1)
    pool.set("INSERT INTO ordito.project (id, weight) VALUES ('heavy', 3), ('light', 1)")
    for name in ("heavy", "light"):
        for n in range(4 * ROUNDS // 2):
            pool.add(name, f"{name}{n}", f"{name}-{n}")
    found = shares_of(pool, ROUNDS)
    assert abs(found["heavy"] - 3 * found["light"]) <= found["light"] / 3, found
    pool.close()


def test_one_worker_at_a_time_lets_in(pool: Pool) -> None:
    for n in range(20):
        pool.add("p", f"e{n}", f"a{n}")
    with ThreadPoolExecutor(4) as threads:
        found = [item for items in threads.map(lambda _: pool.admitted(), range(8)) for item in items]
    assert sorted(found) == sorted(set(found))
    assert len(found) == 4


def test_what_is_let_in_is_delivered(pool: Pool) -> None:
    pool.add("p", "e0", "a0")
    pool.admitted()
    assert [(one.item, one.number) for one in pool.dispatch.queued("eu")] == [("a0", 1)]


def test_the_labels_of_ensemble_and_project_name_the_pool(store: Store) -> None:
    with store.connection() as db:
        db.execute("INSERT INTO ordito.project (id, labels) VALUES ('p', '{\"pool\": \"us\"}')")
        for name in ("a", "b", "c"):
            store.add_ensemble(name, "p" if name != "c" else "q", name)
        db.execute("UPDATE ordito.ensemble SET labels = '{\"pool\": \"eu\"}' WHERE id = 'a'")
        for name in ("a", "b", "c"):
            add_item(db, NewItem(id=name, ensemble=name, kind="apply", request=b""))
        add_item(db, NewItem(id="d", ensemble="a", kind="apply", request=b"", pool="asia"))
        found = db.execute("SELECT id, pool FROM ordito.item ORDER BY id").fetchall()
    assert found == [("a", "eu"), ("b", "us"), ("c", "default"), ("d", "asia")]
