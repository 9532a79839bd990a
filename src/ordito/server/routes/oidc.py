"""Routes for signing in by a provider of OpenID Connect: a browser is sent there, and comes back with a code."""

from __future__ import annotations

import asyncio
import re
import secrets
from typing import Annotated

import msgspec
from cryptography.fernet import InvalidToken
from sqlalchemy import Connection, delete, func, insert, select
from starlette.requests import cookie_parser
from starlette.responses import Response

from ordito.server.border import cookie_name
from ordito.server.call import ApiCall
from ordito.server.database.audit import write_down
from ordito.server.database.tables import PROVIDER_LOGINS
from ordito.server.identity.claims import person_of, signed_in
from ordito.server.identity.tokens import hashed, new_secret
from ordito.server.outgoing.provider import OidcProvider, SentAway
from ordito.server.permissions import Access
from ordito.server.problems import ApiProblem
from ordito.server.route import BASE, Fields, Reply, Route
from ordito.server.routes.identity import begun, is_secure
from ordito.server.settings import base_url

SECONDS = 600
"""How long somebody may take at the provider."""

MOST, MOST_OF_ADDRESS = 10_000, 50
"""How many may be on their way, in all and from one address."""

CALLBACK = BASE + "/oidc/callback"
SIGN_IN = "/sign-in"
HTML = "text/html"

_SECRET = re.compile(r"[0-9A-Za-z_-]{43}")
_OWN_PAGE = re.compile(r"/(?![/\\])[!-\[\]-~]*")
"""A page of this server: two slashes, or a backslash, would name another one."""


class StartFields(Fields, frozen=True):
    """Where to go afterwards."""

    return_: Annotated[str, msgspec.Meta(max_length=2_000)] = msgspec.field(default="/", name="return")
    """A page of this server."""


class BackFields(msgspec.Struct, frozen=True):
    """What the provider sends back. It may send more, which nobody needs."""

    state: Annotated[str, msgspec.Meta(max_length=200)] = ""
    code: Annotated[str, msgspec.Meta(max_length=4_000)] = ""
    error: Annotated[str, msgspec.Meta(max_length=200)] = ""
    iss: Annotated[str, msgspec.Meta(max_length=1_000)] = ""


def _provider(call: ApiCall) -> OidcProvider:
    provider = call.services.provider
    if provider is None:
        hint = "sign in with a password; an administrator can set `oidc` in server.yaml"
        raise ApiProblem("unknown-page", "this server knows no provider that signs people in", hint)
    return provider


def _redirect(call: ApiCall) -> str:
    return base_url(call.services.settings, call.services.port) + CALLBACK


def _browser_cookie(call: ApiCall) -> str:
    return f"{cookie_name(call.services)}-oidc"


def _browser(call: ApiCall) -> str:
    """What the browser keeps while it is away, "" for nothing."""
    found = cookie_parser(call.headers.get("cookie", "")).get(_browser_cookie(call), "")
    return found if _SECRET.fullmatch(found) else ""


def _sent_to(address: str, *cookies: str) -> Reply:
    response = Response(status_code=302, headers={"Location": address})
    for cookie in cookies:
        response.headers.append("Set-Cookie", cookie)
    return Reply(response)


async def _start(call: ApiCall) -> Reply:
    provider, after = _provider(call), call.query.return_
    if not _OWN_PAGE.fullmatch(after) or after.startswith(SIGN_IN):
        after = "/"
    # In two windows at one time the same: the later one must not take the way back from the other.
    state, browser = new_secret(), _browser(call) or new_secret()
    sent = SentAway(nonce=new_secret(), verifier=secrets.token_urlsafe(48), after=after)
    address = await asyncio.to_thread(provider.address, _redirect(call), state, sent)
    sealed = call.services.sealer.encrypt(msgspec.msgpack.encode(sent))

    def begin(connection: Connection) -> None:
        connection.execute(delete(PROVIDER_LOGINS).where(PROVIDER_LOGINS.c.expires < call.now))
        counted, here = select(func.count()).select_from(PROVIDER_LOGINS), PROVIDER_LOGINS.c.address == call.address
        if (connection.scalar(counted) or 0) >= MOST or (
            connection.scalar(counted.where(here)) or 0
        ) >= MOST_OF_ADDRESS:
            raise ApiProblem("too-many", "too many people are on their way to sign in", "wait a minute", again_in=60)
        row = {"state": hashed(state), "browser": hashed(browser), "sealed": sealed, "address": call.address}
        connection.execute(insert(PROVIDER_LOGINS).values(**row, expires=call.now + SECONDS))

    await call.services.database.write(begin)
    secure = "; Secure" if is_secure(call) else ""
    kept = f"{_browser_cookie(call)}={browser}; Path=/; HttpOnly; SameSite=Lax; Max-Age={SECONDS}{secure}"
    return _sent_to(address, kept)


