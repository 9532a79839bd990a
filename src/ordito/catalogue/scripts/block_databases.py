"""Databases as the config of a block names them: a file of SQLite, or a database of a PostgreSQL server.

SQLite is a part of Python. PostgreSQL is spoken with through its own programs, ``psql`` and ``pg_dump``, which get the
password in their environment and never as an argument.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

import ordito_block as block

_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR")
_SETTINGS = {
    "host": "PGHOST",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
    "connect_timeout": "PGCONNECT_TIMEOUT",
    "options": "PGOPTIONS",
}
_CONNECTS_WITHIN = "10"


@dataclass(frozen=True)
class Sqlite:
    """A database that is a file."""

    place: Path
    patience: float

    @property
    def shown(self) -> str:
        return str(self.place)

    @contextmanager
    def open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """The database, with transactions as they are written. Raises ``Failed`` where it cannot be opened."""
        if not create and not self.place.exists():
            raise block.Failed(f"there is no database {self.place}", "see whether the path is right")
        mode = "rwc" if create else "rw"
        try:
            uri = f"{self.place.as_uri()}?mode={mode}"
            with closing(sqlite3.connect(uri, uri=True, timeout=self.patience, isolation_level=None)) as connection:
                yield connection
        except sqlite3.Error as error:
            raise block.Failed(f"{self.place}: {error}", _sqlite_hint(str(error))) from None

    def dump(self, target: Path) -> None:
        """Copy the database, as it is at one moment, while others may use it."""
        with self.open() as connection, closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)

    def load(self, source: Path) -> None:
        """Make the database what it was when it was copied; whoever uses it sees all of that or nothing."""
        with closing(sqlite3.connect(f"{source.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
            _sound(copy, source)
            with self.open(create=True) as connection:
                copy.backup(connection)

    @property
    def exists(self) -> bool:
        """Whether there is anything to copy."""
        return self.place.exists()

    suffix = ".sqlite3"


def _sound(copy: sqlite3.Connection, source: Path) -> None:
    try:
        found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise block.Failed(f"{source} is no sound database of SQLite: {found}")


def _sqlite_hint(text: str) -> str:
    if "locked" in text:
        return "something else writes to it: try again when that has ended, or wait for it longer by config, patience"
    return ""


@dataclass(frozen=True)
class Postgres:
    """A database of a PostgreSQL server; ``settings`` are variables that its programs read."""

    shown: str
    patience: float
    settings: dict[str, str] = field(repr=False)

    def psql(self, text: str) -> str:
        """Run SQL of ours, or of a file that was looked through, and give what it printed: rows, columns between "|".
        Raises ``SaidNo`` with what the server said."""
        words = ["psql", "-X", "-w", "-q", "-A", "-t", "-F", "|", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        return self.call(words, text)

    def call(self, words: Sequence[str], text: str = "") -> str:
        """Run a program of PostgreSQL. Raises ``SaidNo``."""
        program = shutil.which(words[0])
        if program is None:
            raise block.Failed(
                f"there is no {words[0]}, by which this block speaks with PostgreSQL, where Ordito runs",
                "install the client of PostgreSQL (Debian, Ubuntu: apt install postgresql-client)",
            )
        done = subprocess.run(
            [program, *words[1:]], input=text, env=self._environment(), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SaidNo(done.stderr.strip() or f"{words[0]} ended with status {done.returncode}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        own = {name: os.environ[name] for name in _KEPT if name in os.environ}
        waits = f"-c lock_timeout={int(self.patience * 1000)}"
        options = f"{self.settings.get('PGOPTIONS', '')} {waits}".strip()
        standard = {"PGCONNECT_TIMEOUT": _CONNECTS_WITHIN, "PGAPPNAME": "ordito"}
        return {**own, **standard, **self.settings, "PGOPTIONS": options}

    def dump(self, target: Path) -> None:
        """Write the database, as it is at one moment, as SQL."""
        try:
            self.call(["pg_dump", "--no-password", "--format=plain", f"--file={target}"])
        except SaidNo as error:
            raise self.failed(error) from None

    def load(self, source: Path) -> None:
        """Make the database what it was when it was written, in one transaction: what was made since then goes."""
        words = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "--no-password", "--single-transaction"]
        clearing = Path(__file__).with_name("clear_postgres.sql")
        try:
            self.call([*words, "-o", os.devnull, "-f", str(clearing), "-f", str(source)])
        except SaidNo as error:
            raise self.failed(error) from None

    def failed(self, error: SaidNo) -> block.Failed:
        """What the server said, as a failure of the block."""
        hint = ""
        if "password" in error.text:
            hint = "give it by config, password; it is best a secret"
        elif "lock timeout" in error.text:
            hint = "something else holds it: try again when that has ended, or wait for it longer by config, patience"
        return block.Failed(f"{self.shown}: {error.text}", hint)

    @property
    def exists(self) -> bool:
        """Whether there is anything to copy: of a server this is found out by asking."""
        return True

    suffix = ".sql"


class SaidNo(Exception):
    """What a program of PostgreSQL said when it failed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


if TYPE_CHECKING:
    # Older interpreters do not know how to join classes, and nothing but checkers reads it.
    Database = Sqlite | Postgres


def database() -> Database:
    """The database that the config names. Raises ``Failed``."""
    written = block.text("database")
    patience = block.seconds("patience", 30)
    if written.startswith(("/", "sqlite:")):
        path = written.removeprefix("sqlite://")
        if not path.startswith("/"):
            raise block.misconfigured("database", f"{written} names no absolute path", "write it as sqlite:///var/x.db")
        return Sqlite(Path(os.path.normpath(path.replace("//", "/"))), patience)
    return postgres("database", written, block.text("password", ""), patience)


def postgres(key: str, written: str, password: str, patience: float) -> Postgres:
    """The database that an address names, which stands in the config below a key. Raises ``Failed``."""
    try:
        parts = urlsplit(written)
        port = parts.port
    except ValueError:
        raise block.misconfigured(key, "this is no address") from None
    if parts.scheme not in ("postgresql", "postgres"):
        raise block.misconfigured(
            key,
            "it is neither the path of a file of SQLite nor an address of PostgreSQL",
            "write it as sqlite:///var/lib/shop.db or postgresql://user@host:5432/name",
        )
    settings: dict[str, str] = {}
    for name, value in parse_qsl(parts.query):
        if name not in _SETTINGS:
            raise block.misconfigured(key, f"the setting {name} is not known", f"known: {', '.join(_SETTINGS)}")
        settings[_SETTINGS[name]] = value
    found = {
        "PGHOST": unquote(parts.hostname or ""),
        "PGPORT": str(port or ""),
        "PGUSER": unquote(parts.username or ""),
        "PGDATABASE": unquote(parts.path.lstrip("/")),
        "PGPASSWORD": password or unquote(parts.password or ""),
    }
    settings.update((key, value) for key, value in found.items() if value)
    host = parts.netloc.rpartition("@")[2] or settings.get("PGHOST", "")
    shown = f"database {settings.get('PGDATABASE', '')} of PostgreSQL{f' at {host}' if host else ''}"
    return Postgres(shown, patience, settings)
