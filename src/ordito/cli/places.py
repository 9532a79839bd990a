"""Where the files lie that diagnostics speak of, as programs need to know it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

import msgspec

IN_ARCHIVE = re.compile(r"(?P<path>.*\.(?:csar|zip)):/?(?P<inside>.*)", re.DOTALL | re.IGNORECASE)
BUNDLED = "profile:"
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


class FilePlace(msgspec.Struct, frozen=True):
    """A file: its ``path``, relative to the current directory where it lies below that ("" for what is not on this
    machine), and the file ``inside`` of it where it is an archive."""

    path: str
    inside: str = ""

    @property
    def uri(self) -> str:
        """The path as a URI: relative, or of the scheme `file`."""
        path = quote(self.path.replace(os.sep, "/"), errors="surrogateescape")
        return f"file://{path}" if path.startswith("/") else path


def place_of_file(name: str) -> FilePlace:
    """The place of a file that messages call ``name``."""
    if name.startswith(BUNDLED) or SCHEME.match(name):
        return FilePlace("")
    match = IN_ARCHIVE.fullmatch(name)
    path, inside = (match["path"], match["inside"]) if match is not None else (name, "")
    here = Path.cwd()
    if Path(path).is_absolute() and Path(path).is_relative_to(here):
        path = str(Path(path).relative_to(here))
    return FilePlace(os.path.normpath(path), inside)
