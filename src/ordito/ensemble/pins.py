"""Pins: copies of the files of a service, as they were when it was deployed.

A pin is in `artifacts/<digest>/` and is never changed; the digest is that of all its files, so the same files always
make the same pin. It holds the files that the service names, and the complete top-level folders of these files, since
scripts use the files beside them. Hidden files are left out, and so are the ensemble's own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import BinaryIO

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.base.text import listed
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import BLOCK, digest_of_stream, sync_directory, write_whole
from ordito.ensemble.keeping import ignore_files
from ordito.ensemble.layout import MANIFEST, Layout
from ordito.ensemble.manifest import RESTORE, is_part, read_manifest
from ordito.ensemble.yaml_writer import load
from ordito.source.bundled import PROFILE_SCHEME
from ordito.source.new_files import read_regular
from ordito.source.remote import FOLDER
from ordito.source.tree import FileTree, Folder
from ordito.work.records import GivenService

LARGEST_FOR_GIT = 10 * 1024 * 1024
"""How many bytes a pinned file may have to be kept in git."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LINE = re.compile(r"(.*?)\0([x-])\0([0-9a-f]{64})\n", re.DOTALL)
READ_ONLY, READ_ONLY_PROGRAM = 0o444, 0o555
"""The modes of files of a pin, from which operations run: a script that writes to one by mistake fails."""
_UNFINISHED = ".new-"
_UNFINISHED_NAME = re.compile(re.escape(_UNFINISHED) + r"(?:old-)?[0-9a-f]{16}")
LIFECYCLE = ".lifecycle"
"""The folder of a pin, beside the service's main file, with the files of lifecycle steps from elsewhere."""
LIST = ".pinned"
"""The list of the files in a pin; its digest is that of the pin. Hidden files of a service are never pinned."""
ACCEPTED = ".accepted"
"""The list of files that were changed since, and that the user has accepted as they are."""
MOST_NAMED = 3


class Pinned(msgspec.Struct, frozen=True):
    """A pinned service."""

    digest: str
    root: str
    """The absolute path of its root folder."""
    main: str
    """Its entry definitions file, relative to the root."""
    digests: Mapping[str, str]
    """The SHA-256 of each file that was named, by that name."""
    contents: Mapping[str, str] = {}
    """The SHA-256 of each file, by its place in the pin."""


class _FileToPin(msgspec.Struct, frozen=True, order=True):
    """A file to pin: its place in the pin, whether it may be executed, its digest, and its name in the service."""

    place: str
    executable: bool
    digest: str
    source: str

    @property
    def line(self) -> bytes:
        """What the pin's digest is made of."""
        return f"{self.place}\0{'x' if self.executable else '-'}\0{self.digest}\n".encode("utf-8", "surrogateescape")


def pin(layout: Layout, tree: FileTree, main: str, definitions: Iterable[str], artifacts: Iterable[str]) -> Pinned:
    """Pin a service; only for the holder of the ensemble's lock. The arguments are those of ``measure``.

    Raises ``EnsembleError`` for a file that is not there.
    """
    pinned, files = _measure(layout, tree, main, definitions, artifacts)
    place = layout.artifacts / pinned.digest
    if not place.is_dir() or not _is_sound(place, pinned.digest):
        _copy(layout, place, files, tree)
    return pinned


def measure(layout: Layout, tree: FileTree, main: str, definitions: Iterable[str], artifacts: Iterable[str]) -> Pinned:
    """The pin that ``pin`` would make, without writing anything.

    ``tree`` holds the files of the service. All names are relative to its root, with ``/`` between their parts; they
    may begin with ``..``: then the pin holds the folders above the root as far as needed. ``artifacts`` are files or
    folders that the service names; those with a URL are left out, as are bundled profiles. Raises ``EnsembleError`` for
    a file that does not exist.
    """
    return _measure(layout, tree, main, definitions, artifacts)[0]


def _measure(
    layout: Layout, tree: FileTree, main: str, definitions: Iterable[str], artifacts: Iterable[str]
) -> tuple[Pinned, list[_FileToPin]]:
    base = Path(tree.root).absolute()
    local = [file for file in dict.fromkeys(artifacts) if "://" not in file]
    written = [file for file in definitions if not file.startswith(PROFILE_SCHEME)]
    named = list(dict.fromkeys([main, *written, *local]))
    relative = {file: _relative(base, file) for file in named}
    levels = max((_levels(path) for path in relative.values()), default=0)
    if levels >= len(base.parts):
        raise EnsembleError(f"the service in {base} names files above the root of the file system")
    prefix = PurePosixPath(*base.parts[len(base.parts) - levels :]) if levels else PurePosixPath()
    wholes = {whole for file in local if (whole := _whole(relative[file])) is not None and str(whole) != FOLDER}
    with explained("read the service's files in", base):
        sources = _sources(tree, base, [*relative.values(), *wholes], layout)
        files = sorted(_file(os.path.normpath(prefix / source), source, tree) for source in sources)
    digest = _digest(files)
    place = layout.artifacts / digest
    by_place = {file.place: file.digest for file in files}
    digests = {file: _named_digest(prefix, path, by_place) for file, path in relative.items()}
    return Pinned(digest, str(place / prefix), main, digests, by_place), files


