"""How the files of a pin are called to people: as their author knows them, and not as the copies that nobody should
edit."""

from __future__ import annotations

import posixpath
from pathlib import Path

import msgspec

from ordito.ensemble.pins import LIFECYCLE
from ordito.source.meta import META
from ordito.source.opening import ARCHIVES, DEFINITIONS_ENDINGS, STEP_FILES
from ordito.source.package import read_file
from ordito.source.tree import Folder, inside


class Original(msgspec.Struct, frozen=True):
    """Where a pinned service came from: the ``root`` of its files as it is called here, a folder or an archive, ""
    where nobody knows; ``revision`` is the number of the one that it is, 0 where it is none or nobody knows."""

    root: str = ""
    is_archive: bool = False
    revision: int = 0

    def name(self, file: str) -> str:
        """How a file is called, by its path from the root of the service."""
        return self._name(_names(file)[0][0])

    def titled(self, file: str, data: bytes) -> tuple[str, str]:
        """How a file is called that was deployed with this content, and what is said of places in it: nothing where the
        file that is called so still holds the same."""
        names, alone = _names(file)
        contents = {name: self._content(name, len(data)) for name in names} if self.root else {}
        for name, content in contents.items():
            if content == data:
                return self._name(name), ""
        there = [name for name, content in contents.items() if content is not None]
        revision = f", revision {self.revision}" if self.revision else ""
        return self._name(there[0]) if there else alone or self._name(file), f" (as deployed{revision})"

    def holds(self, pin: Path, main: str) -> bool:
        """Whether the file is still there, with the same content, by which a service is opened whose copy is a pin."""
        content = (pin / main).read_bytes()
        return bool(self.root) and self._content(_opener(main), len(content)) == content

    def _name(self, file: str) -> str:
        if self.is_archive:
            return inside(self.root, posixpath.normpath(file))
        return posixpath.normpath(posixpath.join(self.root, file))

    def _content(self, file: str, size: int) -> bytes | None:
        """What a file holds now, or one byte more than ``size`` of that; None where there is none."""
        if self.is_archive:
            # Needed for archives only.
            from ordito.source.archive import member_of

            return member_of(Path(self.root), file, size)
        try:
            return read_file(Folder(self.root), file, size)
        except (OSError, ValueError):
            return None


def original_of(service: str, main: str, revision: int = 0) -> Original:
    """Where a pin came from: ``service`` is the service as it is called here ("" where nobody knows), which need not be
    there any more, ``main`` the file in the pin by which it is opened."""
    given = Path(service)
    if not service:
        return Original(revision=revision)
    if given.is_dir():
        return Original(service, revision=revision)
    if given.suffix.lower() in ARCHIVES:
        return Original(service, is_archive=True, revision=revision)
    parts = Path(_opener(main)).parts
    if given.parts[-len(parts) :] == parts:
        return Original(str(given.parents[len(parts) - 1]), revision=revision)
    if given.exists() or given.suffix in DEFINITIONS_ENDINGS:
        # It names another service now.
        return Original(revision=revision)
    return Original(service, revision=revision)


def _opener(main: str) -> str:
    """The file by which a service is opened, from its root."""
    return META if main == META or main.endswith(f"/{META}") else posixpath.basename(main)


def _names(file: str) -> tuple[list[str], str]:
    """What a file of a pin may be called in the service, the likeliest first; and its name alone where it may have come
    from anywhere, as what lifecycle steps need, else ""."""
    parts = posixpath.normpath(file).split("/")
    if LIFECYCLE not in parts:
        return [file], ""
    at = parts.index(LIFECYCLE)
    kept = "/".join(parts[at + 1 :])
    names = STEP_FILES if kept == STEP_FILES[0] else (kept,)
    return ["/".join([*parts[:at], name]) for name in names], kept
