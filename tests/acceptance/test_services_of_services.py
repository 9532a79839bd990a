"""Blueprints that use other services: below their own ensemble as components, and beside it by their capabilities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

HEAD = "tosca_definitions_version: cloudify_dsl_1_4\nimports: [ cloudify/types/types.yaml ]\n"
BASE = (
    HEAD
    + """\
inputs: { size: { default: small } }
node_templates:
  thing:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle: { create: { implementation: make.sh, inputs: { size: { get_input: size } } } }
capabilities:
  address: { value: { get_attribute: [ thing, address ] } }
  deep: { value: { ports: [ 80, 81 ] } }
"""
)
MAKE = 'ctx instance runtime-properties address "at $size"\n'


def blueprint(folder: Path, text: str, **files: str) -> Path:
    """A blueprint in a folder of its own."""
    folder.mkdir(parents=True)
    (folder / "blueprint.yaml").write_text(text, encoding="utf-8")
    for name, content in {"make.sh": MAKE, **files}.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def outputs(home: Path, ensemble: Path) -> dict[str, object]:
    """The present outputs of an ensemble."""
    found: dict[str, object] = json.loads(ordito(home, "output", "-e", ensemble, "-o", "json").out)
    return found


PARENT = (
    HEAD
    + """\
node_templates:
  base:
    type: cloudify.nodes.Component
    properties:
      resource_config:
        blueprint: { id: base, blueprint_archive: base }
        deployment: { id: inner, inputs: { size: large } }
  user:
    type: cloudify.nodes.Root
    relationships: [ { type: cloudify.relationships.depends_on, target: base } ]
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: keep.sh
          inputs:
            one: { get_capability: [ inner, address ] }
            two: { get_capability: [ { get_attribute: [ base, deployment, id ] }, deep, ports, 1 ] }
            three: { get_attribute: [ base, deployment, id ] }
outputs:
  seen: { value: { get_attribute: [ user, seen ] } }
"""
)
KEEP = 'ctx instance runtime-properties seen "$one,$two,$three"\n'


def test_a_component(tmp_path: Path) -> None:
    """R-CFY-18-1, R-CFY-18-2, R-CFY-18-3, R-CFY-11-17: a node that stands for another service deploys it below the
    ensemble, reads what it gives, and removes it."""
    parent = blueprint(tmp_path / "parent", PARENT, **{"keep.sh": KEEP})
    blueprint(parent / "base", BASE)
    ensemble = tmp_path / "ensemble"
    done = ordito(tmp_path, "deploy", parent, "-e", ensemble, "--yes", "-v")
    assert done.code == 0, done.both
    assert outputs(tmp_path, ensemble) == {"seen": "at large,81,inner"}
    inner = ensemble / "components/base_1"
    assert outputs(tmp_path, inner)["address"] == "at large"
    done = ordito(tmp_path, "undeploy", "-e", ensemble, "--yes")
    assert done.code == 0, done.both
    assert not inner.exists()


def test_a_component_of_the_catalogue(tmp_path: Path) -> None:
    """R-CFY-18-2: the blueprint of a component is found by its name, too; another manager is refused."""
    text = PARENT.replace("{ id: base, blueprint_archive: base }", "{ id: base, external_resource: true }")
    parent = blueprint(tmp_path / "parent", text, **{"keep.sh": KEEP})
    blueprint(parent / "catalog/blueprints/base", BASE)
    assert ordito(tmp_path, "deploy", parent, "-e", tmp_path / "ensemble", "--yes").code == 0
    client = text.replace(
        "    properties:\n      resource", "    properties:\n      client: { host: far }\n      resource"
    )
    (parent / "blueprint.yaml").write_text(client, encoding="utf-8")
    done = ordito(tmp_path, "validate", parent)
    assert done.code == 3
    assert "stands for a service of another manager" in done.both


CHILD = (
    HEAD
    + """\
node_templates: { own: { type: cloudify.nodes.Root } }
outputs:
  seen:
    value:
      concat: [ { get_environment_capability: address }, " ", { get_environment_capability: [ deep, ports, 0 ] } ]
