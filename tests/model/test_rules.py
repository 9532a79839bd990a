"""Rules of the normative types where the values of inputs decide, and circles of requirements however many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.model.rules.weaving import requirement_cycles
from ordito.model.service import Service
from ordito.source.opening import open_package
from tests.support.services import node, service

TEMPLATE = """tosca_definitions_version: tosca_simple_yaml_1_3
relationship_types:
  my.Mount: { derived_from: AttachesTo, properties: { location: { default: { get_input: place } } } }
topology_template:
  inputs:
    most: { type: integer, default: 9 }
    order: { type: integer, default: 1 }
    size: { type: scalar-unit.size, default: 1 GB }
    volume: { type: string, required: false }
    place: { type: string, default: /data }
    range: { type: list, entry_schema: string, default: [ 10.0.0.1, 10.0.0.9 ] }
    id: { type: string, required: false }
    begins: { type: string, default: source }
  node_templates:
    machine:
      type: Compute
      capabilities:
        scalable: { properties: { max_instances: { get_input: most }, default_instances: 3 } }
      requirements:
        - local_storage: { node: disk, relationship: my.Mount }
    disk: { type: BlockStorage, properties: { size: { get_input: size }, volume_id: { get_input: volume } } }
    net:
      type: Network
      properties:
        cidr: 10.0.0.0/24
        start_ip: { get_input: [ range, 0 ] }
        end_ip: { get_input: [ range, 1 ] }
        network_name: { get_input: id }
    first: { type: Port, properties: { order: 0 }, requirements: [ link: net, binding: machine ] }
    second: { type: Port, properties: { order: { get_input: order } }, requirements: [ link: net, binding: machine ] }
"""


def resolved(folder: Path, text: str) -> Service:
    """The service of a template that is right, whatever it warns of."""
    path = folder / "service.yaml"
    path.write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    found = resolve_service(package, diagnostics)
    assert found is not None, diagnostics.sorted()
    return found


@pytest.mark.parametrize(
    ("given", "message", "line"),
    [
        ({"most": "2"}, "default_instances is 3, which is above max_instances (2)", 18),
        ({"order": "2"}, "order 2 comes where 1 is missing", 30),
        ({"order": "0"}, "order 0 is given twice", 30),
        ({"size": "0 MB"}, "must be greater or equal", 21),
        ({"place": "/"}, "root directory", 3),
        ({"range": "[ 10.0.0.9, 10.0.0.1 ]"}, "end_ip 10.0.0.1 comes before start_ip 10.0.0.9", 27),
        ({"range": "[ 10.0.1.9, 10.0.0.1 ]"}, "start_ip 10.0.1.9 is not in the network", 26),
    ],
)
def test_inputs_may_break_rules(tmp_path: Path, given: dict[str, str], message: str, line: int) -> None:
    """R-5.5.13-3, R-5.5.13-1, R-8.5.2-1, R-5.9.11-1, R-5.7.5-1, R-8.5.1-7: a rule that needs an input's value is
    checked when there is one, and points to the call or to what has it."""
    service = resolved(tmp_path, TEMPLATE)
    diagnostics = Diagnostics()
    bind_inputs(service, given, diagnostics)
    (found,) = diagnostics
    assert message in found.message
    assert found.span is not None
    assert found.span.line == line


def test_inputs_that_keep_all_rules(tmp_path: Path) -> None:
    """R-5.5.13-3, R-5.9.11-1: with a volume that exists the size does not count; bounds may be inputs."""
    service = resolved(tmp_path, TEMPLATE)
    diagnostics = Diagnostics()
    bind_inputs(service, {"volume": "v-1", "size": "0 MB", "most": "3"}, diagnostics)
    assert not list(diagnostics)


@pytest.mark.parametrize(("size", "codes"), [("much", []), ("10gb", []), ("1 kB", ["constraint"]), ("", [])])
def test_a_size_from_a_text(tmp_path: Path, size: str, codes: list[str]) -> None:
    """R-5.9.11-1: a text may be a size, in any spelling; one that is none is not this rule's business."""
    text = TEMPLATE.replace("size: { type: scalar-unit.size, default: 1 GB }", "size: { type: string, default: 1 GB }")
    diagnostics = Diagnostics()
    bind_inputs(resolved(tmp_path, text), {"size": size}, diagnostics)
    assert [d.code for d in diagnostics] == codes


def test_warnings_are_not_given_again(tmp_path: Path) -> None:
    """R-7.2-2: what was said about the service itself is not said again about its inputs."""
    text = TEMPLATE + "    self: { type: tosca.nodes.Root, requirements: [ dependency: self ] }\n"
    service = resolved(tmp_path, text)
    diagnostics = Diagnostics()
    bind_inputs(service, {}, diagnostics)
    assert not list(diagnostics)


def names(found: Service) -> list[str]:
    """The circles of a service, by the names on them."""
    return ["".join(r.source for r in cycle) for cycle in requirement_cycles(found.nodes, found.incoming)]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"a": "b", "b": "c", "c": ""}, []),
        ({"a": "a"}, ["a"]),
        ({"a": "b", "b": "c", "c": "ab"}, ["abc"]),
        ({"c": "b", "b": "a", "a": "c", "d": "a", "e": "de"}, ["acb", "e"]),
        ({"a": "bc", "b": "d", "d": "b", "c": "e", "e": "c", "f": "a"}, ["bd", "ce"]),
        ({"a": "b", "b": "cd", "c": "c", "d": "a"}, ["c", "abd"]),
        ({"a": "aa"}, ["a"]),
    ],
)
def test_circles(edges: dict[str, str], expected: list[str]) -> None:
    """R-7.2-2: each node is in one of the circles at most, and each circle begins with the first name."""
    assert names(service(*(node(name, *targets) for name, targets in edges.items()))) == expected


def test_many_circles_cost_little() -> None:
    """R-7.2-2: a long chain that leads to very many circles is walked along once."""

    class Counted(dict):  # type: ignore[type-arg]
        reads: ClassVar[Counter[str]] = Counter()

        def __getitem__(self, key: str) -> object:
            self.reads[key] += 1
            return super().__getitem__(key)

    size = 300
    chain = [node(f"a{n:04}", f"a{n + 1:04}", f"c{n:04}") for n in range(size)]
    circles = [node(f"c{n:04}", f"d{n:04}") for n in range(size)]
    back = [node(f"d{n:04}", f"c{n:04}") for n in range(size)]
    found = service(*chain, node(f"a{size:04}"), *circles, *back)
    counted = Counted(found.nodes)
    assert len(list(requirement_cycles(counted, found.incoming))) == size
    assert max(Counted.reads.values()) < 5


def test_json_that_is_nested_without_end(tmp_path: Path) -> None:
    """R-5.3.2-1: a text of JSON may be as deep as it likes, and ends in a finding."""
    deep = "[" * 100_000
    head = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n"
    text = f"{head}  inputs: {{ a: {{ type: json, default: '{deep}' }} }}\n"
    path = tmp_path / "service.yaml"
    path.write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    assert resolve_service(package, diagnostics) is None
    (found,) = diagnostics
    assert (found.code, "nested too deeply" in found.message) == ("bad-value", True)
