"""Gives a Python operation the packages that it requires. The interpreter of the operation runs this file, on its
machine.

``python3 -B packages_runner.py SETTINGS RUNNER ...``: SETTINGS is a JSON object with ``job``, ``step``, ``attempt``,
``result`` (path of the result file), ``requirements`` (paths of files that pip reads) and ``cache`` (the cache folder,
"" for the usual one). It finds or makes the virtual environment for these files and this interpreter, and becomes
``RUNNER ...`` with the Python in it.

    <cache>/ordito/python/<key>/         a virtual environment; complete where it holds the file ``complete``
                          <key>.lock     locked by who makes it, and, shared, by everything that runs in it

The key is a digest of the files, of those that they name (``-r``, ``-c``, folders of packages) and of the interpreter.
An environment is made at its final place, because it contains its own path; if that is interrupted, it is made again.
When there are too many, the least recently used ones are removed, unless something runs in them.

This file uses the standard library only, nothing of this package, and no syntax newer than Python 3.7.
"""

# It has to run on old interpreters, by itself.
# ruff: noqa: B904, PTH103, PTH108, PTH110, PTH111, PTH112, PTH116, PTH118, PTH119, PTH120, PTH123, PTH202, PTH207, PTH208, T201

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

MOST = 20
"""How many environments are kept."""

DEEPEST = 20
"""How deep files of requirements may name each other."""

COMPLETE = "complete"
_OPTION = re.compile(r"(?:^|\s)(-[rcf]|--requirement|--constraint|--find-links)(?:\s*=\s*|\s*)(\S+)")


class NoEnvironment(Exception):
    """The environment cannot be made; the text says why, for people."""


def main() -> None:
    """Find or make the environment, then become the program that runs in it."""
    settings = json.loads(sys.argv[1])
    try:
        folder, lock = environment(settings["requirements"], settings["cache"])
    except (NoEnvironment, OSError) as error:
        problem = f"the packages of the script cannot be installed: {error}"
        print(problem, file=sys.stderr)
        write_result(settings, problem)
        sys.exit(1)
    # It stays open, and so stays locked, for as long as the operation runs.
    os.set_inheritable(lock, True)
    variables = dict(os.environ, VIRTUAL_ENV=folder)
    variables["PATH"] = os.path.join(folder, "bin") + os.pathsep + variables.get("PATH", os.defpath)
    python = os.path.join(folder, "bin", "python")
    sys.stdout.flush()
    os.execve(python, [python, "-B", *sys.argv[2:]], variables)


def environment(files: list[str], cache: str) -> tuple[str, int]:
    """The folder of the environment, and the descriptor that holds it locked."""
    base = os.path.join(cache or os.path.join(os.path.expanduser("~"), ".cache"), "ordito", "python")
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
    except OSError as error:
        raise NoEnvironment(f"{base} cannot be made ({error.strerror}); XDG_CACHE_HOME names another place")
    folder = os.path.join(base, key_of(files))
    while True:
        lock = locked(folder, fcntl.LOCK_SH)
        if lock is not None and is_complete(folder):
            os.utime(lock)
            return folder, lock
        if lock is not None:
            os.close(lock)
        lock = locked(folder, fcntl.LOCK_EX)
        if lock is None:
            continue
        try:
            if not is_complete(folder):
                make(folder, files)
            remove_old(base, folder)
        finally:
            os.close(lock)


def locked(folder: str, how: int) -> int | None:
    """A descriptor that holds the lock of the environment; None if another process has removed it meanwhile, or holds
    it and ``how`` says not to wait."""
    lock = os.open(folder + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, how)
    except BlockingIOError:
        os.close(lock)
        return None
    if os.fstat(lock).st_nlink == 0:
        os.close(lock)
        return None
    return lock


def is_complete(folder: str) -> bool:
    """Whether an environment is complete."""
    return os.path.exists(os.path.join(folder, COMPLETE))


def remove_old(base: str, own: str) -> None:
    """Remove the least recently used environments if there are too many, except those in which something runs."""
    locks = [path for path in glob.glob(os.path.join(glob.escape(base), "*.lock")) if path != own + ".lock"]
    for path in sorted(locks, key=_used, reverse=True)[MOST - 1 :]:
        folder = path[: -len(".lock")]
        lock = locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.unlink(path)
            os.close(lock)


