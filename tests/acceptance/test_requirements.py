"""Requirement lines of TOSCA 1.3, shown by real scripts on this machine: what they are given, what they give back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.acceptance.program import Finished, ordito

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"

DUMP = '#!/bin/bash\nmkdir -p "$HOME/seen"\nenv -0 > "$HOME/seen/$ORDITO_STEP"\n'
"""A script that keeps its environment, named by its step."""


def write(home: Path, service: str, **scripts: str) -> None:
    """Write a service and its scripts (``name_sh`` becomes ``name.sh``)."""
    (home / "service.yaml").write_text(HEAD + service, encoding="utf-8")
    for name, text in scripts.items():
        (home / name.replace("_sh", ".sh").replace("_py", ".py")).write_text(text, encoding="utf-8")


def deploy(home: Path, *more: str) -> Finished:
    """Deploy it, and insist on success."""
    done = ordito(home, "deploy", "service.yaml", "-e", "ensemble", "--yes", *more)
    assert done.code == 0, done.both
    return done


def undeploy(home: Path) -> None:
    """Remove it, and insist on success."""
    done = ordito(home, "undeploy", "-e", "ensemble", "--yes")
    assert done.code == 0, done.both


def seen(home: Path, step: str) -> dict[str, str]:
    """The environment that a step's script saw."""
    text = (home / "seen" / step).read_text(encoding="utf-8")
    return dict(entry.split("=", 1) for entry in text.split("\0") if entry)


def planned(home: Path) -> dict[str, dict[str, Any]]:
    """The planned operations, by step id."""
    done = ordito(home, "plan", "service.yaml", "-o", "json")
    assert done.code == 0, done.both
    return {step["id"]: step for step in json.loads(done.out)["steps"]}


PAIRS = """
node_types:
  lab.Server:
    derived_from: tosca.nodes.Root
    attributes: { address: { type: string } }
    capabilities: { link: { type: tosca.capabilities.Node } }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: { implementation: address.sh, outputs: { address: [ SELF, address ] } }
  lab.Client:
    derived_from: tosca.nodes.Root
    attributes: { name: { type: string } }
    requirements:
      - server: { capability: tosca.capabilities.Node, node: lab.Server, relationship: lab.Link }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: { implementation: name.sh, outputs: { name: [ SELF, name ] } }
relationship_types:
  lab.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations:
          add_target: { implementation: dump.sh, inputs: { member_ip: { get_attribute: [ TARGET, address ] } } }
          remove_target: { implementation: dump.sh, inputs: { member_ip: { get_attribute: [ TARGET, address ] } } }
          add_source: { implementation: dump.sh, inputs: { client: { get_attribute: [ SOURCE, name ] } } }
topology_template:
  inputs: { servers: { type: integer, default: 5 }, clients: { type: integer, default: 1 } }
  node_templates:
    node: { type: lab.Server, occurrences: [ 1, 9 ], instance_count: { get_input: servers } }
    my-client:
      type: lab.Client
      occurrences: [ 1, 9 ]
      instance_count: { get_input: clients }
      requirements: [ { server: node } ]
"""
ADDRESS = "#!/bin/bash\naddress=10.0.0.${INSTANCE##*_}\n"
NAME = "#!/bin/bash\nname=the-$INSTANCE\n"


def test_a_relationship_operation_sees_the_whole_set_of_targets(tmp_path: Path) -> None:
    """R-4.2-1, R-4.2-2, R-4.2-3, R-4.2-6 to R-4.2-11, R-4.2-13: the document's own sample with five members."""
    write(tmp_path, PAIRS, dump_sh=DUMP, address_sh=ADDRESS, name_sh=NAME)
    deploy(tmp_path)
    environment = seen(tmp_path, "my_client_1.server.node_5.Configure.add_target")
    assert environment["TARGET"] == environment["TARGET_INSTANCE"] == "node_5"
    assert environment["TARGETS"] == environment["TARGET_INSTANCES"] == "node_1,node_2,node_3,node_4,node_5"
    assert environment["SOURCE"] == environment["SOURCE_INSTANCE"] == "my_client_1"
    assert environment["TARGET_NODE"] == "node"
    assert environment["SOURCE_NODE"] == "my-client"
    assert environment["member_ip"] == "10.0.0.5"
    for number in range(1, 6):
        assert environment[f"node_{number}_member_ip"] == f"10.0.0.{number}"
    assert "NODE" not in environment


