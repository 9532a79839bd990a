"""Files of variables that did not fit the environment, shared by all steps that see the same ones.

The steps of a call see the same mapping, of one entry per instance: were the file made for each step, n instances would
cost n files of n entries.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH108, PTH123

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from ordito.executors.environment import environment_file
from ordito.work.invocation import SCRATCH

KEPT = 8
"""Files that nobody uses at the moment are kept for steps to come if they are among so many that were used last."""


class EnvironmentFile:
    """A file of variables. ``path`` is "" where steps cannot share one, as a value names the step's scratch folder."""

    __slots__ = ("is_kept", "path", "users", "variables")

    def __init__(self, path: str, variables: Mapping[str, str]) -> None:
        self.path = path
        # Also so that no other mapping gets the identity by which this one is known.
        self.variables = variables
        self.users = 0
        self.is_kept = True


class EnvironmentFiles:
    """The shared files of one executor, ``<base>/<job>/environment-<n>``. They go with the job's slots at the latest.

    Mappings are told apart by identity, so they must not be changed after they were handed over.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._kept: dict[tuple[str, int], EnvironmentFile] = {}
        self._made = 0

    def take(self, job: str, variables: Mapping[str, str]) -> EnvironmentFile:
        """The file of these variables, to be given back when its user has ended; the job has a folder already.

        Raises ``ValueError`` for a variable that no environment can carry, ``OSError`` if the file cannot be written.
        """
        key = job, id(variables)
        file = self._kept.pop(key, None) or self._make(job, variables)
        # The last one is the one used last.
        self._kept[key] = file
        file.users += 1
        if len(self._kept) > KEPT:
            self._drop(next(iter(self._kept)))
        return file

    def give_back(self, file: EnvironmentFile) -> None:
        """One user less."""
        file.users -= 1
        _remove_unneeded(file)

    def clear(self) -> None:
        """Keep nothing; files that are in use go when they are given back."""
        for key in list(self._kept):
            self._drop(key)

    def _make(self, job: str, variables: Mapping[str, str]) -> EnvironmentFile:
        if any(SCRATCH in value for value in variables.values()):
            return EnvironmentFile("", variables)
        self._made += 1
        path = f"{self._base}/{job}/environment-{self._made}"
        write_private(path, environment_file(variables))
        return EnvironmentFile(path, variables)

    def _drop(self, key: tuple[str, int]) -> None:
        file = self._kept.pop(key)
        file.is_kept = False
        _remove_unneeded(file)


def write_private(path: str, text: str, mode: int = 0o400) -> None:
    """Write a file that nobody changes, and nobody else may read: it may hold secrets. What was there before, from a
    process that died, is replaced."""
    content = text.encode("utf-8", "surrogateescape")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        os.unlink(path)
        raise


def _remove_unneeded(file: EnvironmentFile) -> None:
    if file.path and not file.is_kept and not file.users:
        with contextlib.suppress(OSError):
            os.unlink(file.path)
