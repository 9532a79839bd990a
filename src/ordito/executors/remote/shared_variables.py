"""Files of variables that did not fit the environment, on a host: one for all operations that see the same ones.

Where a list of many instances changes with each step, each step sees other variables. So what nobody uses goes again,
but for a few: it is removed together with the next file that is written, which costs no message of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

KEPT = 8
"""Files that nobody uses at the moment are kept for steps to come if they are among so many that were used last."""

Write = Callable[[str, bytes, Sequence[str]], Awaitable[object]]
"""Writes a file on the host, and removes others: its path, its content, their paths."""
Key = tuple[int, str]


class SharedFile:
    """A file of variables on a host. ``path`` is "" where operations cannot share one."""

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
    """The shared files on one host. Mappings are told apart by identity, so they must not be changed."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._kept: dict[Key, SharedFile] = {}
        self._unneeded: list[str] = []

    async def take(self, key: Key, variables: Mapping[str, str], make: Callable[[], tuple[str, str]]) -> SharedFile:
        """The file that a key stands for, to be given back when its user has ended; ``make`` gives the path of a new
        one ("" where there can be none) and its text. Raises what writing raises."""
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
        """One user less."""
        file.users -= 1
        self._let_go(file)

    def forget(self) -> None:
        """Know of nothing that is on the host."""
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
