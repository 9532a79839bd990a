"""Who may write an ensemble: leases, epochs, and that an older epoch changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import LeaseHolder, WorkerLease, WorkerLost, declare_lost, holder, release, take
from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.statements import writing
from ordito.cluster.store import Store
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import BEGIN_JOB, LENGTHEN, PUT_EVENTS, PUT_LOG, WRITING, Fenced, put_meta
from tests.support.real.stores import worker


class Ticking:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def link(store: Store) -> Iterator[StoreConnection]:
    found = StoreConnection(store.address, patience=30.0)
    yield found
    found.close()


@pytest.fixture
def leases(store: Store) -> Iterator[dict[str, WorkerLease]]:
    """Of two workers."""
    found = {name: WorkerLease(store.address, worker(name), lease=600.0) for name in ("one", "two")}
    yield found
    for lease in found.values():
        lease.close()


@pytest.fixture
def shop(store: Store) -> str:
    """An ensemble that nobody holds."""
    store.add_ensemble("e1", "shops", "shop")
    return store.ensemble_id("shops", "shop")


def test_one_worker_at_a_time_holds_an_ensemble(
    link: StoreConnection, leases: dict[str, WorkerLease], shop: str
) -> None:
    one, two = (lease.worker.id for lease in leases.values())
    assert holder(link, shop) is None
    assert take(link, shop, one, "pl_1") == 1
    assert take(link, shop, two, "pl_1") == 0
    assert take(link, shop, one, "pl_1") == 0
    assert holder(link, shop) == LeaseHolder(one, 1, "pl_1", "one", "machine of one", "1", is_alive=True)
    assert release(link, shop, two, 1, "ended") is False
    assert release(link, shop, one, 1, "ended") is True
    assert release(link, shop, one, 1, "ended") is False
    assert take(link, shop, two) == 2
    assert take(link, shop, two, ended=2) == 3
    assert take(link, "another", two) == 0


def test_what_a_worker_held_that_lives_no_more_is_taken(
    store: Store, link: StoreConnection, leases: dict[str, WorkerLease], shop: str
) -> None:
    """By its end, by its lease, and by whoever knows that it is lost; who was declared lost does not come back."""
    one, two = leases.values()
    assert take(link, shop, one.worker.id) == 1
    one.leave()
    assert take(link, shop, two.worker.id) == 2
    assert declare_lost(link, two.worker.id) is True
    assert declare_lost(link, "nobody") is False
    with pytest.raises(WorkerLost):
        two.renew()
    assert take(link, shop, two.worker.id, ended=2) == 0
    three = WorkerLease(store.address, worker("three"), lease=600.0)
    try:
        assert take(link, shop, three.worker.id) == 3
        with store.connection() as db:
            rows = db.execute("SELECT epoch, worker, machine, why, ended IS NULL FROM ordito.tenure ORDER BY epoch")
            assert rows.fetchall() == [
                (1, one.worker.id, "machine of one", "taken over", False),
                (2, two.worker.id, "machine of two", "taken over", False),
                (3, three.worker.id, "machine of three", "", True),
            ]
            # Its lease has run out, as PostgreSQL has it.
            db.execute("UPDATE ordito.worker SET lease_until = clock_timestamp() WHERE name = 'three'")
        four = WorkerLease(store.address, worker("four"), lease=600.0)
        assert take(link, shop, three.worker.id) == 0
        assert take(link, shop, four.worker.id) == 4
        four.close()
    finally:
        three.close()


def test_a_worker_counts_its_part_of_the_lease_from_when_it_asked(store: Store) -> None:
    clock = Ticking()
    lease = WorkerLease(store.address, worker(), lease=30.0, clock=clock)

    def at(now: float, *, renewed: bool = False) -> tuple[bool, bool]:
        """Whether it may launch, and whether it may declare others lost."""
        clock.now = now
        if renewed:
            lease.renew()
        return lease.may_launch, lease.may_declare

    assert (lease.every, lease.launches_until) == (10.0, 1_020.0)
    assert at(1_000.0) == (True, False)
    assert [at(now, renewed=True) for now in (1_010.0, 1_019.0, 1_029.0)] == [(True, False)] * 3
    assert at(1_030.0) == (True, True)
    assert at(1_049.0) == (False, True)
    assert at(1_049.0, renewed=True) == (True, True)
    # A whole lease of silence: it must live through another one before it may judge others.
    assert at(1_100.0) == (False, False)
    assert at(1_100.0, renewed=True) == (True, False)
    lease.leave()
    assert at(1_100.0) == (False, False)
    lease.close()


VALUES: dict[type, object] = {str: "x", bytes: b"other", int: 0}


def kinds_of(statement: str) -> tuple[type, ...]:
    """The kinds of the parameters of a statement, by what their columns hold."""
    numbers = ("chunk", "number")
    if statement.startswith("INSERT INTO previous"):
        return str, str, bytes
    head = statement.split(" VALUES", maxsplit=1)[0]
    if head.startswith("INSERT"):
        columns = head.partition("(")[2].rstrip(")").split(", ")
        if statement == BEGIN_JOB:
            return str, bytes, bytes
        blobs = ("body", "value", "lines")
        return tuple(int if c in numbers else bytes if c in blobs else str for c in columns)
    return (bytes if statement == LENGTHEN else str,) * statement.count("?")


def all_rows(db: psycopg.Connection[tuple[object, ...]]) -> dict[str, list[tuple[object, ...]]]:
    names = db.execute(
        "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace"
        " WHERE nspname = 'ordito' AND relkind IN ('r', 'p') AND NOT relispartition"
    ).fetchall()
    found: dict[str, list[tuple[object, ...]]] = {}
    for (name,) in names:
        query = f"SELECT t::text FROM ordito.{name} t ORDER BY 1".encode()
        found[str(name)] = db.execute(query).fetchall()
    return found


@pytest.mark.parametrize("statement", sorted(WRITING))
def test_no_statement_changes_anything_with_an_older_epoch(
    store: Store, link: StoreConnection, leases: dict[str, WorkerLease], shop: str, statement: str
) -> None:
    """Each statement of the code that writes, by itself, without the transaction that would stop it before."""
    one, two = (lease.worker.id for lease in leases.values())
    epoch = take(link, shop, one)
    database = PostgresDatabase(store.address, shop, epoch, patience=30.0)
    some = [(s, [tuple(VALUES[k] for k in kinds_of(s))]) for s in (BEGIN_JOB, *sorted(WRITING - {BEGIN_JOB}))]
    database.write("fill", [(s, rows) for s, rows in some if s.startswith("INSERT")])
    database.shut()
    assert take(link, shop, two, ended=0) == 0
    assert release(link, shop, one, epoch, "ended")
    assert take(link, shop, two) == epoch + 1
    kinds = kinds_of(statement)
    given = {f"p{n}": [b"new" if kind is bytes else VALUES[kind]] for n, kind in enumerate(kinds)}
    with store.connection() as db:
        before = all_rows(db)
        assert all(before[table] for table in ("meta", "job", "steps", "record", "previous", "instance", "output"))
        for made in writing(statement, kinds):
            done = db.cursor(binary=True).execute(made, {"ensemble": shop, "epoch": epoch, **given})
            assert done.rowcount == 0
        assert all_rows(db) == before
        # It is the epoch that stops it, and nothing else: whoever holds the ensemble changes rows, or finds them.
        try:
            counts = [
                db.cursor(binary=True).execute(made, {"ensemble": shop, "epoch": epoch + 1, **given}).rowcount
                for made in writing(statement, kinds)
            ]
        except psycopg.errors.UniqueViolation:
            counts = []
        assert all(counts) or "DO NOTHING" in statement


def test_a_writer_whose_ensemble_was_taken_is_told(
    store: Store, link: StoreConnection, leases: dict[str, WorkerLease], shop: str
) -> None:
    one, two = leases.values()
    database = PostgresDatabase(store.address, shop, take(link, shop, one.worker.id), patience=30.0)
    database.write("begin", [(BEGIN_JOB, [("A", b"h", b"p")])])
    database.append("A", 0, [b"0", b"1"])
    one.leave()
    assert take(link, shop, two.worker.id) == 2
    with pytest.raises(Fenced):
        database.append("A", 2, [b"2"])
    with pytest.raises(Fenced):
        database.append("A", 2, [b"2"], [put_meta("k", b"v")])
    with pytest.raises(Fenced):
        database.append("A", 2, [b"2"], [(PUT_EVENTS, [(3, b"told")]), (PUT_LOG, [(3, b"printed")])])
    with pytest.raises(Fenced):
        database.write("change", [put_meta("k", b"v")])
    with database.reading():
        assert [row[0] for row in database.rows("SELECT body FROM record ORDER BY number")] == [b"0", b"1"]
        assert list(database.rows("SELECT value FROM meta WHERE key = ?", ("k",))) == []
        for table in ("event", "log_chunk"):
            assert list(database.rows(f"SELECT number FROM {table}")) == []
    database.shut()


def test_a_reader_writes_nothing(store: Store, shop: str) -> None:
    """Also into an ensemble that nobody has ever held."""
    database = PostgresDatabase(store.address, shop)
    with pytest.raises(ValueError, match="for reading"):
        database.write("change", [put_meta("k", b"v")])
    with pytest.raises(ValueError, match="for reading"):
        database.append("A", 0, [b"0"])
    database.shut()


def test_a_store_that_was_never_reached_is_not_waited_for(store: Store) -> None:
    away = PostgresDatabase(store.address.rpartition("/")[0] + "/nowhere", "e1", 1)
    with pytest.raises(EnsembleError, match="cannot change the store") as error:
        away.write("change", [])
    assert "open-sesame" not in error.value.message + error.value.hint
