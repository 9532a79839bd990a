"""The commands of `docs/git.md` do what the page says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import environment
from tests.git.repository import SCRIPT, SERVICE, Repository, settings_of_git
from tests.support.forked import start

PAGE = Path(__file__).parents[2] / "docs" / "git.md"
COMMAND = re.compile(r"^    ((?:git|ordito|echo) .*?)(?:  +# exit code ([0-9]+))?$", re.MULTILINE)
LOCK = "      lock: git"


def commands() -> list[tuple[str, int]]:
    """The commands of the page, each with its exit code."""
    return [(found[1], int(found[2] or 0)) for found in COMMAND.finditer(PAGE.read_text())]


@pytest.mark.timeout(240)
def test_every_command_of_the_page_ends_as_it_says(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "shop" / "scripts").mkdir(parents=True)
    service = SERVICE.replace("  count: {", "  size: {").replace("get_input: count", "get_input: size")
    (home / "shop" / "service.yaml").write_text(service)
    script = home / "shop" / "scripts" / "do.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    program = tmp_path / "bin" / "ordito"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ordito "$@"\n')
    program.chmod(0o755)
    variables = environment(**settings_of_git(home))
    variables["PATH"] = f"{program.parent}{os.pathsep}{variables['PATH']}"
    for command, code in commands():
        if "locked" in command:
            make_locked(home)
        found, said = run(command, home, variables)
        assert found == code, f"{command}\n{said}"
    assert Repository(home / "company").git("log", "--format=%s").splitlines() == ["deploy mini: ok"] * 2
    assert Repository(home / "shop").git("log", "-1", "--format=%s").strip() == "deploy mini: ok"


def run(command: str, home: Path, variables: dict[str, str]) -> tuple[int, str]:
    """Run a command of the page; gives its exit code and all it printed. Only those of git need a shell."""
    program, *words = shlex.split(command)
    if program == "ordito":
        process = start(home, variables, words)
        said = "".join(process.communicate(timeout=60))
        return process.wait(), said
    done = subprocess.run(
        ["bash", "-c", command], cwd=home, env=variables, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout + done.stderr


def make_locked(home: Path) -> None:
    """A clone of the ensemble that asks for the lock as the page writes it."""
    text = PAGE.read_text()
    assert f"\n{LOCK}\n" in text
    tree = Repository(home / "locked")
    Repository(home).git("clone", "-q", "shared.git", "locked")
    path = tree.top / "ensemble.yaml"
    path.write_text(path.read_text().replace("spec:\n", f"spec:\n{LOCK[4:]}\n", 1))
