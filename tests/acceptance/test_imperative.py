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

from tests.acceptance.program import Finished, ordito
from tests.support.yaml_files import read_yaml

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


def carry_out(name: str, folder: Path) -> None:
    """Run the commands of a file, and hold what comes of them to what it says."""
    document = read_yaml((DATA / f"{name}.yaml").read_text())
    project = Project(folder, document)
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


def test_graph(tmp_path: Path) -> None:
    """R-7.3.1-2, R-7.3.1-3, R-7.3.1-4, R-7.3.1-5, R-7.3.1-7, R-3.6.27-5: steps wait for all that name them, those
    that nobody names begin, and the workflow ends with the last ones (the sample of 7.3.1.1.1, with and
    without activities)."""
    carry_out("graph", tmp_path)


def test_sequence(tmp_path: Path) -> None:
    """R-7.3.1-8, R-7.3.1-9, R-3.6.23-2, R-7.3.7-1, R-3.6.27-6: activities of a step follow each other as chained
    steps do (the samples of 7.3.1.2), and the first that fails ends the step and the workflow."""
    carry_out("sequence", tmp_path)


def test_backup(tmp_path: Path) -> None:
    """R-7-2, R-3.6.26-2, R-3.8.7-6, R-7.3.2-1, R-7.3.3-1, R-7.3.6-1, R-7.3.6-2, R-4.4.1-6: a workflow of another
    name is run by name, with inputs that come before those of the topology, once its preconditions hold (the
    samples of 7.3.2.1, 7.3.3.1 and 7.3.6.1)."""
    carry_out("backup", tmp_path)


def test_override(tmp_path: Path) -> None:
    """R-7-2, R-3.6.23.1-1, R-7.1-1, R-7.3.2-3, R-3.6.23-d1, R-3.6.23-s1, R-3.6.23-c1: the deploy of the template takes
    the place of the one that is made (the sample of 7.3.2.2), the undeploy is still made."""
    carry_out("override", tmp_path)


def test_undeploy(tmp_path: Path) -> None:
    """R-7-2, R-7.1-1, R-7.3.7-2: the undeploy of the template takes the place of the one that is made, and goes on past
    failures; those instances are gone that were deleted, the others keep their records."""
    carry_out("undeploy", tmp_path)


def test_reuse(tmp_path: Path) -> None:
    """R-3.6.23.3-2, R-3.6.23.4-1, R-3.6.23-i1, R-3.6.23-i4: workflows are inlined one after the other, more than
    once (the samples of 7.3.4.1)."""
    carry_out("reuse", tmp_path)


def test_complex(tmp_path: Path) -> None:
    """R-3.6.23-i1, R-3.6.23-i4: a workflow with parallel steps stands as a whole between two activities (the sample
    of 7.3.4.2)."""
    carry_out("complex", tmp_path)


def test_filter(tmp_path: Path) -> None:
    """R-3.6.26-2, R-7.3.5-1, R-7.3.5-2, R-3.6.27-3, R-3.6.26-1, R-7.3.3-4: a filter leaves out one of two instances;
    the preconditions of a workflow that is inlined do so, too, while those of the one that is run must hold
    for all (the sample of 7.3.5)."""
    carry_out("filter", tmp_path)


def test_failure(tmp_path: Path) -> None:
    """R-7.3.7-1, R-7.3.7-3, R-7.3.7-5, R-7.3.7-4, R-3.6.27-4: what is there for a failure runs when the
    step has failed, and sets the state back (the sample of 7.3.7.1); the job has failed all the same, and says that it
    was handled. Without a failure it does not run."""
    carry_out("failure", tmp_path)


def test_outputs(tmp_path: Path) -> None:
    """R-7.3.6-3, R-3.8.7-5: outputs of a workflow are written to attributes of nodes and relationships when it has
    ended well."""
    carry_out("outputs", tmp_path)


def test_relationship(tmp_path: Path) -> None:
    """R-3.6.23-c4, R-3.6.23.3-3, R-3.6.27-oh1: an operation of a relationship is called at each pair, at the end
    that operation_host says; so are states set, and conditions looked at."""
    carry_out("relationship", tmp_path)


def test_group(tmp_path: Path) -> None:
    """R-3.6.23-c5, R-3.6.23.3-3, R-3.6.27-2: what is called on a group is called on each member, or on those that
    operation_host names by template or by type."""
    carry_out("group", tmp_path)


def test_delegate(tmp_path: Path) -> None:
    """R-3.6.23.1-1, R-3.6.23-d2: what is delegated to a node that nothing provides is its own lifecycle, of that
    node only; what was carried out is not carried out again, and the records follow."""
    carry_out("delegate", tmp_path)


def test_nothing_there(tmp_path: Path) -> None:
    """A step whose target has no instances does nothing, and a plan says so; a precondition on it does not hold."""
    carry_out("nothing_there", tmp_path)


def test_surplus(tmp_path: Path) -> None:
    """R-7.1-1: a deployment of the template removes nothing: where fewer instances are wanted the others stay, with
    a warning."""
    carry_out("surplus", tmp_path)


def test_too_much(tmp_path: Path) -> None:
    """R-3.6.23-i1: what a few lines ask for has a bound, so that planning ends."""
    carry_out("too_much", tmp_path)


def test_told(tmp_path: Path) -> None:
    """R-5.8.5-7: what a workflow changes of a target its source is told in the same job, after all steps at the
    target, and not in the job of a workflow that deploys."""
    carry_out("told", tmp_path)


def test_delegate_links(tmp_path: Path) -> None:
    """R-3.6.23.1-1: what is delegated links the node with what it requires, and undoes its links."""
    carry_out("delegate_links", tmp_path)


def test_own_inputs(tmp_path: Path) -> None:
    """R-7.3.6-1, R-7.3.6-2: a deployment of the template has inputs of its own, which are given beside those of the
    topology and come before them; what it did is taken back where that is asked for."""
    carry_out("own_inputs", tmp_path)
