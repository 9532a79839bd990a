"""Looking at a server beside it: whether its audit log is whole, and how its home is."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Table, func, select

from ordito.ensemble.layout import Layout
from ordito.results.server import AuditVerifiedData, ServerStatusData
from ordito.server.database.audit import verified
from ordito.server.database.database import NEWEST
from ordito.server.database.tables import AUDIT, ENSEMBLES, PROJECTS, USERS
from ordito.server.deployers import warning
from ordito.server.operating.home import (
    DATABASE,
    KEY,
    SETTINGS,
    Anything,
    ensembles_of,
    looking_at,
    refuse_other,
    serving,
    version_of,
)
from ordito.server.refused import ServerRefused
from ordito.server.restored import may_resume, refuse_unusable
from ordito.server.settings import read_settings

LITTLE = 256 << 20
"""Bytes of free room below which a server soon cannot go on."""

MOST_NAMED = 5


def verify(home: Path, head: str) -> AuditVerifiedData:
    """Walk the audit log of a server. ``head`` is the hash of a row that somebody has witnessed, "" for none. Raises
    ``ServerRefused``."""
    refuse_other(home)
    head = head.strip().lower()
    if head and (len(head) != 64 or set(head) - set("0123456789abcdef")):
        hint = "it has 64 hexadecimal digits, as GET /api/v1/audit/head gives it"
        raise ServerRefused(f"--head {head[:80]} is no hash of a row", hint)
    with looking_at(home) as connection:
        chain = verified(connection)
        found: int | msgspec.UnsetType = msgspec.UNSET
        if head:
            row = select(AUDIT.c.number).where(AUDIT.c.hash == bytes.fromhex(head))
            found = int(connection.execute(row.order_by(AUDIT.c.number).limit(1)).scalar() or 0)
    return AuditVerifiedData(str(home), chain.rows, chain.broken, chain.head, found)


def look(home: Path) -> ServerStatusData:
    """How a server is. Raises ``ServerRefused`` for a directory that is not its home."""
    refuse_other(home)
    running = serving(home)
    problems, isolation = _home_problems(home)
    counts, tables = dict.fromkeys((PROJECTS, ENSEMBLES, USERS, AUDIT), 0), ""
    try:
        with looking_at(home) as connection:
            tables = version_of(connection)
            counts = {table: _count(connection, table) for table in counts}
            problems.extend(_database_problems(connection, tables))
            problems.extend(filter(None, [warning(connection, isolation)]))
    except ServerRefused as refusal:
        problems.append(_said(refusal))
    return ServerStatusData(
        str(home),
        running.process if running is not None else 0,
        running.since if running is not None else 0.0,
        tables,
        counts[PROJECTS],
        counts[ENSEMBLES],
        counts[USERS],
        counts[AUDIT],
        isolation=isolation,
        waits=not may_resume(home),
        problems=tuple(problems),
    )


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar() or 0)


def _said(refusal: ServerRefused) -> str:
    return f"{refusal.message}: {refusal.hint}" if refusal.hint else refusal.message


def _home_problems(home: Path) -> tuple[list[str], str]:
    """What is not well with the files of a home, and how its projects are isolated."""
    found, isolation = [], "none"
    try:
        isolation = read_settings(home / SETTINGS, Anything()).isolation
        refuse_unusable(home)
    except ServerRefused as refusal:
        found.append(_said(refusal))
    private = [path for path in (home / KEY, home / DATABASE) if path.exists()]
    open_ones = [path for path in private if stat.S_IMODE(path.stat().st_mode) & 0o077]
    found.extend(f"others may read {path}: chmod 600 {path}" for path in open_ones)
    free = shutil.disk_usage(home).free
    if free < LITTLE:
        found.append(f"there is little room left for {home}: {free >> 20} MiB; without room nothing is accepted")
    return found, isolation


def _database_problems(connection: Connection, tables: str) -> Iterator[str]:
    if tables > NEWEST:
        yield "its tables are those of a newer version of ordito: use that version"
    is_file = connection.dialect.name == "sqlite"
    for (text,) in connection.exec_driver_sql("PRAGMA quick_check(1)") if is_file else ():
        if text != "ok":
            yield f"the database is damaged ({text}): restore it from a backup with `ordito server restore`"
    chain = verified(connection)
    if chain.broken:
        yield f"the audit log is broken at row {chain.broken}: find out who has changed the database, and when"
    known = ensembles_of(connection)
    gone = [f"{one.project}/{one.name} ({one.directory})" for one in known if not Layout(one.directory).exists]
    for name in gone[:MOST_NAMED]:
        yield f"the ensemble {name} is not there: put it back, or remove it from the server"
    if len(gone) > MOST_NAMED:
        yield f"{len(gone) - MOST_NAMED} more ensembles are not there"
