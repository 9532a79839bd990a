"""One server: asks it over HTTP, again where an answer is lost, and tells why it refuses."""

from __future__ import annotations

import os
import random
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec
import urllib3
from urllib3.exceptions import HTTPError, LocationValueError, NewConnectionError, ProtocolError, SSLError

from ordito import __version__
from ordito.client.errors import ServerError, unreachable
from ordito.results.failure import Failure, NextStep
from ordito.results.findings import FindingData

T = TypeVar("T")

API = "/api/v1"
JSON = "application/json"

CONNECTIONS = 2
"""How many are kept open: one for what is followed, one for what is asked meanwhile."""

CONNECT, READ = 10.0, 60.0
"""Seconds that a connection, and the next piece of an answer, may take."""

SILENCE = 5.0
"""Seconds after which it is said that a server does not answer."""

PATIENCE = 3.0
"""Seconds for which a question is asked again where no answer comes."""

LONG_PATIENCE = 15 * 60.0
"""The same once something was begun: a network may be away for long, and what was begun goes on meanwhile."""

LONGEST_PAUSE = 30.0

_AGAIN = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE,
                    HTTPStatus.GATEWAY_TIMEOUT})  # fmt: skip
"""With these a server says that it can be asked again later."""

_CHANGING = frozenset({"POST"})
"""The methods that are only safe to repeat with a key."""

Query = Mapping[str, object]
NO_QUERY: Query = {}
NO_HEADERS: Mapping[str, str] = {}

SIGNED_OUT = frozenset({"signed-out", "expired"})


ARCHIVES = (".csar", ".zip")

_PACKAGE = re.compile(rb"(?:\.\./|[\w.-]+/)*packages/[0-9a-f]{2}/([0-9a-f]{64})\.csar(:/)?")
"""Where a server keeps a package, as its messages name it from the directory of an ensemble."""


