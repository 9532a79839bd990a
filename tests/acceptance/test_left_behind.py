"""A template loses nodes whose instances run: nothing is forgotten, nothing is stuck, everything can be removed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.program import Finished, Project, ordito

TYPES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  app.Node:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { word: { type: string, default: none } }
    requirements:
      - peer:
          capability: tosca.capabilities.Node
          node: app.Node
          relationship: app.Link
          occurrences: [ 0, UNBOUNDED ]
    interfaces:
      Standard:
        inputs: { WORD: { type: string, value: { get_property: [ SELF, word ] } } }
        operations: { create: do.sh, delete: do.sh }
relationship_types:
  app.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        operations: { pre_configure_source: do.sh, add_target: do.sh, remove_target: do.sh }
topology_template:
"""
BEFORE = """\
  inputs: { word: { type: string, default: first } }
  node_templates:
    server: { type: tosca.nodes.Compute }
    db: { type: app.Node, properties: { word: { get_input: word } }, requirements: [ { host: server } ] }
    app: { type: app.Node, requirements: [ { host: server }, { peer: db } ] }
"""
AFTER = """\
  inputs: { word: { type: string, default: second } }
  node_templates:
    server: { type: tosca.nodes.Compute }
    app: { type: app.Node, requirements: [ { host: server } ] }
    extra: { type: app.Node, properties: { word: { get_input: word } }, requirements: [ { host: server } ] }
"""
SCRIPT = """\
#!/bin/bash
[ ! -e "$HOME/broken" ] || [ "$ORDITO_STEP" != "$(cat "$HOME/broken")" ] || exit 5
echo "$ORDITO_STEP ${WORD:-} GENERATION" >>"$HOME/trace"
"""


def trace(project: Project) -> list[str]:
    """What ran since it was last asked for, in order."""
    path = project.home / "trace"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return [line.strip() for line in lines]


def write(project: Project, topology: str, generation: str) -> None:
    """The service in a form of its own."""
    project.service.write_text(TYPES + topology, encoding="utf-8")
    script = SCRIPT.replace("GENERATION", generation)
    (project.service.parent / "do.sh").write_text(script, encoding="utf-8")


def deploy(project: Project) -> Finished:
    """Deploy the service as it is now."""
    return ordito(project.home, *project.deploying())


def state(project: Project) -> Any:
    """What exists, by id."""
    return json.loads(project.run("status", "-o", "json").out)["instances"]


def orphans(project: Project) -> list[str]:
    """The instances whose node is gone."""
    return [name for name, shown in state(project).items() if shown.get("orphaned")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A deployed service with a database that an application is linked with."""
    made = Project(tmp_path, tmp_path / "service" / "service.yaml")
    made.service.parent.mkdir()
    write(made, BEFORE, "one")
    assert deploy(made).code == 0
    assert "db_1.Standard.create first one" in trace(made)
    return made


def test_a_node_that_the_template_loses_is_kept_and_undeployed_as_it_was_deployed(project: Project) -> None:
    """The scripts and inputs of its own time remove it, in an order that its relationships ask for."""
    write(project, AFTER, "one")
    deployed = deploy(project)
    assert deployed.code == 0, deployed.both
    assert 'node "db" is gone from the template' in deployed.err
    assert "db_1" in deployed.err
    assert trace(project) == ["extra_1.Standard.create second one"]
    assert orphans(project) == ["db_1"]
    again = deploy(project)
    assert "Nothing to do" in again.both
    # What is in the folder of the service now is not what was deployed.
    write(project, AFTER, "two")
    undeployed = project.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.both
    ran = trace(project)
    assert sorted(ran) == [
        "app_1.Standard.delete none one",
        "app_1.peer.db_1.Configure.remove_target  one",
        "db_1.Standard.delete first one",
        "extra_1.Standard.delete second one",
    ]
    unlinked, deleted = (next(n for n, line in enumerate(ran) if line.startswith(s)) for s in ("app_1.peer", "db_1"))
    assert unlinked < deleted
    assert state(project) == {}


def test_a_node_that_comes_back_is_managed_as_before(project: Project) -> None:
    """The instance that was kept is the one that the template speaks of again."""
    write(project, AFTER, "one")
    assert deploy(project).code == 0
    trace(project)
    (project.service).write_text(TYPES + BEFORE, encoding="utf-8")
    back = deploy(project)
    assert back.code == 0, back.both
    assert "extra" in back.err
    assert trace(project) == []
    shown = state(project)
    assert "extra_1" in shown
    assert shown["db_1"]["local"] == "ok"


def test_a_node_may_be_lost_in_turn_and_each_keeps_its_own_time(project: Project) -> None:
    """Two nodes, lost one after the other, are removed each with what it was deployed with."""
    write(project, AFTER, "one")
    assert deploy(project).code == 0
    write(project, AFTER[: AFTER.index("    extra")].replace("second", "third"), "one")
    assert deploy(project).code == 0, "nothing to do is no failure"
    trace(project)
    fresh = (
        "    more: { type: app.Node, properties: { word: { get_input: word } }, requirements: [ { host: server } ] }\n"
    )
    write(project, AFTER[: AFTER.index("    extra")].replace("second", "third") + fresh, "one")
    assert deploy(project).code == 0
    assert trace(project) == ["more_1.Standard.create third one"]
    assert orphans(project) == ["db_1", "extra_1"]
    assert project.run("undeploy", "--yes").code == 0
    assert {line for line in trace(project) if "Standard.delete" in line} == {
        "app_1.Standard.delete none one",
        "db_1.Standard.delete first one",
        "extra_1.Standard.delete second one",
        "more_1.Standard.delete third one",
    }


def test_what_could_not_be_removed_is_removed_by_the_next_try(project: Project) -> None:
    """A failure of the lost node's own script keeps it, and its files with it."""
    write(project, AFTER, "one")
    assert deploy(project).code == 0
    (project.home / "broken").write_text("db_1.Standard.delete", encoding="utf-8")
    assert project.run("undeploy", "--yes").code == 1
    assert orphans(project) == ["db_1"]
    (project.home / "broken").unlink()
    trace(project)
    assert project.run("undeploy", "--yes").code == 0
    assert trace(project) == ["db_1.Standard.delete first one"]


def test_where_its_files_are_lost_too_the_rest_goes_on(project: Project) -> None:
    """Nothing is known of it any more: it is named, kept, and does not stand in the way of anything."""
    pins = {p.name for p in (project.ensemble / "artifacts").iterdir()}
    write(project, AFTER, "one")
    assert deploy(project).code == 0
    for name in pins:
        shutil.rmtree(project.ensemble / "artifacts" / name)
    trace(project)
    undeployed = project.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.both
    assert "db_1" in undeployed.both
    assert "Traceback" not in undeployed.both
    assert "extra_1.Standard.delete second one" in trace(project)