async def _back(call: ApiCall) -> Reply:
    try:
        return await _signed_in(call, _provider(call))
    except ApiProblem as problem:
        if problem.code.startswith("oidc-"):
            call.services.metrics.sign_ins.labels("failed").inc()
            await call.denied("; ".join(one for one in (problem.detail, problem.hint) if one))
        if HTML not in call.headers.get("accept", ""):
            raise
        # Whoever reads this is a person, whose browser was sent here. The address has no text that a page would show:
        # others could write such addresses.
        return _sent_to(f"{SIGN_IN}?problem={problem.code}")


async def _signed_in(call: ApiCall, provider: OidcProvider) -> Reply:
    given: BackFields = call.query
    sent = await call.services.database.write(lambda connection: _used_up(connection, call))
    await asyncio.to_thread(provider.check_sender, given.iss)
    if given.error or not given.code:
        why = given.error if re.fullmatch(r"[a-z_]+", given.error) else "no code"
        hint = "sign in again; `access_denied` means that the provider, or you there, said no"
        raise ApiProblem("oidc-refused", f"the provider did not sign you in: {why}", hint)
    claims = await asyncio.to_thread(provider.claims, given.code, _redirect(call), sent)
    person = person_of(provider.settings, claims)

    def begin(connection: Connection) -> str:
        user = signed_in(connection, provider.settings, person, call.now)
        write_down(connection, call.deed("session.begin", about=user, by=user, detail="by the provider"), call.now)
        return begun(connection, call, user, issuer=person.issuer)[1]

    cookie = await call.services.database.write(begin)
    call.services.metrics.sign_ins.labels("done").inc()
    return _sent_to(sent.after, cookie)


def _used_up(connection: Connection, call: ApiCall) -> SentAway:
    """What belongs to the state that came back, which is used up by it. Raises ``ApiProblem`` where it is not known, is
    over, was used before, or belongs to another browser."""
    mine = PROVIDER_LOGINS.c.state == hashed(call.query.state)
    row = connection.execute(select(PROVIDER_LOGINS).where(mine)).one_or_none()
    browser = _browser(call)
    if row is not None and browser and secrets.compare_digest(row.browser, hashed(browser)):
        connection.execute(delete(PROVIDER_LOGINS).where(mine))
        try:
            if row.expires >= call.now:
                return msgspec.msgpack.decode(call.services.sealer.decrypt(row.sealed), type=SentAway)
        except (InvalidToken, msgspec.DecodeError):
            pass
    hint = "begin at the page of this server for signing in, and stay in that browser"
    raise ApiProblem("oidc-state", "this sign-in was not begun by this browser, was used before, or is over", hint)


async def _end(call: ApiCall) -> Reply:
    provider = call.services.provider
    after = base_url(call.services.settings, call.services.port) + SIGN_IN
    if provider is None:
        return _sent_to(after)
    try:
        return _sent_to(await asyncio.to_thread(provider.farewell, after) or after)
    except ApiProblem:
        # Here the session is over already, and a provider that is away can end nothing.
        return _sent_to(after)


_PROBLEMS = ("unknown-page", "oidc-away", "oidc-refused")

TABLE = (
    Route(
        method="GET",
        path=BASE + "/oidc/start",
        access=Access.ANYBODY,
        summary="Send a browser to the provider that signs people in.",
        handler=_start,
        query=StartFields,
        status=302,
        problems=_PROBLEMS,
    ),
    Route(
        method="GET",
        path=CALLBACK,
        access=Access.ANYBODY,
        summary="Where the provider sends a browser back: a session begins, and a cookie is set.",
        handler=_back,
        query=BackFields,
        status=302,
        problems=(*_PROBLEMS, "oidc-state", "oidc-user"),
    ),
    Route(
        method="GET",
        path=BASE + "/oidc/end",
        access=Access.ANYBODY,
        summary="Send a browser to where it signs out of the provider too; its session here is ended before.",
        handler=_end,
        status=302,
    ),
)
