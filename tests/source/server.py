"""A web server for tests, in this process, on an address that only this machine reaches."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """What a server gives, by path, and what it was asked: each path with the headers of the request."""

    def __init__(self, port: int, files: Mapping[str, str | bytes | Answer]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.files = dict(files)
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self.released = threading.Event()
        """What answers of a test may wait for; set at its end."""

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextlib.contextmanager
def serving(files: Mapping[str, str | bytes | Answer] | None = None) -> Iterator[Server]:
    """Serve files; those that are functions answer themselves."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            server.asked.append((self.path, dict(self.headers)))
            found = server.files.get(self.path.partition("?")[0])
            if found is None:
                self.send_error(404)
            elif callable(found):
                found(self)
            else:
                give(found)(self)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that goes away is no matter."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    server = Server(listening.server_address[1], files or {})
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        listening.shutdown()
        thread.join()
        listening.server_close()


def give(content: str | bytes, code: int = 200, **headers: str) -> Answer:
    """Answer with a content; underscores in names of headers stand for dashes."""
    data = content.encode() if isinstance(content, str) else content

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in ({"Content_Length": str(len(data))} | headers).items():
            if value:
                handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def send_on(target: str, code: int = 302) -> Answer:
    """Answer with a redirect."""
    return give("", code, Location=target)