def pinned_root(layout: Layout, digest: str, *, as_it_is: bool = False) -> Path:
    """The folder of a pin. Raises ``EnsembleError`` where its files have changed since it was made and the user has not
    accepted the changes; with ``as_it_is``, changes are ignored."""
    place = layout.artifacts / digest
    if not _DIGEST.fullmatch(digest) or not place.is_dir():
        raise EnsembleError(
            f"the files that were deployed are missing: {place}",
            "restore that folder from git (git checkout -- artifacts), or from where the ensemble was deployed",
        )
    if as_it_is or _is_sound(place, digest) or _is_accepted(place):
        return place
    raise ChangedFiles(place, [change.place for change in changed_files(layout, digest)])


class ChangedFiles(EnsembleError):
    """Files of a pin have changed since it was made; ``files`` are their places in it, as far as its list exists."""

    def __init__(self, place: Path, files: Sequence[str]) -> None:
        named = f": {listed(files, MOST_NAMED)} in" if files else ":"
        super().__init__(
            f"the files that were deployed are not what they were{named} {place}",
            "put them back with `ordito state renew`, which also can take them as they are; undeploy goes on with them",
        )
        self.files = tuple(files)


class ChangedPinFile(msgspec.Struct, frozen=True):
    """A file of a pin that has changed since the pin was made, or is missing."""

    place: str
    digest: str
    """Its SHA-256 when the pin was made."""
    is_executable: bool
    """Whether it was executable then."""
    is_missing: bool


def changed_files(layout: Layout, digest: str, since: float = 0.0) -> list[ChangedPinFile]:
    """The files of a pin that have changed or are missing; with ``since`` (seconds since the epoch) only those that
    were changed after that. Files that are not in its list do not count. Raises ``EnsembleError``."""
    found: list[ChangedPinFile] = []
    place = layout.artifacts / digest
    for file in pinned_files(layout, digest):
        path = place / file.place
        with explained("read", path):
            try:
                there = path.lstat()
                if since and max(there.st_mtime, there.st_ctime) <= since:
                    continue
                now = _file(file.place, file.place, Folder(place))
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                found.append(ChangedPinFile(file.place, file.digest, file.is_executable, is_missing=True))
                continue
        if (now.digest, now.executable) != (file.digest, file.is_executable):
            found.append(ChangedPinFile(file.place, file.digest, file.is_executable, is_missing=False))
    return found


def accept_changes(layout: Layout, digest: str) -> tuple[str, ...]:
    """Accept the files of a pin as they are; returns the places of those that have changed."""
    place = layout.artifacts / digest
    changed = {change.place: change for change in changed_files(layout, digest)}
    if changed:
        there = [
            f.place for f in pinned_files(layout, digest) if f.place not in changed or not changed[f.place].is_missing
        ]
        with explained("read", place):
            lines = [_file(name, name, Folder(place)).line for name in there]
        write_whole(place / ACCEPTED, [b"".join(lines)])
    return tuple(changed)


def all_pins(layout: Layout) -> list[str]:
    """The digests of all pins of an ensemble."""
    if not layout.artifacts.is_dir():
        return []
    return sorted(p.name for p in layout.artifacts.iterdir() if _DIGEST.fullmatch(p.name) and (p / LIST).is_file())


