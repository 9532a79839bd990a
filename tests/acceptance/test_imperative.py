"""Workflows of templates with real processes: each file in `data/imperative` is a template and what comes of commands.

says: What this shows, with the numbers of requirements in the first words.
template: |                  # without the first line; a script NAME.sh that it names and `scripts` has not says what
  topology_template: ...     # it is called with: "INSTANCE NAME", and the inputs that `shows` names
scripts: { NAME.sh: ... }
shows: url                   # an input that every script tells of, where it has it
steps:
  - run: deploy SERVICE
    fails: mysql_1.backup    # scripts that end with exit code 1
    exit: 1
    calls: [ mysql_1 stop, [ a_1 create, b_1 create ] ]    # in this order; those of a list in any order
    states: { mysql_1: started }                           # state, or state and status
    prints: [ handled ]
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.program import Finished, ordito

DATA = Path(__file__).parent / "data" / "imperative"
FIRST = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
SCRIPT = """\
#!/bin/bash
echo "${{INSTANCE:-${{SOURCE_INSTANCE}}>${{TARGET_INSTANCE}}}} {name}{shown}" >> "{log}"
test ! -e "{folder}/fails.${{INSTANCE:-$SOURCE_INSTANCE}}.{name}"
"""


class Project:
    """A folder with a service, and what its scripts were called for."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self.folder = folder
        self.log = folder / "calls"
        self.log.touch()
        template = FIRST + document["template"]
        (folder / "service.yaml").write_text(template)
        shown = document.get("shows", "")
        for file in sorted(set(re.findall(r"[a-z_]+\.sh", template))):
            name = file.removesuffix(".sh")
            own = SCRIPT.format(name=name, shown=f" ${shown}" if shown else "", log=self.log, folder=folder)
            (folder / file).write_text(document.get("scripts", {}).get(file, own).replace("LOG", str(self.log)))

    def run(self, line: str, *fails: str) -> Finished:
        """Run a command."""
        for name in fails:
            (self.folder / f"fails.{name}").touch()
        words = line.replace("SERVICE", "service.yaml").split()
        asks = {"deploy", "undeploy", "install", "uninstall", "run", "retry"} & set(words) and "plan" not in words
        done = ordito(self.folder, *words, *(["--yes"] if asks else []))
        for name in fails:
            (self.folder / f"fails.{name}").unlink()
        return done

    def calls(self) -> list[str]:
        """The calls since the last time."""
        found = [line.strip() for line in self.log.read_text().splitlines()]
        self.log.write_text("")
        return found

    def states(self, wanted: dict[str, str]) -> dict[str, str]:
        """The states of instances, with their status where that is asked for."""
        if not wanted:
            return {}
        known = json.loads(ordito(self.folder, "status", "--all", "-o", "json").out)["instances"]
        found = {}
        for name, words in wanted.items():
            parts = [known[name]["state"], known[name]["local"]]
            found[name] = " ".join(parts[: len(words.split())])
        return found


def assert_calls(found: list[str], wanted: list[Any]) -> None:
    """Hold calls to what is wanted: texts in their order, those of a list in any order."""
    left = list(found)
    for one in wanted:
        expected = sorted([one] if isinstance(one, str) else one)
        assert sorted(left[: len(expected)]) == expected, found
        del left[: len(expected)]
    assert not left, found


@pytest.mark.parametrize("file", sorted(DATA.glob("*.yaml")), ids=lambda file: file.stem)
def test_workflow(file: Path, tmp_path: Path) -> None:
    document = yaml.safe_load(file.read_text())
    project = Project(tmp_path, document)
    for step in document["steps"]:
        done = project.run(step["run"], *step.get("fails", "").split())
        assert done.code == step.get("exit", 0), done.both
        calls = project.calls()
        if "calls" in step:
            assert_calls(calls, step["calls"])
        wanted = step.get("states", {})
        assert project.states(wanted) == wanted
        printed = " ".join(done.both.split())
        for text in step.get("prints", []):
            assert text in printed, done.both
