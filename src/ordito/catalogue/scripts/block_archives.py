"""Files and folders packed into one archive, and put back exactly as they were.

An archive is a compressed tar. Its first member, ``ordito-backup.json``, names the paths; what lies at the n-th of
them is below ``n``.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import ordito_block as block

MANIFEST = "ordito-backup.json"
FORMAT = 1
SUFFIX = ".tar.gz"
_MOST_MANIFEST = 1 << 20


@dataclass(frozen=True)
class Packed:
    """What an archive holds: its paths, each with whether anything was there."""

    paths: tuple[tuple[str, bool], ...]


def pack(paths: Sequence[Path], target: Path) -> int:
    """Pack what lies at some absolute paths, or that nothing does; the number of files and folders. Sockets, pipes and
    devices are left out, and told."""
    found = [(str(path), os.path.lexists(path)) for path in paths]
    manifest = json.dumps({"format": FORMAT, "paths": [{"path": path, "exists": there} for path, there in found]})
    count = 0
    with tarfile.open(target, "w:gz", compresslevel=6) as archive:
        about = tarfile.TarInfo(MANIFEST)
        about.size = len(manifest.encode())
        archive.addfile(about, io.BytesIO(manifest.encode()))
        for number, path in enumerate(paths):
            if not found[number][1]:
                continue
            for place, name in _walk(path, str(number)):
                count += _add(archive, place, name)
    return count


def _walk(path: Path, name: str) -> Iterator[tuple[Path, str]]:
    """What lies at a path and below it, folders before what is in them."""
    waiting = [(path, name)]
    while waiting:
        place, at = waiting.pop()
        yield place, at
        if place.is_dir() and not place.is_symlink():
            entries = sorted(place.iterdir(), reverse=True)
            waiting.extend((entry, f"{at}/{entry.name}") for entry in entries)


def _add(archive: tarfile.TarFile, place: Path, name: str) -> int:
    # Names of one file would become links, whose target may lie below another path.
    archive.inodes = {}  # type: ignore[attr-defined]
    mode = place.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        block.say(f"left out: {place} is neither a file nor a folder")
        return 0
    member = archive.gettarinfo(str(place), name)
    if member.isreg():
        with place.open("rb") as file:
            archive.addfile(member, file)
    else:
        archive.addfile(member)
    return 1


def read(source: Path) -> Packed:
    """What an archive holds. Raises ``Failed`` where it is none, is damaged, or would write elsewhere than it says."""
    try:
        with tarfile.open(source, "r:gz") as archive:
            packed = _manifest(source, archive)
            links: set[str] = set()
            for member in archive:
                if member.name == MANIFEST:
                    continue
                _check(source, member, packed, links)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise block.Failed(f"{source} cannot be read as a backup: {error}") from None
    return packed


def _manifest(source: Path, archive: tarfile.TarFile) -> Packed:
    first = archive.next()
    if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MOST_MANIFEST:
        raise block.Failed(f"{source} is no backup of files made by Ordito")
    stream = archive.extractfile(first)
    written = json.loads(stream.read()) if stream is not None else {}
    if written.get("format") != FORMAT:
        raise block.Failed(f"{source} was made by another version of this block")
    paths = tuple((str(item["path"]), bool(item["exists"])) for item in written["paths"])
    if wrong := [
        path for path, _ in paths if not path.startswith("/") or os.path.normpath(path) != path or path == "/"
    ]:
        raise block.Failed(f"{source} names no absolute path: {wrong[0]}")
    return Packed(paths)


def _check(source: Path, member: tarfile.TarInfo, packed: Packed, links: set[str]) -> None:
    parts = PurePosixPath(member.name).parts
    parents = {"/".join(parts[:end]) for end in range(1, len(parts))}
    is_known = bool(parts) and parts[0].isdecimal() and int(parts[0]) < len(packed.paths)
    if not is_known or ".." in parts or parents & links or not (member.isreg() or member.isdir() or member.issym()):
        raise block.Failed(f"{source} is damaged: {member.name} must not be in it")
    if member.issym():
        links.add(member.name)


def unpack(source: Path) -> list[str]:
    """Put back what an archive holds, in place of what is there now; the paths. Each path is replaced as a whole: what
    was made there since goes, and what did not exist goes as well."""
    packed = read(source)
    for number, (path, was_there) in enumerate(packed.paths):
        place = Path(path)
        if was_there:
            _put_back(source, number, place)
        else:
            _remove(place)
        block.say(f"{'restored' if was_there else 'removed, since it was not there,'} {path}")
    return [path for path, _ in packed.paths]


def _put_back(source: Path, number: int, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=_prefix(place), dir=place.parent))
    try:
        with tarfile.open(source, "r:gz") as archive:
            members = [m for m in archive if m.name.split("/", 1)[0] == str(number)]
            # They were looked through; what guards against archives of strangers would change modes and owners.
            trusted = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
            archive.extractall(staging, members, numeric_owner=True, **trusted)  # type: ignore[arg-type]  # noqa: S202
        made = staging / str(number)
        is_link = place.is_symlink()
        if os.path.lexists(place) and (made.is_dir() or (place.is_dir() and not is_link)):
            place.rename(staging / "before")
        made.replace(place)
        block.synchronise(place.parent)
    finally:
        _clear(place)


def _remove(place: Path) -> None:
    if os.path.lexists(place):
        staging = Path(tempfile.mkdtemp(prefix=_prefix(place), dir=place.parent))
        place.rename(staging / "gone")
        _clear(place)


def _prefix(place: Path) -> str:
    return f".{place.name}.ordito-"


def _clear(place: Path) -> None:
    """Remove what replacing has left beside a path, that of attempts which were cut off included."""
    if not os.path.lexists(place) and (kept := _only_copy(place)):
        kept.rename(place)
    for left in place.parent.glob(f"{_prefix(place)}*"):
        shutil.rmtree(left, ignore_errors=True)


def _only_copy(place: Path) -> Path | None:
    """What was at a path that has gone, where replacing it was cut short."""
    return next(iter(place.parent.glob(f"{_prefix(place)}*/before")), None)