def _used(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


# ---------------------------------------------------------------------------------------------------------- the making


def make(folder: str, files: list[str]) -> None:
    """Make an environment with the packages that the files require."""
    if os.path.isdir(folder):
        shutil.rmtree(folder)
    called = ", ".join(os.path.basename(file) for file in files)
    print(f"making a virtual environment for {called} ...", flush=True)
    status, said = run([sys.executable, "-m", "venv", "--without-pip", folder])
    python = os.path.join(folder, "bin", "python")
    if status != 0 or not os.path.exists(python):
        hint = "install its module venv (the package python3-venv on Debian)"
        raise NoEnvironment(f"{sys.executable} cannot make virtual environments: {last(said)}; {hint}")
    command = [*pip(python), "install", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    for file in files:
        command += ["--requirement", file]
    status, said = run(command, os.path.dirname(files[0]), shown=True)
    if status != 0:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoEnvironment(f"pip ended with exit code {status} for {called}: {last(said)}")
    with open(os.path.join(folder, COMPLETE), "w") as mark:
        os.fsync(mark.fileno())


def pip(python: str) -> list[str]:
    """The words that run pip for an environment: the interpreter's own pip, else the one that comes with every
    Python."""
    found = re.match(r"(\d+)\.(\d+)", own_pip())
    if found and (int(found.group(1)), int(found.group(2))) >= (22, 3):
        return [sys.executable, "-m", "pip", "--python", python]
    try:
        import ensurepip
    except ImportError:
        ensurepip = None  # type: ignore[assignment]
    if ensurepip is not None:
        bundled = os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
        for place in (bundled, "/usr/share/python-wheels"):
            for wheel in sorted(glob.glob(os.path.join(glob.escape(place), "pip-*.whl"))):
                return [python, os.path.join(wheel, "pip")]
    raise NoEnvironment(f"{sys.executable} has no pip; install it (the package python3-pip on Debian)")


def own_pip() -> str:
    """The version of the interpreter's pip, "" if it has none, or one that does not know its version."""
    try:
        from importlib import metadata

        return metadata.version("pip")
    except ImportError:
        return ""


def run(command: list[str], folder: str = "/", *, shown: bool = False) -> tuple[int, str]:
    """Run a program in a folder; returns its exit code and its output, which is also printed at once if ``shown``."""
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        text = line.decode("utf-8", "replace")
        lines = [*lines[-50:], text]
        if shown:
            print(text, end="", flush=True)
    return process.wait(), "".join(lines)


def last(said: str) -> str:
    """The line of the output that says most about what went wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if line.lower().startswith("error")]
    return (wrong or lines or ["it says nothing"])[-1]


# ------------------------------------------------------------------------------------------------------------- the key


def key_of(files: list[str]) -> str:
    """The key of an environment, which no other one has."""
    found = hashlib.sha256()
    whole = (os.path.realpath(sys.executable), sys.version, *contents(files))
    for part in whole:
        found.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return found.hexdigest()[:32]


def contents(files: list[str]) -> Iterator[str]:
    """What the environment depends on: the texts of files of requirements and of those that they name in turn, and the
    files in folders of packages that they name."""
    waiting = [(file, 0) for file in files]
    seen = set()
    for path, depth in waiting:
        if path in seen:
            continue
        seen.add(path)
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError as error:
            raise NoEnvironment(f"{path} cannot be read ({error.strerror})")
        yield text
        for option, name in named(text):
            # pip looks for these beside the file that names them, and for folders where it is started, too.
            place = os.path.join(os.path.dirname(path), name)
            if option in ("-f", "--find-links"):
                yield from listed(place)
            elif depth < DEEPEST and "://" not in name:
                waiting.append((place, depth + 1))


def named(text: str) -> Iterator[tuple[str, str]]:
    """The files and folders that a file of requirements names."""
    for line in text.splitlines():
        if line.lstrip().startswith("-"):
            for found in _OPTION.finditer(line):
                yield found.group(1), found.group(2)


def listed(folder: str) -> Iterator[str]:
    """The files in a folder of packages, with their sizes."""
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            yield f"{name} {os.path.getsize(os.path.join(folder, name))}"


def write_result(settings: Any, problem: str) -> None:
    """Write the result of an operation that could not start; `result_files.py` describes the format."""
    identity = [settings["job"], settings["step"], settings["attempt"]]
    fields = ["ordito-result/1", *identity, "", "1", "!" + problem, *identity, ""]
    descriptor = os.open(settings["result"], os.O_WRONLY | os.O_CREAT, 0o600)
    with open(descriptor, "wb") as file:
        file.write("\0".join(fields).encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    main()