"""
)


def test_the_environment_of_a_service(tmp_path: Path) -> None:
    """R-CFY-11-18: the service that a blueprint is part of is named by a label, or by an input."""
    base, child = blueprint(tmp_path / "base", BASE), blueprint(tmp_path / "child", CHILD)
    assert ordito(tmp_path, "deploy", base, "-e", tmp_path / "prod", "--yes").code == 0
    done = ordito(tmp_path, "plan", child, "-e", tmp_path / "own")
    assert done.code == 3
    assert "give it: -i csys-obj-parent=NAME" in done.both
    done = ordito(tmp_path, "deploy", child, "-e", tmp_path / "own", "--yes", "-i", "csys-obj-parent=prod")
    assert done.code == 0, done.both
    assert outputs(tmp_path, tmp_path / "own") == {"seen": "at small 80"}
    labelled = CHILD + "labels: { csys-obj-parent: { values: [ prod ] } }\n"
    (child / "blueprint.yaml").write_text(labelled, encoding="utf-8")
    assert ordito(tmp_path, "deploy", child, "-e", tmp_path / "other", "--yes").code == 0
    assert outputs(tmp_path, tmp_path / "other") == {"seen": "at small 80"}


def test_a_service_component(tmp_path: Path) -> None:
    """R-CFY-18-4: the service that a node stands for is part of that of the node."""
    text = (
        HEAD
        + """\
node_templates:
  thing:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle: { create: { implementation: make.sh, inputs: { size: mine } } }
  part:
    type: cloudify.nodes.ServiceComponent
    properties: { resource_config: { blueprint: { blueprint_archive: child }, deployment: { id: part } } }
    relationships: [ { type: cloudify.relationships.depends_on, target: thing } ]
capabilities:
  address: { value: { get_attribute: [ thing, address ] } }
  deep: { value: { ports: [ 1 ] } }
outputs:
  seen: { value: { get_capability: [ part, seen ] } }
"""
    )
    parent = blueprint(tmp_path / "parent", text)
    blueprint(parent / "child", CHILD)
    done = ordito(tmp_path, "deploy", parent, "-e", tmp_path / "ensemble", "--yes", "-v")
    assert done.code == 0, done.both
    assert outputs(tmp_path, tmp_path / "ensemble")["seen"] == "at mine 1"
    assert ordito(tmp_path, "undeploy", "-e", tmp_path / "ensemble", "--yes").code == 0


@pytest.mark.parametrize("given", ["literal", "input"])
def test_the_capability_of_another_service(given: str, tmp_path: Path) -> None:
    """R-CFY-11-17, R-CFY-18-5: another service is the one in the ensemble of its name beside this one's."""
    base = blueprint(tmp_path / "base", BASE)
    name = "prod" if given == "literal" else "{ get_input: of }"
    text = (
        HEAD
        + f"""\
inputs: {{ of: {{ default: prod }} }}
node_templates:
  shared:
    type: cloudify.nodes.SharedResource
    properties: {{ resource_config: {{ deployment: {{ id: prod }} }} }}
outputs:
  there: {{ value: {{ get_capability: [ {name}, deep, ports, 0 ] }} }}
  shared: {{ value: {{ get_attribute: [ shared, capabilities, address ] }} }}
"""
    )
    user = blueprint(tmp_path / "user", text)
    if given == "input":
        done = ordito(tmp_path, "plan", user, "-e", tmp_path / "own")
        assert done.code == 3
        assert 'the capability "deep" has no value: service "prod"' in done.both
        assert "-i 'capability:of:deep=VALUE'" in done.both
    assert ordito(tmp_path, "deploy", base, "-e", tmp_path / "prod", "--yes").code == 0
    done = ordito(tmp_path, "deploy", user, "-e", tmp_path / "own", "--yes", "-v")
    assert done.code == 0, done.both
    found = outputs(tmp_path, tmp_path / "own")
    assert found["shared"] == "at small"
    assert found["there"] == 80
