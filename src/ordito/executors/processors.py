"""Processors: programs of plug-ins that carry out workflows in other languages (§7.3.8), or handle artifacts of other
types: implementations of operations, packages, images (§13.2.1).

A processor is a Python function that a distribution offers by an entry point of the group
``ordito.workflow_processors``, or ``ordito.artifact_processors``, whose name is the full name of an artifact type. The
name for an artifact processor may end in ``@`` and the version of artifacts that it is for. It runs in a process of its
own, as operations do, so that it can be ended, and found again after a crash. `docs/plugins.md` describes its argument.
"""

# ruff: noqa: PTH118, PTH120

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from ordito.base.sensitive import revealed
from ordito.executors.commands import COMMANDS, MakeCommand, StartableScript, placing_command
from ordito.executors.environment import write_private
from ordito.executors.spawn import ProcessCommand
from ordito.model.deploying import PLACING
from ordito.work.needs import filled_name
from ordito.work.plan import ARTIFACTS, PROCESSES
from ordito.work.targets import HostTarget

GROUP = "ordito.workflow_processors"
ARTIFACT_GROUP = "ordito.artifact_processors"
RUNNER = str(Path(__file__).with_name("processor_runner.py"))
CALL = "workflow-call.json"
"""The file with the argument of the processor, in its working directory."""


@cache
def processors() -> Mapping[str, str]:
    """The installed workflow processors by artifact type, each as ``module:attribute``. Of several for one type the
    first in alphabetical order counts, so that it is always the same one."""
    return _offered(GROUP)


@cache
def artifact_processors() -> Mapping[str, str]:
    """The installed artifact processors, by ``type`` or ``type@version``."""
    return _offered(ARTIFACT_GROUP)


def _offered(group: str) -> Mapping[str, str]:
    # It brings half of the library along, and hardly any command needs it.
    from importlib.metadata import entry_points

    found = sorted((point.name, point.value) for point in entry_points(group=group))
    return dict(reversed(found))


def command_for(kind: str) -> MakeCommand | None:
    """How an artifact of a kind is started; None if nothing here runs it."""
    known = COMMANDS.get(kind)
    if known is not None:
        return known
    if kind == PLACING:
        return placing_command
    return processor_command if processor_for(kind) else None


def processor_for(kind: str) -> str:
    """The processor for a kind that begins with ``PROCESSES`` or ``ARTIFACTS``, as ``module:attribute``; "" for none.

    For a version 4.2.1 it is the processor for 4.2.1, else for 4.2, else for 4, else the one without a version. If no
    version is asked for, it is the one without a version, else the one for the highest version.
    """
    if kind.startswith(PROCESSES):
        return processors().get(kind.removeprefix(PROCESSES), "")
    if not kind.startswith(ARTIFACTS):
        return ""
    name, _, version = kind.removeprefix(ARTIFACTS).partition("@")
    offered = artifact_processors()
    parts = version.split(".") if version else []
    asked = [f"{name}@{'.'.join(parts[:count])}" for count in range(len(parts), 0, -1)]
    if not version:
        versions = (offering for offering in offered if offering.startswith(f"{name}@"))
        asked = [name, *sorted(versions, key=_by_number, reverse=True)]
    return next((offered[of] for of in (*asked, name) if of in offered), "")


def _by_number(offering: str) -> list[tuple[int, str]]:
    """A sort key that orders versions as numbers, not as text."""
    parts = offering.rpartition("@")[2].split(".")
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def processor_command(script: StartableScript) -> ProcessCommand:
    """The command of a processor: the interpreter of this process, with the argument of the processor in a file."""
    invocation, slot = script.invocation, script.slot
    call: dict[str, object] = {
        **(invocation.data or {}),
        "file": script.path,
        "dependencies": [os.path.join(invocation.root, d) for d in invocation.dependencies],
    }
    if invocation.processor.startswith(ARTIFACTS):
        folder = os.path.dirname(script.path)
        templates = invocation.needs.templates if invocation.needs is not None else ()
        call["filled"] = [f"{folder}/{filled_name(template)}" for template in templates]
        call["target"] = _described(invocation.target)
    path = f"{slot.work}/{CALL}"
    write_private(path, msgspec.json.encode(call).decode())
    settings = {
        "job": invocation.job,
        "step": invocation.step,
        "attempt": str(invocation.attempt),
        "result": slot.result,
        "call": path,
        "processor": processor_for(invocation.processor),
        "path": [str(Path(place).absolute()) for place in sys.path],
    }
    arguments = [sys.executable, "-I", "-B", RUNNER, json.dumps(settings)]
    return ProcessCommand(sys.executable, arguments, script.environment.variables, slot.work)


def _described(target: HostTarget | None) -> dict[str, object] | None:
    """How a host is reached, as plain data; None for this machine."""
    if target is None:
        return None
    return {"protocol": target.protocol, "name": target.name, "settings": revealed(dict(target.settings))}
