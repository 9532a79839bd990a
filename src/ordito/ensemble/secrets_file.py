"""`secrets.yaml`: the secrets of an ensemble, one a line, each sealed with the ensemble's key and bound to its name.

It may lie under git. Who changes it holds a lock of its own, not that of the ensemble: a running job has read its
secrets.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import own_handle, read, write_whole
from ordito.ensemble.git_files import ensure_git_files
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import Vault

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
"""How a secret may be called."""

MOST_BYTES = 1024 * 1024
"""The largest secret."""

HEAD = "# Secrets of this ensemble, sealed with the key in .ordito/key. Change them with: ordito secrets set NAME\n"

_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]{0,99}): (v1:\S+)")


class SecretsFile:
    """The secrets of one ensemble. Everything raises ``EnsembleError``; names are taken as they are."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._vault = Vault(layout)

    def names(self) -> list[str]:
        """The names of all secrets, sorted. No key is needed."""
        return sorted(self._read())

    def get(self, name: str) -> str:
        """A secret. Raises ``KeyError`` where there is none of that name."""
        return str(self._vault.open(self._read()[name], name))

    def put(self, name: str, value: str) -> bool:
        """Keep a secret; gives whether that changes anything. The others must be sealed with the same key: no new one
        is made beside them."""
        for other, text in self._read().items():
            if other != name:
                self._vault.open(text, other)
                break
        sealed = self._vault.seal(value, name)
        return self._change(lambda known: {**known, name: sealed})

    def remove(self, names: list[str]) -> None:
        """Forget secrets. Raises ``KeyError`` with the first name that there is not, and forgets none then."""

        def without(known: Mapping[str, str]) -> dict[str, str]:
            for name in names:
                if name not in known:
                    raise KeyError(name)
            return {name: sealed for name, sealed in known.items() if name not in names}

        self._change(without)

    def _change(self, change: Callable[[Mapping[str, str]], Mapping[str, str]]) -> bool:
        with self._locked():
            known = self._read()
            wanted = change(known)
            if wanted == known:
                return False
            ensure_git_files(self._layout)
            lines = [f"{name}: {wanted[name]}\n" for name in sorted(wanted)]
            write_whole(self._layout.secrets, ["".join([HEAD, *lines]).encode()])
            return True

    def _read(self) -> dict[str, str]:
        """The sealed texts by name."""
        content = read(self._layout.secrets) or b""
        found: dict[str, str] = {}
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            entry = _LINE.fullmatch(line.rstrip())
            if entry is None or entry[1] in found:
                raise EnsembleError(
                    f"{self._layout.secrets}:{number}: this is no line of the form NAME: SEALED"
                    if entry is None
                    else f"{self._layout.secrets}:{number}: {entry[1]} stands here twice",
                    "after a merge, keep one line for each name; else restore the file from git",
                )
            found[entry[1]] = entry[2]
        return found

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._layout.make_private()
        path = self._layout.private / "secrets.lock"
        with explained("lock", path):
            handle = own_handle(path, os.O_RDWR)
        try:
            with explained("lock", path):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
