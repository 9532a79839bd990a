"""Finds the service at a path that the user gives: a definitions file, a folder, or a CSAR (§6)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import leaves_root
from ordito.source import nodes
from ordito.source.loader import Document
from ordito.source.meta import CREATED_BY, META, Piece, read_meta
from ordito.source.package import IS_BLUEPRINT, About, Package, read_file, reason
from ordito.source.remote import Network, RemoteFiles
from ordito.source.tree import FileTree, Folder, place

if TYPE_CHECKING:
    from ordito.source.archive import Archive

DEFINITIONS_ENDINGS = {".yaml", ".yml"}
ARCHIVES = {".csar", ".zip"}
STEP_FILES = ("lifecycle.yaml", "lifecycle.json")
"""The names of a file beside a service that declares lifecycle steps."""
NOT_SERVICES = {"ensemble.yaml", "inputs.yaml"}
NEEDED_METADATA = ("template_name", "template_version")
MOST_META_BYTES = 1 << 20
MOST_LISTED = 10


_SENT: dict[str, str] = {}


def use_sent(path: str, archive: str) -> None:
    """From now on, this process opens the service at an absolute path, which is one of another machine, as the archive
    in which it was sent."""
    _SENT[path] = archive


def open_package(
    path: str, diagnostics: Diagnostics, network: Network = Network.REFUSED, *, shown: str = ""
) -> Package | None:
    """Open a service. ``network`` says whether the URLs in it are fetched, ``shown`` is the name in messages.

    ``path`` is a definitions file; a CSAR (§6): a ``.csar`` or ``.zip``, or a folder laid out as one, which holds
    ``TOSCA-Metadata/TOSCA.meta``; or a folder that holds exactly one definitions file at its top, or ``service.yaml``.
    Gives None, with the reasons in ``diagnostics``, where it cannot be opened.
    """
    given = Path(path)
    if (sent := _SENT.get(path)) is not None:
        return _open_archive(Path(sent), shown or path, diagnostics, network)
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
    preferred = [name for name in found if Path(name).stem == "service"] or _blueprints(tree, "", found)
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
    blueprints = _blueprints_in(tree)
    if blueprints:
        return _open_blueprint(tree, given.stem, shown, blueprints, diagnostics)
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


def _blueprints_in(tree: FileTree) -> list[str]:
    """The blueprints of Cloudify at the top of an archive, or in the one folder there, which may be the main file."""
    folders, files = tree.entries("")
    folder = folders[0] if len(folders) == 1 and not files else ""
    names = tree.entries(folder)[1] if folder else files
    return _blueprints(tree, folder, [name for name in names if Path(name).suffix in DEFINITIONS_ENDINGS])


def _blueprints(tree: FileTree, folder: str, names: list[str]) -> list[str]:
    """Which of some files of a folder are blueprints of Cloudify: of several the one that is called so."""
    found = []
    for name in names:
        file = posixpath.join(folder, name)
        try:
            if IS_BLUEPRINT.search(read_file(tree, file)) is not None:
                found.append(file)
        except (OSError, ValueError):
            continue
    return [file for file in found if Path(file).stem == "blueprint"] or found


def _open_blueprint(
    tree: RemoteFiles, name: str, shown: str, found: list[str], diagnostics: Diagnostics
) -> Package | None:
    """Open an archive that holds a blueprint of Cloudify, which says nothing of itself."""
    if len(found) > 1:
        diagnostics.error(
            "no-entry",
            f"{shown} holds {len(found)} blueprints at its top ({_listed(found)}); exactly one is needed",
            place(shown),
            hint="call the main file blueprint.yaml",
        )
        return None
    return Package(tree, found[0], name, shown)


def _entry_hint(tree: Archive) -> str:
    """What keeps an archive from having an entry."""
    alike = next((f for f in tree.files() if f.casefold().endswith(META.casefold()) and f != META), "")
    folders, files = tree.entries("")
    if alike:
        return f"it holds {alike}: the names are {META}, at the root"
    if not files and len(folders) == 1:
        return f"everything in it lies in the folder {folders[0]}: pack what is in that folder, not the folder"
    return "`ordito package DIR --out x.csar` makes a valid archive"


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
