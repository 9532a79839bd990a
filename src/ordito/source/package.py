"""The files of a service: where they are and how they are read."""

from __future__ import annotations

import errno
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import is_url
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.source.bundled import PROFILE_SCHEME, bundled
from ordito.source.fetch import FetchFailed
from ordito.source.loader import ENCODING_MARKS, MOST_BYTES, Document, load
from ordito.source.remote import DEFINITIONS, NotAllowed, RemoteFiles
from ordito.source.tree import FileTree, Folder, inside, place


class About(msgspec.Struct, frozen=True):
    """What a CSAR says about itself (§6.2, §6.3)."""

    author: str = ""
    """The author of the service."""
    version: str = ""
    """The version of the service."""
    block: Mapping[str, str] = {}
    """The texts of the first block of TOSCA.meta, by their keys."""
    further: tuple[Mapping[str, str], ...] = ()
    """The texts of each further block, which belongs to the author of the archive."""


class Naming(Protocol):
    """The names in messages of files in a copy of a service, which the author of the service has not seen."""

    def name(self, file: str) -> str:
        """The name of a file, given its path from the root of the service."""

    def titled(self, file: str, data: bytes) -> tuple[str, str]:
        """The name of a file with this content, and the note for each place in it, "" for none."""


class Package:
    """The files of a service, in a folder or an archive.

    ``main`` is its entry definitions file, relative to the root like all its files; ``name`` is the path that the user
    gave. ``others`` are the files of Other-Definitions (§6.2): their topology templates are candidates for
    substitution and are never deployed by themselves; ``load`` them like any file of the service. ``is_csar`` says
    whether the rules of archives apply: no path may lead out of the root. ``opener`` is the file by which a copy of the
    service is opened. ``tree`` holds the files, also those on other machines that may be fetched. ``naming`` gives the
    names of files of a copy. ``catalogues`` are further folders in which archives are found by name and version.
    """

    def __init__(
        self,
        tree: FileTree,
        main: str,
        name: str,
        shown: str,
        *,
        others: tuple[str, ...] = (),
        about: About | None = None,
        opener: str = "",
    ) -> None:
        self.tree = tree if isinstance(tree, RemoteFiles) else RemoteFiles(tree)
        self.main = main
        self.name = name
        self.others = others
        self.about = about
        self.opener = opener or main
        self.naming: Naming | None = None
        self.catalogues: tuple[str, ...] = ()
        self._shown = shown
        self._loaded: dict[str, None] = {}

    @property
    def sources(self) -> tuple[str, ...]:
        """The files of this machine that the service was read from so far, as absolute paths."""
        if self.is_archive:
            return (self.root,)
        return tuple(posixpath.join(self.root, file) for file in (self.opener, *self._loaded))

    @property
    def root(self) -> str:
        """The absolute path of the service's folder, or of its archive."""
        return self.tree.root

    @property
    def is_csar(self) -> bool:
        """Whether this is an archive, or a folder that is laid out as one."""
        return self.about is not None

    @property
    def is_archive(self) -> bool:
        """Whether the files are in an archive."""
        return self.tree.is_archive

    def has(self, file: str) -> bool:
        """Whether a file or folder of the service exists."""
        return self.tree.is_file(file) or self.tree.is_folder(file)

    def has_bundled(self, file: str) -> bool:
        """Whether a file ``profile:...`` comes with the program."""
        tree, path = bundled(file.removeprefix(PROFILE_SCHEME))
        return tree.is_file(path)

    def shown(self, file: str) -> str:
        """The name of a file of the service in messages: relative to the working directory, if the service is."""
        if url := self.tree.url(file):
            return url
        if self.naming is not None:
            return self.naming.name(file)
        if self.is_archive:
            return inside(self._shown, posixpath.normpath(file))
        return posixpath.normpath(posixpath.join(self._shown, file))

    def stored(self, file: str) -> str:
        """The place of a file in the service; for a URL, the place where the file is when it is fetched."""
        return self.tree.place(file) if is_url(file) else file

    def local(self, path: str) -> str:
        """An absolute path of this machine, made relative to the root."""
        return posixpath.relpath(path, self.root)

    def load_definitions(self, file: str, diagnostics: Diagnostics, wanted_by: Span | None = None) -> Document | None:
        """Load a definitions file of the service; ``wanted_by`` is the import that names it. A message about a file of
        another kind shows nothing of its content, which may be confidential."""
        data = self._read(file, diagnostics, wanted_by)
        if data is None:
            return None
        name, note = self._title(file, data)
        if not looks_like_definitions(data):
            diagnostics.error(
                "no-service-template",
                f"{name} is not a service template: it has no tosca_definitions_version",
                wanted_by or place(name),
                hint="name another file; or begin this one with tosca_definitions_version: tosca_simple_yaml_1_3",
            )
            return None
        return load(name, data, diagnostics, note, last_wins=IS_BLUEPRINT.search(data) is not None)

    def load(
        self, file: str, diagnostics: Diagnostics, wanted_by: Span | None = None, *, last_wins: bool = False
    ) -> Document | None:
        """Load a YAML file of the service; ``wanted_by`` is what names it. Of keys that are given twice the last
        counts with ``last_wins``."""
        data = self._read(file, diagnostics, wanted_by)
        if data is None:
            return None
        name, note = self._title(file, data)
        return load(name, data, diagnostics, note, last_wins=last_wins)

    def _title(self, file: str, data: bytes) -> tuple[str, str]:
        """How a file that holds this is called in messages, bundled ones too, and what is said of places in it."""
        if file.startswith(PROFILE_SCHEME) or is_url(file):
            return file, ""
        if self.naming is not None and not self.tree.url(file):
            return self.naming.titled(file, data)
        return self.shown(file), ""

    def _read(self, file: str, diagnostics: Diagnostics, wanted_by: Span | None) -> bytes | None:
        """The bytes of a file; None where it cannot be read, with the reason."""
        if is_url(file):
            return self._read_fetched(file, diagnostics, wanted_by)
        tree: FileTree = self.tree
        path, name = file, self.shown(file)
        if file.startswith(PROFILE_SCHEME):
            (tree, path), name = bundled(file.removeprefix(PROFILE_SCHEME)), file
        else:
            self._loaded[file] = None
        try:
            return read_file(tree, path)
        except (OSError, ValueError) as error:
            diagnostics.error(
                "import-not-found" if wanted_by else "file-not-found",
                f"cannot read {name}: {reason(error)}",
                wanted_by,
                hint=self._neighbours(tree, path),
            )
            return None

    def _read_fetched(self, url: str, diagnostics: Diagnostics, wanted_by: Span | None) -> bytes | None:
        """The bytes of a definitions file by its URL."""
        try:
            fetched = self.tree.get(url, DEFINITIONS)
            if fetched is not None and fetched.kind in WEB_PAGES:
                raise FetchFailed("it is a web page", "give the address of the file itself, often named raw")
            with self.tree.open(url) as stream:
                return stream.read(MOST_BYTES + 1)
        except NotAllowed as refusal:
            diagnostics.error("not-fetched", refusal.message, wanted_by, hint=refusal.hint)
        except FetchFailed as failure:
            diagnostics.error("fetch-failed", f"cannot fetch {url}: {failure.message}", wanted_by, hint=failure.hint)
        except OSError as error:
            diagnostics.error("fetch-failed", f"cannot read {url}: {reason(error)}", wanted_by)
        return None

    def _neighbours(self, tree: FileTree, file: str) -> str:
        folder, name = posixpath.split(posixpath.normpath(file))
        try:
            folders, files = tree.entries(folder or ".")
        except (OSError, ValueError):
            return f"the folder {self.shown(folder)} does not exist or cannot be read"
        near = nearest(name, [n for n in (*folders, *files) if n != name])
        return f"did you mean {self.shown(posixpath.join(folder, near[0]))}?" if near else ""


