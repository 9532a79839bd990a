"""Choosing nodes when a service is about to be planned: then everything has to be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ordito.app.services.compiled import compiled
from ordito.base.diagnostics import Diagnostics
from ordito.instances.context import Context
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.choices import Choices
from ordito.model.circumstances import Circumstances
from ordito.model.filters import Filters, Finding
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.opening import open_package

FILTERED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { cpus: { type: integer } }
  node_templates:
    machine: { type: Compute, capabilities: { host: { properties: { num_cpus: { get_input: cpus } } } } }
    app:
      type: SoftwareComponent
      requirements:
        - host:
            node: Compute
            node_filter:
              capabilities:
                - host: { properties: [ num_cpus: { greater_or_equal: 2 } ] }
"""


def read(
    folder: Path, text: str, inputs: Mapping[str, object], *, final: bool = True
) -> tuple[Service | None, Diagnostics]:
    """The service of a text with values of inputs."""
    file = folder / "service.yaml"
    file.write_text(text)
    diagnostics = Diagnostics()
    package = open_package(str(file), diagnostics)
    assert package is not None
    return resolve_service(package, diagnostics, Circumstances(inputs=inputs, final=final)), diagnostics


def test_values_of_inputs_count(tmp_path: Path) -> None:
    """R-3.6.5-4, R-2.9-1: a candidate is judged by its values after functions are evaluated."""
    service, found = read(tmp_path, FILTERED, {"cpus": "2"})
    assert service is not None, [str(d) for d in found]
    assert [r.target for r in service.nodes["app"].requirements] == ["machine"]

    service, found = read(tmp_path, FILTERED, {"cpus": "1"})
    assert service is None
    (only,) = found
    assert only.code == "no-candidate"
    assert "machine: num_cpus of host is 1 and must be greater or equal 2" in only.hint


def test_unknown_values_are_open_until_they_are_needed(tmp_path: Path) -> None:
    """R-3.6.5-4: a service is valid though it is not known yet which node is chosen."""
    service, found = read(tmp_path, FILTERED, {}, final=False)
    assert service is not None
    assert [d.code for d in found] == ["chosen-later"]
    assert 'input "cpus" has no value yet' in next(iter(found)).hint
    assert service.nodes["app"].requirements == ()


def test_a_property_without_a_value_satisfies_nothing(tmp_path: Path) -> None:
    """R-3.6.5-5: an unset property fails every clause."""
    text = FILTERED.replace("num_cpus: { greater_or_equal: 2 }", "disk_size: { greater_or_equal: 0 GB }")
    service, found = read(tmp_path, text, {"cpus": "2"})
    assert service is None
    assert "disk_size of host has no value" in next(iter(found)).hint


INVENTORY = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    small:
      type: Compute
      attributes: { private_address: 10.0.0.1 }
      capabilities: { host: { properties: { num_cpus: 1, mem_size: 1 GB } }, os: { properties: { type: LINUX } } }
    large:
      type: Compute
      attributes: { private_address: 10.0.0.2 }
      capabilities: { host: { properties: { num_cpus: 8, mem_size: 4096 MB } }, os: { properties: { type: linux } } }
"""
SELECTING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    machine:
      type: Compute
      directives: [ select ]
      node_filter:
        capabilities:
          - host: { properties: [ mem_size: { greater_or_equal: 2 GB } ] }
          - os: { properties: [ type: Linux ] }
    one: { type: SoftwareComponent, requirements: [ host: machine ] }
    two: { type: SoftwareComponent, requirements: [ host: machine ] }
  outputs:
    cpus: { value: { get_property: [ one, host, num_cpus ] } }
    memory: { value: { get_property: [ machine, host, mem_size ] } }
"""


def select(
    folder: Path, text: str, inventory: str = "", *, final: bool = True, choices: Choices | None = None
) -> tuple[Service | None, Diagnostics]:
    """The service of a text, its nodes selected from an inventory."""
    existing = None
    if inventory:
        (folder / "inventory").mkdir(exist_ok=True)
        existing, found = read(folder / "inventory", inventory, {}, final=False)
        assert existing is not None, [str(d) for d in found]
    file = folder / "service.yaml"
    file.write_text(text)
    diagnostics = Diagnostics()
    package = open_package(str(file), diagnostics)
    assert package is not None
    circumstances = Circumstances(inventory=existing, final=final, choices=choices or Choices())
    return resolve_service(package, diagnostics, circumstances), diagnostics


