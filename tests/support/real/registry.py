"""A registry of images on loopback, as far as pulling goes: what an engine has pushed into a folder, behind a password.

It serves the layout that ``podman push dir:`` writes: a manifest, and blobs by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec

USER, PASSWORD = "shopper", "c4nary-of-the-registry"
EXPECTED = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Registry(msgspec.Struct):
    """A registry that serves the image of a folder as ``image`` with the tag ``1``: its address, and the paths that
    were asked for with the password and without."""

    folder: Path
    image: str
    address: str = ""
    answered: list[str] = []
    refused: list[str] = []

    def found(self, path: str) -> tuple[str, bytes] | None:
        """What is at a path: its media type and its bytes."""
        if path == "/v2/":
            return "application/json", b"{}"
        manifest = (self.folder / "manifest.json").read_bytes()
        last = path.removeprefix(f"/v2/{self.image}/")
        if last in {"manifests/1", f"manifests/{_digest(manifest)}"}:
            return str(msgspec.json.decode(manifest).get("mediaType") or MANIFEST), manifest
        blob = self.folder / last.removeprefix("blobs/sha256:")
        return ("application/octet-stream", blob.read_bytes()) if blob.is_file() else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: Registry

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if self.headers.get("Authorization") != EXPECTED:
            self.registry.refused.append(self.path)
            self._send(401, "text/plain", b"", {"WWW-Authenticate": 'Basic realm="tests"'}, with_body=with_body)
            return
        self.registry.answered.append(self.path)
        found = self.registry.found(self.path)
        kind, body = found or ("text/plain", b"")
        more = {"Docker-Content-Digest": _digest(body)} if found else {}
        self._send(200 if found else 404, kind, body, more, with_body=with_body)

    def _send(self, status: int, kind: str, body: bytes, more: dict[str, str], *, with_body: bool) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the name of the library)
        """Nothing: what was asked for is kept."""


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextmanager
def serving(folder: Path, image: str) -> Iterator[Registry]:
    """Serve the one image that was written into a folder."""
    told = Registry(folder, image)
    handler = type("Handler", (_Handler,), {"registry": told})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    told.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
