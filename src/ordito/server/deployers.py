"""Who can run operations in which project: where these are different people, projects should be isolated."""

from __future__ import annotations

from sqlalchemy import Connection, select

from ordito.server.database.tables import BINDINGS
from ordito.server.permissions import ROLES, Permission

RUNS = frozenset({Permission.OPERATE, Permission.DEPLOY, Permission.RUN})
"""With any of these somebody has operations of a template run on the machine of the server."""

RUNNING_ROLES = frozenset(role for role, permissions in ROLES.items() if permissions & RUNS)

NOT_ISOLATED = (
    "several projects have different deployers, and nothing isolates them: an operation of one runs as the same user as"
    " those of the others, and can read what they keep"
)
CURE = "write `isolation: bubblewrap` in server.yaml, and start the server again"


def projects_differ(connection: Connection) -> bool:
    """Whether two projects have different people who can have operations run. Administrators can everywhere, and do not
    count."""
    found: dict[str, set[tuple[str, str]]] = {}
    columns = BINDINGS.c
    asked = select(columns.project, columns.kind, columns.who).where(columns.role.in_(sorted(RUNNING_ROLES)))
    for project, kind, who in connection.execute(asked):
        found.setdefault(project, set()).add((kind, who))
    return len({frozenset(people) for people in found.values()}) > 1


def warning(connection: Connection, isolation: str) -> str:
    """What is to be said about the isolation of projects, "" for nothing."""
    return f"{NOT_ISOLATED}: {CURE}" if isolation == "none" and projects_differ(connection) else ""