def codes(diagnostics: Diagnostics) -> list[str]:
    """What was found."""
    return [d.code for d in diagnostics]


def test_a_template_is_filled_from_the_inventory(tmp_path: Path) -> None:
    """R-2.9-2, R-2.9-3, R-3.8.3-3, R-5.5.12-1, R-5.5.12-2: two nodes share one selected machine, its values are read
    through the requirement, and the case of operating systems does not count."""
    service, found = select(tmp_path, SELECTING, INVENTORY)
    assert service is not None, [str(d) for d in found]
    machine = service.nodes["machine"]
    assert machine.existing == "large"
    assert machine.attributes["private_address"] == "10.0.0.2"
    assert [r.source for r in service.incoming["machine"]] == ["one", "two"]
    evaluator = Evaluator(service, Snapshot(), {})
    assert evaluator.evaluate(service.outputs["cpus"].value, Context()) == 8
    assert evaluator.evaluate(service.outputs["memory"].value, Context()) == "4096 MB"

    again, _ = select(tmp_path, SELECTING, choices=service.choices)
    assert again is not None, "what was selected is known without the inventory"
    assert compiled(again) == compiled(service)


def test_without_an_inventory(tmp_path: Path) -> None:
    """R-2.9-2: a service is valid before its nodes are selected, and is not planned before."""
    service, found = select(tmp_path, SELECTING, final=False)
    assert service is not None
    assert codes(found) == ["chosen-later"]
    service, found = select(tmp_path, SELECTING)
    assert service is None
    assert codes(found) == ["no-selection"]
    assert "--inventory FILE" in next(iter(found)).hint


def test_near_misses_are_named(tmp_path: Path) -> None:
    """R-2.9-1, R-2.9-2: what nearly fits is named with what it lacks."""
    service, found = select(tmp_path, SELECTING.replace("2 GB", "8 GB"), INVENTORY, final=False)
    assert service is None
    (only,) = found
    assert only.code == "no-selection"
    assert 'small: mem_size of host is 1 GB and must be greater or equal "8 GB"' in only.hint
    assert "large: mem_size of host is 4096 MB" in only.hint


def test_several_existing_nodes(tmp_path: Path) -> None:
    """R-2.9-2: it is not for the orchestrator to guess which of several nodes is meant."""
    service, found = select(tmp_path, SELECTING.replace("2 GB", "1 GB"), INVENTORY)
    assert service is None
    (only,) = found
    assert only.code == "ambiguous-selection"
    assert "small, large" in only.message


def test_values_of_a_template_are_filters(tmp_path: Path) -> None:
    """R-3.8.3-3: what a template to be selected assigns is what the existing node must have."""
    text = SELECTING.replace("mem_size: { greater_or_equal: 2 GB }", "mem_size: { greater_or_equal: 0 GB }")
    text = text.replace(
        "      node_filter", "      capabilities: { host: { properties: { num_cpus: 8 } } }\n      node_filter"
    )
    service, found = select(tmp_path, text, INVENTORY)
    assert service is not None, [str(d) for d in found]
    assert service.nodes["machine"].existing == "large"


def test_a_requirement_is_fulfilled_from_the_inventory(tmp_path: Path) -> None:
    """R-2.9-1, R-3.8.2-10: topology first, then the inventory; nodes that are selected so are shared."""
    wanted = "node_filter: { capabilities: [ host: { properties: [ num_cpus: 8 ] } ] }"
    app = f"type: SoftwareComponent, requirements: [ host: {{ node: Compute, {wanted} }} ]"
    text = f"""\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    one: {{ {app} }}
    two: {{ {app} }}
"""
    service, found = select(tmp_path, text, INVENTORY)
    assert service is not None, [str(d) for d in found]
    assert [r.target for n in ("one", "two") for r in service.nodes[n].requirements] == ["inventory/large"] * 2
    assert service.nodes["inventory/large"].existing == "large"
    again, _ = select(tmp_path, text, choices=service.choices)
    assert again is not None, "what was selected is known without the inventory"
    assert compiled(again) == compiled(service)

    local = text + "    mine: { type: Compute, capabilities: { host: { properties: { num_cpus: 8 } } } }\n"
    service, found = select(tmp_path, local, INVENTORY)
    assert service is not None, [str(d) for d in found]
    assert {r.target for n in ("one", "two") for r in service.nodes[n].requirements} == {"mine"}


