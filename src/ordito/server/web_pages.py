"""The pages of the web UI, served from memory as they were built: ``./run web`` makes them of the folder ``web``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ordito.server.compression import taken

FOLDER = Path(__file__).parent / "web"
INDEX = "/index.html"
ASSETS = "/assets/"
PAGES = frozenset({"", "e", "p", "inbox", "jobs", "packages", "admin", "me", "sign-in", "device"})
"""What the addresses of pages begin with. The page itself says which it is: the server gives them all the same."""

ROOTS = ("/api/", "/assets/")
"""What the addresses begin with of what is no page for people."""

ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""The ways in which files were compressed when they were built, the best first, and how the names of those end."""

MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
NOT_BUILT = b"""\
This Ordito was started from a checkout in which the web UI is not built. Build it:

    ./run web

and start the server again. The API and the command need nothing of it.
"""


class WebFile(msgspec.Struct, frozen=True):
    """A file of the web UI, with its content by encoding; "" is the plain one."""

    media: str
    contents: Mapping[str, bytes]
    etag: str
    is_named_by_content: bool
    """Whether its name changes with its content, so that browsers may keep it for ever."""


class WebPages:
    """The files that were built."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = dict(_read(folder)) if folder.is_dir() else {}

    @property
    def is_built(self) -> bool:
        """Whether there is a web UI."""
        return INDEX in self._files

    def answer(self, request: Request) -> Response | None:
        """The response to a request for a page or a file of one, None where there is none of this name."""
        path = request.url.path
        if path.startswith(ASSETS):
            found = self._files.get(path)
            return _response(found, request) if found is not None else None
        if path.split("/")[1] not in PAGES:
            return None
        if not self.is_built:
            return Response(NOT_BUILT, 404, media_type="text/plain; charset=utf-8")
        return _response(self._files[INDEX], request)

    def missing(self, request: Request) -> Response | None:
        """The page that says that there is none, for a browser that was led to an address; None for all others."""
        if not self.is_built or request.url.path.startswith(ROOTS) or not takes_html(request):
            return None
        body = b"" if request.method == "HEAD" else self._files[INDEX].contents[""]
        return Response(body, 404, {"Vary": "Accept"}, self._files[INDEX].media)


def takes_html(request: Request) -> bool:
    """Whether a request is that of a browser for a page."""
    return "text/html" in request.headers.get("accept", "")


def _read(folder: Path) -> list[tuple[str, WebFile]]:
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in ENCODINGS.values():
            continue
        name = f"/{path.relative_to(folder).as_posix()}"
        contents = {"": path.read_bytes()}
        for encoding, ending in ENCODINGS.items():
            packed = path.with_name(path.name + ending)
            if packed.exists():
                contents[encoding] = packed.read_bytes()
        media = MEDIA.get(path.suffix, "application/octet-stream")
        etag = hashlib.sha256(contents[""]).hexdigest()[:20]
        found.append((name, WebFile(media, contents, etag, name.startswith(ASSETS))))
    return found


def _response(file: WebFile, request: Request) -> Response:
    takes = taken(request.headers.get("accept-encoding", ""))
    encoding = next((one for one in ENCODINGS if one in takes and one in file.contents), "")
    etag = f'"{file.etag}-{encoding}"' if encoding else f'"{file.etag}"'
    headers = {
        "ETag": etag,
        "Vary": "Accept-Encoding",
        "Cache-Control": "public, max-age=31536000, immutable" if file.is_named_by_content else "no-cache",
    }
    if etag in (one.strip() for one in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    if encoding:
        headers["Content-Encoding"] = encoding
    body = file.contents[encoding]
    if request.method == "HEAD":
        return Response(headers={**headers, "Content-Length": str(len(body))}, media_type=file.media)
    return Response(body, headers=headers, media_type=file.media)