def test_a_target_operation_sees_the_whole_set_of_sources(tmp_path: Path) -> None:
    """R-4.2-4, R-4.2-7: two sources, two targets."""
    write(tmp_path, PAIRS, dump_sh=DUMP, address_sh=ADDRESS, name_sh=NAME)
    deploy(tmp_path, "-i", "servers=2", "-i", "clients=2")
    environment = seen(tmp_path, "my_client_2.server.node_1.Configure.add_source")
    assert environment["SOURCES"] == "my_client_1,my_client_2"
    assert environment["SOURCE"] == "my_client_2"
    assert environment["TARGET"] == "node_1"
    assert environment["client"] == environment["my_client_2_client"] == "the-my_client_2"
    assert environment["my_client_1_client"] == "the-my_client_1"


def test_a_departing_target_is_still_known(tmp_path: Path) -> None:
    """R-4.2-12, R-5.8.5-6: remove_target sees the inputs of the instance that leaves."""
    write(tmp_path, PAIRS, dump_sh=DUMP, address_sh=ADDRESS, name_sh=NAME)
    deploy(tmp_path, "-i", "servers=2")
    undeploy(tmp_path)
    environment = seen(tmp_path, "my_client_1.server.node_2.Configure.remove_target")
    assert environment["TARGET"] == "node_2"
    assert environment["member_ip"] == environment["node_2_member_ip"] == "10.0.0.2"


OUTPUTS = """
node_types:
  lab.Node:
    derived_from: tosca.nodes.Root
    attributes:
      made: { type: string, default: { get_operation_output: [ SELF, Standard, create, made ] } }
topology_template:
  node_templates:
    thing:
      type: lab.Node
      interfaces:
        Standard:
          operations:
            create: make.sh
            configure:
              implementation: dump.sh
              inputs:
                made: { get_operation_output: [ SELF, Standard, create, made ] }
                again: { get_attribute: [ SELF, made ] }
                state: { get_attribute: [ SELF, state ] }
            start: fail.sh
  outputs:
    made: { value: { get_attribute: [ thing, made ] } }
"""


def test_outputs_feed_later_operations_and_a_failure_leaves_them_readable(tmp_path: Path) -> None:
    """R-2.18-1, R-4.6.1-1, -4, -5, -9, R-5.8.4-2: create exports, configure and an attribute take it; the state is
    transitional while an operation runs; what a failed job has reached can be read."""
    write(
        tmp_path,
        OUTPUTS,
        make_sh="#!/bin/bash\nexport made='one \"two\"\n  three'\n",
        dump_sh=DUMP,
        fail_sh="#!/bin/bash\nmade=never\nexit 3\n",
    )
    failed = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert failed.code == 1
    environment = seen(tmp_path, "thing_1.Standard.configure")
    assert environment["made"] == environment["again"] == 'one "two"\n  three'
    assert environment["state"] == "configuring"
    status = json.loads(ordito(tmp_path, "status", "-e", "ensemble", "-o", "json").out)
    assert status["instances"]["thing_1"]["state"] == "error"
    output = json.loads(ordito(tmp_path, "output", "-e", "ensemble", "-o", "json").out)
    assert output["made"] == 'one "two"\n  three'


ARTIFACTS = """
node_types:
  lab.Node:
    derived_from: tosca.nodes.Root
    artifacts:
      own: { type: tosca.artifacts.File, file: of-type.txt }
      other: { type: tosca.artifacts.File, file: of-type.txt }
topology_template:
  inputs: { place: { type: string } }
  node_templates:
    thing:
      type: lab.Node
      occurrences: [ 1, 2 ]
      instance_count: 2
      artifacts:
        other: { type: tosca.artifacts.File, file: of-template.txt }
      interfaces:
        Standard:
          operations:
            create:
              implementation: look.sh
              inputs:
                plain: { get_artifact: [ SELF, own ] }
                template: { get_artifact: [ SELF, other ] }
                local: { get_artifact: [ SELF, own, LOCAL_FILE ] }
                kept: { get_artifact: [ SELF, own, LOCAL_FILE, false ] }
                placed: { get_artifact: [ SELF, own, { concat: [ { get_input: place }, /placed ] } ] }
"""
LOOK = """#!/bin/bash -e
mkdir -p "$HOME/seen"
env -0 > "$HOME/seen/$ORDITO_STEP"
cat "$plain" "$template" "$local" "$kept" > "$HOME/$INSTANCE.txt"
"""


