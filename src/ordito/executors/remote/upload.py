"""Uploading a tree to a host. Each content is sent once: files that an earlier tree there has are linked.

    <place>/trees/<digest>/        the tree, in the directory structure of the service
    <place>/trees/<digest>.index   a line per file, written last: `content mode path`, the path as JSON

Small files are sent as archives if the host has ``tar``, else one by one. Large ones are sent in pieces, and only when
an operation names them.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from ordito.executors.copies import Unusable
from ordito.executors.remote.commands import run_command, said
from ordito.executors.remote.connection import Connector
from ordito.executors.remote.tree import LocalFile, Tree, Trees
from ordito.work.targets import HostTarget, Ran

if TYPE_CHECKING:
    import tarfile

PIECE = 4 << 20
"""How many bytes of a large file, or of small files together, are sent at a time."""

KEPT = 8
"""How many trees of earlier revisions stay on a host, so that unchanged files are not sent again."""

PATIENCE = 600.0
"""Seconds for sending one piece."""

_INDEXES = """cd "$1" || exit 1
for index in *.index; do
    case $index in *.part.index) continue ;; esac
    [ -f "$index" ] || continue
    printf '= %s\\n' "${index%.index}"; cat "$index"; done"""
_UNPACK = """mkdir -p "$1/$2" && cd "$1" && tar -xf -"""
_PUT = """mkdir -p "${1%/*}" && cat >"$1" && chmod "$2" "$1" """
_APPEND = """mkdir -p "${1%/*}" && cat >>"$1" """
_FOLDERS = """cd "$1" && while IFS= read -r folder; do mkdir -p "$folder" || exit 1; done"""
_MOVE = """cd "$1" && cat >"$5.index" || exit 1
[ -d "$2" ] || mv "$5" "$2" || exit 1
rm -rf "$5" "$2/$5" && mv "$5.index" "$2.index" || exit 1
ls -t *.index | while IFS= read -r index; do
    count=$((${count-0} + 1)) tree=${index%.index}
    [ "$count" -gt "$3" ] || continue
    case $4 in *" $tree "*) continue ;; esac
    rm -f "$index" && mv "$tree" "$tree.gone" && rm -rf "$tree.gone" && printf '%s\\n' "$tree"
