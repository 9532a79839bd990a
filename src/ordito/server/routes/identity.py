"""Routes about who is signed in: sessions, passwords, tokens."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from ordito.ensemble.job_format import moment
from ordito.results.served import MadeToken, MeData, TokenData
from ordito.server.border import cookie_name
from ordito.server.call import ApiCall
from ordito.server.database.tables import SESSIONS, TOKENS, USERS
from ordito.server.identity.passwords import hashed, is_right, weakness
from ordito.server.identity.principal import USER, Principal
from ordito.server.identity.signing_in import LONGEST, by_link, new_session
from ordito.server.identity.tokens import OF_ACCOUNT, OF_USER, new_token
from ordito.server.names import Name
from ordito.server.permissions import ROLES, Access
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Fields, ListPart, Reply, Route
from ordito.server.settings import base_url

DAY = 24 * 3600.0
USUAL_DAYS = 90
MOST_DAYS = 366


class SignIn(Fields, frozen=True):
    """A user with a password, or the secret of a one-time link."""

    user: str = ""
    password: str = ""
    link: str = ""


class SessionData(msgspec.Struct, frozen=True):
    """A session of a browser."""

    id: str
    user: str
    address: str
    agent: str
    since: str
    seen: str
    current: bool
    """Whether it is the one that asks."""


async def _sign_in(call: ApiCall) -> Reply:
    given: SignIn = call.body
    if not given.link:
        _check_passwords(call)
    attempts = call.services.attempts
    pause = attempts.pause(given.user, call.address)
    if pause:
        raise ApiProblem("too-many", "too many attempts to sign in", "wait, then try again", again_in=int(pause + 1))
    user = await _user_of(call, given)
    if not user:
        attempts.failed(given.user, call.address)
        call.services.metrics.sign_ins.labels("failed").inc()
        await call.denied("wrong password or link", by=given.user[:80])
        hint = "links work once, for five minutes" if given.link else "an administrator can reset a password"
        raise ApiProblem("bad-credentials", "user and password do not belong together, or the link is over", hint)
    attempts.succeeded(given.user, call.address)
    call.services.metrics.sign_ins.labels("done").inc()

    def begin(connection: Connection) -> Reply:
        found, cookie = begun(connection, call, user)
        return Reply(found, headers={"Set-Cookie": cookie})

    return await call.change("session.begin", begin, about=user, by=user)


def _check_passwords(call: ApiCall) -> None:
    settings = call.services.settings
    if not settings.has_passwords and settings.oidc is not None:
        hint = f"sign in by {settings.oidc.title}"
        raise ApiProblem("forbidden", "nobody signs in with a password here", hint)


def is_secure(call: ApiCall) -> bool:
    """Whether browsers reach the server by TLS."""
    return base_url(call.services.settings, call.services.port).startswith("https:")


def begun(connection: Connection, call: ApiCall, user: str, issuer: str = "") -> tuple[SessionData, str]:
    """A new session of a user, and the cookie that its browser is to keep."""
    agent, since = call.headers.get("user-agent", ""), moment(call.now)
    name, secret = new_session(connection, user, call.address, agent, call.now, issuer)
    found = SessionData(name, user, call.address, agent[:200], since, since, current=True)
    secure = "; Secure" if is_secure(call) else ""
    cookie = f"{cookie_name(call.services)}={secret}; Path=/; HttpOnly; SameSite=Lax; Max-Age={int(LONGEST)}{secure}"
    return found, cookie


async def _user_of(call: ApiCall, given: SignIn) -> str:
    """The user who may sign in with what is given, "" for nobody."""
    database = call.services.database
    if given.link:
        found = await database.write(lambda connection: by_link(connection, given.link, call.now))
    else:
        asked = select(USERS.c.password).where(USERS.c.name == given.user)
        kept = await database.read(lambda connection: connection.execute(asked).scalar())
        right = await asyncio.to_thread(is_right, kept or "", given.password)
        found = given.user if right else ""
    enabled = select(USERS.c.name).where(USERS.c.name == found, ~USERS.c.disabled)
    return await database.read(lambda connection: connection.execute(enabled).scalar()) or ""


async def _sessions(call: ApiCall) -> Reply:
    mine = select(SESSIONS).where(SESSIONS.c.user == call.principal.name).order_by(SESSIONS.c.created)
    rows = await call.services.database.read(lambda connection: connection.execute(mine).all())
    items = tuple(
        SessionData(
            row.id, row.user, row.address, row.agent, moment(row.created), moment(row.seen),
            call.principal.by == f"session {row.id}",
        )
        for row in rows
        if call.principal.kind == USER
    )  # fmt: skip
    return Reply(ListPart(items, None))


async def _end_session(call: ApiCall) -> Reply:
    name = call.path["id"]
    if name == "current":
        kind, _, name = call.principal.by.partition(" ")
        if kind != "session":
            raise ApiProblem("unknown-session", "who asks with a token has no session", "name one of the list")

    def end(connection: Connection) -> Reply:
        mine = (SESSIONS.c.id == name) & (SESSIONS.c.user == call.principal.name)
        if call.principal.kind != USER or not connection.execute(delete(SESSIONS).where(mine)).rowcount:
            raise ApiProblem("unknown-session", f'you have no session "{name[:40]}"', "the list of sessions has them")
        return Reply()

    return await call.change("session.end", end, about=name)


async def _me(call: ApiCall) -> Reply:
    who = call.principal
    projects: dict[str, tuple[str, ...]] = {}
    for project, ensemble in sorted(who.grants):
        name = f"{project}/{ensemble}" if ensemble else project
        projects[name] = tuple(sorted(who.permissions(project, ensemble)))
    farewell = await call.services.database.read(lambda connection: _farewell(connection, who))
    return Reply(MeData(who.kind, who.name, who.project, who.by, tuple(sorted(who.on_server)), projects, farewell))


def _farewell(connection: Connection, who: Principal) -> str:
    """Where a browser signs out of the provider that has begun its session, "" where none has."""
    kind, _, name = who.by.partition(" ")
    asked = select(SESSIONS.c.issuer).where(SESSIONS.c.id == name)
    is_by_provider = kind == "session" and bool(connection.execute(asked).scalar())
    return BASE + "/oidc/end" if is_by_provider else ""


class NewPassword(Fields, frozen=True):
    """A new password; ``old`` is needed where there is one."""

    new: str
    old: str = ""


async def _set_password(call: ApiCall) -> Reply:
    given: NewPassword = call.body
    only_user(call)
    _check_passwords(call)
    user = call.principal.name
    pause = call.services.attempts.pause(user, call.address)
    if pause:
        raise ApiProblem("too-many", "too many wrong passwords", "wait, then try again", again_in=int(pause + 1))
    asked = select(USERS.c.password).where(USERS.c.name == user)
    kept = await call.services.database.read(lambda connection: connection.execute(asked).scalar()) or ""
    if kept and not await asyncio.to_thread(is_right, kept, given.old):
        call.services.attempts.failed(user, call.address)
        await call.denied("wrong password")
        raise ApiProblem("bad-credentials", "the old password is not right", "give the one that is valid now")
    if weak := weakness(given.new, (user, "ordito")):
        raise ApiProblem(
            "weak-password", f"the new password is too weak: {weak}", "a sentence of several words is good"
        )
    new = await asyncio.to_thread(hashed, given.new)

    def change(connection: Connection) -> Reply:
        connection.execute(update(USERS).where(USERS.c.name == user).values(password=new))
        # Whoever has a session by the old password has to sign in again.
        mine = call.principal.by.partition(" ")[2]
        connection.execute(delete(SESSIONS).where((SESSIONS.c.user == user) & (SESSIONS.c.id != mine)))
        return Reply()

    return await call.change("password.set", change, about=user)


def only_user(call: ApiCall) -> None:
    """Refuse service accounts and narrowed tokens. Raises ``ApiProblem``."""
    if call.principal.kind != USER or call.principal.role or call.principal.projects:
        raise ApiProblem("forbidden", "only a user can do this, not a service account or a narrowed token", "sign in")


class NewTokenFields(Fields, frozen=True):
    """A token to be made, for as many days as it ``expires`` after."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    expires: Annotated[int, msgspec.Meta(ge=1, le=MOST_DAYS)] = USUAL_DAYS
    """Days."""

    role: str = ""
    """The role to which it is narrowed, "" for all that its owner may do."""

    projects: tuple[Name, ...] = ()
    """The projects to which it is narrowed, none for all."""


