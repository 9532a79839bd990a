"""The files between this program and its plug-ins inside Ansible's process.

    <slot>/inventory.json    the hosts: ``{"hosts": {name: variables}, "groups": {name: [hosts]}, "common":
                             variables}``, the last being those of every host in the group ``SELF``; it may hold
                             secrets, and is removed when Ansible has ended
    <slot>/batch.json        what the batch consists of (``Contents``); it stays until the job is over
    <slot>/results/N.json    how the playbook has ended for the host with the number N (``HostResult``)
    <slot>/private/          what may hold secrets as well, and goes with the inventory: keys, passwords

`inside/callback/ordito_report.py` prints a line for each thing that happens: a mark, then JSON: ``[[hosts], text]``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ordito.base.suggest import nearest
from ordito.executors.result_files import STATUSES, look_at
from ordito.executors.slots import WorkDirectory, remove
from ordito.work.invocation import Ending, Outcome

INVENTORY, BATCH, RESULTS, PRIVATE = "inventory.json", "batch.json", "results", "private"
SETTINGS = "ORDITO_ANSIBLE"
"""The variable that tells the plug-ins the path of ``batch.json``."""
MARK = b"\x1eordito "

REPORT = "ordito_"
_REPORTS = ("ordito_changed", "ordito_status", "ordito_done")

_ENDINGS = {
    "ok": Ending.SUCCEEDED,
    "failed": Ending.FAILED,
    "unreachable": Ending.UNREACHABLE,
    "lost": Ending.LOST,
    "none": Ending.NOT_STARTED,
}


class BatchStep(msgspec.Struct, frozen=True):
    """One step of a batch; its result is the file ``results/<number>.json``."""

    job: str
    step: str
    attempt: int
    number: int
    outputs: tuple[str, ...] = ()


class Contents(msgspec.Struct, frozen=True):
    """A batch."""

    results: str
    """The folder of the results."""

    folders: tuple[str, ...]
    """Folders that are cut off from paths in messages about playbooks."""

    steps: dict[str, BatchStep]
    """The steps by host."""

    marker: str
    """The name by which its processes are found again."""

    sockets: str = ""
    """A folder of its own outside of the work directory, for sockets."""

    containers: tuple[tuple[str, ...], ...] = ()
    """The words that begin a command in each of its containers."""


class HostResult(msgspec.Struct, frozen=True):
    """How a playbook ended for one host."""

    job: str
    step: str
    attempt: int
    ending: str
    changed: bool = False
    message: str = ""
    outputs: dict[str, object] = {}


def write_private(path: str, data: bytes) -> None:
    """Write a file that no other user may read; an existing file is replaced."""
    with contextlib.suppress(FileNotFoundError):
        Path(path).unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123
        file.write(data)


def contents_of(slot: WorkDirectory) -> Contents | None:
    """The batch of a work directory; None if there is none (yet)."""
    try:
        return msgspec.json.decode(look_at(f"{slot.path}/{BATCH}").data, type=Contents)
    except msgspec.DecodeError:
        return None


def remove_secrets(slot: WorkDirectory) -> None:
    """Remove the files that may hold secrets, and that nobody needs when Ansible has ended."""
    for name in (INVENTORY, PRIVATE):
        remove(f"{slot.path}/{name}")


def outcome_of_host(slot: WorkDirectory, step: BatchStep, wanted: Sequence[str]) -> Outcome | None:
    """How the playbook has ended for one host, by its result file; None if there is none. A host has no exit code: the
    one of the process is for all hosts."""
    try:
        result = msgspec.json.decode(look_at(f"{slot.path}/{RESULTS}/{step.number}.json").data, type=HostResult)
    except msgspec.DecodeError:
        return None
    if (result.job, result.step, result.attempt) != (step.job, step.step, step.attempt):
        return None
    reports = {name: value for name, value in result.outputs.items() if name.startswith(REPORT) and name not in wanted}
    problem = next((p for name, value in reports.items() if (p := _wrong_report(name, value))), "")
    ending = _ENDINGS.get(result.ending, Ending.FAILED)
    if problem and ending is Ending.SUCCEEDED:
        return Outcome(Ending.FAILED, changed=result.changed, message=problem)
    return Outcome(
        ending,
        outputs={name: value for name, value in result.outputs.items() if name not in reports},
        changed=None if ending is Ending.LOST else bool(reports.get("ordito_changed", result.changed)),
        status=str(reports.get("ordito_status", "")),
        done=_done(reports.get("ordito_done")),
        message=result.message,
    )


def _done(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _wrong_report(name: str, value: object) -> str:
    """What is wrong with a report in the statistics of a playbook; "" if nothing is."""
    if name not in _REPORTS:
        near = nearest(name, _REPORTS)
        more = f'did you mean "{near[0]}"?' if near else f"reports are {', '.join(_REPORTS)}"
        return f'set_stats: there is no report named "{name}"; {more}'
    if name == "ordito_status":
        return "" if value in STATUSES else f'set_stats: "{name}" must be one of {", ".join(STATUSES)}'
    return "" if isinstance(value, bool) else f'set_stats: "{name}" must be true or false'
