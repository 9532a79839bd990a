"""The files of a service that a host must have, each identified by its content."""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH112, PTH116, PTH119, PTH120, PTH123

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import msgspec

from ordito.executors.copies import in_tree
from ordito.executors.script_tree import runs_in_place

LARGE = 1 << 20
"""A file with more bytes goes to a host only when an operation there names it."""


class LocalFile(msgspec.Struct, frozen=True):
    """A file of the service."""

    source: str
    """Its path on this machine."""

    size: int
    """In bytes."""

    executable: bool
    version: int
    """Another number after the file was written again."""


class Tree(msgspec.Struct, frozen=True):
    """The files and folders of a tree, by their paths in it."""

    digest: str
    """The digest of the whole tree."""

    files: Mapping[str, LocalFile]
    """The files that go to a host with the tree."""

    contents: Mapping[str, str]
    """The digests of the files."""

    folders: tuple[str, ...]
    large: Mapping[str, LocalFile] = {}
    """The files that go to a host only when an operation names them."""


class Trees:
    """The trees of services, and parts of them with the dependencies beside a script; each is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, tuple[str, ...]], tuple[Tree, Mapping[str, int]]] = {}
        self._digests: dict[tuple[str, int, int], str] = {}

    def of(self, root: str, artifact: str, dependencies: Sequence[str]) -> Tree:
        """The tree for an operation. Raises ``Unusable`` and ``OSError``.

        A tree should not change while a job runs; if files of the operation have changed nevertheless, it is read
        again.
        """
        named = [in_tree(root, file) for file in (artifact, *dependencies)]
        key: tuple[str, str, tuple[str, ...]] = (root, "", ())
        if not runs_in_place(artifact, dependencies):
            key = (root, artifact, tuple(dependencies))
        versions = {path: os.stat(path).st_mtime_ns for path in named}
        known = self._known.get(key)
        if known is not None and _is_as_read(root, known[0], known[1], versions):
            return known[0]
        tree = self._read(root, key[1], key[2])
        seen = {f.source: f.version for f in (*tree.files.values(), *tree.large.values())}
        self._known[key] = (tree, {**seen, **versions})
        return tree

    def content(self, file: LocalFile) -> str:
        """The digest of a file."""
        key = (file.source, file.version, file.size)
        if (found := self._digests.get(key)) is None:
            with open(file.source, "rb") as opened:
                found = self._digests[key] = hashlib.file_digest(opened, "sha256").hexdigest()
        return found

    def _read(self, root: str, artifact: str, dependencies: Sequence[str]) -> Tree:
        folders: list[str] = []
        everything = dict(_walk(root, "", folders))
        if dependencies:
            _bring(everything, folders, root, artifact, dependencies)
        files = {path: file for path, file in sorted(everything.items()) if file.size <= LARGE}
        contents = {path: self.content(file) for path, file in files.items()}
        digest = hashlib.sha256()
        for path, file in files.items():
            digest.update(f"{path}\0{'x' if file.executable else '-'}\0{contents[path]}\n".encode(errors="replace"))
        for folder in sorted(folders):
            digest.update(f"{folder}\n".encode(errors="replace"))
        large = {path: file for path, file in everything.items() if file.size > LARGE}
        return Tree(digest.hexdigest()[:32], files, contents, tuple(sorted(folders)), large)


def _is_as_read(root: str, tree: Tree, seen: Mapping[str, int], versions: Mapping[str, int]) -> bool:
    """Whether files of a tree, as they are now, are unchanged since they were read."""
    for path, version in versions.items():
        relative = os.path.relpath(path, root)
        is_there = os.path.isdir(path) or relative in tree.files or relative in tree.large
        if not is_there or seen.get(path, version) != version:
            return False
    return True


def _bring(
    files: dict[str, LocalFile], folders: list[str], root: str, artifact: str, dependencies: Sequence[str]
) -> None:
    """Put dependencies beside their script; of two with the same name the first counts, and none replaces the
    script."""
    script = os.path.normpath(artifact)
    beside = os.path.dirname(script)
    taken = {os.path.basename(script)}
    for dependency in dependencies:
        name = os.path.basename(os.path.normpath(dependency))
        if name in taken:
            continue
        taken.add(name)
        source = in_tree(root, dependency)
        place = f"{beside}/{name}" if beside else name
        if os.path.isdir(source):
            folders.append(place)
            files.update(_walk(source, place, folders))
        else:
            files[place] = _local(source)


def _walk(folder: str, prefix: str, folders: list[str]) -> Iterator[tuple[str, LocalFile]]:
    """All files below a folder, by their paths after the prefix. Hidden files at the top do not belong to the
    service."""
    todo = [(folder, prefix)]
    while todo:
        path, relative = todo.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                name = f"{relative}/{entry.name}" if relative else entry.name
                if not relative and entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    # A link to a folder that it lies in would have no end.
                    if not entry.is_symlink() or not os.path.realpath(path).startswith(os.path.realpath(entry.path)):
                        folders.append(name)
                        todo.append((entry.path, name))
                elif entry.is_file():
                    yield name, _local(entry.path)


def _local(path: str) -> LocalFile:
    found = os.stat(path)
    return LocalFile(path, found.st_size, bool(found.st_mode & 0o100), found.st_mtime_ns)


# Files of variables that did not fit the environment, on a host: one for all operations that see the same ones.
#
# Where a list of many instances changes with each step, each step sees other variables. So what nobody uses goes
# again, but for a few: it is removed together with the next file that is written, which costs no message of its own.

KEPT = 8
"""How many unused files are kept for later steps, those that were used last."""

Write = Callable[[str, bytes, Sequence[str]], Awaitable[object]]
"""Writes a file on the host (path, content) and removes others (paths)."""
Key = tuple[int, str]


class SharedFile:
    """A file of variables on a host. ``path`` is "" if operations cannot share one."""

    __slots__ = ("is_kept", "is_there", "path", "users", "variables")

    def __init__(self, path: str, variables: Mapping[str, str]) -> None:
        self.path = path
        # Also so that no other mapping gets the identity by which this one is known.
        self.variables = variables
        self.users = 0
        self.is_kept = True
        self.is_there: asyncio.Future[object] | None = None


NONE = SharedFile("", {})


class SharedFiles:
    """The shared files on one host. Mappings are compared by identity, so they must not be changed."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._kept: dict[Key, SharedFile] = {}
        self._unneeded: list[str] = []

    async def take(self, key: Key, variables: Mapping[str, str], make: Callable[[], tuple[str, str]]) -> SharedFile:
        """The file of a key, to be given back when its user has ended; ``make`` gives the path of a new one ("" if
        there can be none) and its text. Raises what writing raises."""
        file = self._kept.pop(key, None) or self._begin(variables, make)
        # The last one is the one used last.
        self._kept[key] = file
        file.users += 1
        if len(self._kept) > KEPT:
            self._drop(next(iter(self._kept)))
        try:
            if file.is_there is not None:
                await asyncio.shield(file.is_there)
        except BaseException:
            # Whoever comes next tries again.
            if self._kept.get(key) is file:
                self._drop(key)
            self.give_back(file)
            raise
        return file

    def give_back(self, file: SharedFile) -> None:
        """One user of the file has ended."""
        file.users -= 1
        self._let_go(file)

    def forget(self) -> None:
        """Forget all files on the host."""
        self._kept.clear()
        self._unneeded.clear()

    def _begin(self, variables: Mapping[str, str], make: Callable[[], tuple[str, str]]) -> SharedFile:
        path, text = make()
        file = SharedFile(path, variables)
        if path:
            unneeded, self._unneeded = self._unneeded, []
            file.is_there = asyncio.ensure_future(self._write(path, text.encode("utf-8", "surrogateescape"), unneeded))
        return file

    def _drop(self, key: Key) -> None:
        file = self._kept.pop(key)
        file.is_kept = False
        self._let_go(file)

    def _let_go(self, file: SharedFile) -> None:
        if file.path and not file.is_kept and not file.users:
            self._unneeded.append(file.path)
