"""Runs a processor of workflows. Started as a program, by the interpreter that Ordito runs with.

``python3 -I -B processor_runner.py SETTINGS``: SETTINGS is a JSON object with ``job``, ``step``, ``attempt``,
``result`` (path of the result file), ``call`` (path of the file with the argument of the processor), ``processor``
(where it is found, ``module:attribute``) and ``path`` (where modules are searched for). What it returns, a map of
outputs or None, is written to the result file, whose format `result_files.py` describes. If it raises anything, it has
failed.
"""

# It is a program of its own, which uses the standard library and the processor only.
# ruff: noqa: PTH123, T201

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Any


def main() -> None:
    """Run the processor that the command line names, then exit with its status."""
    settings = json.loads(sys.argv[1])
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.path[:] = settings["path"]
    status, fields = 1, list[str]()
    try:
        status, fields = _run(settings)
    finally:
        # What the processor raises goes on, to the interpreter, once it is written down that it has failed.
        _write(settings, status, fields)
    sys.exit(status)


def _write(settings: dict[str, Any], status: int, fields: list[str]) -> None:
    identity = [settings["job"], settings["step"], settings["attempt"]]
    whole = ["ordito-result/1", *identity, *fields, "", str(status), "end", *identity, ""]
    descriptor = os.open(settings["result"], os.O_WRONLY | os.O_CREAT, 0o600)
    with open(descriptor, "wb") as file:
        file.write("\0".join(whole).encode("utf-8", "surrogateescape"))


def _run(settings: dict[str, Any]) -> tuple[int, list[str]]:
    """Run the processor; returns the exit status and the fields of the outputs."""
    module, _, attribute = settings["processor"].partition(":")
    try:
        with open(settings["call"], encoding="utf-8") as file:
            call = json.load(file)
        process = importlib.import_module(module)
        for name in attribute.split("."):
            process = getattr(process, name)
        outputs = process(call)  # type: ignore[operator]
        if outputs is not None and not isinstance(outputs, Mapping):
            raise TypeError(f"{settings['processor']} returned {type(outputs).__name__}, not a map of outputs")
        return 0, [text for name, value in (outputs or {}).items() for text in (str(name), "json", _json(value))]
    except SystemExit as end:
        if end.code is None:
            return 0, []
        if not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        return (end.code & 0xFF if isinstance(end.code, int) else 1), []


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


if __name__ == "__main__":
    main()
