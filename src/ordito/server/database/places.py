"""Where ensembles are."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, select

from ordito.server.database.tables import ENSEMBLES
from ordito.server.packages import package_path
from ordito.server.problems import ApiProblem


def directory_of(connection: Connection, project: str, ensemble: str) -> str:
    """The directory of an ensemble. Raises ``ApiProblem``."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    found = connection.execute(select(ENSEMBLES.c.directory).where(mine)).scalar()
    if found is None:
        raise ApiProblem("unknown-ensemble", f'there is no ensemble "{project}/{ensemble}", or you may not see it')
    return str(found)


def package_of(connection: Connection, project: str, ensemble: str) -> str:
    """The digest of the package that an ensemble is made of, "" for none."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    return connection.execute(select(ENSEMBLES.c.package).where(mine)).scalar() or ""


def reads_of(connection: Connection, home: Path, project: str, ensemble: str) -> tuple[str, ...]:
    """What a process may read that answers or works for an ensemble: its directory, which is the first, and its
    package. Raises ``ApiProblem``."""
    directory, package = directory_of(connection, project, ensemble), package_of(connection, project, ensemble)
    return (directory, str(package_path(home, package))) if package else (directory,)


def all_ensembles(connection: Connection) -> list[tuple[str, str, str]]:
    """Project, name and directory of all ensembles."""
    rows = connection.execute(select(ENSEMBLES.c.project, ENSEMBLES.c.name, ENSEMBLES.c.directory)).all()
    return [(row.project, row.name, row.directory) for row in rows]
