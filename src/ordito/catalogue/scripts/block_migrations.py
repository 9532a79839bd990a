"""What migrations there are, in files, and which of them a database has had.

A database remembers its migrations in a table of its own, ``ordito_migrations``: name, digest of the file, when it was
applied, and by which execution of which step. A migration and its row are one transaction, so whatever cuts the block
off, a migration that is complete is known to be.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import block_sql
import ordito_block as block
from block_databases import Postgres, SaidNo, Sqlite

if TYPE_CHECKING:
    from block_databases import Database

_NAME = re.compile(r"([0-9]+[A-Za-z0-9_.-]*)\.(up|down)\.sql")
_LINE = re.compile(r"psql:<stdin>:(\d+):")
_LOCK = 0x6F7264_69746F
"""By which PostgreSQL keeps two blocks from migrating the same database at a time."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS ordito_migrations (name text PRIMARY KEY, digest text NOT NULL, "
    "applied_at text NOT NULL, applied_by text NOT NULL)"
)


@dataclass(frozen=True)
class Migration:
    """A migration, by its two files; ``digest`` is that of the first."""

    name: str
    up: Path
    down: Path | None
    digest: str

    @property
    def order(self) -> tuple[int, str]:
        """By its number, however many digits that has."""
        return order(self.name)


@dataclass(frozen=True)
class AppliedMigration:
    """A migration that a database has had."""

    name: str
    digest: str
    by: str


def order(name: str) -> tuple[int, str]:
    """Where a migration comes by its name."""
    digits = re.match(r"[0-9]+", name)
    return (int(digits[0]) if digits else 0, name)


def find() -> list[Migration]:
    """The migrations that the config names, in their order. Raises ``Failed``."""
    folder, files = block.text("migrations", ""), block.texts("files")
    if bool(folder) == bool(files):
        raise block.misconfigured("migrations", "name either a folder (migrations) or files (files)")
    if folder:
        place = block.absolute("migrations", folder)
        if not place.is_dir():
            raise block.misconfigured("migrations", f"{folder} is no folder")
        return _paired(sorted(file for file in place.iterdir() if file.name.endswith(".sql")))
    return _paired([block.absolute("files", file) for file in files])


def _paired(files: Iterable[Path]) -> list[Migration]:
    ups: dict[str, Path] = {}
    downs: dict[str, Path] = {}
    for file in files:
        match = _NAME.fullmatch(file.name)
        if match is None:
            raise block.Failed(
                f"{file.name} is not named as a migration is",
                "name it as in 001_customers.up.sql, 001_customers.down.sql",
            )
        (ups if match[2] == "up" else downs)[match[1]] = file
    if not ups:
        raise block.Failed("there is no migration", "name its files as in 001_customers.up.sql")
    if lost := sorted(set(downs) - set(ups)):
        raise block.Failed(f"{lost[0]}.down.sql undoes what is not there: {lost[0]}.up.sql is missing")
    found = sorted((Migration(n, f, downs.get(n), block.digest(f)) for n, f in ups.items()), key=lambda m: m.order)
    numbers: dict[int, str] = {}
    for migration in found:
        other = numbers.setdefault(migration.order[0], migration.name)
        if other != migration.name:
            raise block.Failed(
                f"{other} and {migration.name} have the same number", "give the later one the next number"
            )
    return found


class AppliedMeanwhile(block.Failed):
    """Somebody else has applied a migration since it was asked which there are: another step, or an attempt of this one
    that was given up and went on."""


