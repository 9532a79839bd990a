"""Runs a Python operation. The interpreter of the operation, which need not be ours, runs this file as a program.

``python3 -B python_runner.py SETTINGS SCRIPT``: SETTINGS is a JSON object with ``job``, ``step``, ``attempt``,
``result`` (path of the result file), ``outputs`` (names wanted back), ``base`` (variables that are no inputs), perhaps
``given`` (the names of the inputs, if there may be other variables that nobody knows) and ``source`` (a file of
variables that are too long for an environment, "" for none), and perhaps ``names`` (a module whose ``NAMES`` the script
finds among its own). Words behind SCRIPT are those of the script. The script runs as ``__main__`` with its inputs as
globals, and sees the same ``sys.argv``, ``sys.path[0]`` and ``__file__`` as if it were started directly. When it ends,
its outputs and its exit status are written to the result file, whose format `result_files.py` describes.

This file uses the standard library only, nothing of this package, and no syntax newer than Python 3.7.
"""

# It has to start fast, to run on old interpreters, and to run scripts.
# ruff: noqa: PTH120, PTH123, S102, T201, UP032

from __future__ import annotations

import atexit
import builtins
import importlib
import json
import keyword
import os
import re
import sys
import types
from typing import Any

_PLAIN = re.compile(r"[^'\"\n]+")
"""The part of a value without quotes."""


def main() -> None:
    """Run the script that the command line names, then exit with its status."""
    settings = json.loads(sys.argv[1])
    script = sys.argv[2]
    # With a pipe for its output Python would keep lines back until the end.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    result = _Result(settings)
    # First in, last out: it runs after everything the script leaves to be done at its end.
    atexit.register(result.write)

    module = types.ModuleType("__main__")
    module.__dict__.update(_inputs(settings))
    if settings.get("names"):
        module.__dict__.update(importlib.import_module(settings["names"]).NAMES)
    module.__dict__.update({"__file__": script, "__builtins__": builtins, "__cached__": None})
    sys.modules["__main__"] = module
    sys.argv[:] = sys.argv[2:]
    sys.path[0] = os.path.dirname(script)

    own = os.getpid()
    status, code = _run(script, module)
    if os.getpid() != own:
        # The script forked, and this is the child: it is not the operation, and must not report for it.
        atexit.unregister(result.write)
    else:
        status, code = result.collect(module.__dict__, status, code)
    sys.exit(code)


def _run(script: str, module: types.ModuleType) -> tuple[int, Any]:
    """Run the script; returns its exit status, and the argument for ``sys.exit``."""
    try:
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        _join_threads()
    except SystemExit as end:
        if end.code is None:
            return 0, None
        return (end.code & 0xFF if isinstance(end.code, int) else 1), end.code
    except BaseException as error:  # noqa: BLE001  (whatever a script raises is its failure, and is shown as Python does)
        # The first frame is this function's.
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error, error.__traceback__)
        return 1, 1
    return 0, None


def _join_threads() -> None:
    """Wait for the threads that Python waits for at its end: they may still set outputs."""
    threading = sys.modules.get("threading")
    if threading is None:
        return
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _inputs(settings: dict[str, Any]) -> dict[str, str]:
    """The inputs whose names are valid in Python, as texts."""
    base = set(settings["base"])
    given = settings.get("given")
    if given is None:
        variables = {name: value for name, value in os.environ.items() if name not in base}
    else:
        variables = {name: os.environ[name] for name in given if name in os.environ}
    if settings["source"]:
        with open(settings["source"], encoding="utf-8", errors="surrogateescape", newline="") as file:
            variables.update(_assigned(file.read()))
    return {
        name: value
        for name, value in variables.items()
        if name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
    }


def _assigned(text: str) -> dict[str, str]:
    """The variables of a file that `environment.py` has written. (``shlex`` would take minutes for some megabytes.)"""
    variables = {}
    at = 0
    while at < len(text):
        end = text.index("\n", at)
        if text[at] == "#":
            at = end + 1
            continue
        equals = text.index("=", at)
        name, at, parts = text[at:equals], equals + 1, []
        while text[at] != "\n":
            if text[at] in "'\"":
                end = text.index(text[at], at + 1)
                parts.append(text[at + 1 : end])
                at = end + 1
            else:
                plain = _PLAIN.match(text, at)
                parts.append(plain.group())  # type: ignore[union-attr]
                at += len(parts[-1])
        variables[name] = "".join(parts)
        at += 1
    return variables


class _Result:
    """The result file: its fields are collected when the script has ended, and written when Python ends."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._path: str = settings["result"]
        self._wanted: list[str] = settings["outputs"]
        self._fields: list[str] = ["ordito-result/1", settings["job"], settings["step"], str(settings["attempt"])]
        self._end: tuple[int, str] | None = None
        self._pid = os.getpid()

    def collect(self, namespace: dict[str, Any], status: int, code: Any) -> tuple[int, Any]:
        """Take the outputs out of the script's globals; returns exit status and code, a failure if an output cannot be
        written."""
        problem = ""
        for name in self._wanted:
            if name not in namespace:
                continue
            try:
                value = json.dumps(namespace[name], allow_nan=False, ensure_ascii=False)
                value.encode()
            except (TypeError, ValueError, RecursionError) as error:
                problem = "the output {} cannot be written as JSON: {}".format(name, error)
                print(problem, file=sys.stderr)
                continue
            self._fields += [name, "json", value]
        if problem and status == 0:
            status, code = 1, 1
        self._end = (status, "!" + problem if problem else "end")
        return status, code

    def write(self) -> None:
        """Write the file; only in the process of the operation, and only if its script came to an end."""
        if self._end is None or os.getpid() != self._pid:
            return
        fields = [*self._fields, "", str(self._end[0]), self._end[1], *self._fields[1:4], ""]
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        with open(descriptor, "wb") as file:
            file.write("\0".join(fields).encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    main()
