"""Writes the diagrams of ``ARCHITECTURE.md`` and ``docs/inside.md`` from the code: the floors from the contracts
in ``pyproject.toml``, the states and actions from the tables that the program itself uses; run
``python -m tools.architecture``."""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from ordito.engine.states import ENDED, LIFE, StepState
from ordito.instances.states import TRANSITIONS
from ordito.instances.status import LOCAL_AFTER, OPTIONAL, REQUIRED
from ordito.planning.order import PLACES, DraftPart
from ordito.planning.planned_instances import DOWN_UP
from ordito.work.workflows import WORKFLOWS, WorkflowEffect
from tools.measure import table

ROOT = Path(__file__).parent.parent
ARCHITECTURE, INSIDE = ROOT / "ARCHITECTURE.md", ROOT / "docs" / "inside.md"
PACKAGE = ROOT / "src" / "ordito"

WIDTH = 120
NAMED = re.compile(r"`([\w./-]+(?:\.(?:py|yaml|sh|bash|toml|md)|/))(?::\w+)?`")
"""What of the document names a file or a folder: text in backquotes with the end of one, or a slash at its own."""

ROOM = re.compile(r"<!-- room: (\w+) -->")

NEEDS_NO_FILE = frozenset({"ensemble.yaml", "artifacts/", "create.sh", "results/codes/CODE.yaml"})
"""What the document names besides: files of users, and of whoever follows it."""


def floors() -> str:
    """The floors, the highest first, with what each room is for by the docstring of its folder."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(c["layers"] for c in contracts if c["id"] == "floors")
    lines: list[str] = []
    for number, layer in zip(range(len(layers) - 1, -1, -1), layers, strict=True):
        rooms = [room for room in layer.split(" | ") if not room.startswith("(")]
        for place, room in enumerate(rooms):
            lines += _room(str(number) if not place else "", room)
    return "\n".join(["```text", *lines, "```"])


def _room(number: str, room: str) -> list[str]:
    docstring = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    wrapped = textwrap.wrap(" ".join(docstring.replace("`", "").split()), WIDTH - 15)
    return [f"{number:2} {room:11} {wrapped[0]}", *(f"{'':15}{line}" for line in wrapped[1:])]


def node_states() -> str:
    """Which node state may follow which."""
    order = list(TRANSITIONS)
    after = {f"`{b}`": ", ".join(f"`{a}`" for a in sorted(all_, key=order.index)) for b, all_ in TRANSITIONS.items()}
    return _table("node state", "may become", after)


def local_status() -> str:
    """The local status of an instance after what has happened to it."""
    return _table("what has happened", "local status", {h.value: _code(s) for h, s in LOCAL_AFTER.items()}, "as it was")


def contributions() -> str:
    """What a dependency contributes to the effective status of what depends on it."""
    lines = ["| effective status of the target | of a requirement | of an optional one |", "|---|---|---|"]
    lines += [f"| `{status}` | `{REQUIRED[status]}` | `{OPTIONAL[status]}` |" for status in REQUIRED]
    return "\n".join(lines)


def step_states() -> str:
    """The life of a step of a job; those in which it has ended are strong."""
    names = {s: f"**{s.name}**" if s in ENDED else s.name for s in StepState}
    lines = ["| from | to | when |", "|---|---|---|"]
    lines += [f"| {names[m.before]} | {names[m.after]} | {m.when} |".replace("_", " ") for m in LIFE]
    return "\n".join(lines)


def effects() -> str:
    """What the jobs of each workflow may change in the records."""
    workflows = {
        e: ", ".join(f"`{name}`" for name, its in WORKFLOWS.items() if its.effect is e) for e in WorkflowEffect
    }
    return _table("workflows", "what their jobs do", {workflows[effect]: effect.value for effect in WorkflowEffect})


def actions() -> str:
    """What may become of an instance in a plan: how far it is taken down, and how it is taken up."""
    lines = ["| action | the instance | down | up |", "|---|---|---|---|"]
    lines += [f"| `{f.name}` | {f.value} | {h.down.value} | {h.up.value} |" for f, h in DOWN_UP.items()]
    return "\n".join(lines)


def transforms() -> str:
    """What each transform of a plan needs of the draft, and what it gives to it."""
    lines = ["| transform | needs | gives |", "|---|---|---|"]
    for name, place in PLACES.items():
        needs = [str(part) for part in DraftPart if part in place.needs]
        needs += [f"({part})" for part in DraftPart if part in place.after - place.needs]
        # The last one comes after all of them.
        said = "; ".join(needs) if len(needs) < len(DraftPart) - 1 else "(all else)"
        lines.append(f"| `{name}` | {said} | {'; '.join(str(part) for part in DraftPart if part in place.gives)} |")
    return "\n".join(lines)


def _table(first: str, second: str, rows: Mapping[str, str], empty: str = "") -> str:
    return "\n".join([f"| {first} | {second} |", "|---|---|", *(f"| {k} | {v or empty} |" for k, v in rows.items())])


def _code(text: str | None) -> str:
    return f"`{text}`" if text is not None else ""


DOCUMENTS: Mapping[Path, Mapping[str, Callable[[], str]]] = {
    ARCHITECTURE: {
        "floors": floors,
        "node states": node_states,
        "local status": local_status,
        "contributions": contributions,
        "step states": step_states,
        "effects": effects,
        "measure": table,
    },
    INSIDE: {"actions": actions, "transforms": transforms},
}
"""What is made of the code in each."""


def document(path: Path) -> str:
    """A document with its diagrams replaced."""
    text = path.read_text(encoding="utf-8")
    for name, make in DOCUMENTS[path].items():
        begin, end = f"<!-- made: {name} -->\n", f"<!-- end: {name} -->"
        before, found, rest = text.partition(begin)
        if not found:
            raise ValueError(f"{path.name} has no place for {name!r}")
        text = f"{before}{begin}\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return text


def missing_files(text: str) -> list[str]:
    """The files and folders that a text names and that are not there, with the numbers of the lines.

    Names with a slash are paths in the package or in the repository, else in the room that is spoken of: the one in the
    first column of a table, or the one that a comment names before (``<!-- room: model -->``), up to the next heading.
    Names without a slash are those of files in that room; where none is spoken of, of any file.
    """
    found: list[str] = []
    names = {path.name for path in PACKAGE.rglob("*") if path.is_file()}
    room = ""
    for number, line in enumerate(text.splitlines(), 1):
        if spoken := ROOM.fullmatch(line):
            room = spoken[1]
        elif line.startswith("#"):
            room = ""
        row = re.match(r"\| `(\w+)` \|", line)
        within = row[1] if row is not None and (PACKAGE / row[1]).is_dir() else room
        found += [f"{number}: {name}" for name in NAMED.findall(line) if not _is_there(name, within, names)]
    return found


def _is_there(name: str, room: str, names: set[str]) -> bool:
    if name in NEEDS_NO_FILE:
        return True
    if room and (PACKAGE / room / name).exists():
        return True
    if "/" in name or room:
        return (ROOT / name).exists() or ("/" in name and (PACKAGE / name).exists())
    return name in names or (ROOT / name).exists()


if __name__ == "__main__":
    for written in DOCUMENTS:
        written.write_text(document(written), encoding="utf-8")