def token_data(row: Row[Any]) -> TokenData:
    """A token of the table."""
    used = moment(row.used) if row.used else None
    projects = tuple(row.projects.split())
    return TokenData(row.id, row.name, moment(row.expires), moment(row.created), used, row.role, projects)


def made_token(
    connection: Connection, given: NewTokenFields, owner: Principal, now: float, *, made_by: str = ""
) -> MadeToken:
    """Make a token; ``made_by`` is the user who makes one of an account. Raises ``ApiProblem`` for a role that is
    unknown."""
    if given.role and given.role not in ROLES:
        raise ApiProblem("unknown-role", f'there is no role "{given.role}"', f"roles are {', '.join(ROLES)}")
    new, expires = new_token(OF_ACCOUNT if owner.project else OF_USER), now + given.expires * DAY
    row = {"id": new.id, "hash": new.hash, "name": given.name, "project": owner.project, "owner": owner.name}
    row |= {"made_by": made_by}
    narrowed = {"role": given.role, "projects": " ".join(given.projects)}
    connection.execute(insert(TOKENS).values(**row, **narrowed, expires=expires, created=now, used=0.0))
    return MadeToken(new.id, given.name, moment(expires), moment(now), None, given.role, given.projects, token=new.text)


def _mine(call: ApiCall) -> ColumnElement[bool]:
    return (TOKENS.c.project == call.principal.project) & (TOKENS.c.owner == call.principal.name)


