"""Makes of the statements of a journal, which know of one ensemble and one job, those for tables that hold all of them.

All that is ever written into an ensemble's rows is made here, and all of it reads ``held``: the row of the ensemble as
long as its epoch is the writer's, locked until the transaction ends. Where another process has taken the ensemble, that
is no row, so nothing is inserted, changed or removed.
"""

from __future__ import annotations

import re
from functools import cache

from ordito.ensemble.journal_database import BEGIN_JOB, EMPTY, WRITING

HELD = (
    "held AS (SELECT id AS held_ensemble, epoch AS held_epoch, job AS held_job FROM ordito.ensemble"
    " WHERE id = %(ensemble)b AND epoch = %(epoch)b FOR SHARE)"
)

OF_JOB = frozenset({"steps", "edges", "record", "previous", "event", "log_chunk"})
"""The tables whose rows belong to a job of the ensemble."""

COLUMNS = {
    "meta": "key, value",
    "job": "id, header, plan",
    "steps": "chunk, body",
    "edges": "chunk, body",
    "record": "number, body",
    "event": "number, lines",
    "log_chunk": "number, body",
    "previous": "id, kind, body",
    "instance": "number, id, body",
    "link": "number, id, body",
    "attribute": "entity, name, value",
    "output": "entity, operation, body",
}
"""What a journal knows of each table."""

TYPES: dict[type, str] = {str: "text", bytes: "bytea", int: "bigint"}

APPEND = (
    f"WITH {HELD} INSERT INTO ordito.record (ensemble, job, number, epoch, body)"
    " SELECT held_ensemble, held_job, %(first)b + u.at - 1, held_epoch, u.body"
    " FROM held, unnest(%(bodies)b::bytea[]) WITH ORDINALITY AS u(body, at) WHERE held_job = %(job)b"
).encode()
"""A turn in one statement: as many rows as there are bodies, or none."""

APPEND_TOLD = (
    f"WITH {HELD}, told AS (INSERT INTO ordito.event (ensemble, job, number, lines)"
    " SELECT held_ensemble, held_job, %(last)b, %(lines)b::bytea FROM held"
    " WHERE held_job = %(job)b AND %(lines)b::bytea IS NOT NULL),"
    " printed AS (INSERT INTO ordito.log_chunk (day, ensemble, job, number, body)"
    " SELECT (j.began AT TIME ZONE 'UTC')::date, held_ensemble, held_job, %(last)b, %(log)b::bytea"
    " FROM held JOIN ordito.job j ON j.ensemble = held_ensemble AND j.id = held_job"
    " WHERE held_job = %(job)b AND %(log)b::bytea IS NOT NULL)"
    " INSERT INTO ordito.record (ensemble, job, number, epoch, body)"
    " SELECT held_ensemble, held_job, %(first)b + u.at - 1, held_epoch, u.body"
    " FROM held, unnest(%(bodies)b::bytea[]) WITH ORDINALITY AS u(body, at) WHERE held_job = %(job)b"
).encode()
"""The same with the events of the turn, and with what was printed up to it, each of which may be NULL."""

NAME_JOB = (
    f"WITH {HELD} UPDATE ordito.ensemble SET job = u.p0 FROM held, unnest(%(p0)b::text[]) AS u(p0)"
    " WHERE id = held_ensemble AND epoch = held_epoch"
)
CLOSE_JOB = (
    f"WITH {HELD} UPDATE ordito.job SET state = 'closed', plan = '', ended = clock_timestamp() FROM held"
    " WHERE ensemble = held_ensemble AND id = held_job"
)
FREE = f"WITH {HELD} UPDATE ordito.ensemble SET job = '' FROM held WHERE id = held_ensemble AND epoch = held_epoch"

_INSERT = re.compile(r"INSERT INTO (\w+) \(([^)]*)\) VALUES \((.*?)\)(?: ON CONFLICT \(([^)]*)\) (DO .*))?")
_UPDATE = re.compile(r"UPDATE (\w+) SET (.*)")
_DELETE = re.compile(r"DELETE FROM (\w+)(?: WHERE (.*))?")
_FROM = re.compile(r"\bFROM (\w+)")


