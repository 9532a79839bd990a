"""Routes about removing an ensemble: what goes with it, which is looked at first, and the removal."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection, Table, delete, select

from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.results.ensembles import SUMMARY, EnsembleSummary
from ordito.results.served import RemovalData
from ordito.server.call import ApiCall
from ordito.server.database.tables import (
    APPROVALS,
    BINDINGS,
    DRIFTS,
    ENSEMBLES,
    FREEZES,
    PLANS,
    RULES,
    SCHEDULES,
    SOURCES,
)
from ordito.server.permissions import Permission
from ordito.server.places import reads_of
from ordito.server.plans.states import OPEN
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, NOT_IN_STORE, Fields, Reply, Route
from ordito.server.routes.new_ensembles import PROJECTS_FOLDER, put_aside

ROWS_FILE = "of-the-server.json"
"""What the server knew of a removed ensemble, in the folder that was put aside."""

OF_ENSEMBLE = (PLANS, SCHEDULES, SOURCES, DRIFTS, RULES, FREEZES, BINDINGS)
"""The tables whose rows go with an ensemble, besides approvals of its plans."""

NAMED = 3
"""How many open plans a message names."""


class RemoveQuery(Fields, frozen=True):
    """What may be lost."""

    forget: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    """How many instances exist that the server is to know no more: their exact number. None of them is undeployed."""

    digest: Annotated[str, msgspec.Meta(max_length=100)] = ""
    """That of what goes with it, as it was looked at; needed where anything does."""


Rows = Mapping[str, list[dict[str, Any]]]
"""Rows of tables by the names of these."""


def _rows(connection: Connection, call: ApiCall) -> Rows:
    """All that the server knows of an ensemble. What is sealed stays so."""

    def of(table: Table) -> list[dict[str, Any]]:
        mine = (table.c.project == call.project) & (table.c.ensemble == call.ensemble)
        return [dict(row) for row in connection.execute(select(table).where(mine)).mappings()]

    found = {table.name: of(table) for table in OF_ENSEMBLE}
    mine = (PLANS.c.project == call.project) & (PLANS.c.ensemble == call.ensemble)
    given = select(APPROVALS).where(APPROVALS.c.plan.in_(select(PLANS.c.id).where(mine)))
    own = select(ENSEMBLES).where(ENSEMBLES.c.project == call.project, ENSEMBLES.c.name == call.ensemble)
    found[APPROVALS.name] = [dict(row) for row in connection.execute(given).mappings()]
    found[ENSEMBLES.name] = [dict(row) for row in connection.execute(own).mappings()]
    return found


def _removal(rows: Rows, instances: int) -> RemovalData:
    open_plans = tuple(sorted(row["id"] for row in rows[PLANS.name] if row["state"] in OPEN))
    plans = len(rows[PLANS.name])
    rules = sum(len(msgspec.json.decode(row["body"])["rules"]) for row in rows[RULES.name])
    counts = {
        "plans": plans,
        "approvals": len(rows[APPROVALS.name]),
        "schedules": len(rows[SCHEDULES.name]),
        "sources": len(rows[SOURCES.name]),
        "rules": rules,
        "freezes": len(rows[FREEZES.name]),
        "roles": len(rows[BINDINGS.name]),
    }
    keys = (
        [row["id"] for table in (PLANS, SCHEDULES, SOURCES) for row in rows[table.name]],
        [(row["plan"], row["who"], row["decision"]) for row in rows[APPROVALS.name]],
        [row["body"] for row in rows[RULES.name]],
        [row["reason"] for row in rows[FREEZES.name]],
        [(row["kind"], row["who"], row["role"]) for row in rows[BINDINGS.name]],
    )
    digest = hashlib.sha256(msgspec.json.encode([sorted(one) for one in keys])).hexdigest()[:32]
    return RemovalData(instances=instances, **counts, open_plans=open_plans, digest=digest)


async def _look(call: ApiCall) -> Reply:
    count = await _count(call)
    rows = await call.services.database.read(lambda connection: _rows(connection, call))
    return Reply(_removal(rows, count))


async def _remove(call: ApiCall) -> Reply:
    fields: RemoveQuery = call.query
    services = call.services
    count = await _count(call)
    if count != fields.forget:
        hint = f"undeploy it first; or say forget={count}, and the server knows them no more and leaves them running"
        raise ApiProblem("instances-exist", f"{count} instances of it exist", hint)
    seen = _removal(await services.database.read(lambda connection: _rows(connection, call)), count)
    gone: list[str] = []

    def remove(connection: Connection) -> Reply:
        rows = _rows(connection, call)
        if not rows[ENSEMBLES.name]:
            named = f"{call.project}/{call.ensemble}"
            raise ApiProblem("unknown-ensemble", f'there is no ensemble "{named}" any more', "list the ensembles again")
        _check(_removal(rows, count), fields)
        directory = Path(rows[ENSEMBLES.name][0]["directory"])
        layout = Layout(directory)
        owner = holder(layout) if layout.exists else None
        if owner is not None:
            raise ApiProblem("locked", f"the ensemble is locked by {owner}", "wait until that command has ended")
        here = (ENSEMBLES.c.project == call.project) & (ENSEMBLES.c.name == call.ensemble)
        connection.execute(delete(ENSEMBLES).where(here))
        for table in (BINDINGS, RULES, FREEZES):
            mine = (table.c.project == call.project) & (table.c.ensemble == call.ensemble)
            connection.execute(delete(table).where(mine))
        is_own = directory.is_relative_to(services.home / PROJECTS_FOLDER) and directory.exists()
        aside = put_aside(services.home, call.project, call.ensemble, directory if is_own else None)
        _write(aside / ROWS_FILE, msgspec.json.format(msgspec.json.encode(rows)))
        gone.extend(row["id"] for row in rows[PLANS.name])
        return Reply()

    detail = ", ".join([*([f"{count} instances are forgotten"] if count else []), *seen.goes])
    reply = await call.change("ensemble.remove", remove, about=call.ensemble, detail=detail)
    # What a server that is killed just here leaves, the next start removes.
    for plan in gone:
        await asyncio.to_thread(services.plan_files.forget, plan)
        await asyncio.to_thread(services.runners.forget, plan)
    return reply


def _check(found: RemovalData, fields: RemoveQuery) -> None:
    """Refuse to remove what is in use, or what was not looked at. Raises ``ApiProblem``."""
    if found.open_plans:
        more = len(found.open_plans) - NAMED
        named = ", ".join(found.open_plans[:NAMED]) + (f" and {more} more" if more > 0 else "")
        hint = "discard them, or wait until their jobs have ended: `ordito plans list` shows them"
        raise ApiProblem("in-use", f"plans of it are open: {named}", hint)
    if fields.digest and fields.digest != found.digest:
        raise ApiProblem("changed", "what goes with it has changed since it was looked at", "look at it again")
    if found.goes and not fields.digest:
        hint = "look at it with GET …/removal, and send the digest of that answer as ?digest="
        raise ApiProblem("match-required", f"{', '.join(found.goes)} go with it", hint)


def _write(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


async def _count(call: ApiCall) -> int:
    """How many instances exist. Raises ``ApiProblem`` if that cannot be found out."""
    services = call.services
    reads = await services.database.read(lambda c: reads_of(c, services.home, call.project, call.ensemble))
    if not await asyncio.to_thread(lambda: Layout(Path(reads[0])).exists):
        return 0
    found = await services.answers.ask(SUMMARY.name, reads[0], SUMMARY.asked(), reads=reads)
    return sum(msgspec.json.decode(found.body, type=EnsembleSummary).instances.values())


_PROBLEMS = ("unknown-project", "unknown-ensemble", "ensemble", "too-costly")

TABLE = (
    Route(method="GET", path=ENSEMBLE + "/removal", access=Permission.CONFIGURE, handler=_look,
          summary="What goes with an ensemble that is removed, in numbers, and what is in the way of that.",
          answers=(RemovalData,), problems=_PROBLEMS),
    Route(method="DELETE", path=ENSEMBLE, access=Permission.CONFIGURE, handler=_remove, query=RemoveQuery, status=204,
          summary="Remove an ensemble of which nothing exists; its files, and what the server knew, are put aside.",
          problems=(*_PROBLEMS, NOT_IN_STORE, "instances-exist", "in-use", "locked", "changed", "match-required")),
)  # fmt: skip
