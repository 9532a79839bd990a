"""A receiver of webhooks: a real HTTP server on loopback that keeps what it gets and answers as it is told."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

SECONDS = 30.0


class Received(msgspec.Struct, frozen=True):
    """A request that came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """Its JSON."""
        return json.loads(self.body)


class Receiver:
    """What came, and the answers to what comes: each a status, the last one for all further ones."""

    def __init__(self, *, context: ssl.SSLContext | None = None) -> None:
        self.statuses = [200]
        self.more_headers: dict[str, str] = {}
        self.answer = b""
        self._came: queue.Queue[Received] = queue.Queue()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer._came.put(Received(self.path, dict(self.headers.items()), body))
                status = outer.statuses.pop(0) if len(outer.statuses) > 1 else outer.statuses[0]
                self.send_response(status)
                for name, value in outer.more_headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(outer.answer)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(outer.answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def url(self, path: str = "/hook") -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.port}{path}"

    def next(self) -> Received:
        """The next request, which may still be on its way."""
        return self._came.get(timeout=SECONDS)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come that was not taken."""
        return self._came.empty()

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Receiver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def talking(talk: Callable[[socket.socket], None]) -> Iterator[int]:
    """A server that talks as it is told on its first connection, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                opened, _ = listener.accept()
                with opened:
                    talk(opened)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(SECONDS)
