"""The files of a service: where they lie and how they are read."""

from __future__ import annotations

import errno
import posixpath
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import is_url
from ordito.base.span import SourceText, Span
from ordito.base.suggest import nearest
from ordito.source import nodes
from ordito.source.fetch import FetchFailed
from ordito.source.loader import ENCODING_MARKS, MOST_BYTES, Document, load
from ordito.source.meta import CREATED_BY, META, Piece, read_meta
from ordito.source.remote import DEFINITIONS, Network, NotAllowed, RemoteFiles
from ordito.source.tree import FileTree, Folder, inside, place

if TYPE_CHECKING:
    from ordito.source.archive import Archive

PROFILES = Path(__file__).parent.parent / "profiles"
CATALOGUE = Path(__file__).parent.parent / "catalogue"
PROFILE_SCHEME = "profile:"
BLOCKS = "blocks"
"""The name by which the definitions of bundled blocks are imported, which lie with what the blocks run."""
MOST_META_BYTES = 1 << 20


class About(msgspec.Struct, frozen=True):
    """What a CSAR says of itself (§6.2, §6.3): ``version`` and ``author`` are those of the service; ``block`` the
    keys of the first block of TOSCA.meta, ``further`` those of the packer's own blocks."""

    author: str = ""
    version: str = ""
    block: Mapping[str, str] = {}
    further: tuple[Mapping[str, str], ...] = ()


class Package:
    """A service as it lies in a folder or an archive.

    ``main`` is its entry definitions file, relative to the root like all its files; ``name`` is how the user called it.
    ``others`` are the files of Other-Definitions (§6.2): their topology templates serve as substitution candidates and
    are never deployed by themselves; ``load`` them like any file of the service. ``is_csar`` is whether the rules of
    archives hold: no path leads out of the root. ``opener`` is the file by which a copy of the service is opened.
    ``tree`` holds the files, those included that lie on other machines and were allowed to be fetched.
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
        """Whether the files lie in an archive."""
        return self.tree.is_archive

    def has(self, file: str) -> bool:
        """Whether a file or folder of the service exists."""
        return self.tree.is_file(file) or self.tree.is_folder(file)

    def shown(self, file: str) -> str:
        """How a file of the service is named to people: relative to where they are, as the service was given."""
        if url := self.tree.url(file):
            return url
        if self.is_archive:
            return inside(self._shown, posixpath.normpath(file))
        return posixpath.normpath(posixpath.join(self._shown, file))

    def stored(self, file: str) -> str:
        """Where a file lies in the service: one with a URL at a place of its own, which holds it when it is fetched."""
        return self.tree.place(file) if is_url(file) else file

    def local(self, path: str) -> str:
        """An absolute path of this machine, relative to the root."""
        return posixpath.relpath(path, self.root)

    def load_definitions(self, file: str, diagnostics: Diagnostics, wanted_by: Span | None = None) -> Document | None:
        """Load a definitions file of the service; ``wanted_by`` is the import that names it. Of a file that is
        something else nothing is said but that: it may hold what is nobody's business."""
        data = self._read(file, diagnostics, wanted_by)
        if data is None:
            return None
        name = self._title(file)
        if not looks_like_definitions(data):
            diagnostics.error(
                "no-service-template",
                f"{name} is no service template: nothing in it is called tosca_definitions_version",
                wanted_by or place(name),
                hint="name another file; or begin this one with tosca_definitions_version: tosca_simple_yaml_1_3",
            )
            return None
        return load(name, data, diagnostics)

    def load(self, file: str, diagnostics: Diagnostics) -> Document | None:
        """Load a YAML file of the service."""
        data = self._read(file, diagnostics, None)
        return load(self._title(file), data, diagnostics) if data is not None else None

    def _title(self, file: str) -> str:
        """How a file is called in messages, bundled ones too."""
        return file if file.startswith(PROFILE_SCHEME) or is_url(file) else self.shown(file)

    def _read(self, file: str, diagnostics: Diagnostics, wanted_by: Span | None) -> bytes | None:
        """The bytes of a file; None where it cannot be read, with the reason."""
        if is_url(file):
            return self._read_fetched(file, diagnostics, wanted_by)
        tree: FileTree = self.tree
        path, name = file, self.shown(file)
        if file.startswith(PROFILE_SCHEME):
            (tree, path), name = _bundled(file.removeprefix(PROFILE_SCHEME)), file
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
                raise FetchFailed("it is a web page", "give the address of the file itself, which may be called raw")
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
    """Whether a file may be meant for a service template, with whatever faults; an empty file, or one in another
    encoding, of which nothing can be shown, may be."""
    if not COMMENT.sub(b"", data).strip() or data.startswith(tuple(mark for mark, _ in ENCODING_MARKS)):
        return True
    return LOOKS_LIKE_DEFINITIONS.search(data) is not None