def test_several_existing_nodes_fit_a_requirement(tmp_path: Path) -> None:
    """R-2.9-1, R-3.8.2-10: it is not for the orchestrator to guess which of several nodes is meant."""
    text = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app: { type: SoftwareComponent, requirements: [ host: { node: Compute } ] }
"""
    service, found = select(tmp_path, text, INVENTORY)
    assert service is None
    (only,) = found
    assert only.code == "ambiguous-requirement"
    assert "small, large" in only.message


def test_as_many_existing_nodes_as_are_asked_for(tmp_path: Path) -> None:
    """R-2.9-1, R-3.8.2-8: an assignment that asks for two nodes gets two of the inventory, or is refused."""
    text = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    app: { type: Root, requirements: [ dependency: { node: Compute, occurrences: [ 2, 2 ] } ] }
"""
    service, found = select(tmp_path, text, INVENTORY)
    assert service is not None, [str(d) for d in found]
    assert [r.target for r in service.nodes["app"].requirements] == ["inventory/small", "inventory/large"]
    assert len({r.key for r in service.nodes["app"].requirements}) == 2
    again, _ = select(tmp_path, text, choices=service.choices)
    assert again is not None, "what was selected is known without the inventory"
    assert compiled(again) == compiled(service)

    service, found = select(tmp_path, text.replace("2, 2", "3, 3"), INVENTORY)
    assert service is None
    (only,) = found
    assert only.code == "no-candidate"
    assert "3 nodes are asked for, and only small, large fit" in only.hint


def test_equal_filters_are_matched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.6.5-4: what is asked for many times is looked for once, in the topology and in the inventory."""
    matches = 0
    match = Filters.match

    def counted(*arguments: Any) -> Finding:
        nonlocal matches
        matches += 1
        return match(*arguments)

    monkeypatch.setattr(Filters, "match", counted)
    wanted = "node_filter: { capabilities: [ host: { properties: [ num_cpus: 8 ] } ] }"
    nodes = "".join(
        f"    c{n}: {{ type: Compute }}\n"
        f"    a{n}: {{ type: SoftwareComponent, requirements: [ host: {{ node: Compute, {wanted} }} ] }}\n"
        for n in range(50)
    )
    text = f"tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n{nodes}"
    service, found = select(tmp_path, text, INVENTORY)
    assert service is not None, [str(d) for d in found]
    assert {service.nodes[f"a{n}"].requirements[0].target for n in range(50)} == {"inventory/large"}
    assert matches <= 50 + 2, "each candidate is looked at once"


def test_equal_filters_share_what_is_left(tmp_path: Path) -> None:
    """R-3.8.2-10: how many more a capability serves counts for each requirement again, and other filters are others."""
    text = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    one: { type: Compute, capabilities: { host: { properties: { num_cpus: 8 }, occurrences: [ 1, 1 ] } } }
    app: { type: SoftwareComponent, requirements: [ host: { node: Compute, node_filter: { W } } ] }
    other: { type: Compute, capabilities: { host: { properties: { num_cpus: 4 } } } }
    small: { type: SoftwareComponent, requirements: [ host: { node: Compute, node_filter: { V } } ] }
    more: { type: SoftwareComponent, requirements: [ host: { node: Compute, node_filter: { W } } ] }
"""
    wanted = "capabilities: [ host: { properties: [ num_cpus: 8 ] } ]"
    text = text.replace("W", wanted).replace("V", wanted.replace("8", "4"))
    service, found = select(tmp_path, text)
    assert service is None
    (only,) = found
    assert only.code == "no-candidate"
    assert '"more"' in only.message
    assert "one: host serves no more" in only.hint
