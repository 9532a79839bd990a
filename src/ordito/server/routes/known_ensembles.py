"""Routes about the ensembles that the server knows: the list, one of them, its labels."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, select, update

from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK, PENDING, UNKNOWN
from ordito.server.call import TEXT, ApiCall, cursor_of, key_in
from ordito.server.database.tables import ENSEMBLES
from ordito.server.live.ensemble import present_place
from ordito.server.live.topics import cursor_text, overall_cursor
from ordito.server.names import check_value
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, ENSEMBLE, PROJECT, Fields, ListPart, Reply, Wanted, route
from ordito.server.routes.seen_ensembles import (
    MOST_LABELS,
    EnsembleData,
    LabelName,
    LabelValue,
    SeenEnsemble,
    ensemble_data,
    ensemble_row,
    labels_of,
    on_disk,
    package_labels,
    seen_ensembles,
)

PATIENCE = 2.0
"""Seconds that a list waits for summaries that are not known yet."""


class EnsembleChange(Fields, frozen=True):
    """What is to be different."""

    labels: Annotated[dict[LabelName, LabelValue | None], msgspec.Meta(max_length=MOST_LABELS)]
    """The labels to set; null removes one. Others stay as they are."""


class EnsemblesQuery(Fields, frozen=True):
    """Which ensembles are wanted."""

    label: tuple[Annotated[str, msgspec.Meta(max_length=300)], ...] = ()
    """Labels that it has: ``NAME`` or ``NAME=VALUE``; may be repeated."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in its name, its service or its labels."""

    status: str = ""
    """The status of its service."""

    attention: bool = False
    """Only those at which somebody should look."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 500
    after: str = ""
    """The cursor with which the part before it ended, "" for the first part."""

    sort: Literal["name", "attention", "status"] = "name"
    """In which order: those at which somebody should look come first, or the worst status does. But for ``name``, all
    of them are looked at first."""

    fields: Wanted = ""
    """The fields of each item that are wanted, with commas between their names; "" for all."""


async def _list(call: ApiCall) -> Reply:
    fields: EnsemblesQuery = call.query
    check_value("status", fields.status, WORST)
    # Before anything is read: who follows from here on may be told a thing twice, and misses nothing.
    cursor = overall_cursor(call.services.outbox.newest)
    asked = select(ENSEMBLES).order_by(ENSEMBLES.c.project, ENSEMBLES.c.name)
    if call.project:
        asked = asked.where(ENSEMBLES.c.project == call.project)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    after = key_in(fields.after, TEXT)
    mine = [
        row
        for row in rows
        if call.may(Permission.READ, row.project, row.name)
        and (after is None or fields.sort != "name" or _key(row) > after)
        and all(_has_label(labels_of(row), wanted) for wanted in fields.label)
    ]
    needs_look = bool(fields.q or fields.status or fields.attention or fields.sort != "name")
    seen = await seen_ensembles(call, mine if needs_look else mine[: fields.limit], PATIENCE)
    if needs_look:
        seen = [one for one in seen if _fits(one, fields)]
    if fields.sort != "name":
        seen.sort(key=lambda one: _place(one, fields.sort))
        seen = [one for one in seen if after is None or _place(one, fields.sort) > after]
    more = len(seen) > fields.limit or (not needs_look and len(mine) > fields.limit)
    part = seen[: fields.limit]
    following = cursor_of(_place(part[-1], fields.sort)) if more else None
    found = ListPart(tuple(ensemble_data(call, one) for one in part), following)
    return Reply(found, headers={"Ordito-Cursor": cursor})


def _key(row: Row[Any]) -> str:
    # As the database sorts: a slash would sort behind a hyphen.
    return f"{row.project}\0{row.name}"


def _place(seen: SeenEnsemble, sort: str) -> str:
    """What an ensemble sorts by."""
    if sort == "attention":
        return f"{int(not _needs_attention(seen))}{_key(seen.row)}"
    if sort == "status":
        status = seen.summary.status if seen.summary is not None else ""
        return f"{WORST.index(status) if status in WORST else len(WORST)}{_key(seen.row)}"
    return _key(seen.row)


WORST = (ERROR, DEGRADED, UNKNOWN, PENDING, OK, ABSENT)
"""The statuses, as they are sorted."""


def _needs_attention(seen: SeenEnsemble) -> bool:
    return bool(seen.problem or not seen.exists or (seen.summary is not None and seen.summary.attention))


def _has_label(labels: Mapping[str, str], wanted: str) -> bool:
    name, equals, value = wanted.partition("=")
    return name in labels and (not equals or labels[name] == value)


def _fits(seen: SeenEnsemble, fields: EnsemblesQuery) -> bool:
    summary, row = seen.summary, seen.row
    texts = [f"{row.project}/{row.name}", *seen.package_labels, *labels_of(row), *labels_of(row).values()]
    texts += [summary.service] if summary is not None else []
    if not any(fields.q.lower() in text.lower() for text in texts):
        return False
    if fields.status and (summary is None or summary.status != fields.status):
        return False
    return not fields.attention or _needs_attention(seen)


async def _show(call: ApiCall) -> Reply:
    row = await call.services.database.read(lambda connection: ensemble_row(connection, call.project, call.ensemble))
    place = await asyncio.to_thread(present_place, row.directory, call.services.outbox.newest)
    [seen] = await seen_ensembles(call, [row], PATIENCE * 5)
    cursor = cursor_text({f"ensemble:{call.project}/{call.ensemble}": place.text})
    return Reply(ensemble_data(call, seen), headers={"Ordito-Cursor": cursor})


async def _label(call: ApiCall) -> Reply:
    wanted: EnsembleChange = call.body

    def change(connection: Connection) -> Reply:
        row = ensemble_row(connection, call.project, call.ensemble)
        merged = {**labels_of(row), **wanted.labels}
        labels = {name: value for name, value in sorted(merged.items()) if value is not None}
        if len(labels) > MOST_LABELS:
            raise ApiProblem("too-large", f"an ensemble has at most {MOST_LABELS} labels", "remove some of them")
        mine = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == call.ensemble)
        connection.execute(update(ENSEMBLES).where(mine).values(labels=msgspec.json.encode(labels).decode()))
        changed = ensemble_row(connection, call.project, call.ensemble)
        return Reply(ensemble_data(call, on_disk(changed, package_labels(connection))))

    return await call.change("ensemble.label", change, about=call.ensemble, detail=", ".join(sorted(wanted.labels)))


_READ, _CONFIGURE = Permission.READ, Permission.CONFIGURE

TABLE = (
    route("GET", BASE + "/ensembles", _READ, "The ensembles that I see, each with a summary.", _list,
          query=EnsemblesQuery, answers=(ListPart[EnsembleData],), problems=("bad-cursor",)),
    route("GET", PROJECT + "/ensembles", _READ, "The ensembles of a project that I may see.", _list,
          query=EnsemblesQuery, answers=(ListPart[EnsembleData],), of_part=True,
          problems=("bad-cursor",)),
    route("GET", ENSEMBLE, _READ, "An ensemble, with a summary.", _show, answers=(EnsembleData,)),
    route("PATCH", ENSEMBLE, _CONFIGURE, "Set and remove labels.", _label, body=EnsembleChange,
          answers=(EnsembleData,)),
)  # fmt: skip