WEB_PAGES = {"text/html", "application/xhtml+xml"}


def open_package(
    path: str, diagnostics: Diagnostics, network: Network = Network.REFUSED, *, shown: str = ""
) -> Package | None:
    """Open a service; ``network`` says whether what it names by URLs is fetched. Messages call an archive ``shown``.

    ``path`` is a definitions file; a CSAR (§6): a ``.csar`` or ``.zip``, or a folder laid out as one, which holds
    ``TOSCA-Metadata/TOSCA.meta``; or a folder that holds exactly one definitions file at its top, or ``service.yaml``.
    None where it cannot be opened, with the reasons in ``diagnostics``.
    """
    given = Path(path)
    if given.name == "TOSCA.meta" and given.parent.name == "TOSCA-Metadata" and given.is_file():
        given, path = given.parent.parent, posixpath.normpath(posixpath.join(path, "..", ".."))
    if Folder(given).is_folder("."):
        return _open_folder(given, path, diagnostics, network)
    if not Folder(given.parent).is_file(given.name):
        package = Package(Folder(given.parent), given.name, given.stem, str(given.parent))
        package.load(given.name, diagnostics)
        return None
    if given.suffix.lower() in ARCHIVES:
        return _open_archive(given, shown or path, diagnostics, network)
    tree = RemoteFiles(Folder(given.parent.resolve()), network)
    return Package(tree, given.name, given.stem, str(given.parent))


DEFINITIONS_ENDINGS = {".yaml", ".yml"}
ARCHIVES = {".csar", ".zip"}
STEP_FILES = ("lifecycle.yaml", "lifecycle.json")
"""What a file is called that declares lifecycle steps, beside the service that it belongs to."""
NOT_SERVICES = {"ensemble.yaml", "inputs.yaml"}
NEEDED_METADATA = ("template_name", "template_version")


def _open_folder(given: Path, shown: str, diagnostics: Diagnostics, network: Network) -> Package | None:
    """Open a folder: one laid out as a CSAR, or one with a single service template at its top."""
    return open_tree(Folder(given.resolve()), shown, diagnostics, network)


def open_tree(
    files: FileTree, shown: str, diagnostics: Diagnostics, network: Network = Network.REFUSED
) -> Package | None:
    """Open the files of a folder as ``open_package`` does."""
    tree = RemoteFiles(files, network)
    if tree.is_file(META):
        return _open_by_meta(tree, posixpath.basename(tree.root), shown, diagnostics)
    try:
        found = _definitions(tree, NOT_SERVICES)
    except OSError as error:
        diagnostics.error("file-not-found", f"cannot read the folder {shown}: {reason(error)}", None)
        return None
    preferred = [name for name in found if Path(name).stem == "service"]
    if len(found) != 1 and len(preferred) != 1:
        diagnostics.error(
            "no-entry",
            f"{shown} holds {len(found)} service templates at its top ({_listed(found)}); exactly one is needed",
            None,
            hint="name the file itself, or call the entry service.yaml",
        )
        return None
    main = (preferred or found)[0]
    return Package(tree, main, Path(main).stem, shown)


