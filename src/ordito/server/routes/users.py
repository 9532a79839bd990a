"""Routes about users, groups and the audit log, for the administrators of the server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime
from functools import partial
from typing import Annotated, Any, NoReturn

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update
from starlette.responses import StreamingResponse

from ordito.ensemble.job_format import moment
from ordito.results.served import DeedData, GroupData, LinkData, TokenData, UserData
from ordito.server.call import NUMBER, TEXT, ApiCall, cursor_of, key_in, tagged
from ordito.server.database.audit import AuditHead, head
from ordito.server.database.tables import AUDIT, BINDINGS, IDENTITIES, LINKS, MEMBERS, SESSIONS, TOKENS, USERS
from ordito.server.identity.claims import LONGEST_SUBJECT, link
from ordito.server.identity.principal import GROUP, USER
from ordito.server.identity.signing_in import new_link
from ordito.server.names import USER_NAME, UserName
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Fields, ListPart, PageFields, Reply, Route
from ordito.server.routes.identity import token_data
from ordito.server.settings import base_url


class NewUser(Fields, frozen=True):
    """A user to be made; a one-time link lets them set a password."""

    name: UserName
    admin: bool = False
    auditor: bool = False


class UserChange(Fields, frozen=True):
    """What is to be different; what is left out stays."""

    admin: bool | UnsetType = UNSET
    auditor: bool | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET
    subject: Annotated[str, msgspec.Meta(max_length=LONGEST_SUBJECT)] | UnsetType = UNSET
    """As whom the provider knows them that signs people in; "" for no longer."""


_USERS = select(USERS, IDENTITIES.c.subject).outerjoin(IDENTITIES, IDENTITIES.c.user == USERS.c.name)


def _user(row: Row[Any]) -> UserData:
    made = moment(row.created)
    return UserData(row.name, row.admin, row.auditor, row.disabled, bool(row.password), made, row.subject or "")


async def _list(call: ApiCall) -> Reply:
    fields: PageFields = call.query
    asked = _USERS.where(USERS.c.name > (key_in(fields.after, TEXT) or "")).order_by(USERS.c.name)
    rows = await call.services.database.read(lambda c: c.execute(asked.limit(fields.limit + 1)).all())
    after = cursor_of(rows[fields.limit - 1].name) if len(rows) > fields.limit else None
    return Reply(ListPart(tuple(map(_user, rows[: fields.limit])), after))


async def _show(call: ApiCall) -> Reply:
    return tagged(await call.services.database.read(lambda connection: _user(_row(connection, call.path["user"]))))


def _row(connection: Connection, name: str) -> Row[Any]:
    found = connection.execute(_USERS.where(USERS.c.name == name)).one_or_none()
    if found is None:
        raise ApiProblem("unknown-user", f'there is no user "{name[:80]}"', "the list of users has their names")
    return found


async def _make(call: ApiCall) -> Reply:
    given: NewUser = call.body

    def make(connection: Connection) -> Reply:
        if connection.execute(select(USERS.c.name).where(USERS.c.name == given.name)).first() is not None:
            raise ApiProblem(
                "exists", f'there is a user "{given.name}" already', "change that one, or take another name"
            )
        row = {"name": given.name, "admin": given.admin, "auditor": given.auditor, "disabled": False}
        connection.execute(insert(USERS).values(**row, password="", created=call.now))
        return Reply(_user(_row(connection, given.name)))

    return await call.change("user.make", make, about=given.name)


async def _change(call: ApiCall) -> Reply:
    given: UserChange = call.body
    name = call.path["user"]
    values = {field: value for field, value in msgspec.structs.asdict(given).items() if value is not UNSET}
    provider = call.services.settings.oidc
    if given.subject is not UNSET and provider is None:
        hint = "set `oidc` in server.yaml first"
        raise ApiProblem("malformed", "this server knows no provider that would know the user as a subject", hint)

    def change(connection: Connection) -> Reply:
        call.must_match(_user(_row(connection, name)))
        own = {field: value for field, value in values.items() if field != "subject"}
        if own:
            connection.execute(update(USERS).where(USERS.c.name == name).values(**own))
        if isinstance(given.subject, str) and provider is not None:
            link(connection, provider.issuer, given.subject, name)
        if given.disabled is True:
            _sign_out(connection, name)
        _check_admins(connection)
        return tagged(_user(_row(connection, name)))

    detail = ", ".join(f"{field}={value}" for field, value in values.items())
    return await call.change("user.change", change, about=name, detail=detail)


def _sign_out(connection: Connection, name: str) -> None:
    connection.execute(delete(SESSIONS).where(SESSIONS.c.user == name))
    connection.execute(delete(LINKS).where(LINKS.c.user == name))


def _check_admins(connection: Connection) -> None:
    left = select(func.count()).select_from(USERS).where(USERS.c.admin, ~USERS.c.disabled)
    if not connection.execute(left).scalar():
        raise ApiProblem("last-admin", "nobody would be left who administers the server", "make another user one first")


async def _remove(call: ApiCall) -> Reply:
    name = call.path["user"]

    def remove(connection: Connection) -> Reply:
        _row(connection, name)
        connection.execute(delete(USERS).where(USERS.c.name == name))
        _sign_out(connection, name)
        connection.execute(delete(TOKENS).where(_tokens_of(name)))
        connection.execute(delete(MEMBERS).where(MEMBERS.c.user == name))
        connection.execute(delete(IDENTITIES).where(IDENTITIES.c.user == name))
        connection.execute(delete(BINDINGS).where((BINDINGS.c.kind == USER) & (BINDINGS.c.who == name)))
        _check_admins(connection)
        return Reply()

    return await call.change("user.remove", remove, about=name)


async def _reset(call: ApiCall) -> Reply:
    name = call.path["user"]

    def reset(connection: Connection) -> Reply:
        _row(connection, name)
        connection.execute(update(USERS).where(USERS.c.name == name).values(password=""))
        _sign_out(connection, name)
        # Whoever has learned the password may have made tokens with it.
        connection.execute(delete(TOKENS).where(_tokens_of(name)))
        url = base_url(call.services.settings, call.services.port)
        return Reply(LinkData(name, f"{url}/sign-in#{new_link(connection, name, call.now)}"))

    return await call.change("user.reset", reset, about=name)


def _tokens_of(user: str) -> ColumnElement[bool]:
    return (TOKENS.c.project == "") & (TOKENS.c.owner == user)


async def _tokens(call: ApiCall) -> Reply:
    name = call.path["user"]

    def read(connection: Connection) -> tuple[TokenData, ...]:
        _row(connection, name)
        rows = connection.execute(select(TOKENS).where(_tokens_of(name)).order_by(TOKENS.c.created)).all()
        return tuple(map(token_data, rows))

    return Reply(ListPart(await call.services.database.read(read), None))


async def _remove_token(call: ApiCall) -> Reply:
    name, token = call.path["user"], call.path["id"]

    def remove(connection: Connection) -> Reply:
        _row(connection, name)
        if not connection.execute(delete(TOKENS).where(_tokens_of(name) & (TOKENS.c.id == token))).rowcount:
            hint = "the list of their tokens has the ids"
            raise ApiProblem("unknown-token", f'{name} has no token "{token[:40]}"', hint)
        return Reply()

    return await call.change("user.token.remove", remove, about=f"{name} {token}")


class GroupMembers(Fields, frozen=True):
    """All members of a group, in place of those that it had."""

    members: tuple[UserName, ...]


async def _groups(call: ApiCall) -> Reply:
    asked = select(MEMBERS).order_by(MEMBERS.c.team, MEMBERS.c.user)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.team, []).append(row.user)
    return Reply(ListPart(tuple(GroupData(name, tuple(users)) for name, users in found.items()), None))


async def _show_group(call: ApiCall) -> Reply:
    group = call.path["group"]

    def read(connection: Connection) -> GroupData:
        return _group(connection, group) or _no_group(group)

    return tagged(await call.services.database.read(read))


def _group(connection: Connection, name: str) -> GroupData | None:
    asked = select(MEMBERS.c.user).where(MEMBERS.c.team == name).order_by(MEMBERS.c.user)
    members = tuple(connection.execute(asked).scalars())
    return GroupData(name, members) if members else None


def _no_group(name: str) -> NoReturn:
    raise ApiProblem("unknown-group", f'there is no group "{name[:80]}"', "the list of groups has their names")


async def _set_group(call: ApiCall) -> Reply:
    given: GroupMembers = call.body
    group = call.path["group"]
    if re.fullmatch(USER_NAME, group) is None:
        hint = "a name has letters, digits and . _ @ -, begins with a letter or a digit, and is not longer than 63"
        raise ApiProblem("malformed", f'no group can be called "{group[:80]}"', hint)
    if not given.members:
        hint = "remove the group instead: `ordito groups remove`, or DELETE"
        raise ApiProblem("malformed", "a group has at least one member", hint)

    def change(connection: Connection) -> Reply:
        before = _group(connection, group)
        if before is not None:
            call.must_match(before)
        for user in given.members:
            _row(connection, user)
        of_group = MEMBERS.c.team == group
        connection.execute(delete(MEMBERS).where(of_group & (MEMBERS.c.issuer == "")))
        # Whom the provider has put into the group is in it as long as the provider says so.
        present = set(connection.execute(select(MEMBERS.c.user).where(of_group)).scalars())
        new = sorted(set(given.members) - present)
        if new:
            connection.execute(insert(MEMBERS), [{"team": group, "user": user} for user in new])
        return tagged(GroupData(group, tuple(sorted({*new, *present}))))

    return await call.change("group.set", change, about=group, detail=" ".join(given.members))


async def _remove_group(call: ApiCall) -> Reply:
    group = call.path["group"]

    def remove(connection: Connection) -> Reply:
        if not connection.execute(delete(MEMBERS).where(MEMBERS.c.team == group)).rowcount:
            _no_group(group)
        connection.execute(delete(BINDINGS).where((BINDINGS.c.kind == GROUP) & (BINDINGS.c.who == group)))
        return Reply()

    return await call.change("group.remove", remove, about=group)


class AuditFields(PageFields, frozen=True):
    """Which rows are wanted, the newest first."""

    actor: str = ""
    project: str = ""
    action: str = ""
    outcome: str = ""
    since: datetime | None = None
    """The earliest time, as in ``2026-11-22T21:58:18Z``."""

    until: datetime | None = None
    """Up to which time, that time itself not."""


def _deed(row: Row[Any]) -> DeedData:
    plain = {name: getattr(row, name) for name in DeedData.__struct_fields__}
    return DeedData(**{**plain, "time": moment(row.time), "hash": row.hash.hex()})


async def _audit(call: ApiCall) -> Reply:
    fields: AuditFields = call.query
    before = key_in(fields.after, NUMBER)
    asked = select(AUDIT).order_by(AUDIT.c.number.desc()).limit(fields.limit + 1)
    if before is not None:
        asked = asked.where(AUDIT.c.number < before)
    for column, value in (
        (AUDIT.c.principal, fields.actor),
        (AUDIT.c.project, fields.project),
        (AUDIT.c.action, fields.action),
        (AUDIT.c.outcome, fields.outcome),
    ):
        asked = asked.where(column == value) if value else asked
    if fields.since is not None:
        asked = asked.where(AUDIT.c.time >= _seconds(fields.since))
    if fields.until is not None:
        asked = asked.where(AUDIT.c.time < _seconds(fields.until))
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    after = cursor_of(rows[fields.limit - 1].number) if len(rows) > fields.limit else None
    return Reply(ListPart(tuple(map(_deed, rows[: fields.limit])), after))


def _seconds(time: datetime) -> float:
    """A time as the table has it. Raises ``ApiProblem`` for one that could be anywhere."""
    if time.tzinfo is None:
        raise ApiProblem("malformed", "a time without its zone means another moment elsewhere", "add Z for UTC")
    return time.timestamp()


async def _export(call: ApiCall) -> Reply:
    newest = await call.services.database.read(lambda c: c.execute(select(func.max(AUDIT.c.number))).scalar())

    def lines(connection: Connection, after: int) -> tuple[bytes, int]:
        """Some lines, and the number of the last one."""
        here = AUDIT.c.number.between(after + 1, newest or 0)
        rows = connection.execute(select(AUDIT).where(here).order_by(AUDIT.c.number).limit(ROWS_AT_ONCE)).all()
        return b"".join(msgspec.json.encode(_deed(row)) + b"\n" for row in rows), rows[-1].number if rows else 0

    async def parts() -> AsyncIterator[bytes]:
        # In parts, so that no reader and no memory is taken for as long as a slow client takes what it asked for.
        text, after = await call.services.database.read(partial(lines, after=0))
        while text:
            yield text
            text, after = await call.services.database.read(partial(lines, after=after))

    return Reply(StreamingResponse(parts(), media_type=NDJSON))


ROWS_AT_ONCE = 1_000


NDJSON = "application/x-ndjson"


async def _head(call: ApiCall) -> Reply:
    return Reply(await call.services.database.read(head))


def _route(method: str, path: str, summary: str, handler: Any, **more: Any) -> Route:
    access = Permission.ADMINISTER
    return Route(method=method, path=BASE + path, access=access, summary=summary, handler=handler, **more)


_UNKNOWN, _MATCH = ("unknown-user",), ("match-required", "changed")

TABLE = (
    _route("GET", "/users", "The users.", _list, query=PageFields, answers=(ListPart[UserData],)),
    _route("POST", "/users", "Make a user.", _make, body=NewUser, answers=(UserData,), status=201, keyed=True,
           problems=("exists",)),
    _route("GET", "/users/{user}", "A user.", _show, answers=(UserData,), problems=_UNKNOWN),
    _route("PATCH", "/users/{user}", "Change a user; who is disabled is signed out at once.", _change,
           body=UserChange, answers=(UserData,), problems=(*_UNKNOWN, "last-admin", "exists", *_MATCH)),
    _route("DELETE", "/users/{user}", "Remove a user with their sessions, tokens and roles.", _remove, status=204,
           problems=(*_UNKNOWN, "last-admin")),
    _route("POST", "/users/{user}/reset",
           "Take the password of a user away, end their sessions and tokens, and make a one-time link.", _reset,
           answers=(LinkData,), keyed=True, problems=_UNKNOWN),
    _route("GET", "/users/{user}/tokens", "The tokens of a user, without their secrets.", _tokens,
           answers=(ListPart[TokenData],), problems=_UNKNOWN),
    _route("DELETE", "/users/{user}/tokens/{id}", "End one token of a user.", _remove_token, status=204,
           problems=(*_UNKNOWN, "unknown-token")),
    _route("GET", "/groups", "The groups with their members.", _groups, answers=(ListPart[GroupData],)),
    _route("GET", "/groups/{group}", "A group with its members.", _show_group, answers=(GroupData,),
           problems=("unknown-group",)),
    _route("PUT", "/groups/{group}", "Set the members of a group; it is made where there is none.", _set_group,
           body=GroupMembers, answers=(GroupData,), problems=(*_UNKNOWN, *_MATCH)),
    _route("DELETE", "/groups/{group}", "Remove a group, with the roles bound to it.", _remove_group, status=204,
           problems=("unknown-group",)),
    Route(method="GET", path=BASE + "/audit", access=Permission.AUDIT, summary="What was done, the newest first.",
          handler=_audit, query=AuditFields, answers=(ListPart[DeedData],), problems=("bad-cursor",)),
    Route(method="GET", path=BASE + "/audit/export", access=Permission.AUDIT, handler=_export, media=NDJSON,
          summary="All rows of the audit log, one JSON object a line, the oldest first."),
    Route(method="GET", path=BASE + "/audit/head", access=Permission.AUDIT, handler=_head, answers=(AuditHead,),
          summary="The number and the hash of the last row of the audit log, for others to keep."),
)  # fmt: skip
