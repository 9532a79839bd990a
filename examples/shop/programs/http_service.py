"""What the programs of the shop's three servers share.

A program calls `begin`, which makes the process the one server of its directory, and then `serve` with a function
that answers requests. `send` asks another server. Every connection carries one request, so a server that is told to
end has only to answer what it has begun.
"""

import argparse
import fcntl
import http.client
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import NamedTuple
from urllib.parse import urlsplit

LARGEST_BODY = 1_000_000
SECONDS_FOR_A_REQUEST = 5
SECONDS_FOR_AN_ANSWER = 10

# What a header of these names says holds for one connection only, or is said again by each server.
NOT_PASSED_ON = {
    "Connection", "Date", "Expect", "Host", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
    "Proxy-Connection", "Server", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}  # fmt: skip


class Request(NamedTuple):
    """The names of headers are written Like-This, whatever way they came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Reply(NamedTuple):
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = {}


Application = Callable[[Request], Reply]


class Unreachable(Exception):
    """The other server took no connection, so it has not seen the request."""


def begin(description: str, *, needs: str) -> argparse.Namespace:
    """Read the command line, whose own option is `--<needs>`, and become the one server of the directory it names.

    If another process is that already, this one ends, with success: what was wanted is there.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--directory", type=Path, required=True, help="where the file `pid` is kept")
    parser.add_argument("--name", required=True, help="the name that the server answers with")
    parser.add_argument("--address", required=True, help="the address to listen on")
    parser.add_argument("--port", type=int, required=True, help="the port to listen on")
    parser.add_argument(f"--{needs}", required=True)
    options = parser.parse_args()
    # Whoever started the server must not wait for the end of a file that it happens to have inherited.
    os.closerange(3, 1024)
    claim(options.directory / "pid")
    return options


def claim(pid_file: Path) -> None:
    """Lock the file until this process ends, and write the process id into it."""
    file = os.open(pid_file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another server runs in {pid_file.parent}", flush=True)
        sys.exit(0)
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def serve(options: argparse.Namespace, application: Application) -> None:
    """Answer requests until the process is told to end; then answer those that have begun, and return."""
    try:
        server = Server((options.address, options.port), Handler)
    except OSError as error:
        sys.exit(f"cannot listen on {options.address}:{options.port}: {error.strerror}")
    server.name = options.name
    server.application = application

    def end(*_: object) -> None:
        # `shutdown` waits for the loop of the main thread, which is the one that runs signal handlers.
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with server:
        print(f"{options.name} listens on {options.address}:{options.port}", flush=True)
        server.serve_forever(poll_interval=0.1)
    print(f"{options.name} has ended", flush=True)


def send(base_url: str, request: Request) -> Reply:
    """Send the request to another server and return its answer.

    Raises `Unreachable` if it cannot be asked, and `OSError` or `HTTPException` if it was asked and did not answer.
    """
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=SECONDS_FOR_AN_ANSWER)
    try:
        connection.connect()
    except OSError as error:
        raise Unreachable(f"{base_url}: {error}") from error
    try:
        headers = {**passed_on(request.headers), "Connection": "close"}
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        return Reply(response.status, response.read(), passed_on(titled(response.getheaders())))
    finally:
        connection.close()


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in NOT_PASSED_ON}


def titled(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.title(): value for name, value in headers}


def text(status: int, words: str) -> Reply:
    return Reply(status, f"{words}\n".encode(), {"Content-Type": "text/plain; charset=utf-8"})


class Server(ThreadingMixIn, TCPServer):
    """A thread per connection, and all of them are waited for when the server is closed."""

    allow_reuse_address = True
    daemon_threads = False
    request_queue_size = 128
    name: str
    application: Application

    def handle_error(self, request: object, client_address: object) -> None:
        print(f"a request of {client_address} broke off: {sys.exc_info()[1]!r}", flush=True)


class Handler(BaseHTTPRequestHandler):
    """Read one request, have it answered by the application, and name the server in the answer."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS_FOR_A_REQUEST
    server: Server

    def answer(self) -> None:
        reply = self.reply()
        self.send_response(reply.status)
        for name, value in self.usual_headers(reply).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_DELETE = do_GET = do_HEAD = do_OPTIONS = do_PATCH = do_POST = do_PUT = answer  # noqa: N815 (the names that http.server calls)

    def reply(self) -> Reply:
        if self.path == "/health":
            return text(200, f"{self.server.name} {os.getpid()}")
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            return text(411, "say how long the body is")
        if int(length) > LARGEST_BODY:
            return text(413, f"more than {LARGEST_BODY} bytes are not taken")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return text(400, "the body is shorter than announced")
        # An answer to HEAD is the one to GET, and only its body is not sent.
        method = "GET" if self.command == "HEAD" else self.command
        return self.server.application(Request(method, self.path, titled(self.headers.items()), body))

    def usual_headers(self, reply: Reply) -> dict[str, str]:
        usual = {"X-Served-By": self.server.name, "Content-Length": str(len(reply.body))}
        return {**usual, **reply.headers, "Connection": "close"}

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        # Whether the server answers is asked too often to be worth a line. A broken request has no path.
        if getattr(self, "path", "") != "/health":
            super().log_request(code, size)
