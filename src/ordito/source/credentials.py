"""Credentials of repositories (§3.6.6, §5.3.2), and how they are sent to a server."""

from __future__ import annotations

import base64

from ordito.source.nodes import Mapping, Node, Scalar, is_null

DEFAULT_TYPE = "password"
TYPES = ("basic_auth", "bearer", "password", "X-Auth-Token")


class Credential:
    """A ``tosca.datatypes.Credential``. It has no readable form, so that no message can show its token."""

    __slots__ = ("_token", "_user", "type")

    def __init__(self, token: str, type: str = DEFAULT_TYPE, user: str = "") -> None:
        self._token = token
        self.type = type or DEFAULT_TYPE
        self._user = user

    def account(self) -> dict[str, str]:
        """The user and the token, for a log-in other than by an HTTP header."""
        return {"user": self._user, "token": self._token}

    def secrets(self) -> tuple[str, ...]:
        """The texts to mask in what servers and git print: the token, and the forms in which it is sent."""
        return tuple(text for text in (self._token, _basic(f"{self._user}:{self._token}")[6:]) if text)

    def header(self) -> tuple[str, str]:
        """The header of an HTTP request that carries it. Raises ``ValueError``, whose text does not show it."""
        kind = self.type.casefold()
        if not all(letter.isprintable() and ord(letter) < 0x100 for letter in self._token + self._user):
            raise ValueError("the token or the user of its repository holds characters that cannot be sent")
        if kind == "bearer":
            return "Authorization", f"Bearer {self._token}"
        if kind == "x-auth-token":
            return "X-Auth-Token", self._token
        if kind == "basic_auth" and not self._user:
            return "Authorization", _basic(self._token)
        if kind in {"basic_auth", "password"}:
            return "Authorization", _basic(f"{self._user}:{self._token}")
        raise ValueError(f'a token of the type "{self.type}" cannot be sent to an HTTP server: {", ".join(TYPES)} can')


def _basic(text: str) -> str:
    return f"Basic {base64.b64encode(text.encode('utf-8')).decode('ascii')}"


def read_credential(node: Node | None) -> Credential | None:
    """The credential that is written in a node; None where there is none, or none that can be used. Whether it fits the
    data type is checked later, where types are known."""
    if not isinstance(node, Mapping):
        return None
    texts = {
        name: value.text
        for name in ("token", "token_type", "user")
        if isinstance(value := node.values.get(name), Scalar) and not is_null(value)
    }
    if "token" not in texts:
        return None
    return Credential(texts["token"], texts.get("token_type", ""), texts.get("user", ""))