def _open_archive(given: Path, shown: str, diagnostics: Diagnostics, network: Network) -> Package | None:
    """Open an archive, with or without a TOSCA.meta (§6.1)."""
    # Needed for archives only.
    from ordito.source.archive import open_archive

    archive = open_archive(given, shown, diagnostics)
    if archive is None:
        return None
    tree = RemoteFiles(archive, network)
    if tree.is_file(META):
        return _open_by_meta(tree, given.stem, shown, diagnostics)
    found = _definitions(tree)
    if len(found) != 1 or tree.is_folder("TOSCA-Metadata"):
        diagnostics.error(
            "no-entry",
            f"{shown} holds no {META}"
            if tree.is_folder("TOSCA-Metadata")
            else f"{shown} holds no {META}, and {len(found)} YAML files at its root ({_listed(found)}) instead of one",
            place(shown),
            hint=_entry_hint(archive),
        )
        return None
    package = Package(tree, found[0], given.stem, shown)
    document = package.load(found[0], diagnostics)
    if document is not None:
        package.about = _about(document, diagnostics)
    return package if package.about is not None else None


def _entry_hint(tree: Archive) -> str:
    """What keeps an archive from having an entry."""
    alike = next((f for f in tree.files() if f.casefold().endswith(META.casefold()) and f != META), "")
    folders, files = tree.entries("")
    if alike:
        return f"it holds {alike}: the names are {META}, at the root"
    if not files and len(folders) == 1:
        return f"everything in it lies in the folder {folders[0]}: pack what is in that folder, not the folder"
    return "`ordito package DIR --out x.csar` makes a right one"


def _open_by_meta(tree: RemoteFiles, name: str, shown: str, diagnostics: Diagnostics) -> Package | None:
    """Open what has a TOSCA.meta (§6.2)."""
    package = Package(tree, "", name, shown)
    title = package.shown(META)
    try:
        data = read_file(tree, META, MOST_META_BYTES)
    except OSError as error:
        diagnostics.error("file-not-found", f"cannot read {title}: {reason(error)}", None)
        return None
    before = diagnostics.errors
    if len(data) > MOST_META_BYTES:
        diagnostics.error("too-large", f"{title} is larger than {MOST_META_BYTES:,} bytes", place(title))
        return None
    meta = read_meta(title, data, diagnostics)
    if meta is None:
        return None
    found = [_definitions_file(piece, package, diagnostics) for piece in (meta.entry, *meta.others)]
    main, others = found[0], dict.fromkeys(file for file in found[1:] if file)
    others.pop(main, None)
    if diagnostics.errors > before:
        return None
    about = About(meta.block.get(CREATED_BY, ""), "", meta.block, meta.further)
    return Package(tree, main, name, shown, others=tuple(others), about=about, opener=META)


def _definitions_file(piece: Piece, package: Package, diagnostics: Diagnostics) -> str:
    """A file that TOSCA.meta names, relative to the root; "" where there is none, with the reason."""
    file = posixpath.normpath(piece.text)
    if leaves_root(file):
        diagnostics.error(
            "outside-package",
            f"{piece.text} leads out of the archive",
            piece.span,
            hint="paths in TOSCA.meta are relative to the root of the archive",
        )
        return ""
    if not package.tree.is_file(file):
        # Asking for it says what is wrong, and what lies beside it.
        found = Diagnostics()
        package.load(file, found)
        for missing in found:
            diagnostics.error("file-not-found", missing.message, piece.span, hint=missing.hint)
        return ""
    return file


def leaves_root(file: str) -> bool:
    """Whether a path relative to a root leads out of it."""
    return file.startswith("/") or posixpath.normpath(file).split("/", 1)[0] == ".." or "\\" in file


