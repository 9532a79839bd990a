"""One request to a URL: to an address that was looked at, without redirects, bounded in time and bytes."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from http.client import HTTPException

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from ordito.server.outgoing.egress import permitted_addresses, port_of, split_url
from ordito.source.egress import PORTS, bracketed, normal_host

SECONDS = 10.0
MOST_BYTES = 64 << 10
"""How much of the answer of a receiver is read. Nothing of it is kept or shown."""

SCHEMES = ("https", "http")


class PostFailed(Exception):
    """No answer came; ``message`` says why."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def post(url: str, body: bytes, headers: Mapping[str, str], egress: Collection[str], seconds: float = SECONDS) -> int:
    """The status with which a receiver answers. It waits, so it is called in a thread. Raises ``PostFailed``, and
    ``ApiProblem`` for what must not be reached."""
    return asked("POST", url, body, headers, egress, seconds=seconds)[0]


def asked(
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    egress: Collection[str],
    *,
    seconds: float = SECONDS,
    most: int = MOST_BYTES,
) -> tuple[int, bytes]:
    """The status of an answer, and at most so many bytes of it. Waits and raises as ``post``."""
    parts = split_url(url, SCHEMES)
    host, port = parts.hostname or "", port_of(parts)
    until = time.monotonic() + seconds
    addresses = permitted_addresses(host, port, egress)
    try:
        with _connected(addresses, port, until) as opened:
            connection = _connection(parts.scheme, normal_host(host), port, opened)
            named = bracketed(normal_host(host)) + ("" if port == PORTS[parts.scheme] else f":{port}")
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            sent = {"Host": named, "User-Agent": "ordito", "Connection": "close", **headers}
            connection.request(method, path, body=body, headers=sent, preload_content=False)
            answer = connection.getresponse()
            if time.monotonic() >= until:
                # What was cut off in the middle of its head looks like a whole one.
                raise TimeoutError
            # A receiver that is still sending when the socket is closed would see that as a failure.
            return answer.status, answer.read(most, decode_content=False)
    except ssl.SSLCertVerificationError as error:
        raise PostFailed(f"the certificate of {host} is not valid: {error.verify_message}") from error
    except (OSError, HTTPError, HTTPException, ValueError) as error:
        if time.monotonic() >= until:
            raise PostFailed(f"{host} did not answer within {seconds:g} s") from error
        raise PostFailed(f"{host} port {port} cannot be talked to: {_reason(error)}") from error


@contextlib.contextmanager
def _connected(addresses: Collection[str], port: int, until: float) -> Iterator[socket.socket]:
    """A connection to the first of the addresses that answers, which ends when the time is over: a timeout of a socket
    is one for each byte."""
    opened = _first(addresses, port, until)
    # What wraps the socket takes its descriptor over; this one stays ours.
    spare = socket.socket(fileno=os.dup(opened.fileno()))
    watch = threading.Timer(max(0.0, until - time.monotonic()), _end, (spare,))
    watch.daemon = True
    watch.start()
    try:
        yield opened
    finally:
        watch.cancel()
        watch.join()
        _end(spare)
        spare.close()
        opened.close()


def _end(opened: socket.socket) -> None:
    with contextlib.suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)


def _first(addresses: Collection[str], port: int, until: float) -> socket.socket:
    failed: OSError = OSError("it has no address")
    for address in addresses:
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            return socket.create_connection((address, port), left)
        except OSError as error:
            failed = error
    raise failed


def _connection(scheme: str, host: str, port: int, opened: socket.socket) -> HTTPConnection:
    if scheme == "http":
        return _Plain(opened, host, port)
    return _Secure(opened, host, port, ssl_context=ssl.create_default_context(), cert_reqs="CERT_REQUIRED")


class _Plain(HTTPConnection):
    """A connection that is open already."""

    def __init__(self, opened: socket.socket, host: str, port: int) -> None:
        super().__init__(host, port, timeout=opened.gettimeout())
        self._opened = opened

    def _new_conn(self) -> socket.socket:
        return self._opened


class _Secure(HTTPSConnection):
    """The same with TLS: the certificate must be that of the name, whatever the address is."""

    def __init__(self, opened: socket.socket, host: str, port: int, **more: object) -> None:
        super().__init__(host, port, timeout=opened.gettimeout(), **more)  # type: ignore[arg-type]
        self._opened = opened

    def _new_conn(self) -> socket.socket:
        return self._opened


def _reason(error: Exception) -> str:
    """Why it failed, in words that hold nothing of the URL or of what was answered."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "the connection was closed" if isinstance(error, OSError) else "the answer is no HTTP"
