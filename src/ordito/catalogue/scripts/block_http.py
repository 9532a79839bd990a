"""Requests of blocks: answers are what a server said, whatever its status, and redirects are answers too."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import ordito_block as block

MOST_BYTES = 1 << 20
_STATUS = re.compile(r"[1-5](?:[0-9][0-9]|xx)")


@dataclass(frozen=True)
class Answer:
    """What a server answered; of the body the first MiB."""

    status: int
    body: bytes


class Unanswered(Exception):
    """There was no answer; the text says why."""


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Every status is an answer."""

    def http_response(self, _request: Any, response: Any) -> Any:
        return response

    def https_response(self, _request: Any, response: Any) -> Any:
        return response


@dataclass(frozen=True)
class Client:
    """Asks; ``each`` is how long one request may take, in seconds, and ``ca`` a file of certificates to trust."""

    each: float
    ca: str = ""

    def ask(
        self, url: str, headers: Mapping[str, str] = {}, *, method: str = "GET", body: bytes | None = None
    ) -> Answer:
        """Send one request. Raises ``Unanswered``."""
        handlers: list[urllib.request.BaseHandler] = [_AnyStatus()]
        try:
            if self.ca:
                handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=self.ca)))
            url, known = _without_account(url)
            request = urllib.request.Request(url, body, {"User-Agent": "ordito", **known, **headers}, method=method)
            until = time.monotonic() + self.each
            with urllib.request.build_opener(*handlers).open(request, timeout=self.each) as response:
                return Answer(response.status, _body(response, until))
        except urllib.error.URLError as error:
            raise Unanswered(reason(error.reason)) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unanswered(reason(error)) from None


def _without_account(url: str) -> tuple[str, dict[str, str]]:
    """An address without user and password, and the header that they come to."""
    parts = urlsplit(url)
    account, _, host = parts.netloc.rpartition("@")
    if not account:
        return url, {}
    token = base64.b64encode(unquote(account).encode()).decode()
    return parts._replace(netloc=host).geturl(), {"Authorization": f"Basic {token}"}


def _body(response: Any, until: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < MOST_BYTES and (part := response.read1(MOST_BYTES - size)):
        parts.append(part)
        size += len(part)
        if time.monotonic() > until:
            raise TimeoutError("it did not answer in time")
    return b"".join(parts)


def reason(error: object) -> str:
    """Why there was no answer, without what may be secret in an address."""
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {getattr(error, 'verify_message', '') or error.reason or 'it failed'}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, http.client.HTTPException):
        return f"it did not answer as HTTP servers do ({type(error).__name__})"
    return "the address or a header cannot be used" if isinstance(error, ValueError) else str(error)


def statuses(key: str, values: Sequence[str]) -> list[str]:
    """The statuses that are expected, such as 204 or 2xx, checked."""
    for value in values:
        if not _STATUS.fullmatch(value):
            raise block.misconfigured(key, f"{value} is no status", "write a number as 204, or a class as 2xx")
    return list(values)


def is_expected(status: int, wanted: Sequence[str]) -> bool:
    """Whether a status is one of those expected."""
    return any(str(status) == want or (want.endswith("xx") and str(status)[0] == want[0]) for want in wanted)


def shown(url: str) -> str:
    """An address without what may be secret in it: user, password, and what follows the path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def place(url: str) -> str:
    """Where an address leads, without its path: that of a webhook is its secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def checked(key: str, url: str) -> str:
    """An address that can be asked."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise block.misconfigured(key, "this is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise block.misconfigured(key, f"{shown(url)} is no address of HTTP", "begin it with http:// or https://")
    return url
