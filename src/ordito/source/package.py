"""The files of a service: where they lie and how they are read."""

from __future__ import annotations

import errno
import posixpath
from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import SourceText, Span
from ordito.base.suggest import nearest
from ordito.source.loader import MOST_BYTES, Document, load

PROFILES = Path(__file__).parent.parent / "profiles"
PROFILE_SCHEME = "profile:"


class Package:
    """A service on disk: ``root`` is the absolute folder that contains it, ``main`` its entry definitions file,
    relative to the root; ``name`` is how the user called it."""

    def __init__(self, root: Path, main: str, name: str, shown: str) -> None:
        self.root = str(root)
        self.main = main
        self.name = name
        self._shown = shown

    def path(self, file: str) -> Path:
        """The path of a file of the service on disk."""
        return Path(self.root) / file

    def has(self, file: str) -> bool:
        """Whether a file or folder of the service exists."""
        return self.path(file).exists()

    def shown(self, file: str) -> str:
        """How a file of the service is named to people: relative to where they are, as the service was given."""
        return posixpath.normpath(posixpath.join(self._shown, file))

    def load(self, file: str, diagnostics: Diagnostics, wanted_by: Span | None = None) -> Document | None:
        """Load a definitions file of the service; ``wanted_by`` is the import that names it."""
        path, name = self.path(file), self.shown(file)
        if file.startswith(PROFILE_SCHEME):
            path, name = PROFILES / file.removeprefix(PROFILE_SCHEME), file
        try:
            data = _read(path)
        except (OSError, ValueError) as error:
            diagnostics.error(
                "import-not-found" if wanted_by else "file-not-found",
                f"cannot read {name}: {_reason(error)}",
                wanted_by,
                hint=_neighbours(path),
            )
            return None
        return load(name, data, diagnostics)


def open_package(path: str, diagnostics: Diagnostics) -> Package | None:
    """Open a service from a YAML file or a folder that holds exactly one at its top (or ``service.yaml``)."""
    given = Path(path)
    if given.is_dir():
        try:
            found = sorted(p for p in given.iterdir() if p.suffix in DEFINITIONS and p.name not in NOT_SERVICES)
        except OSError as error:
            diagnostics.error("file-not-found", f"cannot read the folder {path}: {_reason(error)}", None)
            return None
        preferred = [p for p in found if p.stem == "service"]
        if len(found) != 1 and len(preferred) != 1:
            listed = ", ".join(p.name for p in found) or "none"
            diagnostics.error(
                "no-entry",
                f"{path} holds {len(found)} service templates at its top ({listed}); exactly one is needed",
                None,
                hint="name the file itself, or call the entry service.yaml",
            )
            return None
        given = (preferred or found)[0]
    elif given.suffix in ARCHIVES:
        diagnostics.error(
            "archive",
            f"{path} is an archive; this version reads service templates from YAML files and folders",
            None,
            hint="unpack it and give the folder",
        )
        return None
    if not given.is_file():
        diagnostics.error("file-not-found", f"there is no file {path}", None, hint=_neighbours(given))
        return None
    root = given.parent.resolve()
    return Package(root, given.name, given.stem, str(given.parent))


DEFINITIONS = {".yaml", ".yml"}
ARCHIVES = {".csar", ".zip"}
NOT_SERVICES = {"ensemble.yaml", "inputs.yaml"}


def load_file(path: str, diagnostics: Diagnostics) -> Document | None:
    """Load a YAML file that stands by itself, for example inputs."""
    given = Path(path)
    return Package(given.parent, given.name, given.stem, str(given.parent)).load(given.name, diagnostics)


def load_text(name: str, text: str, diagnostics: Diagnostics) -> Document | None:
    """Load YAML from a text; ``name`` is shown in messages."""
    return load(name, text.encode("utf-8", errors="surrogateescape"), diagnostics)


def has_profile(name: str) -> bool:
    """Whether a bundled profile of that name exists."""
    return "/" not in name and (PROFILES / name / "profile.yaml").is_file()


def profile_names() -> list[str]:
    """The bundled profiles that can be imported as ``profile:NAME``."""
    return sorted(p.parent.name for p in PROFILES.glob("*/profile.yaml"))


def _read(path: Path) -> bytes:
    """The bytes of a regular file, or a little more than are ever loaded of them."""
    if path.exists() and not path.is_file():
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _neighbours(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.name != path.name]
    except (OSError, ValueError):
        return f"the folder {path.parent} does not exist or cannot be read"
    near = nearest(path.name, names)
    return f"did you mean {path.parent / near[0]}?" if near else ""


__all__ = [
    "PROFILE_SCHEME",
    "Package",
    "SourceText",
    "has_profile",
    "load_file",
    "load_text",
    "open_package",
    "profile_names",
]