COMMENT = re.compile(rb"^[ \t]*#.*$", re.MULTILINE)
LOOKS_LIKE_DEFINITIONS = re.compile(
    rb"tosca_definitions?_version|^[\"']?(?:tosca_\w+|topology_template|node_types|imports)[\"']?[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)


def looks_like_definitions(data: bytes) -> bool:
    """Whether a file may be meant as a service template, whatever its faults; also an empty file, or one in another
    encoding, since messages show nothing of these."""
    if LOOKS_LIKE_DEFINITIONS.search(data) or data.startswith(tuple(mark for mark, _ in ENCODING_MARKS)):
        return True
    return not COMMENT.sub(b"", data).strip()


IS_BLUEPRINT = re.compile(rb"^[\"']?tosca_definitions_version[\"']?[ \t]*:[ \t]*[\"']?cloudify_dsl_", re.MULTILINE)
"""What a file holds that is a blueprint of Cloudify, in which YAML is read in another way."""

WEB_PAGES = {"text/html", "application/xhtml+xml"}


def load_file(path: str, diagnostics: Diagnostics) -> Document | None:
    """Load a YAML file that belongs to no service, for example inputs."""
    given = Path(path)
    return Package(Folder(given.parent), given.name, given.stem, str(given.parent)).load(given.name, diagnostics)


def load_text(name: str, text: str, diagnostics: Diagnostics) -> Document | None:
    """Load YAML from a text; ``name`` is shown in messages."""
    return load(name, text.encode("utf-8", errors="surrogateescape"), diagnostics)


def read_file(tree: FileTree, file: str, most: int = MOST_BYTES) -> bytes:
    """The first ``most`` + 1 bytes of a regular file. Raises ``OSError`` and ``ValueError``."""
    if not tree.is_file(file) and (tree.is_folder(file) or tree.exists(file)):
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    with tree.open(file) as stream:
        return stream.read(most + 1)


def reason(error: OSError | ValueError) -> str:
    """The message of an error of the system."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
