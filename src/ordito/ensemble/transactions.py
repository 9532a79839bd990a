"""Transactions of the databases of an ensemble, the journal and the inbox: what SQLite says is explained."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ordito.ensemble.journal_errors import journal_explained


@contextmanager
def writing(db: sqlite3.Connection, path: Path, doing: str) -> Iterator[sqlite3.Connection]:
    """All changes or none; ``doing`` is as in "cannot <doing> <path>". Raises ``EnsembleError``."""
    with journal_explained(doing, path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def reading(db: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """One consistent view, though another process may write. Raises ``EnsembleError``, for damaged rows too."""
    with journal_explained("read", path):
        nested = db.in_transaction
        if not nested:
            db.execute("BEGIN")
        try:
            yield db
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error
        finally:
            if not nested and db.in_transaction:
                db.execute("ROLLBACK")
