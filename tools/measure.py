"""How the code is cut, in figures: ``./run measure`` prints them beside what they are to be.

They say how many files and names somebody has to know who follows one thing through the program. ``--write`` puts the
table into ``ARCHITECTURE.md``, where a test sees that it is true; ``--check`` only looks for small files that belong
into the only one that uses them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import median

import msgspec

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "ordito"

HERE = "tools/measure.py"
SMALL = 60
"""Lines below which a file is to have more than one user."""

ALONE: Mapping[str, str] = {
    "lowering/cloudify/words.py": "the table of the words of a language, which authors of messages read",
    "server/routes/store.py": "a table of routes: each resource has one beside the others",
    "server/stores/watching.py": "how a store is, apart from how it is served: nothing of it waits or is begun",
    "cli/main.py": "what it costs to start is paid by every call, so the way in imports nothing else",
    "cli/waiting_notices.py": "the hook after every verb, of which hardly any has something to do for it",
    "app/review.py": "results import it only where records are changed, since it brings the engine",
    "app/rollback_leftovers.py": "a use case of its own: whether what runs is what was deployed last",
    "app/proposals/look.py": "requests name it as what plans them, besides the one file that imports it",
    "app/proposals/move.py": "requests name it as what plans them, besides the one file that imports it",
}
"""Small files with one user that stay files of their own, and why."""

OPTION = "max_unavailable"
"""The option whose way through the program is counted."""

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  example.App:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { port: { type: integer, default: 80 } }
    attributes: { address: { type: string } }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create:
            implementation: create.sh
            inputs: { PORT: { type: integer, value: { get_property: [ SELF, port ] } } }
            outputs: { ADDRESS: [ SELF, address ] }
topology_template:
  node_templates:
    app: { type: example.App, requirements: [ host: machine ] }
    machine: { type: tosca.nodes.Compute }
"""

FOLLOWED = """
import inspect, json, sys, threading
from pathlib import Path
from ordito.engine import steps
from ordito.cli.main import run

package, told, words = sys.argv[1], sys.argv[2], sys.argv[3:]
whole, parts = set(), {"start": set(), "take": set()}
most = {"start": 0, "take": 0}
CODES = {getattr(steps.Steps, name).__code__: name for name in parts}
inside = []

def follow(frame, event, argument):
    code = frame.f_code
    # Only functions: reading a file defines its classes, and enters nothing.
    if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(package):
        whole.add(code.co_filename)
        if code in CODES and not inside:
            inside.append((CODES[code], frame, set()))
        if inside:
            inside[0][2].add(code.co_filename)
    elif event == "return" and inside and frame is inside[0][1]:
        name, _, files = inside.pop()
        most[name] = max(most[name], len(files))

threading.setprofile(follow)
sys.setprofile(follow)
code = run(words)
sys.setprofile(None)
Path(told).write_text(json.dumps({"whole": len(whole), **most}))
sys.exit(code)
"""


class Figure(msgspec.Struct, frozen=True):
    """One row: what is counted, what it is and what it is to be. ``most`` and ``least`` bound the value, where the goal
    is a number."""

    about: str
    value: float
    goal: str
    most: float | None = None
    least: float | None = None
    unit: str = ""

    @property
    def is_reached(self) -> bool:
        """Whether the value is what it is to be."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)

    @property
    def shown(self) -> str:
        """The value as the table shows it."""
        return f"{self.value:,.0f}{self.unit}" if self.value == int(self.value) else f"{self.value:.2f}{self.unit}"


class Module(msgspec.Struct, frozen=True):
    """A file of the package: its name, its tree, its lines, and of those the ones that hold code."""

    path: Path
    name: str
    tree: ast.Module
    lines: int
    code: int

    @property
    def shown(self) -> str:
        """Its path in the package."""
        return str(self.path.relative_to(PACKAGE))


@cache
def modules() -> Mapping[str, Module]:
    """All files of the package but those of a room's docstring, by their dotted names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "__init__.py":
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            text = path.read_text(encoding="utf-8")
            found[name] = Module(path, name, ast.parse(text), len(text.splitlines()), _code_lines(path))
    return found


def _code_lines(path: Path) -> int:
    """Lines with anything but comments, docstrings and what stands between."""
    code: set[int] = set()
    with tokenize.open(path) as file:
        before = tokenize.NEWLINE
        for token in tokenize.generate_tokens(file.readline):
            if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING):
                continue
            stands_alone = token.type == tokenize.STRING and before == tokenize.NEWLINE
            if token.type not in (tokenize.NEWLINE, tokenize.ENDMARKER) and not stands_alone:
                code.update(range(token.start[0], token.end[0] + 1))
            before = token.type
    return len(code)


