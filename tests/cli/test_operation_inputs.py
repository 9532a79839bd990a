"""What documents and inputs decide of the inputs of operations is found before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
policy_types:
  my.Policy: {{ derived_from: tosca.policies.Root, properties: {{ text: {{ type: string }} }} }}
group_types:
  my.Group: {{ derived_from: tosca.groups.Root, properties: {{ text: {{ type: string }} }} }}
artifact_types:
  my.File: {{ derived_from: tosca.artifacts.File, properties: {{ text: {{ type: string }} }} }}
relationship_types:
  my.Link:
    derived_from: tosca.relationships.ConnectsTo
    properties: {{ unset: {{ type: string, required: false }} }}
    interfaces:
      Configure:
        operations:
          pre_configure_source: {{ implementation: run.sh, inputs: {{ X: {{ type: string, {link} }} }} }}
capability_types:
  my.Cap: {{ derived_from: tosca.capabilities.Endpoint, properties: {{ unset: {{ type: string, required: false }} }} }}
node_types:
  my.Node:
    derived_from: tosca.nodes.Root
    properties:
      port: {{ type: integer, required: false }}
      ports: {{ type: list, entry_schema: integer, default: [ 1, 2 ] }}
      map: {{ type: map, entry_schema: string, default: {{ a: x }} }}
    attributes: {{ seen: {{ type: integer }} }}
    capabilities: {{ cap: my.Cap }}
    requirements: [ other: {{ capability: my.Cap, relationship: my.Link, occurrences: [ 0, 1 ] }} ]
    interfaces:
      Standard:
        operations:
          {operation}: {{ implementation: run.sh, inputs: {{ X: {{ {node} }} }} }}
      Own:
        type: my.Own
        operations:
          ask: {{ implementation: run.sh, inputs: {{ X: {{ type: string }} }} }}
interface_types:
  my.Own: {{ derived_from: tosca.interfaces.Root, operations: {{ ask: {{ }} }} }}
topology_template:
  inputs:
    at: {{ type: integer, default: 1 }}
    text: {{ type: string, default: "a:b" }}
    none: {{ type: string, required: false }}
  node_templates:
    one: {{ type: my.Node, requirements: [ other: {{ node: two, capability: cap }} ], artifacts: {{ file: {{ type: my.File, file: run.sh, properties: {{ text: {artifact} }} }} }} }}
    two: {{ type: my.Node, properties: {{ port: 80 }} }}
  groups: {{ group: {{ type: my.Group, members: [ one ], properties: {{ text: {group} }} }} }}
  policies: [ policy: {{ type: my.Policy, properties: {{ text: {policy} }} }} ]
  workflows:
    ask:
      inputs: {{ said: {{ type: string, required: false }} }}
      steps:
        ask: {{ target: one, activities: [ call_operation: {{ operation: Own.ask, inputs: {{ X: {asked} }} }} ] }}
    outer:
      inputs: {{ place: {{ type: integer, default: 0 }} }}
      steps:
        in: {{ target: one, activities: [ inline: {{ workflow: ask, inputs: {{ said: {inlined} }} }} ] }}
"""  # noqa: E501
SOUND = {
    "operation": "create",
    "node": "type: string, value: x",
    "link": "value: x",
    "artifact": "x",
    "group": "x",
    "policy": "x",
    "asked": "x",
    "inlined": "x",
}
TOO_FAR = '{ token: [ { get_input: text }, ":", 2 ] }'


def write(folder: Path, **parts: str) -> None:
    (folder / "run.sh").write_text("echo ran >> log\n")
    (folder / "service.yaml").write_text(SERVICE.format(**{**SOUND, **parts}))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"node": "type: string"}, 'the required input "X" of Standard.create of node "one" has no value'),
        ({"node": "type: integer, value: { get_property: [ SELF, port ] }"}, '"port" of one is not set'),
        ({"node": "type: integer, value: { get_property: [ SELF, ports, 2 ] }"}, "2 entries, and index 2"),
        ({"node": "type: integer, value: { get_property: [ SELF, ports, { get_input: at } ] }"}, ""),
        ({"node": "type: string, value: { get_property: [ SELF, map, b ] }"}, 'no entry "b"'),
        ({"node": "type: string, value: { get_property: [ SELF, map, { get_input: text } ] }"}, 'no entry "a:b"'),
        ({"node": "type: string, value: { get_property: [ SELF, cap, unset ] }"}, '"cap.unset" of one is not set'),
        ({"node": "type: string, value: { get_property: [ two, cap, unset ] }"}, '"cap.unset" of two is not set'),
        ({"node": "type: string, value: { concat: [ a, { get_input: none } ] }"}, 'input "none" has no value'),
        ({"node": f"type: string, value: {TOO_FAR}"}, "token finds 2 parts"),
        ({"node": f"type: string, value: {TOO_FAR}", "operation": "delete"}, "token finds 2 parts"),
        ({"node": "type: string, constraints: [ { max_length: 2 } ], value: { get_input: text } "}, "at most 2"),
        ({"node": "type: integer, required: false, value: { get_property: [ SELF, port ] }"}, ""),
        ({"node": "type: integer, value: { get_attribute: [ SELF, seen ] }"}, ""),
        ({"node": "type: integer, value: { get_property: [ two, port ] }"}, ""),
        ({"link": "value: { get_property: [ SELF, unset ] }"}, '"unset" of one.other is not set'),
        ({"link": "value: { get_property: [ TARGET, cap, unset ] }"}, '"cap.unset" of two is not set'),
        ({"artifact": TOO_FAR}, "token finds 2 parts"),
        ({"group": TOO_FAR}, "token finds 2 parts"),
        ({"policy": TOO_FAR}, "token finds 2 parts"),
        ({"asked": TOO_FAR}, "token finds 2 parts"),
        ({"inlined": TOO_FAR}, "token finds 2 parts"),
        ({"asked": "{ get_property: [ SELF, ports, 2 ] }"}, "2 entries, and index 2"),
        ({"asked": "{ get_property: [ SELF, map, { get_input: said } ] }"}, ""),
        ({"asked": "{ get_attribute: [ SELF, tosca_id ] }"}, ""),
    ],
)
def test_what_documents_decide_is_found_by_validate_and_plan(
    run: Run, tmp_path: Path, parts: dict[str, str], said: str
) -> None:
    write(tmp_path, **parts)
    for verb in (["validate", "service.yaml"], ["plan", "service.yaml", "-e", "e"]):
        done = run(*verb)
        assert (done.code, said in done.out + done.err) == (3 if said else 0, True), done.out + done.err


