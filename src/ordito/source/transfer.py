"""Fetches files over HTTP, with limits for size, time and redirects.

URLs in a template are fetched only where the user allows it. A credential is sent only to the server of the repository
that it belongs to, also after a redirect.
"""

from __future__ import annotations

import http.client
import io
import os
import socket
import ssl
import tempfile
import threading
import urllib.error
import urllib.request
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, cast
from urllib.parse import urljoin, urlsplit

from ordito import __version__
from ordito.source.credentials import Credential
from ordito.source.egress import addresses_of
from ordito.source.fetch import SCHEMES, FetchFailed, FetchLimits

MOST_REDIRECTS = 5
MOST_REQUESTS = 1_000
IDLE_SECONDS = 10.0
"""How long the server may send nothing."""
BLOCK = 1 << 16
MOST_IN_MEMORY = 8 << 20


class Fetched:
    """The content of an answer, in memory, or if it is large in a file without a name that disappears with the process.
    The media type is in lower case and without parameters, "" where the server gives none."""

    def __init__(self, pieces: Iterable[bytes], kind: str) -> None:
        self.kind = kind
        self._content = bytearray()
        self._file: BinaryIO | None = None
        for piece in pieces:
            if self._file is None and len(self._content) + len(piece) > MOST_IN_MEMORY:
                self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
                weakref.finalize(self, self._file.close)
                self._file.write(self._content)
                self._content.clear()
            if self._file is None:
                self._content += piece
            else:
                self._file.write(piece)
        if self._file is not None:
            self._file.flush()

    def open(self) -> BinaryIO:
        """The whole content, from its beginning."""
        if self._file is None:
            return io.BytesIO(self._content)
        return cast("BinaryIO", io.BufferedReader(_FileView(self._file)))


