"""Principals: who acts, and what they may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from sqlalchemy import Connection, or_, select

from ordito.server.database.tables import BINDINGS, MEMBERS, USERS
from ordito.server.permissions import ADMIN, AUDITOR, OF_SERVER, ROLES, Permission

USER, ACCOUNT, GROUP = "user", "account", "group"

Grants = Mapping[tuple[str, str], frozenset[Permission]]
"""By project and ensemble ("" for all ensembles of the project), what is permitted there."""

NOBODY: frozenset[Permission] = frozenset()


class Principal(msgspec.Struct, frozen=True):
    """Who acts: a user, or a service account of a project."""

    kind: str
    name: str
    project: str = ""
    """The project of an account, "" for a user."""

    admin: bool = False
    auditor: bool = False
    grants: Grants = {}
    by: str = ""
    """The session or the token, as in ``token 7f1c``."""

    role: str = ""
    """The role to which a token is narrowed, "" for none."""

    projects: tuple[str, ...] = ()
    """The projects to which a token is narrowed, none for all."""

    made_by: str = ""
    """The user who made the token of an account, and so may act as it; "" for a user, and where an earlier version has
    made the token and did not say for whom."""

    @property
    def id(self) -> str:
        """What names it in the audit: users by name, accounts with their project."""
        return f"{self.project}/{self.name}" if self.project else self.name

    @property
    def behind(self) -> str:
        """The id of who answers for what it does: of an account, the user who made its token, "" where nobody knows
        who that was."""
        return self.made_by if self.kind == ACCOUNT else self.id

    def permissions(self, project: str, ensemble: str = "") -> frozenset[Permission]:
        """What it may do in a project, or in an ensemble of it."""
        if self.projects and project not in self.projects:
            return NOBODY
        found = self._everywhere | self.grants.get((project, ""), NOBODY)
        if ensemble:
            found |= self.grants.get((project, ensemble), NOBODY)
        return self._narrowed(found - OF_SERVER)

    def may_see(self, project: str) -> bool:
        """Whether anything of a project may be seen: all, or one of its ensembles."""
        names = {ensemble for of, ensemble in self.grants if of == project}
        return any(Permission.READ in self.permissions(project, name) for name in {"", *names})

    @property
    def on_server(self) -> frozenset[Permission]:
        """What it may do on the server. A narrowed token may do nothing there."""
        return NOBODY if self.role or self.projects else self._everywhere & OF_SERVER

    @property
    def _everywhere(self) -> frozenset[Permission]:
        return ADMIN if self.admin else AUDITOR if self.auditor else NOBODY

    def _narrowed(self, found: frozenset[Permission]) -> frozenset[Permission]:
        return found & ROLES[self.role] if self.role else found


def user_principal(connection: Connection, name: str, **more: object) -> Principal | None:
    """A user as a principal, None for one that is unknown or disabled."""
    row = connection.execute(select(USERS).where(USERS.c.name == name)).one_or_none()
    if row is None or row.disabled:
        return None
    groups = connection.execute(select(MEMBERS.c.team).where(MEMBERS.c.user == name)).scalars().all()
    of_group = (BINDINGS.c.kind == GROUP) & BINDINGS.c.who.in_(groups)
    of_user = (BINDINGS.c.kind == USER) & (BINDINGS.c.who == name)
    rows = connection.execute(select(BINDINGS).where(or_(of_user, of_group))).all()
    grants = _grants((row.project, row.ensemble, row.role) for row in rows)
    made = Principal(USER, name, admin=row.admin, auditor=row.auditor, grants=grants)
    return msgspec.structs.replace(made, **more)


def account_principal(connection: Connection, project: str, name: str, **more: object) -> Principal:
    """A service account as a principal."""
    of_account = (BINDINGS.c.kind == ACCOUNT) & (BINDINGS.c.who == name) & (BINDINGS.c.project == project)
    rows = connection.execute(select(BINDINGS).where(of_account)).all()
    grants = _grants((row.project, row.ensemble, row.role) for row in rows)
    return msgspec.structs.replace(Principal(ACCOUNT, name, project, grants=grants), **more)


def is_user(name: str) -> bool:
    """Whether an id, as ``Principal.id`` gives it, is that of a user."""
    return bool(name) and "/" not in name


def principal_of(connection: Connection, name: str) -> Principal | None:
    """The principal with an id, as ``Principal.id`` gives it; None for one that is not known any more."""
    project, is_account, account = name.partition("/")
    return account_principal(connection, project, account) if is_account else user_principal(connection, name)


def _grants(rows: Iterable[tuple[str, str, str]]) -> Grants:
    found: dict[tuple[str, str], frozenset[Permission]] = {}
    for project, ensemble, role in rows:
        found[project, ensemble] = found.get((project, ensemble), NOBODY) | ROLES[role]
    return found
