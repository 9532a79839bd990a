"""Choosing nodes when a service is about to be planned: then everything has to be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.model.circumstances import Circumstances
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.package import open_package

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
    """R-3.6.5-4, ruling 3: a service is valid though it is not known yet which node is chosen."""
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
