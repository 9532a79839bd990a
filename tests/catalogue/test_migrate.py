"""Migrations of a database of SQLite; those of PostgreSQL are in `test_postgres.py`."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.blocks import Block, Ran

FQN = "ordito.dev/lifecycle/data@v1#Migrate"

FIRST = {
    "001_customers.up.sql": "-- who buys;\nCREATE TABLE customers (name text DEFAULT 'a;b');\n"
    "CREATE TRIGGER seen AFTER INSERT ON customers BEGIN UPDATE customers SET name = name; SELECT 1; END;\n",
    "001_customers.down.sql": "DROP TABLE customers;",
}
SECOND = {
    "002_orders.up.sql": "CREATE TABLE orders (customer text);\nINSERT INTO orders VALUES ('x')",
    "002_orders.down.sql": "DROP TABLE orders;",
}
TENTH = {"010_more.up.sql": "ALTER TABLE orders ADD COLUMN more text;"}


class Shop:
    """A database and the migrations of an archive."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "migrations"
        self.files.mkdir()
        self.database = folder / "shop.db"
        self.block = Block(FQN, folder)
        self.config: dict[str, object] = {"database": f"sqlite://{self.database}", "migrations": str(self.files)}

    def write(self, *parts: Mapping[str, str]) -> None:
        for part in parts:
            for name, text in part.items():
                (self.files / name).write_text(text)

    def migrate(self, job: str = "J1", **config: object) -> Ran:
        return self.block.execute({"create": True, **self.config, **config}, job=job)

    def out(self) -> str:
        place = self.block.folder / "out.txt"
        return place.read_text() if place.exists() else ""

    def undo(self, ran: Ran) -> Ran:
        return self.block.undo(self.config, ran.outputs)

    def ask(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(query).fetchall()

    def tables(self) -> list[str]:
        return [row[0] for row in self.ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]

    def applied(self) -> list[tuple[str, str]]:
        return self.ask("SELECT name, applied_by FROM ordito_migrations ORDER BY name")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_each_once(shop: Shop) -> None:
    """Those that the database has not had are applied in the order of their numbers, and never again."""
    shop.write(FIRST)
    assert shop.migrate().outputs == {"applied": ["001_customers"], "version": "001_customers"}
    shop.write(SECOND, TENTH)
    ran = shop.migrate("J2")
    assert ran.outputs == {"applied": ["002_orders", "010_more"], "version": "010_more"}
    assert "010_more has no file 010_more.down.sql: it cannot be undone" in ran.out
    assert shop.migrate("J3").outputs == {"applied": [], "version": "010_more"}
    assert shop.applied() == [("001_customers", "J1/step"), ("002_orders", "J2/step"), ("010_more", "J2/step")]
    assert shop.ask("SELECT * FROM orders") == [("x", None)]


def test_undo_takes_back_what_this_execution_applied(shop: Shop) -> None:
    """The newest first, each once, and none of another execution."""
    shop.write(FIRST)
    first = shop.migrate("J1")
    shop.write(
        SECOND, {"003_index.up.sql": "CREATE INDEX i ON orders (customer);", "003_index.down.sql": "DROP INDEX i;"}
    )
    second = shop.migrate("J2")
    undone = shop.undo(second)
    assert (undone.status, undone.outputs) == (0, {"undone": ["003_index", "002_orders"]})
    assert shop.tables() == ["customers", "ordito_migrations"]
    assert shop.undo(second).outputs == {"undone": []}
    assert shop.undo(first).outputs == {"undone": ["001_customers"]}
    assert shop.undo(shop.migrate(files=None, migrations=str(shop.files))).status == 0


def test_what_cannot_be_undone_is_said_before_anything_is(shop: Shop) -> None:
    """Neither half of an undo nor one below what others have applied since."""
    shop.write(FIRST)
    first = shop.migrate("J1")
    shop.write(SECOND, TENTH)
    second = shop.migrate("J2")
    assert "010_more cannot be undone: it has no file 010_more.down.sql; nothing was undone" in shop.undo(second).err
    assert "001_customers cannot be undone: 002_orders was applied after it" in shop.undo(first).err
    assert shop.tables() == ["customers", "orders", "ordito_migrations"]


def test_what_was_cut_off_goes_on(shop: Shop) -> None:
    """A process that ended between the commit and its report is tried again: the migration that is complete is not run
    again, and is among those that this execution can undo."""
    shop.write(FIRST)
    assert shop.migrate("J1").status == 0  # Nobody hears of its outputs.
    shop.write(SECOND)
    again = shop.migrate("J1")
    assert again.outputs["applied"] == ["001_customers", "002_orders"]
    assert shop.undo(again).outputs == {"undone": ["002_orders", "001_customers"]}
    assert shop.tables() == ["ordito_migrations"]


def test_killed_in_the_middle(shop: Shop, tmp_path: Path) -> None:
    """A migration is whole or not there, whenever the process is killed."""
    shop.write(FIRST)
    slow = "CREATE TABLE slow (n);\nINSERT INTO slow WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
    shop.write({"002_slow.up.sql": slow + "SELECT n FROM c;", "002_slow.down.sql": "DROP TABLE slow;"})
    process = shop.block.start({**shop.config, "create": True})
    journal = tmp_path / "shop.db-journal"
    while not (shop.database.exists() and shop.database.stat().st_size and journal.exists()):
        assert process.poll() is None
    process.kill()
    process.wait()
    shop.write({"002_slow.up.sql": "CREATE TABLE slow (n);"})
    again = shop.migrate("J1")
    assert again.outputs["applied"] == ["001_customers", "002_slow"]
    assert shop.ask("SELECT count(*) FROM slow") == [(0,)]


@pytest.mark.parametrize(("job", "applied"), [("J1", ["001_customers", "002_orders"]), ("J9", ["002_orders"])])
def test_somebody_else_at_the_same_time(shop: Shop, job: str, applied: list[str]) -> None:
    """What another process has applied since the block looked is not applied again; it counts as this execution's only
    where that process was an attempt of it which had been given up."""
    shop.write({"000_nothing.up.sql": "SELECT 1;"})
    shop.migrate("J0")
    shop.write(FIRST, SECOND)
    digest = hashlib.sha256(FIRST["001_customers.up.sql"].encode()).hexdigest()
    with closing(sqlite3.connect(shop.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor() as pool:
            ran = pool.submit(shop.migrate, "J1")
            while "2 to apply" not in shop.out():
                assert not ran.done()
            other.execute("CREATE TABLE customers (n)")
            row = ("001_customers", digest, "now", f"{job}/step")
            other.execute("INSERT INTO ordito_migrations VALUES (?, ?, ?, ?)", row)
            other.execute("COMMIT")
            found = ran.result()
    assert found.status == 0
    assert "001_customers was applied meanwhile" in found.out
    assert found.outputs["applied"] == applied


def test_one_that_fails(shop: Shop) -> None:
    """It leaves nothing behind, and those before it are taken back, unless the config keeps them; the line is named."""
    shop.write(FIRST, {"002_bad.up.sql": "CREATE TABLE half (n);\n\nINSERT INTO nowhere VALUES (1);\n"})
    ran = shop.migrate()
    assert ran.status == 1
    assert "Migrate: 002_bad.up.sql:3: no such table: nowhere" in ran.err
    assert "took back 001_customers, since a later one failed" in ran.err
    assert shop.tables() == ["ordito_migrations"]
    assert shop.migrate(when_one_fails="keep").status == 1
    assert shop.tables() == ["customers", "ordito_migrations"]


def test_without_a_transaction(shop: Shop) -> None:
    """What cannot run in a transaction says so in its first line; a file is told when it should."""
    shop.write(FIRST, {"002_clean.up.sql": "VACUUM;"})
    assert "begin the file with the line: -- ordito: no transaction" in shop.migrate().err
    shop.write({"002_clean.up.sql": "-- ordito: no transaction\nVACUUM;\nBEGIN;\nCOMMIT;\n"})
    assert shop.migrate().outputs["version"] == "002_clean"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"001_a.up.sql": "BEGIN; SELECT 1; COMMIT;"}, "001_a.up.sql:1: BEGIN has no place here"),
        ({"001_a.up.sql": "SELECT 1;\nSELECT 'x"}, "001_a.up.sql:2: the text that begins here has no end"),
        ({"001_a.up.sql": "/* x"}, "001_a.up.sql:1: the comment that begins here has no end"),
        ({"first.sql": ""}, "first.sql is not named as a migration is"),
        ({"001_a.down.sql": "", "002_b.up.sql": ""}, "001_a.up.sql is missing"),
        ({"001_a.up.sql": "", "1_b.up.sql": ""}, "001_a and 1_b have the same number"),
        ({"001_a.up.sql": b"\xff"}, "001_a.up.sql is not written in UTF-8"),
        ({}, "there is no migration"),
    ],
)
def test_files_that_are_refused(shop: Shop, files: dict[str, str | bytes], said: str) -> None:
    """What a migration must not hold, and names that say nothing, are told with the file."""
    for name, text in files.items():
        (shop.files / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = shop.migrate()
    assert ran.status == 1
    assert said in ran.err


def test_history_that_does_not_fit(shop: Shop) -> None:
    """A file that was changed after it was applied, one that comes too late, are refused; files that went are said."""
    shop.write(FIRST, SECOND)
    shop.migrate()
    shop.write({"001_customers.up.sql": "CREATE TABLE others (n);"})
    assert "001_customers was applied with other content than its file has now" in shop.migrate("J2").err
    shop.write(FIRST, {"0015_late.up.sql": "", "0_early.up.sql": "SELECT 1;"})
    assert "0_early has not been applied, and 002_orders, which comes after it, has" in shop.migrate("J2").err
    for name in ("0015_late.up.sql", "0_early.up.sql", *SECOND):
        (shop.files / name).unlink()
    ran = shop.migrate("J2")
    assert ran.status == 0
    assert "migrations that the files do not know: 002_orders" in ran.out


def test_config_that_is_refused(shop: Shop) -> None:
    """Paths must be absolute, a folder or files must be named, and a database that is not there is not made unasked."""
    shop.write(FIRST)
    for config, said in (
        ({"database": "sqlite://shop.db"}, "names no absolute path"),
        ({"database": "mysql://x/y"}, "neither the path of a file of SQLite nor an address of PostgreSQL"),
        ({"database": "postgres://h/x?color=red"}, "the setting color is not known"),
        ({"migrations": None}, "name either a folder (migrations) or files (files)"),
        ({"migrations": str(shop.files / "none")}, "is no folder"),
    ):
        ran = shop.migrate(**config)
        assert ran.status == 2
        assert said in ran.err
    ran = shop.migrate(create=False)
    assert ran.status == 1
    assert "there is no database" in ran.err
    assert not shop.database.exists()


def test_files_by_name(shop: Shop) -> None:
    """Files may be listed in place of their folder."""
    shop.write(FIRST, SECOND)
    files = [str(shop.files / name) for name in FIRST]
    assert shop.migrate(migrations=None, files=files).outputs["applied"] == ["001_customers"]


def test_a_database_in_use(shop: Shop) -> None:
    """Whoever else writes is waited for as long as the config says."""
    shop.write(FIRST)
    with closing(sqlite3.connect(shop.database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        ran = shop.migrate(patience="10 ms")
    assert ran.status == 1
    assert "database is locked" in ran.err
    assert "patience" in ran.err
