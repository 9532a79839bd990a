"""Signing a command in: by a code that somebody confirms, by a link, or with a token that is there already."""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec

from ordito.client.connection import LONG_PATIENCE, ServerConnection
from ordito.client.errors import ServerError
from ordito.results.failure import Failure
from ordito.results.served import LoginAnswer, LoginData, MadeLogin, MeData

WAIT = 20
"""Seconds that one question waits for the confirmation."""


class _Token(msgspec.Struct, frozen=True):
    token: str


def code_shown(code: str) -> str:
    """A code as people read it."""
    half = len(code) // 2
    return f"{code[:half]}-{code[half:]}"


def own_name() -> str:
    """What a token of this command is called."""
    return f"ordito on {socket.gethostname()}"[:80]


def by_code(url: str, tell: Callable[[MadeLogin], None]) -> tuple[str, str]:
    """Sign in as whoever confirms the code that ``tell`` shows: the user, and the token. Raises ``ServerError``."""
    connection = ServerConnection(url)
    login = connection.do("POST", "/logins", MadeLogin, {"name": own_name()})
    tell(login)
    while True:
        headers = {"Ordito-Login": login.secret}
        answer = connection.ask("GET", f"/logins/{login.id}", query={"wait": WAIT}, headers=headers,
                                patience=LONG_PATIENCE)  # fmt: skip
        state = msgspec.json.decode(answer.body, type=LoginAnswer)
        if state.token is not None:
            return state.user, state.token


def by_link(url: str, secret: str) -> tuple[str, str]:
    """Sign in with the secret of a one-time link: the user, and a new token. Raises ``ServerError``."""
    connection, own = ServerConnection(url), {"Origin": url}
    begun = connection.ask("POST", "/sessions", body={"link": secret}, headers=own)
    own["Cookie"] = begun.headers.get("set-cookie", "").partition(";")[0]
    made = connection.ask("POST", "/me/tokens", body={"name": own_name()}, headers=own)
    connection.ask("DELETE", "/sessions/current", headers=own)
    token = msgspec.json.decode(made.body, type=_Token).token
    return ServerConnection(url, token).get("/me", MeData).name, token


def by_token(url: str, token: str) -> str:
    """Who a token is of. Raises ``ServerError``."""
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise ServerError(Failure("bad-credentials", "what was given is no token", "a token is one word"))
    return ServerConnection(url, token).get("/me", MeData).name


def waiting_with(connection: ServerConnection, code: str) -> LoginData:
    """What wants to sign in with a code. Raises ``ServerError``."""
    return connection.get("/logins", LoginData, {"code": code})


def confirm(connection: ServerConnection, login: LoginData, code: str) -> None:
    """Confirm a sign-in. Raises ``ServerError``."""
    connection.ask("POST", f"/logins/{login.id}/confirm", body={"code": code})


def sign_out(url: str, token: str) -> bool:
    """End a token; whether it was still valid. Raises ``ServerError``."""
    connection = ServerConnection(url, token)
    try:
        kind, _, name = connection.get("/me", MeData).by.partition(" ")
        if kind == "token":
            connection.ask("DELETE", f"/me/tokens/{name}")
    except ServerError as error:
        if error.failure.code == "expired":
            return False
        raise
    return True
