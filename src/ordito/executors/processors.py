"""Processors: programs of others that carry out workflows written in languages of their own (§7.3.8).

A processor is a Python function that a distribution offers by an entry point of the group
``ordito.workflow_processors`` whose name is the full name of an artifact type. It runs in a process of its own, as
operations do, so that it can be ended, and found again after a crash. `docs/plugins.md` says what it is given.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from ordito.executors.commands import COMMANDS, MakeCommand, Script
from ordito.executors.environment_files import write_private
from ordito.executors.spawn import Command
from ordito.work.plan import PROCESSES

GROUP = "ordito.workflow_processors"
RUNNER = str(Path(__file__).with_name("processor_runner.py"))
CALL = "workflow-call.json"
"""What the processor is given, in its working directory."""


@cache
def processors() -> Mapping[str, str]:
    """The processors that are installed, by artifact type: where each is found, ``module:attribute``. Of several for
    one type the first by its place counts, so that it is the same one each time."""
    # It brings half of the library along, and hardly any command needs it.
    from importlib.metadata import entry_points

    found = sorted((point.name, point.value) for point in entry_points(group=GROUP))
    return dict(reversed(found))


def command_for(kind: str) -> MakeCommand | None:
    """How what is of a kind is started; None for what nothing here understands."""
    known = COMMANDS.get(kind)
    if known is not None or not kind.startswith(PROCESSES):
        return known
    return processor_command if kind.removeprefix(PROCESSES) in processors() else None


def processor_command(script: Script) -> Command:
    """The interpreter of this process around a processor, with all that it is given in a file."""
    invocation, slot = script.invocation, script.slot
    call = {
        **(invocation.data or {}),
        "file": script.path,
        "dependencies": [os.path.join(invocation.root, d) for d in invocation.dependencies],  # noqa: PTH118
    }
    path = f"{slot.work}/{CALL}"
    write_private(path, msgspec.json.encode(call).decode())
    settings = {
        "job": invocation.job,
        "step": invocation.step,
        "attempt": str(invocation.attempt),
        "result": slot.result,
        "call": path,
        "processor": processors()[invocation.processor.removeprefix(PROCESSES)],
        "path": [str(Path(place).absolute()) for place in sys.path],
    }
    arguments = [sys.executable, "-I", "-B", RUNNER, json.dumps(settings)]
    return Command(sys.executable, arguments, script.environment.variables, slot.work)