@cache
def reading(query: str) -> bytes:
    """A query of a journal for the tables of all ensembles; its parameters are ``ensemble``, ``p0``, ``p1`` and so
    on."""
    return f"WITH {_views(query)} {_numbered(query, '%(p{})b')}".encode()


@cache
def writing(statement: str, kinds: tuple[type, ...]) -> tuple[bytes, ...]:
    """A statement of a journal, guarded, to be executed once with arrays of parameters, whose elements are of these
    kinds: ``ensemble``, ``epoch``, ``p0``, ``p1`` and so on. Some are several statements."""
    if statement not in WRITING:
        raise ValueError(f"{statement!r} is not in WRITING")
    if statement == EMPTY["job"]:
        return CLOSE_JOB.encode(), FREE.encode()
    names = [f"p{n}" for n in range(len(kinds))]
    arrays = ", ".join(f"%({name})b::{TYPES[kind]}[]" for name, kind in zip(names, kinds, strict=True))
    source = f"held, unnest({arrays}) AS u({', '.join(names)})" if names else "held"
    made = _made(_numbered(statement, "u.p{}"), source).encode()
    return (made, *((NAME_JOB.encode(),) if statement == BEGIN_JOB else ()))


def _made(statement: str, source: str) -> str:
    if found := _INSERT.fullmatch(statement):
        table, columns, values, key, then = found.groups()
        own, held = _place(table)
        views = f", {_views(values)}" if _FROM.search(values) else ""
        conflict = f" ON CONFLICT ({_key(table)}, {key}) {then}" if then else ""
        into = f"INSERT INTO ordito.{table} ({', '.join(own)}, {columns})"
        return f"WITH {HELD}{views} {into} SELECT {', '.join(held)}, {values} FROM {source}{conflict}"
    if found := _UPDATE.fullmatch(statement):
        table, changes = found.groups()
        return f"WITH {HELD} UPDATE ordito.{table} SET {changes} FROM {source} WHERE {_is_held(table)}"
    found = _DELETE.fullmatch(statement)
    assert found is not None, statement
    table, condition = found.groups()
    narrowed = f" AND {condition}" if condition else ""
    return f"WITH {HELD} DELETE FROM ordito.{table} USING {source} WHERE {_is_held(table)}{narrowed}"


def _place(table: str) -> tuple[list[str], list[str]]:
    """The columns that say whose a row is, and where their values come from."""
    own = ["ensemble", *(["job"] if table in OF_JOB else ()), *(["epoch"] if table == "record" else ())]
    return own, [f"held_{name}" for name in own]


def _key(table: str) -> str:
    return "ensemble, job" if table in OF_JOB else "ensemble"


def _is_held(table: str) -> str:
    if table == "ensemble":
        return "id = held_ensemble AND epoch = held_epoch"
    job = "id" if table == "job" else "job" if table in OF_JOB else ""
    return "ensemble = held_ensemble" + (f" AND {job} = held_job" if job else "")


def _views(query: str) -> str:
    """The tables that a query names, as one ensemble and its open job have them."""
    return ", ".join(
        f"{table} AS NOT MATERIALIZED (SELECT {COLUMNS[table]} FROM ordito.{table} WHERE {_is_wanted(table)})"
        for table in dict.fromkeys(_FROM.findall(query))
    )


def _is_wanted(table: str) -> str:
    job = "id" if table == "job" else "job" if table in OF_JOB else ""
    open_job = f" AND {job} = (SELECT job FROM ordito.ensemble WHERE id = %(ensemble)b)" if job else ""
    return f"ensemble = %(ensemble)b{open_job}"


def _numbered(statement: str, form: str) -> str:
    first, *rest = statement.split("?")
    return first + "".join(form.format(n) + part for n, part in enumerate(rest))