class ServerAnswer(msgspec.Struct, frozen=True):
    """What a server has answered, where it did what was asked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Problem(msgspec.Struct):
    """What is read of a problem (RFC 9457)."""

    code: str
    detail: str
    hint: str = ""
    next: tuple[NextStep, ...] = ()
    diagnostics: tuple[FindingData, ...] = ()


class Absence:
    """A server that does not answer: that is said once, after a while, and once that it answers again."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._since: float | None = None
        self._is_said = False
        self.tell: Callable[[str], None] = _to_nobody
        """Is given each text."""

    def failed(self, error: ServerError, until: float) -> None:
        """An attempt has failed, and there are further ones ``until`` then."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if self._is_said or now - self._since < SILENCE:
            return
        self._is_said = True
        minutes = max(1, round((until - now) / 60))
        what = error.failure.message
        again = f"it is asked again for {minutes} more minute{'s' if minutes > 1 else ''}"
        self.tell(f"{what[:1].upper()}{what[1:]}. What was begun there goes on; {again}.")

    def ended(self) -> None:
        """The server has answered."""
        self._since = None
        if self._is_said:
            self._is_said = False
            self.tell(f"The server {self._url} answers again.")


def _to_nobody(_: str) -> None:
    pass


class ServerConnection:
    """A server, and the token with which it is asked, "" for none. The certificate of the server must be one that this
    system trusts. Everything raises ``ServerError``."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url
        self._token = token
        self._pool = _pool_for(url)
        self.absence = Absence(url)
        self.sent: dict[str, str] = {}
        """The services that this command has sent, by the digests of their packages: how the command names them."""

    def get(self, path: str, kind: type[T], query: Query = NO_QUERY, *, patience: float = PATIENCE) -> T:
        """What stands at a path of the API, as a struct."""
        return self.read(self.ask("GET", path, query=query, patience=patience), kind)

    def do(self, method: str, path: str, kind: type[T], body: object = None, *, patience: float = PATIENCE) -> T:
        """Change something, and give what is said of it."""
        return self.read(self.ask(method, path, body=body, patience=patience), kind)

    def all(self, path: str, kind: type[T], query: Query = NO_QUERY) -> Iterator[T]:
        """All items of a list, read part by part."""
        part, after = _part_of(kind), ""
        while True:
            found: Any = self.get(path, part, {**query, "after": after} if after else query)
            yield from found.items
            after = found.next or ""
            if not after:
                return

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Query = NO_QUERY,
        headers: Mapping[str, str] = NO_HEADERS,
        patience: float = PATIENCE,
    ) -> ServerAnswer:
        """Ask, and again for as many seconds as there is ``patience`` where no answer comes: with one key, so that
        nothing is done twice. ``body`` is a struct or plain data, or bytes whose type is among the ``headers``."""
        more = {**self._headers(), "Accept": JSON, "Accept-Encoding": "gzip", **headers}
        if method in _CHANGING:
            more.setdefault("Idempotency-Key", secrets.token_hex(16))
        content = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        if content is not None:
            more.setdefault("Content-Type", JSON)
        where, until, pauses = self._where(path, query), time.monotonic() + patience, pauses_between()
        is_repeated = False
        while True:
            try:
                found = self._pool.request(method, where, body=content, headers=more)
            except HTTPError as error:
                self._give_up(error, time.monotonic() >= until)
                self.absence.failed(self._failed(error), until)
                pause = next(pauses)
            else:
                if method == "DELETE" and is_repeated and found.status == HTTPStatus.NOT_FOUND:
                    # The answer that was lost said that it is gone.
                    return ServerAnswer(HTTPStatus.NO_CONTENT, found.headers, b"")
                if found.status < HTTPStatus.MULTIPLE_CHOICES:
                    self.absence.ended()
                    return ServerAnswer(found.status, found.headers, found.data)
                problem = self._problem(found.status, found.headers, found.data)
                is_later = found.status in _AGAIN or problem.failure.code == "in-progress"
                if not is_later or time.monotonic() >= until:
                    raise problem
                self.absence.failed(problem, until)
                pause = _asked_pause(found.headers) or next(pauses)
            is_repeated = True
            time.sleep(max(0.0, min(pause, until - time.monotonic())))

    def lines(self, path: str, query: Query, accept: str) -> Iterator[bytes]:
        """The lines of a stream, without their ends, as long as it lasts. It is not opened again here."""
        headers = {**self._headers(), "Accept": accept}
        try:
            found = self._pool.request("GET", self._where(path, query), headers=headers, preload_content=False)
            try:
                if found.status != HTTPStatus.OK:
                    raise self._problem(found.status, found.headers, found.data)
                rest = b""
                for piece in found.stream(1 << 16):
                    *lines, rest = (rest + piece).split(b"\n")
                    yield from map(self.as_here, lines)
            finally:
                found.close()
        except HTTPError as error:
            raise self._failed(error) from error

    def another(self) -> ServerConnection:
        """The same server, for another thread."""
        found = ServerConnection(self.url, self._token)
        found.sent = self.sent
        return found

    def as_here(self, text: bytes) -> bytes:
        """JSON of an answer, with the files of packages named as they are called here: by the service that was sent, or
        within their package. Where a server keeps packages means nothing to anybody."""
        return _PACKAGE.sub(self._named, text) if b".csar" in text else text

    def _named(self, found: re.Match[bytes]) -> bytes:
        name = self.sent.get(found[1].decode())
        if name is None:
            return b"" if found[2] else b"package " + found[1][:12]
        if found[2] and not name.endswith(ARCHIVES):
            return _in_json(os.path.join(name, "")) if name != "." else b""  # noqa: PTH118
        return _in_json(name) + (found[2] or b"")

    def close(self) -> None:
        """Close what is open."""
        self._pool.clear()

    def _where(self, path: str, query: Query) -> str:
        texts = {name: _query_value(value) for name, value in query.items() if value is not None}
        return f"{self.url}{API}{path}" + (f"?{urlencode(texts, doseq=True)}" if texts else "")

    def _headers(self) -> dict[str, str]:
        signed = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        return {"User-Agent": f"ordito/{__version__}", **signed}

    def read(self, answer: ServerAnswer, kind: type[T]) -> T:
        """An answer as a struct. Raises ``ServerError``."""
        if not answer.body and kind is type(None):
            return kind()
        try:
            return msgspec.json.decode(self.as_here(answer.body), type=kind)
        except msgspec.DecodeError as error:
            raise self._stranger(f"its answer is not understood ({error})") from None

    def _problem(self, status: int, headers: Mapping[str, str], body: bytes) -> ServerError:
        """Why the server did not do it."""
        try:
            if "json" not in headers.get("content-type", ""):
                raise msgspec.DecodeError
            found = msgspec.json.decode(self.as_here(body), type=_Problem)
        except msgspec.DecodeError:
            said = f"it answers {status} {_phrase(status)}".rstrip()
            if status in _AGAIN:
                return unreachable(self.url, said, "try again when it runs")
            return self._stranger(said)
        # A command signs in by a verb of its own, whatever other clients do.
        sign_in = f"sign in with `ordito login {self.url}`, or give a token in the variable ORDITO_TOKEN"
        hint = sign_in if found.code in SIGNED_OUT else found.hint
        # A request without a command is for programs.
        ways = tuple(step for step in found.next if step.words or not step.path)
        failure = Failure(found.code, found.detail, hint, ways)
        return ServerError(failure, found.diagnostics, status)

    def _stranger(self, said: str) -> ServerError:
        return unreachable(self.url, said, "look whether this is the URL that `ordito serve` has printed")

    def _give_up(self, error: HTTPError, is_over: bool) -> None:
        """Raise what has failed, unless it may be different after a while."""
        if is_over or isinstance(error, SSLError | LocationValueError):
            raise self._failed(error) from error

    def _failed(self, error: HTTPError) -> ServerError:
        if isinstance(error, SSLError):
            hint = "its certificate must be of an authority that this system trusts; SSL_CERT_FILE names further ones"
            return unreachable(self.url, f"no trusted connection ({_cause(error)})", hint)
        if isinstance(error, LocationValueError):
            return unreachable(self.url, "this is no URL of a server", "write it as in https://ordito.example.org")
        return unreachable(self.url, _cause(error), "look whether it runs, and whether the network leads there")