def pinned_digests(layout: Layout, digest: str, prefix: PurePath, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of files or folders in a pin, by their names, which are relative to its folder ``prefix``; URLs are
    left out. Raises ``EnsembleError`` where the pin's list cannot be read."""
    place = layout.artifacts / digest
    with explained("read the files that were deployed in", place):
        lines = read_regular(place / LIST).decode("utf-8", "surrogateescape")
    by_place = {name: content for name, _, content in _LINE.findall(lines)}
    root = PurePosixPath(prefix)
    return {n: _named_digest(root, PurePosixPath(n), by_place) for n in dict.fromkeys(names) if "://" not in n}


class PinnedFile(msgspec.Struct, frozen=True):
    """A file of a pin, by its list: its place in the pin, its SHA-256, and whether it may be executed."""

    place: str
    digest: str
    is_executable: bool


def pinned_files(layout: Layout, digest: str) -> list[PinnedFile]:
    """The files of a pin; none where its list is missing. Raises ``EnsembleError``."""
    path = layout.artifacts / digest / LIST
    with explained("read", path):
        try:
            lines = read_regular(path).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return []
    return [PinnedFile(found[1], found[3], found[2] == "x") for found in _LINE.finditer(lines)]


# -------------------------------------------------------------------------------------------------- what is pinned


def _relative(base: Path, file: str) -> PurePosixPath:
    """A file's path from the root by the shortest way."""
    target = os.path.normpath(base / file)
    return PurePosixPath(os.path.relpath(target, base))


def _levels(path: PurePosixPath) -> int:
    """How far above the root a file lies."""
    return sum(part == ".." for part in path.parts)


def _whole(path: PurePosixPath) -> PurePosixPath | None:
    """The top-level folder in which a file lies, seen from the root or from the folder above it that they share."""
    levels = _levels(path)
    return PurePosixPath(*path.parts[: levels + 1]) if len(path.parts) > levels + 1 else None


def _sources(tree: FileTree, base: Path, wanted: Iterable[PurePosixPath], layout: Layout) -> dict[str, None]:
    """The names of all files to pin, in the service."""
    sources: dict[str, None] = {}
    for path in wanted:
        name = str(path)
        if tree.is_folder(name):
            sources.update(dict.fromkeys(_files_below(tree, name, base, layout)))
        elif tree.is_file(name):
            sources[name] = None
        else:
            raise EnsembleError(f"the service names a file that is not there: {os.path.normpath(base / name)}")
    return sources


def _files_below(tree: FileTree, folder: str, base: Path, layout: Layout) -> Iterator[str]:
    todo = [folder]
    while todo:
        here = todo.pop()
        folders, files = tree.entries(here)
        for name, is_folder in [*((f, True) for f in folders), *((f, False) for f in files)]:
            path = os.path.normpath(PurePosixPath(here) / name)
            if name.startswith(".") or is_own(Path(os.path.normpath(base / path)), layout):
                continue
            if is_folder:
                todo.append(path)
            else:
                yield path


def is_own(path: Path, layout: Layout) -> bool:
    """Whether a file or folder belongs to the ensemble, which may be in the folder of the service."""
    if path in (layout.manifest, layout.jobs_tsv):
        return True
    if path.parent == layout.artifacts:
        return _DIGEST.fullmatch(path.name) is not None
    if path.parent == layout.jobs:
        return is_change_id(path.name.removesuffix(".yaml"))
    if path.suffix == ".yaml" and path.parent in (layout.status, layout.shared):
        return _is_status_part(path)
    # Another ensemble: what it has pinned is not part of this service.
    return path.name == MANIFEST and path.parent != layout.root and (path.parent / "jobs.tsv").exists()


def _is_status_part(path: Path) -> bool:
    try:
        return is_part(path)
    except OSError:
        return False


def _is_sound(place: Path, digest: str) -> bool:
    """Whether a pin holds what it held when it was made, by the list of its files; what others put beside them, such as
    compiled Python, does not count."""
    return _holds(place, LIST, digest)


def _is_accepted(place: Path) -> bool:
    """Whether a pin holds what somebody has accepted who knew that it is not what it was."""
    return _holds(place, ACCEPTED)


def _holds(place: Path, name: str, digest: str = "") -> bool:
    """Whether a pin holds the files of one of the lists in it, which has a digest."""
    with explained("read the files that were deployed in", place):
        try:
            lines = read_regular(place / name)
            if digest and hashlib.sha256(lines).hexdigest() != digest:
                return False
            for found in _LINE.finditer(lines.decode("utf-8", "surrogateescape")):
                name, executable, content = found.groups()
                file = _file(name, name, Folder(place))
                if (file.digest, "x" if file.executable else "-") != (content, executable):
                    return False
        except FileNotFoundError:
            return False
    return True


def _digest(files: Iterable[_FileToPin]) -> str:
    """The digest of a pin that holds these files, which are sorted."""
    return hashlib.sha256(b"".join(file.line for file in files)).hexdigest()


def _file(place: str, source: str, tree: FileTree) -> _FileToPin:
    with tree.open(source) as stream:
        return _FileToPin(place, tree.is_executable(source), known_digest(stream), source)


def _named_digest(prefix: PurePosixPath, path: PurePosixPath, by_place: Mapping[str, str]) -> str:
    """The digest of a named file; of a folder, that of all files in it."""
    place = os.path.normpath(prefix / path)
    if place in by_place:
        return by_place[place]
    below = f"{place}/" if place != "." else ""
    found = [f"{name}\0{digest}\n" for name, digest in by_place.items() if name.startswith(below)]
    return hashlib.sha256("".join(found).encode("utf-8", "surrogateescape")).hexdigest()


# ----------------------------------------------------------------------------------------------------- the copying


def _copy(layout: Layout, place: Path, files: list[_FileToPin], tree: FileTree) -> None:
    with explained("write", place):
        layout.artifacts.mkdir(parents=True, exist_ok=True)
        for old in layout.artifacts.glob(f"{_UNFINISHED}*"):
            if _UNFINISHED_NAME.fullmatch(old.name):
                shutil.rmtree(old)
        fresh = layout.artifacts / f"{_UNFINISHED}{place.name[:16]}"
        fresh.mkdir()
        folders = {fresh}
        for file in files:
            target = fresh / file.place
            if target.parent not in folders:
                target.parent.mkdir(parents=True, exist_ok=True)
                folders.update(parent for parent in target.parents if fresh in (parent, *parent.parents))
            _copy_file(file, target, tree)
        write_whole(fresh / LIST, [b"".join(file.line for file in files)])
        for folder in folders:
            sync_directory(folder)
        large = [place / f.place for f in files if (fresh / f.place).stat().st_size > LARGEST_FOR_GIT]
    if large:
        ignore_files(layout, large)
    with explained("write", place):
        changed = layout.artifacts / f"{_UNFINISHED}old-{place.name[:16]}"
        if place.exists():
            # Moved aside first, so that the pin is never there in part.
            place.rename(changed)
        fresh.rename(place)
        sync_directory(layout.artifacts)
        sync_directory(layout.root)
        if changed.exists():
            shutil.rmtree(changed)


def _copy_file(file: _FileToPin, target: Path, tree: FileTree) -> None:
    copied = hashlib.sha256()
    with tree.open(file.source) as source, target.open("wb") as copy:
        while block := source.read(BLOCK):
            copied.update(block)
            copy.write(block)
        copy.flush()
        os.fchmod(copy.fileno(), READ_ONLY_PROGRAM if file.executable else READ_ONLY)
        os.fsync(copy.fileno())
    if copied.hexdigest() != file.digest:
        raise EnsembleError(f"{file.source} changed while it was copied", "try again when nothing writes to it")


# The service that an ensemble remembers in the place of the one that the user's part names, read by itself: who only
# wants to know which service is meant need not read all that exists.

_BEGIN = b"\n  named:\n"
_INDENT = b"    "


def given_service(layout: Layout) -> GivenService | None:
    """The ``named`` service in the status of `ensemble.yaml`, None where there is none. Raises ``EnsembleError``."""
    found = read_manifest(layout)
    _, mark, rest = (found.machine if found is not None else b"").partition(_BEGIN)
    if not mark:
        return None
    lines: list[bytes] = []
    for line in rest.splitlines():
        if not line.startswith(_INDENT):
            break
        lines.append(line.removeprefix(_INDENT))
    data = load(b"\n".join([*lines, b""]), str(layout.manifest), RESTORE)
    try:
        return msgspec.convert(data, GivenService)
    except msgspec.ValidationError:
        return None  # Who reads the whole status says what is wrong with it.


# Digests of files that this process has read already: a command looks at the same files when it plans, when it pins
# them and when it reads a pin, and hashes what has not changed meanwhile once.
#
# A file is the same as long as it is the same inode with the same size and times; the time of change cannot be set
# back. What was changed a moment ago is not remembered: it may be changed once more within one tick of the file
# system's clock.

MOMENT = 2.0
"""Seconds: the coarsest time stamps of file systems."""

MOST_KNOWN = 100_000

_Signature = tuple[int, int, int, int, int]
_known: dict[_Signature, str] = {}


def known_digest(file: BinaryIO) -> str:
    """The SHA-256 of an open file from its beginning, in hexadecimal digits."""
    before = _signature(file)
    if before is None:
        return digest_of_stream(file)
    known = _known.get(before)
    if known is not None:
        return known
    digest = digest_of_stream(file)
    if _signature(file) == before and time.time() - max(before[3], before[4]) / 1e9 > MOMENT:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[before] = digest
    return digest


def _signature(file: BinaryIO) -> _Signature | None:
    """What a file is known again by; None for what is no file of the system, such as a member of an archive."""
    try:
        found = os.fstat(file.fileno())
    except (OSError, AttributeError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
