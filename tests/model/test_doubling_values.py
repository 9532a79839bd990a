"""Nodes are chosen by values, which may be put together of others in very many ways."""

from __future__ import annotations

from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Node: { derived_from: tosca.nodes.Root, properties: { text: { type: string } } }
topology_template:
  node_templates:
    n0: { type: my.Node, properties: { text: end } }
"""
TWICE = "{{ concat: [ {{ get_property: [ n{0}, text ] }}, {{ get_property: [ n{0}, text ] }} ] }}"
LAST = "    q: { type: tosca.nodes.Root, requirements: [ dependency: { node: my.Node, node_filter: FILTER } ] }\n"


def test_filters_of_values_that_double(tmp_path: Path) -> None:
    """R-3.6.5-4: what a filter compares is worked out once for each node, and not beyond any measure."""
    nodes = (f"    n{n}: {{ type: my.Node, properties: {{ text: {TWICE.format(n - 1)} }} }}\n" for n in range(1, 60))
    last = LAST.replace("FILTER", "{ properties: [ text: { equal: endend } ] }")
    path = tmp_path / "service.yaml"
    path.write_text(HEAD + "".join(nodes) + last, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    assert service is not None, [str(d) for d in diagnostics]
    assert [d.code for d in diagnostics] == ["chosen-later"]  # what is too long is not known
