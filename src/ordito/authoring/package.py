"""Pack a service into a CSAR (§6): everything in its folder, or only the files that it names."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ordito.app.errors import Refused
from ordito.app.output_file import cannot_write
from ordito.app.requests import ChoiceOptions
from ordito.app.services.chosen import check_choices, circumstances_of
from ordito.app.services.files import artifact_files, check_files, definition_files
from ordito.app.services.read import ReadService, network, read_package, read_service
from ordito.app.services.step_blocks import StepSources
from ordito.authoring.packed_files import (
    check_packed,
    everything,
    files_below,
    is_for_pins,
    packed_steps,
    replaced_files,
)
from ordito.authoring.packed_profiles import WithProfiles, imports_blocks, with_profiles
from ordito.base.diagnostics import Diagnostic, Diagnostics, InvalidDocument
from ordito.base.paths import is_url, leaves_root
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.source.archive import open_archive
from ordito.source.meta import META, meta_text
from ordito.source.new_files import fresh_file, open_regular, sweep, usual_mode
from ordito.source.opening import ARCHIVES, open_package
from ordito.source.pack import unpack, write_archive
from ordito.source.package import Package
from ordito.source.remote import FOLDER, Network
from ordito.work.options import HookOptions

ENDING = ".csar"
"""The ending of an archive that is not in its place yet: it is read as an archive first."""


class PackageRequest(msgspec.Struct, frozen=True):
    """The service to pack."""

    service: str
    """A folder, or a definitions file, whose folder is packed."""

    out: str = ""
    """The archive to make, "" for the name of the folder."""

    others: tuple[str, ...] = ()
    """Further definitions files for substitution (§6.2), relative to the folder."""

    author: str = ""
    """The author of the archive."""

    only_named: bool = False
    """Whether only files that the service names are packed."""

    fetch: bool = False
    choices: ChoiceOptions = ChoiceOptions()
    """What is chosen where the service leaves a choice."""

    hooks: HookOptions = HookOptions()
    """Where lifecycle steps and their blocks are."""


class Packaged(msgspec.Struct, frozen=True):
    """The packed archive, its SHA-256, its entry and all files in it. ``diagnostics`` are warnings."""

    archive: str
    sha256: str
    entry: str
    files: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]


def package(request: PackageRequest) -> Packaged:
    """Check a service and pack it. The archive is read before it is put in its place, so that only a valid one is made.
    Raises ``InvalidDocument`` with all errors of the service, ``Refused``, and ``OSError``."""
    allowed = network(request.fetch)
    diagnostics = Diagnostics()
    circumstances = circumstances_of(request.choices, {}, Choices(), diagnostics, final=False)
    sources = StepSources(request.hooks.catalogs, request.hooks.lifecycle)
    read = read_service(request.service, diagnostics, allowed, circumstances, sources)
    check_choices(request.choices, read.service, diagnostics)
    packed = read.package
    if packed.is_archive:
        raise Refused("packed", f"{request.service} is an archive already", "name a folder, or a definitions file")
    out = _target(request, packed)
    check_files(read, diagnostics, required=True)
    named = _named(read, request.others, diagnostics)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    left_out = Diagnostics()
    steps = packed_steps(read, with_built_in=not imports_blocks(read))
    named += [file for file, place in steps.items() if file == place]
    files = named if request.only_named else [*dict.fromkeys([*named, *everything(packed, out, left_out)])]
    files = [file for file in files if file not in replaced_files(read)]
    check_packed(packed, [*files, META] if packed.opener == META else files, left_out)
    if left_out.has_errors:
        raise InvalidDocument(left_out.sorted())
    meta = _meta(request, read, named)
    try:
        copied = with_profiles(read)
        files = [file for file in dict.fromkeys([*files, *copied, *steps]) if file != META]
        tree = WithProfiles(packed.tree, copied, steps)
        digest, found = _written(tree, files, meta, out, Checking(allowed, circumstances))
    except OSError as error:
        raise cannot_write(str(out), error) from error
    return Packaged(str(out), digest, packed.main, (META, *sorted(files)), (*left_out.sorted(), *found))


class Checking(msgspec.Struct, frozen=True):
    """How an archive is read to check it: with the options with which the service was read."""

    allowed: Network
    circumstances: Circumstances


def _written(
    tree: WithProfiles, files: list[str], meta: bytes, out: Path, checking: Checking
) -> tuple[str, list[Diagnostic]]:
    """Write an archive and read it before it is put in its place; returns its digest, and the findings."""
    sweep(out, ENDING)
    fresh, handle = fresh_file(out, ENDING)
    try:
        with os.fdopen(handle, "w+b") as stream:
            write_archive(stream, tree, files, meta)
            stream.flush()
            os.fsync(stream.fileno())
            stream.seek(0)
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            found = _checked(str(fresh), str(out), checking)
            fresh.chmod(usual_mode(0o666))
            fresh.replace(out)
    finally:
        fresh.unlink(missing_ok=True)
    return digest, found


def _target(request: PackageRequest, packed: Package) -> Path:
    out = Path(request.out or f"{Path(packed.root).name}.csar")
    if request.out == "-":
        raise Refused("no-archive", "an archive is not written to standard output", "name a file: --out x.csar")
    if out.suffix.lower() not in ARCHIVES:
        raise Refused("no-archive", f"{out} is not a name for an archive", "let the name end in .csar or .zip")
    if out.is_dir() or (os.path.lexists(out) and not (out.is_file() and _is_zip(out))):
        raise Refused("exists", f"{out} exists and is not an archive", "choose another name")
    if not out.parent.is_dir():
        raise Refused("cannot-write", f"there is no folder {out.parent}", "make it first")
    return out


def _is_zip(path: Path) -> bool:
    with open_regular(path) as file:
        return file.read(2) == b"PK"


def _named(read: ReadService, others: Iterable[str], diagnostics: Diagnostics) -> list[str]:
    """The files that the service names, relative to its root. A file elsewhere on this machine is an error; fetched
    files are not packed."""
    packed = read.package
    named: dict[str, None] = {packed.main: None}
    artifacts = {posixpath.normpath(file) for file in artifact_files(read)}
    for file in (*definition_files(read), *packed.others, *artifact_files(read), *others):
        path = posixpath.normpath(file)
        if path.startswith(f"{FOLDER}/") or is_url(file) or is_for_pins(path):
            continue
        if leaves_root(path):
            diagnostics.error(
                "outside-package",
                f"{packed.shown(path)} is outside of the packed folder, {packed.shown('.')}",
                None,
                hint="pack a folder that contains everything, or put a copy into it",
            )
        elif packed.tree.is_folder(path):
            named.update(dict.fromkeys(files_below(packed, path, Diagnostics())))
        elif packed.tree.is_file(path):
            named[path] = None
        elif path not in artifacts:  # what is wrong with files of artifacts has been reported where they are named
            diagnostics.error("file-not-found", f"there is no file {packed.shown(path)}", None)
    return list(named)


def _meta(request: PackageRequest, read: ReadService, named: list[str]) -> bytes:
    """The TOSCA.meta: the existing one, which may have further entries, or a new one."""
    packed = read.package
    if packed.opener == META:
        with packed.tree.open(META) as stream:
            return stream.read()
    author = request.author or read.service.metadata.get("template_author", "") or "Ordito"
    others = dict.fromkeys(posixpath.normpath(other) for other in request.others)
    return meta_text(packed.main, [other for other in others if other in named and other != packed.main], author)


def _checked(path: str, shown: str, checking: Checking) -> list[Diagnostic]:
    """Read a packed archive. Raises ``InvalidDocument`` if it is not valid."""
    diagnostics = Diagnostics()
    opened = open_package(path, diagnostics, checking.allowed, shown=shown)
    if opened is None:
        raise InvalidDocument(diagnostics.sorted())
    check_files(read_package(opened, diagnostics, checking.circumstances), diagnostics, required=True)
    if diagnostics.has_errors:
        raise InvalidDocument(diagnostics.sorted())
    return diagnostics.sorted()


# Unpack a CSAR into a folder.


class UnpackageRequest(msgspec.Struct, frozen=True):
    """The archive to unpack, and the folder, "" for the name of the archive."""

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
            "exists", f"{target} exists already, and nothing is overwritten", "name another folder with --out DIR"
        ) from None
    except OSError as error:
        raise cannot_write(str(target), error) from error
    return Unpackaged(str(target), tuple(files))