async def _tokens(call: ApiCall) -> Reply:
    asked = select(TOKENS).where(_mine(call)).order_by(TOKENS.c.created)
    rows = await call.services.database.read(lambda connection: connection.execute(asked).all())
    return Reply(ListPart(tuple(map(token_data, rows)), None))


async def _make_token(call: ApiCall) -> Reply:
    only_user(call)
    given: NewTokenFields = call.body

    def make(connection: Connection) -> Reply:
        return Reply(made_token(connection, given, call.principal, call.now))

    return await call.change("token.make", make, about=given.name)


async def _remove_token(call: ApiCall) -> Reply:
    name = call.path["id"]

    def remove(connection: Connection) -> Reply:
        if not connection.execute(delete(TOKENS).where(_mine(call) & (TOKENS.c.id == name))).rowcount:
            raise ApiProblem("unknown-token", f'you have no token "{name[:40]}"', "the list of tokens has their ids")
        return Reply()

    return await call.change("token.remove", remove, about=name)


TABLE = (
    Route(
        method="POST",
        path=BASE + "/sessions",
        access=Access.ANYBODY,
        summary="Sign in with a password or a one-time link; a cookie is set.",
        handler=_sign_in,
        body=SignIn,
        answers=(SessionData,),
        status=201,
        problems=("bad-credentials", "forbidden"),
    ),
    Route(
        method="GET",
        path=BASE + "/sessions",
        access=Access.ME,
        summary="My sessions.",
        handler=_sessions,
        answers=(ListPart[SessionData],),
    ),
    Route(
        method="DELETE",
        path=BASE + "/sessions/{id}",
        access=Access.ME,
        summary="End one of my sessions; `current` is the one that asks.",
        handler=_end_session,
        status=204,
        problems=("unknown-session",),
    ),
    Route(method="GET", path=BASE + "/me", access=Access.ME, summary="Who I am, and what I may do.", handler=_me,
          answers=(MeData,)),
    Route(
        method="PUT",
        path=BASE + "/me/password",
        access=Access.ME,
        summary="Set my password; all my other sessions end.",
        handler=_set_password,
        body=NewPassword,
        status=204,
        problems=("weak-password", "bad-credentials", "forbidden"),
    ),
    Route(
        method="GET",
        path=BASE + "/me/tokens",
        access=Access.ME,
        summary="My tokens.",
        handler=_tokens,
        answers=(ListPart[TokenData],),
    ),
    Route(
        method="POST",
        path=BASE + "/me/tokens",
        access=Access.ME,
        summary="Make a token, which is shown once.",
        handler=_make_token,
        body=NewTokenFields,
        answers=(MadeToken,),
        status=201,
        keyed=True,
        problems=("unknown-role", "forbidden"),
    ),
    Route(
        method="DELETE",
        path=BASE + "/me/tokens/{id}",
        access=Access.ME,
        summary="Remove one of my tokens.",
        handler=_remove_token,
        status=204,
        problems=("unknown-token",),
    ),
)  # fmt: skip
