"""Interpreters by their versions (``artifact_version``, TOSCA 1.3 §3.6.7, §13.2.1).

A Python script with version 3.11 is run by a Python 3.11; with 3.11.4, by a Python 3.11.4 or a later 3.11; with 3, by
any Python 3. A Bash script with version 4.4 is run by Bash 4.4 or any later one. The name of a program does not prove
its version: each interpreter is asked for it once. On other hosts the same names are tried in the same order
(``finding``).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ordito.executors.copies import Unusable
from ordito.executors.environment import base_environment

OLDEST = (3, 7)
"""The oldest Python that can run operations: the wrapper of scripts needs it."""

LIMIT = 10.0
"""Seconds within which an interpreter must say its version."""

_VERSION = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?(?:\..*)?", re.ASCII)

_ASK_PYTHON = ("-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])")
_ASK_BASH = ("--norc", "-c", 'printf "%s.%s.%s\\n" "${BASH_VERSINFO[@]:0:3}"')

Version = tuple[int, ...]


def version_of(text: str) -> Version:
    """The one to three numbers of a written version; raises ``Unusable`` if it is not a version."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise Unusable(f'artifact_version "{text}" is not a version of an interpreter; write 3.11, for example')
    return tuple(int(part) for part in found.groups() if part is not None)


def python_names(wanted: Version) -> tuple[str, ...]:
    """The names that a Python of a version may have, the best name first."""
    exact = (f"python{wanted[0]}.{wanted[1]}",) if len(wanted) > 1 else ()
    return (*exact, f"python{wanted[0]}", "python")


def is_python(wanted: Version, found: Version) -> bool:
    """Whether a Python fits a version: the same language, and not older."""
    return found[: min(2, len(wanted))] == wanted[:2] and found >= wanted


def find_python(version: str, path: str) -> str:
    """The Python of this machine for a version, searched in PATH; raises ``Unusable`` if there is none."""
    wanted = version_of(version)
    if wanted[:2] < OLDEST and wanted != OLDEST[:1]:
        oldest = ".".join(map(str, OLDEST))
        raise Unusable(f"Python {version} is too old: operations are run by Python {oldest} and later")
    seen: list[str] = []
    for program in [*_programs(python_names(wanted), path), sys.executable]:
        found = _ask(program, _ASK_PYTHON, path)
        if found is not None and is_python(wanted, found) and found >= OLDEST:
            return program
        if found is not None:
            seen.append(_named("Python", found))
    raise Unusable(_missing(f"Python {version}", f"python{'.'.join(map(str, wanted[:2]))}", seen, path))


def find_bash(version: str, program: str, path: str) -> str:
    """That program, if it is a Bash of at least that version; else raises ``Unusable``."""
    wanted = version_of(version)
    if not program.rpartition("/")[2].endswith("bash"):
        raise Unusable(f'artifact_version "{version}" asks for a version of bash, and its "#!" line for {program}')
    found = _ask(program, _ASK_BASH, path)
    if found is None or found < wanted:
        seen = [_named("Bash", found)] if found else []
        raise Unusable(_missing(f"Bash {version}", "bash", seen, path))
    return program


def finding(version: str) -> str:
    """A text for any POSIX shell that finds the Python for a version ("" for any) in PATH and puts its name into
    ``$python``, which stays empty if there is none."""
    wanted = version_of(version) if version else OLDEST[:1]
    low = max(wanted, OLDEST)
    asked = f"import sys; v = sys.version_info; sys.exit(v[:{min(2, len(wanted))}] != {wanted[:2]!r} or v < {low!r})"
    names = " ".join(python_names(wanted))
    return (
        f"python=; for p in {names}; do command -v $p >/dev/null && $p -c {shlex.quote(asked)} 2>/dev/null"
        " && { python=$p; break; }; done"
    )


def lacking_here(kind: str, version: str) -> str:
    """Like ``lacking``, with the environment of this process."""
    return lacking((kind,), version, base_environment(os.environ))


def lacking(kinds: Sequence[str], version: str, environment: Mapping[str, str]) -> str:
    """Why this machine has no interpreter for an artifact of these types and this version, for people; "" if it has
    one. Without a version, the interpreter is searched for only when the script runs."""
    path = environment["PATH"]
    try:
        if version and "tosca.artifacts.Implementation.Python" in kinds:
            find_python(version, path)
        elif version and "tosca.artifacts.Implementation.Bash" in kinds:
            find_bash(version, shutil.which("bash", path=path) or "bash", path)
    except Unusable as error:
        return str(error)
    return ""


def _programs(names: Sequence[str], path: str) -> list[str]:
    """The files of these names in PATH, sorted by name, then by folder."""
    folders = [folder for folder in path.split(os.pathsep) if folder]
    found = (shutil.which(name, path=folder) for name in names for folder in folders)
    return list(dict.fromkeys(program for program in found if program))


def _missing(what: str, name: str, seen: Sequence[str], path: str) -> str:
    there = f"there is {', '.join(dict.fromkeys(seen))}" if seen else f"{name} is not there"
    return f"it needs {what}, which is not installed on this machine: {there} (PATH={path})"


def _named(what: str, found: Version) -> str:
    return f"{what} {'.'.join(map(str, found))}"


def _ask(program: str, words: Sequence[str], path: str) -> Version | None:
    """The version that an interpreter says it has; None if it does not answer."""
    try:
        changed = os.stat(program).st_mtime_ns  # noqa: PTH116
    except OSError:
        return None
    return _asked(program, tuple(words), path, changed)


@lru_cache(maxsize=64)
def _asked(program: str, words: tuple[str, ...], path: str, changed: int) -> Version | None:  # noqa: ARG001
    try:
        done = subprocess.run(
            [program, *words],
            env={"PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            check=False,
        )
        return version_of(done.stdout.decode("ascii", "replace")) if done.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, Unusable):
        return None
