"""Writes the tables in ``docs/lifecycle.md`` from the lifecycle table itself: ``python -m tools.lifecycle``."""

from __future__ import annotations

from pathlib import Path

from ordito.instances.lifecycle import DELEGATE, INSTALL, UNINSTALL, LifecycleRow, Per, PlacedRow, Side
from ordito.model.service import RELATIONSHIP_LIFECYCLE

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


def document(text: str) -> str:
    """The document with its tables made anew."""
    for name, rows in TABLES.items():
        begin, end = f"<!-- table: {name} -->\n", f"<!-- end: {name} -->"
        before, _, rest = text.partition(begin)
        after = rest.partition(end)[2]
        text = f"{before}{begin}\n{table(rows)}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
