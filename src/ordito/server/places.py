"""Where ensembles are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, select, update

from ordito.base.suggest import nearest
from ordito.results.ensembles import SERVICE_PLACE, ServicePlace
from ordito.results.failure import NextStep
from ordito.server.database.tables import ENSEMBLES
from ordito.server.packages import package_path
from ordito.server.problems import ApiProblem
from ordito.server.processes.queries import Queries
from ordito.server.route import BASE


def directory_of(connection: Connection, project: str, ensemble: str) -> str:
    """The directory of an ensemble. Raises ``ApiProblem``."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    found = connection.execute(select(ENSEMBLES.c.directory).where(mine)).scalar()
    if found is None:
        raise unknown_ensemble(project, ensemble)
    return str(found)


def unknown_ensemble(project: str, ensemble: str, seen: Iterable[str] = ()) -> ApiProblem:
    """The problem that there is no such ensemble; ``seen`` are those of the project that may be seen."""
    way = NextStep("see the ensembles that you may see", ("ensembles", "list"), method="GET", path=f"{BASE}/ensembles")
    detail = f'there is no ensemble "{project}/{ensemble}", or you may not see it'
    return ApiProblem("unknown-ensemble", detail, _meant(ensemble, seen), following=(way,))


def unknown_project(project: str, seen: Iterable[str] = ()) -> ApiProblem:
    """The problem that there is no such project; ``seen`` are those that may be seen."""
    way = NextStep("see the projects that you may see", ("projects", "list"), method="GET", path=f"{BASE}/projects")
    detail = f'there is no project "{project}", or you may not see it'
    return ApiProblem("unknown-project", detail, _meant(project, seen), following=(way,))


def _meant(name: str, seen: Iterable[str]) -> str:
    near = nearest(name, seen)
    return f'did you mean "{near[0]}"?' if near else "the list has those that you may see"


def reads_of(connection: Connection, home: Path, project: str, ensemble: str) -> tuple[str, ...]:
    """What a process may read that answers or works for an ensemble: its directory, which is the first, its package,
    and where its service lay when it was added. Raises ``ApiProblem``."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    row = connection.execute(select(ENSEMBLES).where(mine)).one_or_none()
    if row is None:
        raise unknown_ensemble(project, ensemble)
    return reads_of_row(row, home)


def reads_of_row(row: Row[Any], home: Path) -> tuple[str, ...]:
    """The same, of the row of an ensemble."""
    package = (str(package_path(home, row.package)),) if row.package else ()
    return (row.directory, *package, *((row.reads,) if row.reads else ()))


def keep_reads(connection: Connection, project: str, ensemble: str, place: str) -> None:
    """Keep where the service of an ensemble lies."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    connection.execute(update(ENSEMBLES).where(mine).values(reads=place))


def without_reads(connection: Connection) -> list[tuple[str, str, str]]:
    """Project, name and directory of the ensembles of which that was not found out yet."""
    rows = connection.execute(select(ENSEMBLES).where(ENSEMBLES.c.reads.is_(None) & (ENSEMBLES.c.package == ""))).all()
    return [(row.project, row.name, row.directory) for row in rows]


def all_ensembles(connection: Connection) -> list[tuple[str, str, str]]:
    """Project, name and directory of all ensembles."""
    rows = connection.execute(select(ENSEMBLES.c.project, ENSEMBLES.c.name, ENSEMBLES.c.directory)).all()
    return [(row.project, row.name, row.directory) for row in rows]


async def service_place(queries: Queries, directory: str) -> str:
    """Where the service lies that an ensemble deploys, if not in its own directory, else "". It is what whoever added
    the ensemble has chosen: later changes of the ensemble do not change it. Raises ``ApiProblem``."""
    found = await queries.ask(SERVICE_PLACE.name, directory, b"{}")
    return msgspec.json.decode(found, type=ServicePlace).place
