"""The store is away, or its answer is lost: a turn is there completely and once, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, release, take
from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.store import Store
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import BEGIN_JOB, Fenced, Statement, put_meta
from tests.support.real.cut_connections import CutConnections
from tests.support.real.stores import StoreServer, worker

BEGUN: list[Statement] = [(BEGIN_JOB, [("A", b"h", b"p")])]


@pytest.fixture
def cut(store_server: StoreServer) -> Iterator[CutConnections]:
    with CutConnections(store_server.port) as found:
        yield found


@pytest.fixture
def lease(store: Store) -> Iterator[WorkerLease]:
    found = WorkerLease(store.address, worker(), lease=600.0)
    yield found
    found.close()


@pytest.fixture
def link(store: Store) -> Iterator[StoreConnection]:
    found = StoreConnection(store.address, patience=30.0)
    yield found
    found.close()


def through(store: Store, cut: CutConnections) -> str:
    """The address of a store by way of what can be cut."""
    before, _, after = store.address.rpartition(":")
    return f"{before}:{cut.port}/{after.partition('/')[2]}"


@pytest.fixture
def database(
    store: Store, link: StoreConnection, lease: WorkerLease, cut: CutConnections
) -> Iterator[PostgresDatabase]:
    """An ensemble with a job, which its holder writes by way of what can be cut."""
    store.add_ensemble("e1", "shops", "shop")
    epoch = take(link, "e1", lease.worker.id)
    found = PostgresDatabase(through(store, cut), "e1", epoch, patience=30.0)
    found.write("begin", BEGUN)
    found.append("A", 0, [b"0"])
    yield found
    found.shut()


def records(database: PostgresDatabase) -> list[tuple[int, bytes]]:
    with database.reading():
        return [(number, body) for number, body in database.rows("SELECT number, body FROM record ORDER BY number")]


MORE: list[Statement] = [put_meta("k", b"v")]


@pytest.mark.parametrize("more", [[], MORE], ids=["alone", "with-rows"])
@pytest.mark.parametrize("lost", ["lose_request", "lose_answer"])
def test_a_turn_is_there_once(
    database: PostgresDatabase, cut: CutConnections, lost: str, more: list[Statement]
) -> None:
    setattr(cut, lost, True)
    database.append("A", 1, [b"1", b"2"], more)
    assert getattr(cut, lost) is False
    database.append("A", 3, [b"3"])
    assert records(database) == [(0, b"0"), (1, b"1"), (2, b"2"), (3, b"3")]


@pytest.mark.parametrize("lost", ["lose_request", "lose_answer"])
def test_what_cannot_be_done_twice_is_done_once(
    store: Store, link: StoreConnection, lease: WorkerLease, cut: CutConnections, lost: str
) -> None:
    """A job begins once, and an ensemble is taken once, whichever answer is lost."""
    store.add_ensemble("e2", "shops", "other")
    away = StoreConnection(through(store, cut), patience=30.0)
    away.connected()
    setattr(cut, lost, True)
    epoch = take(away, "e2", lease.worker.id)
    assert epoch == 1
    away.close()
    database = PostgresDatabase(through(store, cut), "e2", epoch, patience=30.0)
    assert records(database) == []
    setattr(cut, lost, True)
    database.write("begin", BEGUN)
    database.append("A", 0, [b"0"])
    assert records(database) == [(0, b"0")]
    database.shut()


@pytest.mark.parametrize("number", range(1, 6))
def test_a_transaction_is_cut_anywhere(
    store: Store, database: PostgresDatabase, cut: CutConnections, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before each of its statements, and at its commit: what it changes is there once."""
    run, calls = PostgresDatabase._run, 0

    def counting(self: PostgresDatabase, *given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == number:
            cut.lose_answer = True
        return run(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(PostgresDatabase, "_run", counting)
    database.write("change", [put_meta(key, b"v") for key in ("a", "b", "c")])
    monkeypatch.undo()
    with database.reading():
        rows = dict(database.rows("SELECT key, value FROM meta"))
    assert [rows[key] for key in ("a", "b", "c")] == [b"v"] * 3


def test_who_was_overtaken_meanwhile_is_fenced_and_not_taken_for_the_other(
    store: Store, link: StoreConnection, lease: WorkerLease, database: PostgresDatabase, cut: CutConnections
) -> None:
    """Another worker has written records of the same numbers: they are not ours."""
    assert release(link, "e1", lease.worker.id, 1, "handed over")
    other = PostgresDatabase(store.address, "e1", take(link, "e1", lease.worker.id), patience=30.0)
    other.append("A", 1, [b"theirs"])
    cut.lose_request = True
    with pytest.raises(Fenced):
        database.append("A", 1, [b"ours"])
    assert records(other) == [(0, b"0"), (1, b"theirs")]
    other.shut()


def test_who_writes_in_the_same_epoch_is_turned_away(store: Store, database: PostgresDatabase) -> None:
    """As after a failover that has forgotten an epoch."""
    twin = PostgresDatabase(store.address, "e1", 1, patience=30.0)
    twin.append("A", 1, [b"twin", b"twin"])
    with pytest.raises(Fenced):
        database.append("A", 1, [b"ours"])
    assert [body for _, body in records(database)] == [b"0", b"twin", b"twin"]
    twin.shut()


def test_a_store_that_has_lost_what_it_had_acknowledged_is_not_written_on(
    store: Store, database: PostgresDatabase, cut: CutConnections
) -> None:
    database.append("A", 1, [b"1", b"2"])
    with store.connection() as db:
        db.execute("DELETE FROM ordito.record WHERE number > 0")
    cut.lose_request = True
    with pytest.raises(EnsembleError, match="has lost records") as error:
        database.append("A", 3, [b"3"])
    assert "synchronous" in error.value.hint


def test_a_writer_waits_for_the_store_and_goes_on(store_server: StoreServer, store: Store) -> None:
    """The server is killed and started again under an open journal."""
    lease, link = WorkerLease(store.address, worker(), lease=600.0), StoreConnection(store.address, patience=60.0)
    store.add_ensemble("e1", "shops", "shop")
    database = PostgresDatabase(store.address, "e1", take(link, "e1", lease.worker.id), patience=60.0)
    database.write("begin", BEGUN)
    for number in range(3):
        database.append("A", number, [b"%d" % number])
        store_server.restart()
    assert records(database) == [(0, b"0"), (1, b"1"), (2, b"2")]
    lease.renew()
    assert lease.may_launch
    for one in (database.shut, lease.close, link.close):
        one()