done"""
"""The shell text that moves a tree to its place, unless another one has done so meanwhile, and prints which earlier
trees it has removed, none of them of this job. A tree comes and goes by a rename, so that what has its name is whole;
one that comes second ends up in the first, and is removed from there."""
_FINISH_LARGE = """chmod "$2" "$5" && mv "$5" "$1" && printf '%s\\n' "$4" >>"$3.index" """
_LINK = (
    """mkdir -p "${2%/*}" && { ln -f "$1" "$2" || cp -p "$1" "$2"; } 2>/dev/null && printf '%s\\n' "$4" >>"$3.index" """
)


def ending_of_part(target: HostTarget) -> str:
    """The end of the name of what is not whole yet: two hosts may be one machine, and send the same at one time. The
    same host ends it the same way each time, so that it finds what it was killed at."""
    return f".{blake2b(target.name.encode(), digest_size=4).hexdigest()}.part"


class Uploads:
    """The trees on one host."""

    def __init__(self, connector: Connector, target: HostTarget, place: str, *, packs: bool, trees: Trees) -> None:
        """``place`` is the folder of the ensemble on the host; ``packs`` says whether the host has ``tar``."""
        self._connector = connector
        self._target = target
        self._folder = f"{place}/trees"
        self._ending = ending_of_part(target)
        self._packs = packs
        self._trees = trees
        self._kept: dict[tuple[str, str], str] | None = None
        self._there: set[str] = set()
        # Those that operations of this job may be at work in: instances can be in several forms of the service.
        self._brought: set[str] = set()
        self._large: set[str] = set()
        self._lock = asyncio.Lock()

    async def bring(self, tree: Tree, named: Sequence[str]) -> str:
        """Upload a tree, with those large files whose paths are named; returns its folder on the host.

        Raises ``Unreachable`` and ``Unusable`` (the disk is full).
        """
        place = f"{self._folder}/{tree.digest}"
        wanted = [path for path in tree.large if f"{tree.digest}/{path}" not in self._large and _is_named(path, named)]
        if tree.digest in self._brought & self._there and not wanted:
            return place
        async with self._lock:
            kept = await self._index()
            self._brought.add(tree.digest)
            if tree.digest not in self._there:
                await self._send(tree, kept)
                self._there.add(tree.digest)
            for path in wanted:
                await self._send_large(tree, path, kept)
        return place

    # ------------------------------------------------------------------------------------------------------- parts

    async def _index(self) -> dict[tuple[str, str], str]:
        """The paths of files on the host, by content and mode."""
        if self._kept is None:
            self._kept = {}
            ran = await self._sh(_INDEXES, self._folder)
            tree = ""
            for line in ran.out.decode(errors="replace").splitlines():
                if line.startswith("= "):
                    tree = line[2:]
                    self._there.add(tree)
                    continue
                content, mode, path = line.split(" ", 2)
                name = f"{tree}/{json.loads(path)}"
                self._kept[content, mode] = name
                self._large.add(name)
        return self._kept

    async def _send(self, tree: Tree, kept: dict[tuple[str, str], str]) -> None:
        part = f"{tree.digest}{self._ending}"
        await self._sh('rm -rf "$1" "$1.index"', f"{self._folder}/{part}")
        if self._packs:
            archives = _archives(tree, part, kept)
            while (archive := await asyncio.to_thread(next, archives, None)) is not None:
                await self._sh(_UNPACK, self._folder, part, given=archive)
        else:
            await self._send_singly(tree, part)
        lines = [_line(tree.contents[path], _mode(file), path) for path, file in tree.files.items()]
        in_use = f" {' '.join(sorted(self._brought))} "
        given = "".join(lines).encode()
        moved = await self._sh(_MOVE, self._folder, tree.digest, str(KEPT), in_use, part, given=given)
        self._forget(frozenset(moved.out.decode().split()), kept)
        for path, file in tree.files.items():
            kept[tree.contents[path], _mode(file)] = f"{tree.digest}/{path}"

    def _forget(self, removed: frozenset[str], kept: dict[tuple[str, str], str]) -> None:
        """Forget removed trees, and files that could be linked from them."""
        if not removed:
            return
        self._there -= removed
        self._large = {name for name in self._large if _tree_of(name) not in removed}
        for key in [key for key, name in kept.items() if _tree_of(name) in removed]:
            del kept[key]

    async def _send_singly(self, tree: Tree, part: str) -> None:
        folders = "".join(f"{folder}\n" for folder in ("", *tree.folders))
        await self._sh('mkdir -p "$1"', f"{self._folder}/{part}")
        await self._sh(_FOLDERS, f"{self._folder}/{part}", given=folders.lstrip("\n").encode())
        for path, file in tree.files.items():
            content = await asyncio.to_thread(_read, file)
            await self._sh(_PUT, f"{self._folder}/{part}/{path}", _mode(file), given=content)

    async def _send_large(self, tree: Tree, path: str, kept: dict[tuple[str, str], str]) -> None:
        file = tree.large[path]
        content = await asyncio.to_thread(self._trees.content, file)
        target, index = f"{self._folder}/{tree.digest}/{path}", f"{self._folder}/{tree.digest}"
        line = _line(content, _mode(file), path).rstrip("\n")
        if (there := kept.get((content, _mode(file)))) is not None:
            await self._sh(_LINK, f"{self._folder}/{there}", target, index, line)
        else:
            part = f"{target}{self._ending}"
            await self._sh('rm -f "$1"', part)
            for start in range(0, file.size, PIECE):
                piece = await asyncio.to_thread(_read, file, start)
                await self._sh(_APPEND, part, given=piece)
            await self._sh(_FINISH_LARGE, target, _mode(file), index, line, part)
        kept[content, _mode(file)] = f"{tree.digest}/{path}"
        self._large.add(f"{tree.digest}/{path}")

    async def _sh(self, text: str, *arguments: str, given: bytes = b"") -> Ran:
        ran = await run_command(self._connector, self._target, ["sh", "-c", text, "sh", *arguments], given, PATIENCE)
        if ran.status:
            raise Unusable(
                f"{self._target.name}: the files of the service cannot be uploaded to {self._folder}: {said(ran.err)}; "
                'make room there, or choose another folder (setting "base")'
            )
        return ran


def _tree_of(name: str) -> str:
    """The digest of the tree in which a file is."""
    return name.partition("/")[0]


def _is_named(path: str, named: Sequence[str]) -> bool:
    """Whether one of the paths is this file, or a folder that contains it."""
    return any(path == name or path.startswith(f"{name}/") or not name for name in named)


def _archives(tree: Tree, part: str, kept: dict[tuple[str, str], str]) -> Iterator[bytes]:
    """Archives of the tree, of about one piece each; files that the host has already become links."""
    # Most commands need it not.
    import tarfile

    linked: dict[tuple[str, str], str] = dict(kept)
    files = iter(tree.files.items())
    is_first, is_last = True, False
    while not is_last:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for folder in tree.folders if is_first else ():
                archive.addfile(_entry(f"{part}/{folder}", "755", tarfile.DIRTYPE))
            is_first, is_last = False, True
            for path, file in files:
                key = (tree.contents[path], _mode(file))
                name = f"{part}/{path}"
                if key in linked:
                    archive.addfile(_entry(name, key[1], tarfile.LNKTYPE, linked[key]))
                else:
                    content = _read(file)
                    entry = _entry(name, key[1], tarfile.REGTYPE)
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
                    linked[key] = name
                if buffer.tell() > PIECE:
                    is_last = False
                    break
        yield buffer.getvalue()


def _entry(name: str, mode: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    import tarfile

    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = kind, link, int(mode, 8)
    return entry


def _mode(file: LocalFile) -> str:
    """The mode of a file on the host, without write permission: all operations share the file, and other trees may link
    to it."""
    return "555" if file.executable else "444"


def _line(content: str, mode: str, path: str) -> str:
    return f"{content} {mode} {json.dumps(path)}\n"


def _read(file: LocalFile, start: int | None = None) -> bytes:
    with open(file.source, "rb") as opened:  # noqa: PTH123
        if start is None:
            return opened.read()
        opened.seek(start)
        return opened.read(PIECE)
