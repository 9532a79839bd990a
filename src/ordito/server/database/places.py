"""Where ensembles are."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ordito.server.database.tables import ENSEMBLES
from ordito.server.problems import ApiProblem


def directory_of(connection: Connection, project: str, ensemble: str) -> str:
    """The directory of an ensemble. Raises ``ApiProblem``."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == ensemble)
    found = connection.execute(select(ENSEMBLES.c.directory).where(mine)).scalar()
    if found is None:
        raise ApiProblem("unknown-ensemble", f'there is no ensemble "{project}/{ensemble}", or you may not see it')
    return str(found)


def all_ensembles(connection: Connection) -> list[tuple[str, str, str]]:
    """Project, name and directory of all ensembles."""
    rows = connection.execute(select(ENSEMBLES.c.project, ENSEMBLES.c.name, ENSEMBLES.c.directory)).all()
    return [(row.project, row.name, row.directory) for row in rows]