def _in_json(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def pauses_between() -> Iterator[float]:
    """Seconds to wait before each further attempt: 1, 2, 4 and so on up to 30, none like another, so that many who wait
    do not come at once. The first attempt comes soon, since most breaks are short."""
    yield 0.1 + random.random() * 0.1
    pause = 1.0
    while True:
        yield pause * (0.75 + random.random() * 0.5)
        pause = min(pause * 2, LONGEST_PAUSE)


def in_path(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe=":@")


def _pool_for(url: str) -> urllib3.PoolManager:
    timeout = urllib3.Timeout(connect=CONNECT, read=READ)
    if any(name.lower().endswith("_proxy") for name in os.environ):
        # It costs as much to import as a third of all the rest.
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(url)
        proxy = getproxies().get(parts.scheme, "")
        if proxy and not proxy_bypass(parts.hostname or ""):
            return urllib3.ProxyManager(proxy, retries=False, timeout=timeout, maxsize=CONNECTIONS)
    return urllib3.PoolManager(retries=False, timeout=timeout, maxsize=CONNECTIONS)


def _part_of(kind: type[T]) -> Any:
    """The type of a part of a list."""
    return msgspec.defstruct("Part", [("items", tuple[kind, ...]), ("next", str | None, None)])  # type: ignore[valid-type]


def _query_value(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return str(value)


def _asked_pause(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks to wait, 0 where it does not say."""
    text = headers.get("retry-after", "")
    return min(float(text), LONGEST_PAUSE) if text.isdecimal() else 0.0


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in set(HTTPStatus) else ""


def _cause(error: HTTPError) -> str:
    """What has failed, without the names of classes and objects of Python."""
    inner: BaseException = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror if isinstance(inner.errno, int) else str(inner)
    if isinstance(error, ProtocolError):
        return "the connection was closed in the middle of an answer"
    if isinstance(error, NewConnectionError):
        return "no connection"
    return "no answer in time" if "timed out" in str(error) else type(error).__name__
