"""Routes about projects: who has which role in them, and their service accounts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, insert, select, update

from ordito.ensemble.job_format import moment
from ordito.results.served import AccountData, MadeToken, ProjectData
from ordito.server.call import ApiCall, tag_of, tagged
from ordito.server.database.tables import ACCOUNTS, BINDINGS, ENSEMBLES, FREEZES, PACKAGES, PROJECTS, TOKENS, USERS
from ordito.server.identity.principal import ACCOUNT, USER, Principal
from ordito.server.live.topics import overall_cursor
from ordito.server.names import Name, Text, UserName
from ordito.server.permissions import OWNER, ROLES, Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, PROJECT, Fields, ListPart, Reply, route
from ordito.server.routes.identity import NewTokenFields, made_token, token_data


class NewProject(Fields, frozen=True):
    """A project to be made."""

    name: Name
    description: Text = ""


class ProjectChange(Fields, frozen=True):
    """What is to be different."""

    description: Text


def _project(call: ApiCall, row: Row[Any]) -> ProjectData:
    allowed = tuple(sorted(call.principal.permissions(row.name)))
    return ProjectData(row.name, row.description, moment(row.created), allowed)


async def _list(call: ApiCall) -> Reply:
    asked = select(PROJECTS).order_by(PROJECTS.c.name)
    headers = {"Ordito-Cursor": overall_cursor(call.services.outbox.newest)}
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    found = ListPart(tuple(_project(call, row) for row in rows if call.principal.may_see(row.name)), None)
    return Reply(found, headers=headers)


def _row(connection: Connection, name: str) -> Row[Any]:
    return connection.execute(select(PROJECTS).where(PROJECTS.c.name == name)).one()


async def _show(call: ApiCall) -> Reply:
    cursor = overall_cursor(call.services.outbox.newest)
    found = await call.services.database.read(lambda connection: _project(call, _row(connection, call.project)))
    return Reply(found, headers={"ETag": tag_of(found), "Ordito-Cursor": cursor})


async def _make(call: ApiCall) -> Reply:
    given: NewProject = call.body

    def make(connection: Connection) -> Reply:
        if connection.execute(select(PROJECTS.c.name).where(PROJECTS.c.name == given.name)).first() is not None:
            raise ApiProblem("exists", f'there is a project "{given.name}" already', "take another name")
        connection.execute(insert(PROJECTS).values(name=given.name, description=given.description, created=call.now))
        return Reply(_project(call, _row(connection, given.name)))

    return await call.change("project.make", make, about=given.name)


async def _change(call: ApiCall) -> Reply:
    given: ProjectChange = call.body

    def change(connection: Connection) -> Reply:
        call.must_match(_project(call, _row(connection, call.project)))
        mine = PROJECTS.c.name == call.project
        connection.execute(update(PROJECTS).where(mine).values(description=given.description))
        return tagged(_project(call, _row(connection, call.project)))

    return await call.change("project.change", change, about=call.project)


async def _remove(call: ApiCall) -> Reply:
    def remove(connection: Connection) -> Reply:
        asked = select(ENSEMBLES.c.name).where(ENSEMBLES.c.project == call.project).limit(1)
        if connection.execute(asked).first() is not None:
            raise ApiProblem("in-use", f'the project "{call.project}" has ensembles', "remove these first")
        packages = select(PACKAGES.c.digest).where(PACKAGES.c.project == call.project).limit(1)
        if connection.execute(packages).first() is not None:
            raise ApiProblem("in-use", f'the project "{call.project}" has packages', "remove these first")
        connection.execute(delete(TOKENS).where(TOKENS.c.project == call.project))
        connection.execute(delete(FREEZES).where(FREEZES.c.project == call.project))
        connection.execute(delete(PROJECTS).where(PROJECTS.c.name == call.project))
        return Reply()

    return await call.change("project.remove", remove, about=call.project)


Kind = Literal["user", "group", "account"]


class RoleBinding(Fields, frozen=True):
    """Who has a role in the project, or in one ensemble of it."""

    kind: Kind
    who: UserName
    role: str
    ensemble: str = ""
    """The ensemble, "" for all of the project."""


class Bindings(Fields, frozen=True):
    """All roles in a project."""

    bindings: tuple[RoleBinding, ...]


async def _bindings(call: ApiCall) -> Reply:
    return tagged(await call.services.database.read(lambda connection: _bound(connection, call.project)))


def _bound(connection: Connection, project: str) -> Bindings:
    columns = (BINDINGS.c.kind, BINDINGS.c.who, BINDINGS.c.ensemble, BINDINGS.c.role)
    rows = connection.execute(select(*columns).where(BINDINGS.c.project == project).order_by(*columns))
    return Bindings(tuple(RoleBinding(row.kind, row.who, row.role, row.ensemble) for row in rows))


async def _set_bindings(call: ApiCall) -> Reply:
    given: Bindings = call.body

    def change(connection: Connection) -> Reply:
        call.must_match(_bound(connection, call.project))
        for binding in given.bindings:
            _check(connection, call.project, binding)
        if not any(one.role == OWNER and not one.ensemble and one.kind != ACCOUNT for one in given.bindings):
            hint = "leave one binding of a user or a group with the role owner"
            raise ApiProblem("last-owner", f'the project "{call.project}" would have no owner', hint)
        connection.execute(delete(BINDINGS).where(BINDINGS.c.project == call.project))
        rows = [{"project": call.project, **msgspec.structs.asdict(one)} for one in dict.fromkeys(given.bindings)]
        connection.execute(insert(BINDINGS), rows)
        return tagged(_bound(connection, call.project))

    return await call.change("bindings.set", change, about=call.project, detail=_told(given.bindings))


def _told(bindings: Iterable[RoleBinding]) -> str:
    return ", ".join(f"{one.kind} {one.who} {one.role} {one.ensemble}".rstrip() for one in bindings)[:4_000]


def _check(connection: Connection, project: str, binding: RoleBinding) -> None:
    if binding.role not in ROLES:
        raise ApiProblem("unknown-role", f'there is no role "{binding.role[:40]}"', f"roles are {', '.join(ROLES)}")
    of_user = select(USERS.c.name).where(USERS.c.name == binding.who)
    if binding.kind == USER and connection.execute(of_user).first() is None:
        raise ApiProblem("unknown-user", f'there is no user "{binding.who}"', "make them first")
    mine = (ACCOUNTS.c.project == project) & (ACCOUNTS.c.name == binding.who)
    if binding.kind == ACCOUNT and connection.execute(select(ACCOUNTS.c.name).where(mine)).first() is None:
        raise _no_account(binding.who)
    of_project = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.name == binding.ensemble)
    if binding.ensemble and connection.execute(select(ENSEMBLES.c.name).where(of_project)).first() is None:
        raise ApiProblem("unknown-ensemble", f'there is no ensemble "{project}/{binding.ensemble}"', "make it first")


class NewAccount(Fields, frozen=True):
    """A service account to be made."""

    name: Name


async def _accounts(call: ApiCall) -> Reply:
    def read(connection: Connection) -> tuple[AccountData, ...]:
        asked = select(ACCOUNTS).where(ACCOUNTS.c.project == call.project).order_by(ACCOUNTS.c.name)
        rows = connection.execute(asked).all()
        tokens = connection.execute(select(TOKENS).where(TOKENS.c.project == call.project)).all()
        return tuple(
            AccountData(row.name, moment(row.created), tuple(token_data(t) for t in tokens if t.owner == row.name))
            for row in rows
        )

    return Reply(ListPart(await call.services.database.read(read), None))


async def _make_account(call: ApiCall) -> Reply:
    given: NewAccount = call.body

    def make(connection: Connection) -> Reply:
        mine = (ACCOUNTS.c.project == call.project) & (ACCOUNTS.c.name == given.name)
        if connection.execute(select(ACCOUNTS.c.name).where(mine)).first() is not None:
            raise ApiProblem("exists", f'there is an account "{given.name}" already', "take another name")
        connection.execute(insert(ACCOUNTS).values(project=call.project, name=given.name, created=call.now))
        return Reply(AccountData(given.name, moment(call.now), ()))

    return await call.change("account.make", make, about=given.name)


async def _remove_account(call: ApiCall) -> Reply:
    name = call.path["account"]

    def remove(connection: Connection) -> Reply:
        mine = (ACCOUNTS.c.project == call.project) & (ACCOUNTS.c.name == name)
        if not connection.execute(delete(ACCOUNTS).where(mine)).rowcount:
            raise _no_account(name)
        connection.execute(delete(TOKENS).where((TOKENS.c.project == call.project) & (TOKENS.c.owner == name)))
        of_account = (BINDINGS.c.kind == ACCOUNT) & (BINDINGS.c.who == name) & (BINDINGS.c.project == call.project)
        connection.execute(delete(BINDINGS).where(of_account))
        return Reply()

    return await call.change("account.remove", remove, about=name)


def _no_account(name: str) -> ApiProblem:
    return ApiProblem("unknown-account", f'there is no service account "{name[:80]}"', "the list of accounts has them")


async def _make_token(call: ApiCall) -> Reply:
    name, given = call.path["account"], call.body

    def make(connection: Connection) -> Reply:
        mine = (ACCOUNTS.c.project == call.project) & (ACCOUNTS.c.name == name)
        if connection.execute(select(ACCOUNTS.c.name).where(mine)).first() is None:
            raise _no_account(name)
        account = Principal(ACCOUNT, name, call.project)
        return Reply(made_token(connection, given, account, call.now, made_by=call.principal.behind))

    return await call.change("account.token.make", make, about=f"{name} {given.name}")


async def _remove_token(call: ApiCall) -> Reply:
    name, token = call.path["account"], call.path["id"]

    def remove(connection: Connection) -> Reply:
        mine = (TOKENS.c.project == call.project) & (TOKENS.c.owner == name) & (TOKENS.c.id == token)
        if not connection.execute(delete(TOKENS).where(mine)).rowcount:
            raise ApiProblem(
                "unknown-token", f'{name[:80]} has no token "{token[:40]}"', "the list of accounts has them"
            )
        return Reply()

    return await call.change("account.token.remove", remove, about=f"{name} {token}")


_READ, _MEMBERS, _ADMIN = Permission.READ, Permission.MEMBERS, Permission.ADMINISTER
_NO_PROJECT = "unknown-project"
_ACCOUNT = PROJECT + "/accounts/{account}"

TABLE = (
    route("GET", BASE + "/projects", _READ, "The projects that I may see.", _list, answers=(ListPart[ProjectData],)),
    route("POST", BASE + "/projects", _ADMIN, "Make a project.", _make, body=NewProject, answers=(ProjectData,),
          status=201, keyed=True, problems=("exists",)),
    route("GET", PROJECT, _READ, "A project.", _show, answers=(ProjectData,), of_part=True,
          problems=(_NO_PROJECT,)),
    route("PATCH", PROJECT, Permission.CONFIGURE, "Change a project.", _change, body=ProjectChange,
          answers=(ProjectData,), problems=(_NO_PROJECT, "match-required", "changed")),
    route("DELETE", PROJECT, _ADMIN, "Remove a project that has no ensembles, with its roles and accounts.", _remove,
          status=204, problems=(_NO_PROJECT, "in-use")),
    route("GET", PROJECT + "/bindings", _READ, "Who has which role.", _bindings, answers=(Bindings,),
          problems=(_NO_PROJECT,)),
    route("PUT", PROJECT + "/bindings", _MEMBERS, "Set who has which role: the whole list.", _set_bindings,
          body=Bindings, answers=(Bindings,),
          problems=(_NO_PROJECT, "unknown-role", "unknown-user", "unknown-ensemble", "last-owner",
                     "match-required", "changed")),
    route("GET", PROJECT + "/accounts", _MEMBERS, "The service accounts, with their tokens.", _accounts,
          answers=(ListPart[AccountData],), problems=(_NO_PROJECT,)),
    route("POST", PROJECT + "/accounts", _MEMBERS, "Make a service account.", _make_account, body=NewAccount,
          answers=(AccountData,), status=201, keyed=True, problems=(_NO_PROJECT, "exists")),
    route("DELETE", _ACCOUNT, _MEMBERS, "Remove a service account with its tokens and roles.", _remove_account,
          status=204, problems=(_NO_PROJECT, "unknown-account")),
    route("POST", _ACCOUNT + "/tokens", _MEMBERS, "Make a token of a service account, which is shown once.",
          _make_token, body=NewTokenFields, answers=(MadeToken,), status=201, keyed=True,
          problems=(_NO_PROJECT, "unknown-account", "unknown-role")),
    route("DELETE", _ACCOUNT + "/tokens/{id}", _MEMBERS, "Remove a token of a service account.", _remove_token,
          status=204, problems=(_NO_PROJECT, "unknown-token")),
)  # fmt: skip
