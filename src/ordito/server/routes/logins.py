"""Routes for signing a command in: it shows a code, and somebody who is signed in confirms it.

The code is short, since people type it: it lives for ten minutes, whoever tries codes is slowed down, and it gives
nothing to who does not also have the secret of the sign-in, which only the command has.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from typing import Annotated, Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from ordito.ensemble.job_format import moment
from ordito.results.served import LoginAnswer, LoginData, MadeLogin
from ordito.server.call import ApiCall
from ordito.server.database.tables import LOGINS
from ordito.server.identity.principal import USER, Principal
from ordito.server.identity.tokens import hashed, new_secret
from ordito.server.permissions import Access
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Fields, Reply, Route
from ordito.server.routes.identity import NewTokenFields, made_token, only_user

SECONDS = 600.0
"""How long a code can be confirmed."""

ALPHABET = "BCDFGHJKMNPQRSTVWXZ"
"""Without vowels, so that no words come out, and without letters that look like others."""

LENGTH = 8
MOST, MOST_OF_ADDRESS = 1_000, 20
"""How many sign-ins may wait, in all and from one address."""

LONGEST_WAIT = 30
PAUSE = 0.5
SECRET_HEADER = "ordito-login"


class NewLogin(Fields, frozen=True):
    """A command that wants to sign in."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)] = "ordito"
    """What it is, as in ``ordito on laptop``; its token gets this name."""


class LoginFields(Fields, frozen=True):
    """How long to wait for the confirmation."""

    wait: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_WAIT)] = 0
    """Seconds."""


class CodeFields(Fields, frozen=True):
    """A code."""

    code: Annotated[str, msgspec.Meta(min_length=1, max_length=20)]
    """As it was shown; capitals and dashes do not count."""


async def _begin(call: ApiCall) -> Reply:
    given: NewLogin = call.body

    def begin(connection: Connection) -> Reply:
        connection.execute(delete(LOGINS).where(LOGINS.c.expires < call.now))
        counted = select(func.count()).select_from(LOGINS)
        here = counted.where(LOGINS.c.address == call.address)
        if connection.scalar(counted) >= MOST or connection.scalar(here) >= MOST_OF_ADDRESS:  # type: ignore[operator]
            raise ApiProblem("too-many", "too many sign-ins wait to be confirmed", "confirm one, or wait", again_in=60)
        made = MadeLogin(secrets.token_hex(8), _new_code(), new_secret(), int(SECONDS))
        row = {"id": made.id, "code": made.code, "hash": hashed(made.secret), "name": given.name, "user": ""}
        connection.execute(insert(LOGINS).values(**row, address=call.address, expires=call.now + SECONDS))
        return Reply(made)

    return await call.change("login.begin", begin, about=given.name)


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


async def _state(call: ApiCall) -> Reply:
    wait = call.query.wait
    until = time.monotonic() + wait
    while True:
        row = await call.services.database.read(lambda connection: _own(connection, call))
        if row.user:
            return await _give(call)
        if time.monotonic() >= until or call.services.draining.is_set():
            return Reply(LoginAnswer("", None, moment(row.expires)))
        await asyncio.sleep(PAUSE)


def _own(connection: Connection, call: ApiCall) -> Row[tuple[str, ...]]:
    """The sign-in of which who asks has the secret. Raises ``ApiProblem``."""
    row = connection.execute(select(LOGINS).where(LOGINS.c.id == call.path["id"])).one_or_none()
    secret = hashed(call.headers.get(SECRET_HEADER, ""))
    if (
        not hmac.compare_digest(row.hash if row is not None else b"", secret)
        or row is None
        or row.expires < time.time()
    ):
        hint = "begin again: `ordito login URL`"
        raise ApiProblem("unknown-login", "this sign-in is not known, or it is over", hint)
    return row


async def _give(call: ApiCall) -> Reply:
    """The token of a sign-in that was confirmed; the sign-in ends with it."""
    row = await call.services.database.read(lambda connection: _own(connection, call))

    def give(connection: Connection) -> Reply:
        login = _own(connection, call)
        connection.execute(delete(LOGINS).where(LOGINS.c.id == login.id))
        token = made_token(connection, NewTokenFields(login.name), Principal(USER, login.user), call.now)
        return Reply(LoginAnswer(login.user, token.token, token.expires))

    return await call.change("login.end", give, about=row.name, by=row.user)


def _waiting(code: str, now: float) -> ColumnElement[bool]:
    """The sign-in that has a code, as long as it waits for somebody."""
    typed = "".join(letter for letter in code.upper() if letter.isalnum())
    return (LOGINS.c.code == typed) & (LOGINS.c.expires >= now) & (LOGINS.c.user == "")


def _no_login() -> ApiProblem:
    hint = "codes live for ten minutes; `ordito login URL` shows a new one"
    return ApiProblem("unknown-login", "no sign-in with this code waits", hint)


async def _show(call: ApiCall) -> Reply:
    only_user(call)
    attempts, who = call.services.attempts, f"with codes {call.principal.name}"
    pause = attempts.pause(who, call.address)
    if pause:
        raise ApiProblem("too-many", "too many codes were tried", "wait, then try again", again_in=int(pause + 1))
    asked = select(LOGINS).where(_waiting(call.query.code, call.now))
    row = await call.services.database.read(lambda connection: connection.execute(asked).one_or_none())
    if row is None:
        attempts.failed(who, call.address)
        await call.denied("unknown code of a sign-in")
        raise _no_login()
    return Reply(LoginData(row.id, row.name, row.address, moment(row.expires)))


async def _confirm(call: ApiCall) -> Reply:
    only_user(call)
    name = call.path["id"]

    def confirm(connection: Connection) -> Reply:
        mine = (LOGINS.c.id == name) & _waiting(call.body.code, call.now)
        if not connection.execute(update(LOGINS).where(mine).values(user=call.principal.name)).rowcount:
            raise _no_login()
        return Reply()

    return await call.change("login.confirm", confirm, about=name)


def _route(method: str, path: str, access: Access, summary: str, handler: Any, **more: Any) -> Route:
    return Route(method=method, path=BASE + "/logins" + path, access=access, summary=summary, handler=handler,
                 verb="login", **more)  # fmt: skip


_UNKNOWN = ("unknown-login", "forbidden")

TABLE = (
    _route("POST", "", Access.ANYBODY, "Begin to sign a command in: it shows a code, which somebody confirms.", _begin,
           body=NewLogin, answers=(MadeLogin,), status=201),
    _route("GET", "", Access.ME, "What wants to sign in with a code.", _show, query=CodeFields, answers=(LoginData,),
           problems=_UNKNOWN),
    _route("GET", "/{id}", Access.ANYBODY,
           "The token of a sign-in, once somebody has confirmed it: for who sends its secret in `Ordito-Login`.",
           _state, query=LoginFields, answers=(LoginAnswer,), problems=("unknown-login",)),
    _route("POST", "/{id}/confirm", Access.ME,
           "Confirm a sign-in: a token is made for who confirms it, valid for 90 days.", _confirm, body=CodeFields,
           status=204, problems=_UNKNOWN),
)  # fmt: skip
