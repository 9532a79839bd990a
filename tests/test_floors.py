"""The floor plan of ARCHITECTURE.md holds, and each of its contracts bites."""

import os
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

FLOORS = [
    ["base"],
    ["source"],
    ["syntax"],
    ["lowering"],
    ["model"],
    ["instances"],
    ["work", "blocks"],
    ["planning", "operations", "engine", "executors", "providers", "ensemble"],
    ["cluster"],
    ["app"],
    ["authoring"],
    ["results"],
    ["client"],
    ["cli", "testing", "server"],
]
PURE = ["model.types", "instances.states", "blocks.check", "work.plan", "planning.weave", "engine.core"]


def lint_imports(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the `ordito` that lies under `place`, which need not be the installed one."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache", *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(place / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A project with this one's contracts and all its rooms, each of them with one empty file and one that uses it."""
    for name in ("pyproject.toml", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    package = tmp_path / "src" / "ordito"
    rooms = [room for floor in FLOORS for room in floor]
    for room in rooms:
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").write_text(f"from ordito.{room}.one import NAME\n")
        (package / room / "one.py").write_text("NAME = 1\n")
        (package / room / "two.py").write_text(f"from ordito.{room}.one import NAME\n")
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("from ordito.cli import NAME\n")
    for lower, upper in pairwise(FLOORS):
        for room in upper:
            (package / room / "three.py").write_text("".join(f"from ordito.{below} import NAME\n" for below in lower))
    return tmp_path


def seed(tree: Path, module: str, text: str) -> None:
    path = tree / "src" / "ordito" / Path(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def broken(tree: Path) -> set[str]:
    """The ids of the contracts that are broken in the tree."""
    contracts = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    done = lint_imports(tree)
    # Exit code 1 without a summary is a mistake in a contract, not a broken one.
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    return {contract["id"] for contract in contracts if f"{contract['name']} BROKEN" in done.stdout}


def test_small_tree_keeps_every_contract(small_tree: Path) -> None:
    done = lint_imports(small_tree)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("contract", "module", "text"),
    [
        pytest.param("floors", "model.bad", "import ordito.planning.one", id="up"),
        pytest.param("floors", "engine.bad", "from ordito.executors import one", id="sideways"),
        pytest.param("floors", "work.bad", "from ordito.blocks.one import NAME", id="sideways-below"),
        pytest.param("floors", "base.bad", "def late():\n    from ordito.app import one\n", id="inside-a-function"),
        pytest.param(
            "floors",
            "source.bad",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ordito.syntax.one import NAME\n",
            id="for-type-checking",
        ),
        pytest.param("floors", "helpers", "", id="a-room-that-is-not-on-the-plan"),
        pytest.param("cycles", "planning.one", "from ordito.planning import two", id="cycle"),
        pytest.param("cycles", "engine.one", "def late():\n    import ordito.engine.two\n", id="late-cycle"),
        pytest.param("doors", "model.bad", "from ordito.model import NAME", id="own-front-door"),
        pytest.param("doors", "model.bad", "from . import NAME", id="own-front-door-relative"),
        pytest.param("doors", "__init__", "from ordito.base.one import NAME", id="outermost-package-imports"),
    ],
)
def test_a_seeded_violation_is_found(small_tree: Path, contract: str, module: str, text: str) -> None:
    seed(small_tree, module, text)
    assert broken(small_tree) == {contract}


@pytest.mark.parametrize("imported", ["os", "time", "pathlib", "random", "logging", "asyncio", "sqlite3"])
def test_every_pure_room_is_kept_pure(small_tree: Path, imported: str) -> None:
    for module in PURE:
        seed(small_tree, module, f"def late():\n    import {imported}\n")
    done = lint_imports(small_tree, "--contract", "pure")
    assert done.returncode == 1
    missed = [module for module in PURE if f"ordito.{module} -> {imported} " not in done.stdout]
    assert not missed


def test_other_rooms_may_look_at_the_world(small_tree: Path) -> None:
    for module in ("source.files", "engine.driver", "ensemble.journal", "app.workflow_run"):
        seed(small_tree, module, "import os, time, pathlib, asyncio")
    # What counts are direct imports: planning may use what the source room has read.
    seed(small_tree, "planning.weave", "from ordito.source import files")
    assert broken(small_tree) == set()