def test_artifacts_are_at_hand_while_an_operation_runs(tmp_path: Path) -> None:
    """R-4.8.1-1, -2, -3, -5, -7, -9: from the type, from the template over the type; copies go, or stay if asked to;
    two instances do not share them."""
    service = ARTIFACTS.replace(
        "                placed: { get_artifact: [ SELF, own, { concat: [ { get_input: place }, /placed ] } ] }\n", ""
    )
    write(tmp_path, service, look_sh=LOOK)
    (tmp_path / "of-type.txt").write_text("type ")
    (tmp_path / "of-template.txt").write_text("template ")
    deploy(tmp_path, "-i", "place=unused")
    assert (tmp_path / "thing_1.txt").read_text() == "type template type type "
    first, second = (seen(tmp_path, f"thing_{n}.Standard.create") for n in (1, 2))
    assert first["own"] == first["plain"]
    assert first["local"] != second["local"]
    assert not Path(first["local"]).exists()
    assert Path(first["kept"]).read_text() == "type "


def test_an_artifact_can_be_put_at_a_path(tmp_path: Path) -> None:
    """R-4.8.1-4, -5: it stays there, unless it is to be removed."""
    service = f"""
topology_template:
  node_templates:
    thing:
      type: tosca.nodes.Root
      artifacts: {{ own: {{ type: tosca.artifacts.File, file: own.txt }} }}
      interfaces:
        Standard:
          operations:
            create:
              implementation: dump.sh
              inputs:
                stays: {{ get_artifact: [ SELF, own, {tmp_path}/deep/er/stays.txt ] }}
                goes: {{ get_artifact: [ SELF, own, {tmp_path}/deep/er/goes.txt, true ] }}
"""
    write(tmp_path, service, dump_sh=DUMP + 'test -e "$stays" && test -e "$goes"\n')
    (tmp_path / "own.txt").write_text("own")
    deploy(tmp_path)
    assert seen(tmp_path, "thing_1.Standard.create")["stays"] == f"{tmp_path}/deep/er/stays.txt"
    assert (tmp_path / "deep/er/stays.txt").read_text() == "own"
    assert not (tmp_path / "deep/er/goes.txt").exists()


IMPLEMENTATIONS = """
topology_template:
  node_templates:
    thing:
      type: tosca.nodes.Root
      artifacts:
        dump.sh: { type: tosca.artifacts.Implementation.Bash, file: scripts/named.sh }
      interfaces:
        Standard:
          operations:
            create: dump.sh
            configure:
              implementation:
                primary: scripts/main.sh
                dependencies: [ scripts/one.txt, other/two.txt ]
            start:
              implementation: { primary: slow.sh, timeout: 1 }
"""