def test_what_inputs_decide_is_found_where_they_are_given(run: Run, tmp_path: Path) -> None:
    write(tmp_path, node="type: integer, value: { get_property: [ SELF, ports, { get_input: at } ] }")
    assert run("validate", "service.yaml").code == 0
    for verb in (
        ["validate", "service.yaml"],
        ["plan", "service.yaml", "-e", "e"],
        ["deploy", "service.yaml", "-e", "e"],
    ):
        done = run(*verb, "-i", "at=2")
        assert (done.code, "index 2 was requested" in done.err) == (3, True)
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("parts", "command", "said"),
    [
        ({}, ["run", "Own.ask", "--node", "one"], 'Own.ask of node "one" needs "X"'),
        ({}, ["run", "Own.ask", "--node", "one", "-i", "X=x"], ""),
        ({"asked": "{ get_input: said }"}, ["workflow", "run", "ask"], '"said" of workflow "ask" has no value'),
        ({"asked": "{ get_input: said }"}, ["workflow", "run", "ask", "-i", "said=x"], ""),
        (
            {"asked": '{ token: [ { get_input: said }, ":", 2 ] }'},
            ["workflow", "run", "ask", "-i", "said=x:y"],
            "token finds 2 parts",
        ),
        ({"asked": "{ get_attribute: [ SELF, tosca_id ] }"}, ["workflow", "run", "ask"], ""),
        (
            {"asked": "{ get_input: said }", "inlined": '{ token: [ "a:b", ":", { get_input: place } ] }'},
            ["workflow", "run", "outer", "-i", "place=2"],
            "token finds 2 parts",
        ),
        (
            {"asked": "{ get_input: said }", "inlined": "{ get_attribute: [ SELF, tosca_id ] }"},
            ["workflow", "run", "outer"],
            "",
        ),
    ],
)
def test_what_is_called_besides_the_lifecycle_is_asked_when_it_is_planned(
    run: Run, tmp_path: Path, parts: dict[str, str], command: list[str], said: str
) -> None:
    write(tmp_path, **parts)
    assert run("deploy", "service.yaml", "-e", "e", "--yes").code == 0
    (tmp_path / "log").unlink(missing_ok=True)
    done = run("-e", "e", *command, "--yes")
    assert (done.code, said in done.out + done.err) == (3 if said else 0, True), done.out + done.err


TEXT_FOR_A_NUMBER = """\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  my.Own: { derived_from: tosca.interfaces.Root, operations: { run: {} } }
node_types:
  my.Thing:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard: { operations: { configure: { implementation: configure.sh } } }
      Own:
        type: my.Own
        operations:
          run: { implementation: run.sh, inputs: { N: { type: integer, value: { get_input: n } } } }
topology_template:
  inputs: { n: { type: integer, default: 1 } }
  node_templates:
    thing: { type: my.Thing }
  outputs:
    kept: { value: { get_operation_output: [ thing, Standard, configure, OUT ] } }
  workflows:
    inner:
      inputs: { n: { type: integer } }
      steps:
        call: { target: thing, activities: [ { call_operation: Own.run } ] }
    outer:
      steps:
        go:
          target: thing
          activities:
            - inline:
                workflow: inner
                inputs: { n: { get_operation_output: [ thing, Standard, configure, OUT ] } }
"""


def test_an_input_of_an_inlined_workflow_that_does_not_fit_refuses_the_start(run: Run, tmp_path: Path) -> None:
    """R-3.6.11-2: what an operation gave is held to what the workflow declares; the step fails and says why."""
    (tmp_path / "service.yaml").write_text(TEXT_FOR_A_NUMBER)
    (tmp_path / "configure.sh").write_text("OUT=many\n")
    (tmp_path / "run.sh").write_text(":\n")
    assert run("deploy", "service.yaml", "--yes").code == 0
    told = run("workflow", "run", "outer", "--yes")
    assert told.code == 1
    assert 'not started: input "n" of workflow "inner": "many" is no integer' in told.err
