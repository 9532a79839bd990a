"""Services whose nodes are substituted by topologies, or selected from an inventory, with the real program."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.program import Project

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
TYPES = f"""{HEAD}
node_types:
  my.Store:
    derived_from: tosca.nodes.Root
    properties: {{ name: {{ type: string }} }}
    attributes: {{ place: {{ type: string }} }}
    capabilities: {{ service: tosca.capabilities.Endpoint }}
    requirements:
      - base: {{ capability: tosca.capabilities.Node, occurrences: [ 0, 1 ] }}
  my.Part:
    derived_from: tosca.nodes.Root
    properties: {{ name: {{ type: string }} }}
    attributes: {{ made: {{ type: string }} }}
    capabilities: {{ door: tosca.capabilities.Endpoint }}
    requirements:
      - base: {{ capability: tosca.capabilities.Node, occurrences: [ 0, 1 ] }}
      - store: {{ capability: tosca.capabilities.Endpoint, relationship: my.Uses, occurrences: [ 0, 1 ] }}
    interfaces:
      Standard:
        inputs: {{ NAME: {{ type: string, default: {{ get_property: [ SELF, name ] }} }} }}
        operations:
          create: {{ implementation: do.sh, outputs: {{ made: [ SELF, made ] }} }}
          delete: do.sh
  my.Hosted:
    derived_from: tosca.nodes.SoftwareComponent
    interfaces:
      Standard:
        inputs: {{ NAME: {{ type: string, default: part }} }}
        operations: {{ create: do.sh, delete: do.sh }}
relationship_types:
  my.Uses:
    derived_from: tosca.relationships.ConnectsTo
    interfaces:
      Configure:
        operations:
          add_target:
            implementation: link.sh
            inputs: {{ FAR: {{ type: string, default: {{ get_attribute: [ TARGET, place ] }} }} }}
"""
STORE = f"""{HEAD}
metadata: {{ template_name: plain-store }}
imports: [ types.yaml ]
topology_template:
  inputs:
    name: {{ type: string }}
    suffix: {{ type: string, default: inner }}
  substitution_mappings:
    node_type: my.Store
    attributes: {{ place: [ where ] }}
    capabilities: {{ service: [ engine, door ] }}
    requirements: {{ base: [ engine, base ] }}
  node_templates:
    engine:
      type: my.Part
      properties: {{ name: {{ concat: [ {{ get_input: name }}, -, {{ get_input: suffix }} ] }} }}
      requirements: [ dependency: disk ]
    disk: {{ type: my.Part, properties: {{ name: {{ get_property: [ engine, name ] }} }} }}
  outputs: {{ where: {{ value: {{ get_attribute: [ engine, made ] }} }} }}
"""
OTHER = STORE.replace("plain-store", "other-store").replace("inner", "other")
SERVICE = f"""{HEAD}
imports: [ types.yaml, store.yaml, other.yaml ]
topology_template:
  inputs: {{ shop: {{ type: string, default: shop }} }}
  node_templates:
    ground: {{ type: my.Part, properties: {{ name: ground }} }}
    store:
      type: my.Store
      directives: [ substitute ]
      properties: {{ name: {{ get_input: shop }} }}
      requirements: [ base: ground ]
    web: {{ type: my.Part, properties: {{ name: web }}, requirements: [ store: store ] }}
  outputs:
    place: {{ value: {{ get_attribute: [ store, place ] }} }}
"""
SELECTING = f"""{HEAD}
imports: [ types.yaml ]
topology_template:
  node_templates:
    machine:
      type: Compute
      directives: [ select ]
      node_filter: {{ capabilities: [ host: {{ properties: [ num_cpus: {{ greater_or_equal: 4 }} ] }} ] }}
    part: {{ type: my.Hosted, requirements: [ host: machine ] }}
  outputs: {{ address: {{ value: {{ get_attribute: [ machine, private_address ] }} }} }}
"""
INVENTORY = f"""{HEAD}
topology_template:
  node_templates:
    here:
      type: Compute
      attributes: {{ private_address: ADDRESS }}
      capabilities: {{ host: {{ properties: {{ num_cpus: 8 }} }} }}
