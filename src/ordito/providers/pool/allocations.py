"""Which instance has which host: a database beside the inventory, for all ensembles that share it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ordito.providers.pool.fitting import Taken

FILE = Path(".ordito") / "hosts.db"
LONGEST_WAIT = 60.0
"""Seconds that a change waits for changes of other processes, which take milliseconds."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS taken (
  ensemble TEXT NOT NULL, instance TEXT NOT NULL, node TEXT NOT NULL, host TEXT NOT NULL, amounts TEXT NOT NULL,
  place TEXT NOT NULL,
  PRIMARY KEY (ensemble, instance)) STRICT;
CREATE INDEX IF NOT EXISTS taken_by_host ON taken (host);
CREATE TABLE IF NOT EXISTS lost (
  host TEXT PRIMARY KEY, since TEXT NOT NULL, why TEXT NOT NULL, remains TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS given_back (ensemble TEXT NOT NULL, host TEXT NOT NULL, PRIMARY KEY (ensemble, host)) STRICT;
"""

COLUMNS = "ensemble, instance, node, host, amounts, place"


class PoolFailed(Exception):
    """The database of the pool cannot be read or written. The text is for people."""


class Lost(msgspec.Struct, frozen=True):
    """A host that could not be reached and is not given out: since when, why, and the instances of which something may
    remain on it."""

    since: str
    why: str
    remains: tuple[str, ...] = ()


class Books:
    """The database of a pool inside of one transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def taken(self) -> dict[str, list[Taken]]:
        """The allocations by host, in the order in which they were made."""
        found: dict[str, list[Taken]] = {}
        for row in self._database.execute(f"SELECT {COLUMNS} FROM taken ORDER BY rowid"):
            one = _taken(row)
            found.setdefault(one.host, []).append(one)
        return found

    def on(self, host: str) -> list[Taken]:
        """The allocations of a host."""
        rows = self._database.execute(f"SELECT {COLUMNS} FROM taken WHERE host = ? ORDER BY rowid", (host,))
        return [_taken(row) for row in rows]

    def of(self, ensemble: str, instance: str) -> Taken | None:
        """The allocation of an instance, None for none."""
        query = f"SELECT {COLUMNS} FROM taken WHERE ensemble = ? AND instance = ?"
        row = self._database.execute(query, (ensemble, instance)).fetchone()
        return _taken(row) if row is not None else None

    def take(self, taken: Taken) -> None:
        """Record that an instance has a host."""
        self.forget_given_back(taken.ensemble, (taken.host,))
        amounts = msgspec.json.encode(_Amounts(taken.amounts, taken.resources)).decode()
        self._database.execute(
            "INSERT INTO taken VALUES (?, ?, ?, ?, ?, ?)",
            (taken.ensemble, taken.instance, taken.node, taken.host, amounts, taken.place),
        )

    def release(self, ensemble: str, instance: str) -> None:
        """Record that an instance has no host any more."""
        self._database.execute("DELETE FROM taken WHERE ensemble = ? AND instance = ?", (ensemble, instance))

    def give_back(self, ensemble: str, host: str) -> None:
        """Record that an ensemble has no instance on a host any more, so that its files there must be removed."""
        self._database.execute("INSERT OR IGNORE INTO given_back VALUES (?, ?)", (ensemble, host))

    def given_back(self, ensemble: str) -> list[str]:
        """The hosts on which an ensemble has only files any more, without those that are lost."""
        query = "SELECT host FROM given_back WHERE ensemble = ? AND host NOT IN (SELECT host FROM lost) ORDER BY rowid"
        return [row[0] for row in self._database.execute(query, (ensemble,))]

    def left_behind(self) -> dict[str, list[str]]:
        """By lost host, the ensembles that may have files there."""
        found: dict[str, list[str]] = {}
        for host, ensemble in self._database.execute(
            "SELECT host, ensemble FROM given_back WHERE host IN (SELECT host FROM lost) ORDER BY rowid"
        ):
            found.setdefault(host, []).append(ensemble)
        return found

    def forget_given_back(self, ensemble: str, hosts: Iterable[str]) -> None:
        """Record that an ensemble has no files on these hosts any more."""
        gone = [(ensemble, host) for host in hosts]
        self._database.executemany("DELETE FROM given_back WHERE ensemble = ? AND host = ?", gone)

    def lost(self) -> dict[str, Lost]:
        """The hosts that are lost, by name."""
        rows = self._database.execute("SELECT host, since, why, remains FROM lost ORDER BY host")
        return {row[0]: Lost(row[1], row[2], tuple(json.loads(row[3]))) for row in rows}

    def lose(self, host: str, since: str, why: str, owner: str) -> None:
        """Record that a host is lost, on which something of the instance ``owner`` may remain ("" for none)."""
        before = self.lost().get(host)
        remains = dict.fromkeys((*(before.remains if before else ()), *([owner] if owner else ())))
        self._database.execute(
            "INSERT OR REPLACE INTO lost VALUES (?, ?, ?, ?)",
            (host, before.since if before else since, why, json.dumps(list(remains))),
        )

    def find(self, host: str) -> None:
        """Record that a lost host was reached again."""
        self._database.execute("DELETE FROM lost WHERE host = ?", (host,))


class Allocations:
    """The database of the pool of an inventory in a folder. Every change is one exclusive transaction, and is on disk
    when it has ended."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    @contextmanager
    def change(self) -> Iterator[Books]:
        """A transaction: after an exception nothing is changed. Raises ``PoolFailed``."""
        with self._explained():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._file, timeout=LONGEST_WAIT, isolation_level=None)
            try:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                for statement in SCHEMA.split(";")[:-1]:
                    database.execute(statement)
                try:
                    yield Books(database)
                except BaseException:
                    database.execute("ROLLBACK")
                    raise
                database.execute("COMMIT")
            finally:
                database.close()

    def read(self) -> tuple[dict[str, list[Taken]], dict[str, Lost]]:
        """The allocations by host, and the lost hosts; creates nothing on disk. Raises ``PoolFailed``."""
        if not self._file.exists():
            return {}, {}
        with self._explained():
            database = sqlite3.connect(self._file, timeout=LONGEST_WAIT, isolation_level=None)
            try:
                database.execute("BEGIN")
                if database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'lost'").fetchone()[0] == 0:
                    return {}, {}
                books = Books(database)
                return books.taken(), books.lost()
            finally:
                database.close()

    def read_given_back(self, ensemble: str) -> list[str]:
        """The hosts on which an ensemble has only files any more; creates nothing on disk. Raises ``PoolFailed``."""
        if not self._file.exists():
            return []
        with self.change() as books:
            return books.given_back(ensemble)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise PoolFailed(f"{self._file}, the database of the pool of hosts, cannot be used: {said}") from error


class _Amounts(msgspec.Struct, frozen=True):
    """What an instance uses of its host, as it is stored."""

    amounts: Mapping[str, float] = {}
    resources: Mapping[str, float] = {}


_AMOUNTS = msgspec.json.Decoder(_Amounts)


def _taken(row: Sequence[str]) -> Taken:
    found = _AMOUNTS.decode(row[4])
    return Taken(row[0], row[1], row[2], row[3], found.amounts, found.resources, row[5])