def test_implementations_are_found_helped_and_limited(tmp_path: Path) -> None:
    """R-2.4-2, R-2.15-1, R-3.6.16-2, -4, -5, R-3.6.16-dep1, R-3.6.16-t1: a named artifact wins over a file of that
    name; dependencies lie beside the primary; a timeout fails the operation."""
    write(tmp_path, IMPLEMENTATIONS, dump_sh="exit 9\n", slow_sh="sleep 60\n")
    for path, text in {
        "scripts/named.sh": 'echo named > "$HOME/named"\n',
        "scripts/main.sh": '#!/bin/bash\nls "$(dirname "$0")" > "$HOME/beside"\n',
        "scripts/one.txt": "",
        "other/two.txt": "",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    failed = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert failed.code == 1
    assert (tmp_path / "named").read_text() == "named\n"
    assert {"main.sh", "one.txt", "two.txt"} <= set((tmp_path / "beside").read_text().split())
    assert "1 s" in failed.err
    assert "service.yaml:17" in failed.err


HOSTS = """
node_types:
  lab.Software:
    derived_from: tosca.nodes.SoftwareComponent
    requirements:
      - peer: { capability: tosca.capabilities.Node, relationship: lab.Link, occurrences: [ 0, 1 ] }
relationship_types:
  lab.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations:
          pre_configure_source: { implementation: { primary: dump.sh, operation_host: SOURCE } }
          post_configure_source: { implementation: { primary: dump.sh, operation_host: TARGET } }
          add_target: { implementation: { primary: dump.sh, operation_host: ORCHESTRATOR } }
topology_template:
  node_templates:
    left: { type: tosca.nodes.Compute }
    right: { type: tosca.nodes.Compute }
    source:
      type: lab.Software
      requirements: [ { host: left }, { peer: target } ]
      interfaces:
        Standard:
          operations:
            create: { implementation: { primary: dump.sh, operation_host: SELF } }
            configure: { implementation: { primary: dump.sh, operation_host: HOST } }
            start: { implementation: { primary: dump.sh, operation_host: ORCHESTRATOR } }
    target:
      type: lab.Software
      requirements: [ { host: right } ]
    made:
      type: tosca.nodes.Compute
      interfaces: { Standard: { operations: { create: dump.sh } } }
"""


def test_operations_are_planned_where_they_belong(tmp_path: Path) -> None:
    """R-3.6.16-6, R-3.6.16-oh2, R-5.8.4-7, R-5.9.3-3, R-2.1-3, R-2.4-2: each of the five places; a Compute
    with a script is made by it, and one without needs none."""
    write(tmp_path, HOSTS, dump_sh=DUMP)
    steps = planned(tmp_path)
    places = {step: steps[step].get("runs_on", "") for step in steps}
    assert places["source_1.Standard.create"] == "left_1"
    assert places["source_1.Standard.configure"] == "left_1"
    assert places["source_1.Standard.start"] == ""
    assert places["source_1.source.peer.Configure.pre_configure_source"] == "left_1"
    assert places["source_1.source.peer.Configure.post_configure_source"] == "right_1"
    assert places["source_1.peer.target_1.Configure.add_target"] == ""
    assert steps["left_1.delegate.deploy"]["delegated"]
    assert "made_1.delegate.deploy" not in steps
    assert places["made_1.Standard.create"] == ""


def test_an_image_without_processor_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """R-5.8.4-7, R-5.8.4.3-1, R-3.6.16-7, R-5.4-4: a deployment artifact that nobody here can process is an error of
    the plan."""
    write(
        tmp_path,
        """
topology_template:
  node_templates:
    machine:
      type: tosca.nodes.Compute
      artifacts: { image: { type: tosca.artifacts.Deployment.Image.VM, file: disk.img } }
      interfaces: { Standard: { operations: { create: image } } }
""",
    )
    (tmp_path / "disk.img").write_bytes(b"")
    refused = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert refused.code == 3, refused.both
    assert "tosca.artifacts.Deployment.Image.VM" in refused.err
    assert not (tmp_path / "ensemble").exists()


def test_states_are_passed_through_in_order(tmp_path: Path) -> None:
    """R-5.8.4-1, -3, -4, -5, R-3.6.17-8: with and without scripts, up and down."""
    write(
        tmp_path,
        """
topology_template:
  node_templates:
    bare: { type: tosca.nodes.Root }
    scripted:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations: { create: ok.sh, configure: ok.sh, start: ok.sh, stop: ok.sh, delete: ok.sh }
""",
        ok_sh="exit 0\n",
    )
    up = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes", "--json")
    down = ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes", "--json")
    assert (up.code, down.code) == (0, 0)
    events = [json.loads(line) for line in (up.out + down.out).splitlines()]
    trace: dict[str, list[str]] = {"bare_1": [], "scripted_1": []}
    for event in events:
        if event["type"] == "instance.state" and trace[event["instance"]][-1:] != [event["state"]]:
            trace[event["instance"]].append(event["state"])
    everything = [
        "creating", "created", "configuring", "configured", "starting", "started", "stopping", "configured",
        "deleting", "deleted",
    ]  # fmt: skip
    assert trace["scripted_1"] == everything
    assert trace["bare_1"][-1] == "deleted"
    assert "started" in trace["bare_1"]
    status = json.loads(ordito(tmp_path, "status", "-e", "ensemble", "-o", "json").out)
    assert status["instances"] == {}
