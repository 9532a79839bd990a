"""Signing a command in: by a code that somebody confirms, by a link, or with a token that is there already."""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec

from ordito.client.connection import LONG_PATIENCE, Connection
from ordito.client.errors import ServerError
from ordito.results.failure import Failure
from ordito.results.served import MeData

WAIT = 20
"""Seconds that one question waits for the confirmation."""


class Login(msgspec.Struct, frozen=True):
    """A sign-in that waits to be confirmed."""

    id: str
    code: str
    secret: str
    seconds: int

    @property
    def shown(self) -> str:
        """The code as people read it."""
        half = len(self.code) // 2
        return f"{self.code[:half]}-{self.code[half:]}"


class LoginState(msgspec.Struct, frozen=True):
    """Whether it is confirmed."""

    user: str
    token: str | None
    expires: str


class WaitingLogin(msgspec.Struct, frozen=True):
    """What wants to sign in with a code."""

    id: str
    name: str
    address: str
    expires: str


class _Token(msgspec.Struct, frozen=True):
    token: str


def own_name() -> str:
    """What a token of this command is called."""
    return f"ordito on {socket.gethostname()}"[:80]


def by_code(url: str, tell: Callable[[Login], None]) -> tuple[str, str]:
    """Sign in as whoever confirms the code that ``tell`` shows: the user, and the token. Raises ``ServerError``."""
    connection = Connection(url)
    login = connection.do("POST", "/logins", Login, {"name": own_name()})
    tell(login)
    while True:
        headers = {"Ordito-Login": login.secret}
        answer = connection.ask("GET", f"/logins/{login.id}", query={"wait": WAIT}, headers=headers,
                                patience=LONG_PATIENCE)  # fmt: skip
        state = msgspec.json.decode(answer.body, type=LoginState)
        if state.token is not None:
            return state.user, state.token


def by_link(url: str, secret: str) -> tuple[str, str]:
    """Sign in with the secret of a one-time link: the user, and a new token. Raises ``ServerError``."""
    connection, own = Connection(url), {"Origin": url}
    begun = connection.ask("POST", "/sessions", body={"link": secret}, headers=own)
    own["Cookie"] = begun.headers.get("set-cookie", "").partition(";")[0]
    made = connection.ask("POST", "/me/tokens", body={"name": own_name()}, headers=own)
    connection.ask("DELETE", "/sessions/current", headers=own)
    token = msgspec.json.decode(made.body, type=_Token).token
    return Connection(url, token).get("/me", MeData).name, token


def by_token(url: str, token: str) -> str:
    """Who a token is of. Raises ``ServerError``."""
    if not token.isascii() or not token.isprintable() or " " in token or not token:
        raise ServerError(Failure("bad-credentials", "what was given is no token", "a token is one word"))
    return Connection(url, token).get("/me", MeData).name


def waiting_with(connection: Connection, code: str) -> WaitingLogin:
    """What wants to sign in with a code. Raises ``ServerError``."""
    return connection.get("/logins", WaitingLogin, {"code": code})


def confirm(connection: Connection, login: WaitingLogin, code: str) -> None:
    """Confirm a sign-in. Raises ``ServerError``."""
    connection.ask("POST", f"/logins/{login.id}/confirm", body={"code": code})


def sign_out(url: str, token: str) -> bool:
    """End a token; whether it was still valid. Raises ``ServerError``."""
    connection = Connection(url, token)
    try:
        kind, _, name = connection.get("/me", MeData).by.partition(" ")
        if kind == "token":
            connection.ask("DELETE", f"/me/tokens/{name}")
    except ServerError as error:
        if error.failure.code == "expired":
            return False
        raise
    return True
