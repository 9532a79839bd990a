"""Everything in the code that writes into rows of an ensemble, found in the code: each refuses an older epoch, or is
known to need none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.types.numeric import Int8

import ordito.cluster
from ordito.cluster import errands, items, leases, statements
from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, take
from ordito.cluster.store import Store
from tests.support.real.stores import worker

ROOT = Path(ordito.cluster.__file__).parent

WRITES = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM|TRUNCATE|COPY) ordito\.(\w+)")

SHARED = frozenset({"worker", "pool", "turn", "project", "setting", "blob", "tree", "item"})
"""Tables that belong to no ensemble. Blobs and trees are only ever added, under the digest of what they hold; how an
item is done is the row's own business, except for what changes the ensemble with it."""

WITH_EPOCH = {
    ("statements.py", "made"): "all of them are tried with an older epoch, see test_leases.py",
    ("leases.py", "ensemble"): "TAKE, which makes the epoch, and RELEASE",
    ("leases.py", "tenure"): "with them",
    ("items.py", "ensemble"): "FINISH",
    ("items.py", "tenure"): "FINISH",
    ("errands.py", "errand"): "ASK; an ANSWER goes to the epoch that has asked",
}

WITHOUT_EPOCH = {
    ("store.py", "ensemble"): "a new ensemble, which nobody holds",
    ("moving.py", "ensemble"): "a new ensemble, before its transaction ends",
    ("moving.py", "job"): "of a new ensemble",
}


def strings(path: Path) -> Iterator[str]:
    """All texts in a file, those of the parts of an f-string joined."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace")


def written() -> set[tuple[str, str]]:
    """The file and the table of each statement that writes."""
    found: set[tuple[str, str]] = set()
    for path in ROOT.glob("*.py"):
        for text in strings(path):
            found |= {(path.name, table) for _, table in WRITES.findall(text)}
    return {(name, "made" if name == "statements.py" else table) for name, table in found if table not in SHARED}


def test_whoever_writes_into_an_ensemble_is_known() -> None:
    assert written() == {*WITH_EPOCH, *WITHOUT_EPOCH}


STATEMENTS = {
    "release": leases.RELEASE,
    "finish": items.FINISH,
    "ask": errands.ASK,
    "append": statements.APPEND,
    "append told": statements.APPEND_TOLD,
}


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_an_older_epoch_changes_nothing(store: Store, name: str) -> None:
    """The same statement with the present one does."""
    store.add_ensemble("e1", "shops", "shop")
    lease = WorkerLease(store.address, worker("one"), lease=600.0)
    with closing(lease), closing(StoreConnection(store.address)) as link, store.connection() as db:
        me = lease.worker.id
        former = take(link, "e1", me, "i1")
        epoch = take(link, "e1", me, "i1", ended=former)
        db.execute("UPDATE ordito.ensemble SET job = 'A'")
        db.execute("INSERT INTO ordito.job (ensemble, id, header, plan) VALUES ('e1', 'A', '', '')")
        db.execute(
            "INSERT INTO ordito.item (id, project, ensemble, kind, request, state)"
            " VALUES ('i1', 'shops', 'e1', 'plan', '', 'queued')"
        )

        def changed(number: int) -> int:
            given = {
                "ensemble": "e1",
                "me": me,
                "worker": me,
                "item": "i1",
                "job": "A",
                "why": "ended",
                "epoch": Int8(number),
                "outcome": None,
                "step": "s",
                "attempt": 1,
                "place": "p",
                "of_epoch": Int8(former),
                "request": b"r",
                "first": Int8(0),
                "last": Int8(1),
                "bodies": [b"b"],
                "lines": b"l",
                "log": b"l",
            }
            statement = STATEMENTS[name]
            query = statement if isinstance(statement, bytes) else str(statement).encode()
            return db.cursor(binary=True).execute(query, given).rowcount

        before = everything(db)
        assert changed(former) == 0
        assert everything(db) == before
        assert changed(epoch) == 1
        assert everything(db) != before


def everything(db: object) -> list[object]:
    """All rows that belong to ensembles, and the items."""
    tables = (*statements.COLUMNS, "ensemble", "tenure", "item", "errand")
    return [db.execute(f"SELECT * FROM ordito.{table}").fetchall() for table in tables]  # type: ignore[attr-defined]
