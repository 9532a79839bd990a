"""Servers of HTTP on loopback that answer as they are told to, and remember what they were asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass
class Answering:
    """A server; ``answer`` gives the status and the body for the path of the n-th request, from 1 on."""

    answer: Callable[[str, int], tuple[int, str]] = lambda _path, _number: (200, "fine")
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Answering:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                outer.asked.append(Asked(self.command, self.path, dict(self.headers.items()), body))
                status, text = outer.answer(self.path, len(outer.asked))
                self.send_response(status)
                if status in (301, 302):
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_PUT = do_PATCH = _do  # noqa: N815  (so they are called by the standard library)

            def log_message(self, format: str, *words: object) -> None:  # noqa: A002  (so it is called there)
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
