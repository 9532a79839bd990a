"""The environment of an operation: a few basic variables of this machine, and what the invocation says.

Nothing else of the orchestrator's own environment reaches an operation, so that it runs the same from a terminal,
from a service manager and from a scheduled job.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH108, PTH123

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from collections.abc import Mapping

from ordito.executors.process_table import JOB, OUTPUTS, STEP
from ordito.work.invocation import SCRATCH, Invocation

ENVIRONMENT_FILE = "ORDITO_ENVIRONMENT_FILE"

BASE_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"),
)
"""The variables taken over from this process, where they are set, and with them all that begin ``LC_``."""

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

LONGEST_VARIABLE = 128 * 1024 - 1
"""Bytes of ``NAME=value`` that Linux takes (MAX_ARG_STRLEN without the NUL); a longer one cannot be handed to a
program at all."""

SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def base_environment(own: Mapping[str, str]) -> dict[str, str]:
    """The basic variables, from a process's own environment; PATH gets a sane value where it is missing."""
    base = {name: value for name in BASE_NAMES if (value := own.get(name)) is not None}
    base.update((name, value) for name, value in own.items() if name.startswith("LC_"))
    if not base.get("PATH"):
        base["PATH"] = DEFAULT_PATH
    return base


class ProcessEnvironment:
    """What an operation sees.

    ``variables`` are handed to the process. ``file`` is the text of ``$ORDITO_ENVIRONMENT_FILE``, "" where none is
    needed or the shared one will do, and ``unexported`` that of a second file in the same format, with variables that
    are longer than Linux takes: shell and Python operations find those among their variables all the same, only
    programs they start do not. ``given`` are the names that came from the invocation.
    """

    __slots__ = ("file", "given", "unexported", "variables")

    def __init__(
        self, invocation: Invocation, base: Mapping[str, str], *, scratch: str, outputs: str, file: str, shared: str
    ) -> None:
        """``file`` is where the operation's own file will be, ``shared`` one with all of ``invocation.large``, "" where
        there is none."""
        given = _placed(invocation.environment, scratch)
        # Only a value of at least a quarter of the limit can exceed it: four bytes are the most a character takes.
        too_long = {
            name: value
            for name, value in given.items()
            if len(value) > LONGEST_VARIABLE // 4 - len(name)
            and len(os.fsencode(name)) + 1 + len(os.fsencode(value)) > LONGEST_VARIABLE
        }
        self.given = tuple(given)
        self.variables = {**base, **given, JOB: invocation.job, STEP: invocation.step, OUTPUTS: outputs}
        for name in too_long:
            del self.variables[name]
        self.file = ""
        self.unexported = environment_file(too_long) if too_long else ""
        if shared and not too_long:
            self.variables[ENVIRONMENT_FILE] = shared
        elif invocation.large or too_long:
            self.file = environment_file({**_placed(invocation.large, scratch), **too_long})
            self.variables[ENVIRONMENT_FILE] = file


def environment_file(variables: Mapping[str, str]) -> str:
    """Variables as a text that any shell can source: one ``NAME='value'`` each, the value quoted for the shell.

    A name that no shell takes is kept in a comment, ``# {"name": "value"}``, on one line, in JSON.
    """
    lines = ['# Variables that did not fit the environment. To have them: . "$ORDITO_ENVIRONMENT_FILE"']
    for name, value in variables.items():
        if "\0" in value:
            raise ValueError(f'the variable "{name}" holds a NUL byte, which no environment can carry')
        if SHELL_NAME.fullmatch(name):
            lines.append(f"{name}={shlex.quote(value)}")
        else:
            lines.append(f"# {json.dumps({name: value})}")
    return "\n".join(lines) + "\n"


def unfit_variable(variables: Mapping[str, str]) -> str:
    """Why no process can be given these variables, in words; "" where one can."""
    for name, value in variables.items():
        if "\0" in name or "\0" in value:
            return f'the variable "{_shown(name)}" holds a NUL byte, which no environment can carry'
        if not name or "=" in name:
            return f'no environment can carry a variable named "{name}"'
        try:
            os.fsencode(name + value)
        except UnicodeEncodeError:
            return f'the variable "{_shown(name)}" holds half a surrogate pair, which is no text'
    return ""


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _placed(variables: Mapping[str, str], scratch: str) -> dict[str, str]:
    """The variables with the scratch folder's path where its placeholder stood."""
    return {n: v.replace(SCRATCH, f"{scratch}/") if SCRATCH in v else v for n, v in variables.items()}


# Files of variables that did not fit the environment, shared by all steps that see the same ones.
#
# The steps of a call see the same mapping, of one entry per instance: were the file made for each step, n instances
# would cost n files of n entries.

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
