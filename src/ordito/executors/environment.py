"""The environment of an operation: a few basic variables of this machine, and those of the invocation.

An operation gets nothing else of the orchestrator's own environment, so that it runs in the same way from a terminal, a
service manager and a scheduled job.
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
from pathlib import Path

from ordito.executors.process_table import JOB, OUTPUTS, STEP
from ordito.work.invocation import SCRATCH, Helpers, Invocation

ENVIRONMENT_FILE = "ORDITO_ENVIRONMENT_FILE"

BASE_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
    *("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"),
)
"""The variables that are taken from this process if they are set, with all that begin with ``LC_``."""

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

LONGEST_VARIABLE = 128 * 1024 - 1
"""The most bytes of ``NAME=value`` that Linux accepts (MAX_ARG_STRLEN without the NUL); no program can get a longer
one."""

SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def base_environment(own: Mapping[str, str]) -> dict[str, str]:
    """The basic variables, from a process's own environment; a missing PATH gets a usual value."""
    base = {name: value for name in BASE_NAMES if (value := own.get(name)) is not None}
    base.update((name, value) for name, value in own.items() if name.startswith("LC_"))
    if not base.get("PATH"):
        base["PATH"] = DEFAULT_PATH
    return base


class ProcessEnvironment:
    """What an operation sees.

    ``variables`` are given to the process. ``file`` is the text of ``$ORDITO_ENVIRONMENT_FILE``, "" if none is needed
    or the shared one suffices. ``unexported`` is the text of a second file in the same format, with variables that are
    too long for Linux: shell and Python operations still find those among their variables, but programs that they start
    do not. ``given`` are the names that came from the invocation.
    """

    __slots__ = ("file", "given", "unexported", "variables")

    def __init__(
        self, invocation: Invocation, base: Mapping[str, str], *, scratch: str, outputs: str, file: str, shared: str
    ) -> None:
        """``file`` is the path of the operation's own file, ``shared`` the path of one with all of
        ``invocation.large``, "" for none."""
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
        if invocation.helpers is not None and "PATH" in base:
            self.variables.update(with_helpers(folder_of(invocation.helpers), self.variables))
        self.file = ""
        self.unexported = environment_file(too_long) if too_long else ""
        if shared and not too_long:
            self.variables[ENVIRONMENT_FILE] = shared
        elif invocation.large or too_long:
            self.file = environment_file({**_placed(invocation.large, scratch), **too_long})
            self.variables[ENVIRONMENT_FILE] = file


_PROFILES = Path(__file__).parents[1] / "profiles"


def folder_of(helpers: Helpers) -> str:
    """The folder of helpers on this machine."""
    return f"{_PROFILES / helpers.profile}/helpers"


def with_helpers(folder: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables by which an operation on this machine finds the helpers in a folder."""
    libraries = variables.get("PYTHONPATH")
    return {
        "PATH": f"{folder}/bin:{variables['PATH']}",
        "PYTHONPATH": f"{folder}/lib:{libraries}" if libraries else f"{folder}/lib",
    }


def environment_file(variables: Mapping[str, str]) -> str:
    """Variables as a text that any shell can source: ``NAME='value'`` for each, the value quoted for the shell.

    A variable whose name no shell accepts is kept in a comment of one line, as JSON: ``# {"name": "value"}``.
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
    """Why no process can get these variables, for people; "" if one can."""
    for name, value in variables.items():
        if "\0" in name or "\0" in value:
            return f'the variable "{_shown(name)}" holds a NUL byte, which no environment can carry'
        if not name or "=" in name:
            return f'no environment can carry a variable named "{name}"'
        try:
            os.fsencode(name + value)
        except UnicodeEncodeError:
            return f'the variable "{_shown(name)}" holds half a surrogate pair, which is not valid text'
    return ""


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _placed(variables: Mapping[str, str], scratch: str) -> dict[str, str]:
    """The variables with the path of the scratch folder in place of its placeholder."""
    return {n: v.replace(SCRATCH, f"{scratch}/") if SCRATCH in v else v for n, v in variables.items()}


# Files of variables that did not fit the environment, shared by all steps that see the same ones.
#
# The steps of a call see the same mapping, of one entry per instance: were the file made for each step, n instances
# would cost n files of n entries.

KEPT = 8
"""How many unused files are kept for later steps, those that were used last."""


class EnvironmentFile:
    """A file of variables. ``path`` is "" if steps cannot share one, because a value contains the step's scratch
    folder."""

    __slots__ = ("is_kept", "path", "users", "variables")

    def __init__(self, path: str, variables: Mapping[str, str]) -> None:
        self.path = path
        # Also so that no other mapping gets the identity by which this one is known.
        self.variables = variables
        self.users = 0
        self.is_kept = True


class EnvironmentFiles:
    """The shared files of one executor, ``<base>/<job>/environment-<n>``. They are removed with the job's work
    directories at the latest.

    Mappings are compared by identity, so they must not be changed after they were given.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._kept: dict[tuple[str, int], EnvironmentFile] = {}
        self._made = 0

    def take(self, job: str, variables: Mapping[str, str]) -> EnvironmentFile:
        """The file of these variables, to be given back when its user has ended; the folder of the job exists already.
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
        """One user of the file has ended."""
        file.users -= 1
        _remove_unneeded(file)

    def clear(self) -> None:
        """Keep no files; those that are in use are removed when they are given back."""
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
    """Write a file that is never changed, and that no other user may read, as it may hold secrets. A file that a dead
    process has left is replaced."""
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