class _FileView(io.RawIOBase):
    """A file read from its beginning, whoever else reads it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = os.pread(self._file.fileno(), len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class Fetcher:
    """Fetches over HTTP, with the credentials of repositories."""

    def __init__(self) -> None:
        self._credentials: dict[str, Credential] = {}
        self._requests = 0

    def add_credential(self, base: str, credential: Credential) -> None:
        """Set the credential for everything below a URL."""
        self._credentials[base.rstrip("/") + "/"] = credential

    def fetch(self, url: str, limits: FetchLimits) -> Fetched:
        """Fetch a URL. Raises ``FetchFailed``."""
        self._requests += 1
        if self._requests > MOST_REQUESTS:
            raise FetchFailed(f"a service may fetch {MOST_REQUESTS:,} files at most")
        transfer = _Transfer(url, self._header(url), limits)
        # In a thread: neither finding the address of a host nor a server that sends a byte now and then can be
        # interrupted otherwise.
        worker = threading.Thread(target=transfer.run, name="fetch", daemon=True)
        worker.start()
        worker.join(limits.seconds)
        if transfer.result is None:
            transfer.stopped.set()
            raise FetchFailed(f"it did not come within {limits.seconds:g} seconds", "check whether the server works")
        if isinstance(transfer.result, FetchFailed):
            raise transfer.result
        return transfer.result

    def _header(self, url: str) -> tuple[str, str] | None:
        """What is shown to the server of a URL: the credential of the nearest repository that it lies in."""
        within = [base for base in self._credentials if url.startswith(base)]
        if not within:
            return None
        try:
            return self._credentials[max(within, key=len)].header()
        except ValueError as error:
            raise FetchFailed(str(error)) from None


class _Transfer:
    """One file on its way."""

    def __init__(self, url: str, header: tuple[str, str] | None, limits: FetchLimits) -> None:
        self._url = url
        self._header = header
        self._limits = limits
        self.stopped = threading.Event()
        self.result: Fetched | FetchFailed | None = None

    def run(self) -> None:
        """Fetch it."""
        try:
            self.result = self._fetch()
        except FetchFailed as failure:
            self.result = failure
        except TimeoutError:
            self.result = FetchFailed("the server does not answer", "check whether it works")
        except urllib.error.URLError as error:
            self.result = FetchFailed(_reason(error.reason), "check the address, and whether the server works")
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.result = FetchFailed(_reason(error))

    def _fetch(self) -> Fetched:
        url, header = self._url, self._header
        for _ in range(MOST_REDIRECTS + 1):
            target = self._ask(url, header)
            if isinstance(target, Fetched):
                return target
            if origin(target) != origin(url):
                header = None
            url = target
        raise FetchFailed(f"the server redirects more than {MOST_REDIRECTS} times")

    def _ask(self, url: str, header: tuple[str, str] | None) -> Fetched | str:
        """One request: the answer, or the URL that the server sends on to."""
        request = urllib.request.Request(url, headers={"User-Agent": f"ordito/{__version__}", "Accept": "*/*"})
        if header is not None:
            # Not redirected: what follows a redirect is decided here.
            request.add_unredirected_header(*header)
        addresses = addresses_of(url)
        try:
            with (_opener() if addresses is None else _opener_to(addresses)).open(
                request, timeout=IDLE_SECONDS
            ) as answer:
                return self._receive(answer)
        except urllib.error.HTTPError as error:
            with error:
                return _sent_on(url, error)

    def _receive(self, answer: http.client.HTTPResponse) -> Fetched:
        kind = answer.headers.get_content_type() if "Content-Type" in answer.headers else ""
        return Fetched(self._pieces(answer), kind)

    def _pieces(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        """What comes, piece by piece, as far as it may."""
        most = self._limits.most_bytes
        length = 0
        while block := answer.read1(BLOCK):
            length += len(block)
            if length > most:
                raise FetchFailed(f"it is larger than {most:,} bytes, the most that is fetched")
            if self.stopped.is_set():
                return  # Its time is over, which has been said: nobody looks at what comes now.
            yield block
        promised = answer.headers.get("Content-Length", "")
        if promised.isdecimal() and int(promised) != length:
            raise FetchFailed(f"the connection broke off after {length:,} of {int(promised):,} bytes")


def _opener() -> urllib.request.OpenerDirector:
    """What opens HTTP URLs and nothing else, through the proxies that the environment names, and follows nothing."""
    return _opening(urllib.request.ProxyHandler(), urllib.request.HTTPHandler(), urllib.request.HTTPSHandler())


def _opener_to(addresses: Sequence[str]) -> urllib.request.OpenerDirector:
    """The same, which connects to these addresses, whatever the name of the host leads to meanwhile."""
    return _opening(_PlainTo(addresses), _SecureTo(addresses))


def _opening(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (
        *handlers,
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


class _PlainTo(urllib.request.HTTPHandler):
    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__()
        self._addresses = addresses

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_PlainConnection, addresses=self._addresses), req)


class _SecureTo(urllib.request.HTTPSHandler):
    def __init__(self, addresses: Sequence[str]) -> None:
        super().__init__()
        self._addresses = addresses

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(_SecureConnection, addresses=self._addresses), req)


class _PlainConnection(http.client.HTTPConnection):
    def __init__(self, host: str, *, timeout: float, addresses: Sequence[str]) -> None:
        super().__init__(host, timeout=timeout)
        self._addresses = addresses

    def connect(self) -> None:
        self.sock = _connected(self._addresses, self.port, self.timeout)


class _SecureConnection(http.client.HTTPSConnection):
    """The certificate must be that of the name, whatever the address is."""

    def __init__(self, host: str, *, timeout: float, addresses: Sequence[str]) -> None:
        super().__init__(host, timeout=timeout)
        self._addresses = addresses

    def connect(self) -> None:
        opened = _connected(self._addresses, self.port, self.timeout)
        self.sock = ssl.create_default_context().wrap_socket(opened, server_hostname=self.host)


def _connected(addresses: Sequence[str], port: int, seconds: float | None) -> socket.socket:
    failed: OSError | None = None
    for address in addresses:
        try:
            return socket.create_connection((address, port), seconds)
        except OSError as error:
            failed = error
    raise failed or OSError("its name has no address")


def _sent_on(url: str, error: urllib.error.HTTPError) -> str:
    """The URL that a server sends on to. Raises ``FetchFailed`` for any other answer."""
    if error.code in {301, 302, 303, 307, 308} and (location := error.headers.get("Location")):
        target = urljoin(url, location)
        if urlsplit(target).scheme not in SCHEMES or not urlsplit(target).hostname:
            raise FetchFailed("the server redirects to an address that is not HTTP")
        return target
    hint = ""
    if error.code in {401, 403, 407}:
        hint = "give the repository a credential that the server accepts"
    elif error.code == 404:
        hint = "check the address"
    raise FetchFailed(f"the server answers {error.code} {error.reason}", hint)


def origin(url: str) -> tuple[str, str, int]:
    """The server of a URL: scheme, host and port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _reason(error: object) -> str:
    if isinstance(error, socket.gaierror):
        return "the address of its host is not known"
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
