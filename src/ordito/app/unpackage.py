"""Unpack a CSAR into a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.output_file import cannot_write
from ordito.base.diagnostics import Diagnostics, InvalidDocument
from ordito.source.archive import open_archive
from ordito.source.pack import unpack


class UnpackageRequest(msgspec.Struct, frozen=True):
    """Which archive, and into which folder: "" for one that is called as the archive."""

    archive: str
    out: str = ""


class Unpackaged(msgspec.Struct, frozen=True):
    """The files that were unpacked, relative to the directory."""

    directory: str
    files: tuple[str, ...]


def unpackage(request: UnpackageRequest) -> Unpackaged:
    """Unpack an archive; nothing is overwritten. Raises ``Refused``, and ``InvalidDocument`` for an unsafe one."""
    if request.out == "-":
        raise Refused("cannot-write", "an archive is unpacked into a folder, not to standard output", "--out DIR")
    diagnostics = Diagnostics()
    path = Path(request.archive)
    if path.is_dir():
        raise Refused("unpacked", f"{request.archive} is a folder", "name an archive")
    archive = open_archive(path, request.archive, diagnostics)
    if archive is None:
        raise InvalidDocument(diagnostics.sorted())
    target = Path(request.out or path.stem)
    try:
        files = unpack(archive, target)
    except FileExistsError:
        raise Refused(
            "exists", f"{target} is there already, and nothing is overwritten", "name another folder with --out DIR"
        ) from None
    except OSError as error:
        raise cannot_write(str(target), error) from error
    return Unpackaged(str(target), tuple(files))
