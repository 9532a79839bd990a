"""Faults that orchestrators are known to have: a table of what is done, and of what must have run and been said.

A row is a service's nodes, and commands with the operations that they must run in order (None: any), their exit code
and a text that is printed. What other tests show already is not in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import run
from tests.cli.program import Run
from tests.support.yaml_files import read_yaml

__all__ = ["run"]

TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  a.Quiet:
    derived_from: tosca.nodes.Root
  a.Node:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string, default: one } }
    interfaces:
      Standard:
        operations:
          create: create.sh
          configure: { implementation: do.sh, inputs: { word: { get_property: [ SELF, word ] } } }
          start: do.sh
          stop: do.sh
          delete: do.sh
  a.Started:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: do.sh, start: do.sh } } }
topology_template:
  inputs: { word: { type: string, default: one } }
"""
SCRIPT = """\
#!/bin/sh
echo "$ORDITO_STEP" | sed 's/Standard[.]//' >>{log}
case " $(cat {failing} 2>/dev/null) " in *" $ORDITO_STEP "*) printf 'first\\tword\\nsecond' >&2; exit 1;; esac
"""
DEPLOY = "deploy service.yaml -e live --yes"
AGAIN = "deploy -e live --yes"
UNDEPLOY = "undeploy -e live --yes"
ALL = "n_1.create n_1.configure n_1.start"
NONE = ""
ONE = "  node_templates: { n: { type: a.Node, properties: { word: { get_input: word } } } }\n"


class Act(msgspec.Struct, frozen=True):
    """A command, and what must come of it; ``edits`` are files written before it, ``failing`` the steps that fail."""

    command: str
    ran: str | None = None
    code: int = 0
    says: str = ""
    edits: Mapping[str, str] = {}
    failing: str = ""


def layers(count: int, width: int) -> str:
    """Layers of nodes, each of which needs all of the layer before: there are width ** count ways through."""
    lines = ["  node_templates:\n"]
    for layer in range(count):
        needs = "".join(f"{{ dependency: n{layer - 1}x{n} }}, " for n in range(width) if layer)
        lines += [f"    n{layer}x{n}: {{ type: a.Quiet, requirements: [ {needs} ] }}\n" for n in range(width)]
    return "".join(lines)


FAULTS = {
    "configure is skipped after an undeployment": (
        ONE,
        [Act(DEPLOY, ALL), Act(UNDEPLOY, "n_1.stop n_1.delete"), Act(AGAIN, ALL)],
    ),
    "an input that is not repeated flips back": (
        ONE,
        [Act(f"{DEPLOY} -i word=two", ALL), Act(AGAIN, NONE, says="Nothing to do")],
    ),
    "a script that makes things is changed and nobody sees it": (
        ONE,
        [
            Act(DEPLOY, ALL),
            Act("plan -e live", NONE, says="the content of create.sh", edits={"create.sh": "echo other\n"}),
            Act(AGAIN, "n_1.stop n_1.delete n_1.configure n_1.start"),
            Act(UNDEPLOY, "n_1.stop n_1.delete"),
        ],
    ),
    "an input is changed and what uses it only in part runs again": (
        ONE,
        [
            Act(DEPLOY, ALL),
            Act(f"{AGAIN} -i word=two", "n_1.stop n_1.configure n_1.start", says="1 to change"),
            Act(AGAIN, NONE, says="Nothing to do"),
        ],
    ),
    "a failing operation leaves what undeploying does not see": (
        ONE,
        [Act(DEPLOY, "n_1.create", 1, failing="n_1.Standard.create"), Act(UNDEPLOY, "n_1.stop n_1.delete")],
    ),
    "what has no operation for its removal stays for ever": (
        "  node_templates: { n: { type: a.Started } }\n",
        [Act(DEPLOY, "n_1.create n_1.start"), Act(UNDEPLOY, NONE), Act(UNDEPLOY, NONE, says="Nothing to do")],
    ),
    "of two requirements of one name the first is dropped": (
        """\
  node_templates:
    late: { type: a.Started, requirements: [ { dependency: one }, { dependency: two } ] }
    one: { type: a.Started, requirements: [ { dependency: two } ] }
    two: { type: a.Started }
""",
        [Act(DEPLOY, "two_1.create two_1.start one_1.create one_1.start late_1.create late_1.start")],
    ),
    "what depends on a failed node runs all the same": (
        """\
  node_templates:
    late: { type: a.Started, requirements: [ { dependency: one } ] }
    one: { type: a.Started }
""",
        [
            Act(DEPLOY, "one_1.create one_1.start", 1, failing="one_1.Standard.start"),
            Act(AGAIN, "one_1.start late_1.create late_1.start"),
        ],
    ),
    "layered diamonds take exponential time": (layers(24, 2), [Act("plan service.yaml -e live", NONE)]),
    "a long chain is too deep": (layers(300, 1), [Act("plan service.yaml -e live", NONE)]),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("do.sh", "create.sh"):
        text = SCRIPT.format(log=tmp_path / "log", failing=tmp_path / "failing")
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def act(run: Run, project: Path, wanted: Act) -> None:
    """Give one command, and hold what comes of it to what must."""
    for name, text in wanted.edits.items():
        (project / name).write_text(text)
    (project / "failing").write_text(wanted.failing)
    log = project / "log"
    log.write_text("")
    done = run(*wanted.command.split())
    assert done.code == wanted.code, done.err
    assert wanted.says in done.out + done.err
    if wanted.ran is not None:
        assert log.read_text().split() == wanted.ran.split()


@pytest.mark.parametrize("name", FAULTS)
def test_known_fault(run: Run, project: Path, name: str) -> None:
    nodes, acts = FAULTS[name]
    (project / "service.yaml").write_text(TYPES + nodes)
    for wanted in acts:
        act(run, project, wanted)


def test_what_failed_is_one_line_of_the_history(run: Run, project: Path) -> None:
    """Messages with tabs and line ends do not tear the table of jobs; the record has the end after the beginning."""
    (project / "service.yaml").write_text(TYPES + ONE)
    act(run, project, Act(DEPLOY, code=1, failing="n_1.Standard.create"))
    lines = (project / "live" / "jobs.tsv").read_text().splitlines()
    assert all(line.startswith("A") and len(line.split("\t")) == len(lines[0].split("\t")) for line in lines)
    (record,) = (project / "live" / "jobs").glob("*.yaml")
    job = read_yaml(record.read_text())["job"]
    assert str(job["ended"]) > str(job["began"])


def test_the_last_changes_are_maintained(run: Run, project: Path) -> None:
    """They name the tasks that made them, and go on with every job that changes something."""
    (project / "service.yaml").write_text(TYPES + ONE)
    found = []
    for command in (DEPLOY, UNDEPLOY):
        act(run, project, Act(command))
        found.append(read_yaml((project / "live" / "ensemble.yaml").read_text())["status"])
    made, gone = (status["instances"]["n_1"] for status in found)
    job = found[0]["lastJob"]["changeId"][:8]
    assert made["lastConfigChange"][:8] == made["lastStateChange"][:8] == job
    assert gone["lastStateChange"] > made["lastStateChange"]
