"""The audit log: what was done, by whom, with what end. Each row is chained to the one before it by a hash."""

from __future__ import annotations

import hashlib

import msgspec
from sqlalchemy import Connection, RowMapping, desc, insert, select

from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.database.tables import AUDIT

AUDIT_TOPIC = "audit"
DONE, DENIED, FAILED = "done", "denied", "failed"
FIRST = bytes(32)
AT_ONCE = 10_000


class Deed(msgspec.Struct, frozen=True):
    """Something that was done or tried. No value of a secret or of an input is in it."""

    principal: str
    by: str
    """The session or the token."""

    address: str
    request: str
    """The id of the request."""

    action: str
    """What was done, as in ``user.make``."""

    project: str = ""
    ensemble: str = ""
    object: str = ""
    """What it was done to."""

    outcome: str = DONE
    detail: str = ""


def write_down(connection: Connection, deed: Deed, now: float) -> None:
    """Append a deed, in the transaction of what was done."""
    last = connection.execute(select(AUDIT.c.number, AUDIT.c.hash).order_by(desc(AUDIT.c.number)).limit(1)).first()
    number, before = (last.number + 1, last.hash) if last is not None else (1, FIRST)
    fields = msgspec.structs.asdict(deed)
    chained = _hash(before, number, now, fields)
    connection.execute(insert(AUDIT).values(number=number, time=now, **fields, hash=chained))
    # Told to nobody but those who may read the log: the event has no project by which others would see it.
    said = {name: fields[name] for name in ("principal", "action", "project", "ensemble", "object", "outcome")}
    tell(connection, ServerEvent(AUDIT_TOPIC, "audit.written", fields={"number": number, **said}), now)


class AuditChain(msgspec.Struct, frozen=True):
    """How far the audit log is whole."""

    rows: int
    """How many rows there are."""

    broken: int
    """The number of the first row that was changed, or before which one is missing; 0 for none."""

    head: str
    """The hash of the last row, in hex, "" where there is none."""


class AuditHead(msgspec.Struct, frozen=True):
    """The end of the audit log: who keeps it elsewhere can see later whether the log still holds it."""

    rows: int
    """How many rows there are: the number of the last one."""

    head: str
    """The hash of the last row, in hex, "" where there is none."""


def head(connection: Connection) -> AuditHead:
    """The last row. Whether those before it are whole is found out by ``verified``, which reads them all."""
    last = connection.execute(select(AUDIT.c.number, AUDIT.c.hash).order_by(desc(AUDIT.c.number)).limit(1)).first()
    return AuditHead(last.number, last.hash.hex()) if last is not None else AuditHead(0, "")


def verified(connection: Connection) -> AuditChain:
    """Walk the chain from its beginning."""
    before, expected = FIRST, 1
    while True:
        found = connection.execute(
            select(AUDIT).where(AUDIT.c.number >= expected).order_by(AUDIT.c.number).limit(AT_ONCE)
        ).mappings()
        rows = found.all()
        if not rows:
            return AuditChain(expected - 1, 0, before.hex() if expected > 1 else "")
        for row in rows:
            if row["number"] != expected or row["hash"] != _hash(before, expected, row["time"], _fields(row)):
                return AuditChain(expected - 1, expected, before.hex())
            before, expected = row["hash"], expected + 1


def _fields(row: RowMapping) -> dict[str, str]:
    return {name: row[name] for name in Deed.__struct_fields__}


def _hash(before: bytes, number: int, time: float, fields: dict[str, str]) -> bytes:
    text = msgspec.json.encode([number, time, fields], order="deterministic")
    return hashlib.sha256(before + text).digest()
