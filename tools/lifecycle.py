"""Writes the tables in ``docs/lifecycle.md`` from the lifecycle table, and from those that decide what a step's end
means: ``python -m tools.lifecycle``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from ordito.instances.lifecycle import DELEGATE, INSTALL, UNINSTALL, LifecycleRow, Per, PlacedRow, Side
from ordito.instances.status import LOCAL_AFTER, StatusEvent
from ordito.model.service import RELATIONSHIP_LIFECYCLE
from ordito.operations.step_end import COUNTS, EFFECTS, ENDS, EVENTS, STATES, STATUSES, HowEnded, Row
from ordito.work.plan import StepCondition

DOCUMENT = Path(__file__).parent.parent / "docs" / "lifecycle.md"

TABLES = {"install": INSTALL, "uninstall": UNINSTALL}
CALLED = {
    Per.INSTANCE: "once",
    Per.NEAR: "once for each of its relationships",
    Per.PAIR: "once for each pair",
}
RUNS_ON = {Side.NODE: "the instance", Side.SOURCE: "the source", Side.TARGET: "the target"}


def table(rows: tuple[PlacedRow, ...]) -> str:
    """A table as Markdown."""
    lines = ["| state | operation | runs on | how often |", "|---|---|---|---|"]
    lines += [f"| {_state(p)} | {_operation(p.row)} | {_runs_on(p.row)} | {_often(p.row)} |" for p in rows]
    return "\n".join(lines)


def _state(placed: PlacedRow) -> str:
    return f"`{placed.stage.enter}`" if placed.stage is not None else f"after `{placed.reached}`"


def _operation(row: LifecycleRow) -> str:
    interface = row.interface.rpartition(".")[2]
    side = f" of `{row.side}`" if row.interface == RELATIONSHIP_LIFECYCLE else ""
    whose = "Cloudify: " if row.interface.startswith("cloudify.") else ""
    return f"{whose}`{interface}.{row.operation}`{side}"


def _runs_on(row: LifecycleRow) -> str:
    return "the orchestrator" if row.interface == DELEGATE else RUNS_ON[row.side]


def _often(row: LifecycleRow) -> str:
    often = CALLED[row.per]
    if row.interface == DELEGATE:
        return f"{often}, of hosts that are not this machine"
    if row.of_hosts:
        often += ", of hosts"
    return f"{often}, if `{row.undoes[0]}` was begun" if row.if_begun else often


ENDINGS = {HowEnded.WELL: "ends well", HowEnded.BADLY: "fails", HowEnded.NEVER_STARTED: "never started"}
CONDITIONS = {
    StepCondition.IF_REPAIRED: "what goes on only if its instance is well",
    StepCondition.IF_HEALED: "an instance that is to be well after it was healed",
    StepCondition.IF_THERE: "what goes on only if its instance is there",
}
FACTS: Mapping[str, tuple[str, str]] = {
    "holds": ("and it is", "and it is not"),
    "host_lost": ("the host cannot be reached", "the host can be reached"),
    "of_pair": ("it is of a pair", "it is of an instance"),
    "removes": ("the state to come is `deleted`", "the instance stays"),
    "is_there": ("the instance is there", "the instance is not there"),
    "answered": ("it says how the instance is", "it says nothing of the instance"),
    "non_blocking": ("it is optional", "it is needed"),
    "applies": ("its workflow changes what is deployed", "its workflow changes nothing that is deployed"),
    "closes": ("it is the last one for the instance", "others follow for the instance"),
    "completes": (
        "it is the last one for the instance, or makes good all that had failed",
        "something is still to be done",
    ),
    "lacks": ("something optional has failed before", "nothing optional has failed before"),
    "runs_after_failure": ("it runs whatever has failed before", "it runs only if all before it ended well"),
    "heals": ("it was to repair the instance", "it was not to repair the instance"),
    "is_well": ("the instance is `ok` or `degraded`", "the instance is neither `ok` nor `degraded`"),
    "was_repaired": ("a check said before that the instance is well", "no check said that the instance is well"),
    "stops": ("it is `stop`", "it is not `stop`"),
    "reports": ("it reports a status, and is the last one or fails", "it reports no status"),
    "decides_state": ("it is of the lifecycle", "it is not of the lifecycle"),
    "called_alone": ("it is of the lifecycle, and `ordito run` or a workflow of the template called it", ""),
    "leads": ("the plan names a state to come", "the plan names no state to come"),
    "in_error": ("the state is `error`", "the state is not `error`"),
    "being_made": ("the state is `created` or `configured`", "the state is another"),
    "was_at_rest": ("the instance was up, or was to go", "the instance was being made"),
    "still_hosts": (
        "its provider only gives it up, and it hosts something that was not removed",
        "it hosts nothing",
    ),
}
"""How people are told of a fact that holds, and of one that does not."""


def decisions(about: str, then: str, rows: Iterable[tuple[object, str, str]]) -> str:
    """A table of decisions as Markdown: when, what, and why."""
    lines = [f"| {about} | {then} | why |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {_when(when)} | {what} | {why} |" for when, what, why in rows)])


def _when(when: Any) -> str:
    told = [(name, value) for name in when.__struct_fields__ if (value := getattr(when, name)) is not None]
    return ", ".join(_fact(name, value) for name, value in told) or "all others"


def _fact(name: str, value: object) -> str:
    if isinstance(value, HowEnded):
        return ENDINGS[value]
    if isinstance(value, StepCondition):
        return CONDITIONS[value]
    if isinstance(value, StrEnum):
        return str(value)
    return FACTS[name][0 if value else 1]


def _rows(table: tuple[Row[Any, Any], ...]) -> list[tuple[object, str, str]]:
    return [(row.when, str(row.then), row.why) for row in table]


def _status(event: StatusEvent) -> str:
    after = LOCAL_AFTER[event]
    return "as it was" if after is None else f"`{after}`"


def _statuses() -> list[tuple[object, str, str]]:
    *told, _ = _rows(STATUSES)
    return told + [(row.when, _status(row.then), row.why) for row in EVENTS]


DECISIONS: Mapping[str, str] = {
    "ends": decisions("what ends", "what it changes", _rows(ENDS)),
    "effects": decisions("an operation", "whose record changes", _rows(EFFECTS)),
    "statuses": decisions("an operation", "local status", _statuses()),
    "states": decisions("an operation", "node state", _rows(STATES)),
    "counts": decisions("an operation", "what counts as carried out", _rows(COUNTS)),
}


def document(text: str) -> str:
    """The document with its tables replaced."""
    made = {**{name: table(rows) for name, rows in TABLES.items()}, **DECISIONS}
    for name, rows in made.items():
        begin, end = f"<!-- table: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = f"{before}{begin}\n{rows}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