"""


def make(home: Path, service: str) -> Project:
    """A service with its scripts, which write what they do into a log."""
    folder = home / "service"
    folder.mkdir()
    project = Project(home, folder / "service.yaml")
    (folder / "types.yaml").write_text(TYPES)
    (folder / "store.yaml").write_text(STORE)
    (folder / "other.yaml").write_text(OTHER)
    project.service.write_text(service)
    (folder / "do.sh").write_text(f'#!/bin/bash\necho "do $NAME" >> {project.log}\nexport made="made-$NAME"\n')
    (folder / "link.sh").write_text(f'#!/bin/bash\necho "link $FAR" >> {project.log}\n')
    return project


def lines(project: Project) -> list[str]:
    """What was done, in order."""
    return project.log.read_text().splitlines()


def test_a_substituted_node_is_deployed(tmp_path: Path) -> None:
    """R-2.10-1, R-2.10-2, R-2.12-1, R-3.8.9-1, R-5.8.2-1: what is inside is made in place of the node, after what the
    node requires and before what requires it; relationships lead inside; the choice is remembered."""
    project = make(tmp_path, SERVICE)
    undecided = project.run("deploy", str(project.service), "--yes")
    assert undecided.code != 0
    assert "plain-store (store.yaml), other-store (other.yaml)" in undecided.both
    assert not project.log.exists(), "nothing was run"

    asked = project.run("plan", str(project.service), "--substitute", "store=plain-store")
    assert "Chosen\n    store  substituted by the topology of store.yaml\n" in asked.out
    nobody = project.run("deploy", str(project.service), "--substitute", "store=plain-store")
    assert nobody.code != 0, "somebody has to agree to it"
    assert not project.log.exists(), "nothing was run"

    deployed = project.run("deploy", str(project.service), "--substitute", "store=plain-store", "--yes")
    assert deployed.code == 0, deployed.both
    made = lines(project)
    names = [line.split()[1] for line in made]
    # What stands on the ground waits for it; the other part inside does not.
    assert sorted(names[:2]) == ["ground", "shop-inner"]
    assert names[2:] == ["shop-inner", "web", "made-shop-inner"]
    assert json.loads(project.run("output", "-o", "json").out)["place"] == "made-shop-inner"

    again = project.run("deploy", "--yes")
    assert again.code == 0, again.both
    assert lines(project) == made, "nothing is left to do, and nobody is asked again"

    removed = project.run("undeploy", "--yes")
    assert removed.code == 0, removed.both
    names = [line.split()[1] for line in lines(project)[len(made) :]]
    assert names[:2] == ["web", "shop-inner"]
    assert sorted(names[2:]) == ["ground", "shop-inner"]


def test_a_substituting_topology_is_deployed_by_itself(tmp_path: Path) -> None:
    """R-2.10-5: a template with substitution mappings stands alone too."""
    project = make(tmp_path, STORE)
    deployed = project.run("deploy", str(project.service), "-i", "name=alone", "--yes")
    assert deployed.code == 0, deployed.both
    assert [line.split()[1] for line in lines(project)] == ["alone-inner", "alone-inner"]


def test_a_selected_machine_is_used_and_kept(tmp_path: Path) -> None:
    """R-2.9-2: the selected node is neither made nor removed; other machines than this one are refused by name."""
    project = make(tmp_path, SELECTING)
    inventory = tmp_path / "inventory.yaml"
    inventory.write_text(INVENTORY.replace("ADDRESS", "10.9.8.7"))
    far = project.run("deploy", str(project.service), "--inventory", str(inventory), "--yes")
    assert far.code != 0
    assert "the machine 10.9.8.7 of the inventory" in far.both

    inventory.write_text(INVENTORY.replace("ADDRESS", "127.0.0.1"))
    deployed = project.run("deploy", str(project.service), "--inventory", str(inventory), "--yes")
    assert deployed.code == 0, deployed.both
    assert [line.split()[1] for line in lines(project)] == ["part"]
    assert json.loads(project.run("output", "-o", "json").out)["address"] == "127.0.0.1"

    inventory.unlink()
    removed = project.run("undeploy", "--yes")
    assert removed.code == 0, removed.both
    assert [line.split()[1] for line in lines(project)] == ["part", "part"]


INNER = f"""{HEAD}
metadata: {{ template_name: plain-store }}
imports: [ types.yaml ]
topology_template:
  inputs: {{ name: {{ type: string }} }}
  substitution_mappings:
    node_type: my.Store
    attributes: {{ place: [ where ] }}
    capabilities: {{ service: [ engine, door ] }}
    requirements: {{ base: [ engine, base ] }}
  node_templates:
    engine:
      type: my.Part
      occurrences: [ 1, 3 ]
      instance_count: 2
      properties: {{ name: {{ get_input: name }} }}
  outputs: {{ where: {{ value: there }} }}
"""


def test_relationships_of_the_outside_see_the_instances_inside(tmp_path: Path) -> None:
    """R-3.8.13-5: what connects to a substituted node is linked with each instance of the node inside that has the
    capability, and the variables of its operations name those instances."""
    project = make(tmp_path, SERVICE)
    (tmp_path / "service" / "store.yaml").write_text(INNER)
    show = f'#!/bin/bash\necho "$SOURCE_NODE $SOURCE $SOURCES > $TARGET_NODE $TARGET $TARGETS" >> {project.log}\n'
    (tmp_path / "service" / "link.sh").write_text(show)
    deployed = project.run("deploy", str(project.service), "--substitute", "store=plain-store", "--yes")
    assert deployed.code == 0, deployed.both
    assert [line for line in lines(project) if ">" in line] == [
        f"web web_1 web_1 > store/engine store_engine_{number} store_engine_1,store_engine_2" for number in (1, 2)
    ]
