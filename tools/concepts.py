"""Writes the tables in ``docs/concepts`` from what they show: ``python -m tools.concepts``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ordito.instances.lifecycle import INSTALL, UNINSTALL, PlacedRow
from ordito.instances.states import ERROR, TRANSITIONS
from ordito.instances.status import LOCAL_AFTER, OPTIONAL, REQUIRED
from ordito.work.workflows import WORKFLOWS, WorkflowEffect

FOLDER = Path(__file__).parent.parent / "docs" / "concepts"


def transitions() -> str:
    """Which state follows which; the ways out of ``error`` are told in words."""
    rows = [
        f"| `{before}` | {', '.join(f'`{state}`' for state in sorted(after, key=list(TRANSITIONS).index))} |"
        for before, after in TRANSITIONS.items()
        if before != ERROR
    ]
    return "\n".join(["| state | may become |", "|---|---|", *rows])


def events() -> str:
    """The local status after each event."""
    rows = [f"| {event.value} | {after or 'as it was'} |" for event, after in LOCAL_AFTER.items()]
    return "\n".join(["| what happened | local status |", "|---|---|", *rows])


def contributions() -> str:
    """What a dependency contributes."""
    rows = [f"| {status} | {REQUIRED[status]} | {OPTIONAL[status]} |" for status in REQUIRED]
    return "\n".join(["| what it depends on is | required | optional |", "|---|---|---|", *rows])


def states() -> str:
    """The operations of TOSCA's interfaces by the states in which they run."""
    lines = ["| on the way | state | operations |", "|---|---|---|"]
    for name, rows in (("up", INSTALL), ("down", UNINSTALL)):
        found: dict[str, dict[str, None]] = {}
        for placed in rows:
            if placed.row.interface.startswith("tosca.interfaces"):
                found.setdefault(_state(placed), {})[f"`{placed.row.operation}`"] = None
        lines += [f"| {name} | {state} | {', '.join(operations)} |" for state, operations in found.items()]
    return "\n".join(lines)


def _state(placed: PlacedRow) -> str:
    return f"`{placed.stage.enter}`" if placed.stage is not None else f"after `{placed.reached}`"


def effects() -> str:
    """What the jobs of each workflow may change."""
    named: dict[WorkflowEffect, list[str]] = {}
    for workflow in WORKFLOWS.values():
        named.setdefault(workflow.effect, []).append(f"`{workflow.name}`")
    rows = [f"| {', '.join(workflows)} | {effect.value} |" for effect, workflows in named.items()]
    return "\n".join(["| jobs of | what they do to the record |", "|---|---|", *rows])


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "transitions": ("lifecycle.md", transitions),
    "states": ("lifecycle.md", states),
    "events": ("status.md", events),
    "contributions": ("status.md", contributions),
    "effects": ("change-ids.md", effects),
}
"""What is written where, by its name."""


def page(name: str, text: str) -> str:
    """A page with its parts replaced."""
    for part, (where, made) in PARTS.items():
        if where == name:
            begin, end = f"<!-- table: {part} -->\n", f"<!-- end: {part} -->"
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{made()}\n\n{end}{rest.partition(end)[2]}"
    return text


def pages() -> list[Path]:
    """The pages that have such parts."""
    return [FOLDER / name for name in dict.fromkeys(where for where, _ in PARTS.values())]


if __name__ == "__main__":
    for path in pages():
        path.write_text(page(path.name, path.read_text(encoding="utf-8")), encoding="utf-8")
