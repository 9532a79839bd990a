"""The rows of what exists in the journal: instances, links, attributes and what operations gave."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.job_rows import unsettled
from ordito.ensemble.journal_tables import STATE_TABLES, meta, set_meta
from ordito.ensemble.pending_rows import PendingRows
from ordito.instances.records import Data, Delta, Instance, Link, Snapshot, number_of


def read_snapshot(db: sqlite3.Connection) -> Snapshot:
    """What exists: what the rows say, and the records that they do not know yet."""
    snapshot = Snapshot()
    instance, link = Decoder(Instance), Decoder(Link)
    data, outputs = Decoder(object), Decoder(dict[str, Data])
    snapshot.apply(
        Delta(
            instances=tuple(instance(b) for (b,) in db.execute("SELECT body FROM instance ORDER BY number")),
            links=tuple(link(b) for (b,) in db.execute("SELECT body FROM link ORDER BY number")),
        )
    )
    for entity, name, value in db.execute("SELECT entity, name, value FROM attribute"):
        snapshot.attributes.setdefault(entity, {})[name] = data(value)
    for entity, operation, body in db.execute("SELECT entity, operation, body FROM output"):
        snapshot.outputs.setdefault(entity, {})[operation] = outputs(body)
    for _, record in unsettled(db):
        if (delta := getattr(record, "delta", None)) is not None:
            snapshot.apply(delta)
    for node, number in _highest(db).items():
        snapshot.highest[node] = max(number, snapshot.highest.get(node, 0))
    return snapshot


def replace_rows(db: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Have the rows say what a snapshot says, and nothing else."""
    rows = PendingRows()
    rows.add(
        Delta(
            instances=tuple(snapshot.instances.values()),
            links=tuple(snapshot.links.values()),
            attributes=snapshot.attributes,
            outputs=snapshot.outputs,
        )
    )
    for table in STATE_TABLES:
        db.execute(f"DELETE FROM {table}")
    change_rows(db, rows)
    set_meta(db, "highest", encode(snapshot.highest))


def change_rows(db: sqlite3.Connection, rows: PendingRows) -> None:
    """Do to the rows what is pending."""
    for statement, parameters in rows.statements():
        if parameters:
            db.executemany(statement, parameters)


def keep_numbers(db: sqlite3.Connection, forgotten: Sequence[str]) -> None:
    """Remember the numbers of instances whose rows go, so that none of them is used again."""
    highest = _highest(db)
    for name in forgotten:
        row = db.execute("SELECT body FROM instance WHERE id = ?", (name,)).fetchone()
        if row is not None:
            node = Decoder(Instance)(row[0]).node
            highest[node] = max(number_of(name), highest.get(node, 0))
    set_meta(db, "highest", encode(highest))


def _highest(db: sqlite3.Connection) -> dict[str, int]:
    return Decoder(dict[str, int])(meta(db, "highest") or encode({}))