def _about(document: Document, diagnostics: Diagnostics) -> About | None:
    """What a definitions file that stands for the TOSCA.meta says of the archive (§6.3); None where it lacks it."""
    root = document.root
    written = root.values if isinstance(root, nodes.Mapping) else {}
    metadata = written.get("metadata")
    inner = metadata.values if isinstance(metadata, nodes.Mapping) else {}
    texts = {}
    for name in (*NEEDED_METADATA, "template_author"):
        node = inner.get(name, written.get(name))
        texts[name] = node.text if isinstance(node, nodes.Scalar) and not nodes.is_null(node) else ""
    missing = [name for name in NEEDED_METADATA if not texts[name]]
    if missing:
        diagnostics.error(
            "missing-keyname",
            "the metadata of an archive without TOSCA.meta must have " + " and ".join(f'"{m}"' for m in missing),
            root.key("metadata").span if isinstance(root, nodes.Mapping) and "metadata" in written else root.span,
            hint="add " + ", ".join(f"{m}: ..." for m in missing) + ' below "metadata:"',
        )
        return None
    return About(texts["template_author"], texts["template_version"])


def _definitions(tree: FileTree, without: Iterable[str] = ()) -> list[str]:
    """The YAML files at the top of a tree that may be services."""
    found = [name for name in tree.entries(".")[1] if Path(name).suffix in DEFINITIONS_ENDINGS and name not in without]
    return [name for name in found if name not in STEP_FILES] or found


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MOST_LISTED]) + (", ..." if len(names) > MOST_LISTED else "") or "none"


MOST_LISTED = 10


def load_file(path: str, diagnostics: Diagnostics) -> Document | None:
    """Load a YAML file that stands by itself, for example inputs."""
    given = Path(path)
    return Package(Folder(given.parent), given.name, given.stem, str(given.parent)).load(given.name, diagnostics)


def load_text(name: str, text: str, diagnostics: Diagnostics) -> Document | None:
    """Load YAML from a text; ``name`` is shown in messages."""
    return load(name, text.encode("utf-8", errors="surrogateescape"), diagnostics)


def profile_file(name: str) -> str | None:
    """The file, as ``profile:...``, of the bundled profile of that name; None where there is none."""
    if name == BLOCKS:
        return f"{PROFILE_SCHEME}{BLOCKS}/{BLOCKS}.yaml"
    return f"{PROFILE_SCHEME}{name}/profile.yaml" if name in profile_names() else None


def profile_names() -> list[str]:
    """The bundled profiles that can be imported as ``profile:NAME``."""
    return sorted([*(p.parent.name for p in PROFILES.glob("*/profile.yaml")), BLOCKS])


def read_profile(name: str) -> bytes:
    """The text of a bundled profile that is one file. Raises ``OSError``."""
    tree, path = _bundled((profile_file(name) or name).removeprefix(PROFILE_SCHEME))
    return read_file(tree, path)


def read_beside_profile(name: str) -> dict[str, bytes]:
    """What a bundled profile runs, by paths relative to it: the scripts of bundled blocks. Raises ``OSError``."""
    files = sorted(CATALOGUE.glob("scripts/*.*")) if name == BLOCKS else []
    return {file.relative_to(CATALOGUE).as_posix(): file.read_bytes() for file in files}


def _bundled(path: str) -> tuple[FileTree, str]:
    """Where a bundled file lies that is called so behind ``profile:``."""
    folder, _, rest = path.partition("/")
    return (Folder(CATALOGUE), rest) if folder == BLOCKS else (Folder(PROFILES), path)


def read_file(tree: FileTree, file: str, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file, or one more than ``most`` of them. Raises ``OSError`` and ``ValueError``."""
    if not tree.is_file(file) and (tree.is_folder(file) or tree.exists(file)):
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    with tree.open(file) as stream:
        return stream.read(most + 1)


def reason(error: OSError | ValueError) -> str:
    """What an error of the system says."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


__all__ = [
    "ARCHIVES",
    "META",
    "PROFILE_SCHEME",
    "About",
    "Network",
    "Package",
    "SourceText",
    "leaves_root",
    "load_file",
    "load_text",
    "open_package",
    "open_tree",
    "profile_file",
    "profile_names",
    "read_file",
    "reason",
]