@cache
def importers() -> Mapping[str, frozenset[str]]:
    """Who imports each file, by dotted names; imports inside of functions and for types included."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, module in modules().items():
        for node in ast.walk(module.tree):
            for imported in _imported(node):
                if imported in modules() and imported != name:
                    found[imported].add(name)
    return {name: frozenset(found[name]) for name in modules()}


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def small_files() -> list[str]:
    """Small files with a single user, by their paths in the package, without those that have a reason."""
    found = [modules()[name] for name, users in importers().items() if len(users) == 1]
    return [m.shown for m in found if m.lines < SMALL and m.shown not in ALONE]


def stale_reasons() -> list[str]:
    """Files that have a reason to stay alone and need none."""
    known = {module.shown: name for name, module in modules().items()}
    return [p for p in ALONE if p not in known or len(importers()[known[p]]) > 1 or modules()[known[p]].lines >= SMALL]


def _classes() -> Counter[str]:
    nodes = (node for module in modules().values() for node in ast.walk(module.tree))
    return Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))


def _function_lengths() -> list[int]:
    nodes = (node for module in modules().values() for node in ast.walk(module.tree))
    return sorted(
        (node.end_lineno or 0) - node.lineno + 1
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def _option_files() -> list[str]:
    words = (OPTION, OPTION.replace("_", "-"))
    return [m.shown for m in modules().values() if any(w in m.path.read_text(encoding="utf-8") for w in words)]


def _comparisons() -> list[str]:
    """Where transforms compare the name of a workflow."""
    from ordito.work import workflows

    names = set(workflows.WORKFLOWS)
    constants = {name for name, value in vars(workflows).items() if isinstance(value, str) and value in names}
    found: list[str] = []
    for module in modules().values():
        if not module.shown.startswith("planning/"):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                is_about = any(ast.unparse(side).endswith("workflow") for side in sides)
                if is_about and any(_names_one(side, names, constants) for side in sides):
                    found.append(f"{module.shown}:{node.lineno}")
    return found


def _names_one(node: ast.expr, names: Iterable[str], constants: Iterable[str]) -> bool:
    inner = node.elts if isinstance(node, ast.Tuple | ast.Set | ast.List) else [node]
    return any(
        (isinstance(one, ast.Constant) and str(one.value) in names)
        or (isinstance(one, ast.Name) and one.id in constants)
        for one in inner
    )


def followed() -> Mapping[str, int]:
    """How many files a deployment of two nodes enters, and how many the start and the end of one of its steps."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "service.yaml").write_text(SERVICE, encoding="utf-8")
        (place / "create.sh").write_text("ADDRESS=here\n", encoding="utf-8")
        words = ["deploy", str(place / "service.yaml"), "-e", str(place / "ensemble"), "--yes", "--quiet"]
        told = place / "told"
        subprocess.run(
            [sys.executable, "-c", FOLLOWED, f"{PACKAGE}{os.sep}", str(told), *words],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=ROOT,
        )
        found: dict[str, int] = json.loads(told.read_text(encoding="utf-8"))
    return found


def figures() -> list[Figure]:
    """All rows of the table."""
    sizes = [module.lines for module in modules().values()]
    code = round(sum(module.code for module in modules().values()), -2)
    alone = [n for n, users in importers().items() if len(users) == 1 and modules()[n].lines < SMALL]
    lengths = _function_lengths()
    several = sum(1 for count in _classes().values() if count > 1)
    long = 100 * sum(1 for length in lengths if length > SMALL) / len(lengths)
    ways = followed()
    return [
        Figure("files", len(sizes), "at most 560", most=560),
        Figure("lines of a file, the median", median(sizes), "at least 140", least=140),
        Figure("lines of code, without comments and docstrings", code, "at most 69,000", most=69_000),
        Figure(
            f"files under {SMALL} lines with one user", len(alone), f"those with a reason: {len(ALONE)}", len(ALONE)
        ),
        Figure("names of classes that several classes have", several, "at most 20", most=20),
        Figure("lines of a function, the median", median(lengths), "at most 8", most=8),
        Figure("lines of a function that one of ten exceeds", lengths[len(lengths) * 9 // 10], "at most 20", most=20),
        Figure(f"functions of more than {SMALL} lines", round(long, 2), "at most 0.10 %", most=0.1, unit=" %"),
        Figure("files that a deployment of two nodes enters", ways["whole"], "at most 250", most=250),
        Figure("files that the start of a step enters", ways["start"], "at most 20", most=20),
        Figure("files that the end of a step enters", ways["take"], "at most 15", most=15),
        Figure(f"files that speak of --{OPTION.replace('_', '-')}", len(_option_files()), "at most 4", most=4),
        Figure("transforms that compare a workflow's name", len(_comparisons()), "none", most=0),
    ]


def table() -> str:
    """The figures as a table of Markdown."""
    rows = [(f.about, f.shown, f.goal, "" if f.is_reached else "not yet") for f in figures()]
    return "\n".join(["| what | is | is to be | |", "|---|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)])


def check() -> int:
    """Refuse small files with one user that have no reason; gives the exit code."""
    small, stale = small_files(), stale_reasons()
    for path in small:
        only = next(iter(importers()[_name(path)])).replace(".", "/").removeprefix("ordito/")
        print(
            f"src/ordito/{path} is short, and only {only}.py uses it: put it there, or say in tools/measure.py why not"
        )
    for path in stale:
        print(f"{HERE} has a reason for src/ordito/{path}, which needs none any more: remove it")
    return 1 if small or stale else 0


def _name(path: str) -> str:
    return ".".join(("ordito", *Path(path).with_suffix("").parts))


def main() -> int:
    """Print the figures, or check the files."""
    parser = argparse.ArgumentParser(prog="./run measure", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only look for small files with one user")
    parser.add_argument("--write", action="store_true", help="write the table into ARCHITECTURE.md")
    parser.add_argument("--list", action="store_true", help="name the classes, files and comparisons that are counted")
    given = parser.parse_args()
    if given.check:
        return check()
    if given.write:
        from tools.architecture import ARCHITECTURE, document

        ARCHITECTURE.write_text(document(ARCHITECTURE), encoding="utf-8")
    if given.list:
        print("classes:", *sorted(name for name, count in _classes().items() if count > 1))
        print(f"--{OPTION.replace('_', '-')}:", *_option_files())
        print("comparisons:", *_comparisons())
        print("small:", *small_files())
    for one in figures():
        print(f"{one.about:50} {one.shown:>10}   {one.goal:28} {'' if one.is_reached else 'not yet'}".rstrip())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