class History:
    """The migrations of one database. All raise ``Failed``."""

    def __init__(self, database: Database, *, create: bool) -> None:
        self._database = database
        self._create = create

    def applied(self) -> dict[str, AppliedMigration]:
        """Those it has had, by their names."""
        query = "SELECT name, digest, applied_by FROM ordito_migrations"
        if isinstance(self._database, Sqlite):
            with self._database.open(create=self._create) as connection:
                connection.execute(_TABLE)
                return {row[0]: AppliedMigration(*row) for row in connection.execute(query)}
        # Two that create it at the same time would meet in the catalog of the server.
        text = f"SET client_min_messages = warning;\nBEGIN;\n{_locked()}\n{_TABLE};\nCOMMIT;\n{query};\n"
        rows = self._ask(self._database, text).splitlines()
        return {row.split("|")[0]: AppliedMigration(*row.split("|", 2)) for row in rows if row.count("|") >= 2}

    def apply(self, migration: Migration, by: str) -> None:
        """Apply one, and remember it, both or neither. Raises ``AppliedMeanwhile`` as well."""
        row = tuple(map(_literal, (migration.name, migration.digest, _now(), by)))
        mark = f"INSERT INTO ordito_migrations (name, digest, applied_at, applied_by) VALUES ({', '.join(row)})"
        self._run(migration.up, mark, migration.digest)

    def take_back(self, migration: Migration) -> None:
        """Undo one, and forget it, both or neither."""
        if migration.down is None:
            raise block.Failed(f"{migration.name} cannot be undone: it has no file {migration.name}.down.sql")
        self._run(migration.down, f"DELETE FROM ordito_migrations WHERE name = {_literal(migration.name)}")

    def _run(self, file: Path, mark: str, expected: str = "") -> None:
        data = file.read_bytes()
        if expected and hashlib.sha256(data).hexdigest() != expected:
            raise block.Failed(f"{file.name} has changed while it was being applied")
        try:
            sql = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise block.Failed(f"{file.name} is not written in UTF-8") from None
        statements = block_sql.statements(file.name, sql, postgres=isinstance(self._database, Postgres))
        is_whole = not block_sql.wants_no_transaction(sql)
        if isinstance(self._database, Sqlite):
            with self._database.open() as connection:
                _run_sqlite(connection, file.name, statements, mark, is_whole=is_whole)
        else:
            _run_postgres(self._database, file.name, sql, mark, is_whole=is_whole)

    @staticmethod
    def _ask(database: Postgres, text: str) -> str:
        try:
            return database.psql(text)
        except SaidNo as error:
            raise database.failed(error) from None


def _run_sqlite(
    connection: sqlite3.Connection, name: str, statements: list[block_sql.Statement], mark: str, *, is_whole: bool
) -> None:
    if is_whole:
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(mark)
        except sqlite3.IntegrityError:
            raise AppliedMeanwhile(f"{name}: it is applied already") from None
    for statement in statements:
        try:
            connection.execute(statement.text)
        except (sqlite3.Error, sqlite3.Warning) as error:
            # Closing the connection rolls back what was begun.
            raise _refused(name, statement.line, str(error)) from None
    connection.execute("COMMIT" if is_whole else mark)


def _run_postgres(database: Postgres, name: str, sql: str, mark: str, *, is_whole: bool) -> None:
    # All of ours before the file is one line, so that its lines keep their numbers but one.
    before = f"BEGIN; {_locked()} {mark};" if is_whole else f"{_locked('pg_advisory_lock')}"
    after = "COMMIT;" if is_whole else f"{mark};"
    try:
        database.psql(f"{before}\n{sql}\n;\n{after}\n")
    except SaidNo as error:
        match = _LINE.search(error.text)
        if match is None:
            raise database.failed(error) from None
        said = _LINE.sub("", error.text[match.start() :]).strip().removeprefix("ERROR:").strip()
        if "ordito_migrations_pkey" in said:
            raise AppliedMeanwhile(f"{name}: it is applied already") from None
        raise _refused(name, max(1, int(match[1]) - 1), said) from None


def _refused(name: str, line: int, said: str) -> block.Failed:
    hint = ""
    if "transaction block" in said or "from within a transaction" in said:
        hint = "begin the file with the line: -- ordito: no transaction"
    return block.Failed(f"{name}:{line}: {said}", hint)


def _locked(function: str = "pg_advisory_xact_lock") -> str:
    return f"DO $ordito$BEGIN PERFORM {function}({_LOCK}); END$ordito$;"


def _literal(text: str) -> str:
    """A text as SQL writes it, in both dialects: none of ours holds a backslash or NUL."""
    return "'" + text.replace("'", "''") + "'"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
