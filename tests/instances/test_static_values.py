"""What documents and inputs decide, evaluated as soon as the inputs are bound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.instances.static_values import check_static_values
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package

TEMPLATE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Net: { properties: { name: { type: string }, port: { type: integer } } }
node_types:
  my.Base:
    derived_from: tosca.nodes.Root
    properties: { text: { type: string, default: base, constraints: [ { max_length: 5 } ] } }
  my.Node:
    derived_from: my.Base
    properties:
      count: { type: integer, required: false, constraints: [ { valid_values: [ 1, 2, 4 ] } ] }
      names: { type: list, entry_schema: { type: string, constraints: [ { max_length: 3 } ] }, required: false }
      version: { type: version, required: false }
      must: { type: string, default: x }
topology_template:
  inputs:
    count: { type: integer, default: 2 }
    name: { type: string, default: abc }
    names: { type: list, entry_schema: string, default: [ a, b ] }
    net: { type: my.Net, default: { name: n, port: 4 } }
    sizes: { type: map, entry_schema: integer, default: { small: 1 } }
    unset: { type: string, required: false }
    needed: { type: string }
  node_templates:
    other: { type: my.Node }
    node:
      type: my.Node
      properties:
        PROPERTY
"""


def found(folder: Path, written: str, given: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """The code, the text at the place, and the message of each finding for a property and given inputs."""
    path = folder / "service.yaml"
    path.write_text(TEMPLATE.replace("PROPERTY", written), encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    assert service is not None, [str(d) for d in diagnostics]
    bound = bind_inputs(service, given, Diagnostics())
    check_static_values(service, bound, diagnostics)
    lines = path.read_text(encoding="utf-8").split("\n")
    spans = [d.span for d in diagnostics.sorted() if d.span is not None]
    places = [lines[s.line - 1][s.column - 1 : s.end_column - 1] for s in spans]
    return [(d.code, p, d.message) for d, p in zip(diagnostics.sorted(), places, strict=True)]


@pytest.mark.parametrize(
    ("written", "given"),
    [
        ("count: { get_input: count }", {"count": "4"}),
        ("count: { get_input: [ net, port ] }", {}),
        ("count: { get_input: [ sizes, small ] }", {}),
        ("names: [ { get_input: name }, { get_input: [ names, 1 ] } ]", {}),
        ("names: { get_input: names }", {"names": ["abc"]}),
        ("version: { get_input: name }", {"name": "1.2"}),
        ("text: { get_property: [ other, text ] }", {}),
        ("text: { concat: [ { get_input: name }, x ] }", {}),
        ("names: [ { get_input: unset } ]", {}),
        ("text: { get_input: needed }", {}),
        ("text: { concat: [ { get_input: needed }, xxxxxx ] }", {}),
        ("text: { get_attribute: [ SELF, tosca_id ] }", {}),
    ],
)
def test_what_fits(tmp_path: Path, written: str, given: Mapping[str, object]) -> None:
    """R-4.4.1-5, R-4.4.2-9: defaults count, inherited ones too; what is not required may stay unset, and what nobody
    has given yet is not judged."""
    assert found(tmp_path, written, given) == []


@pytest.mark.parametrize(
    ("written", "given", "code", "place", "message"),
    [
        ("count: { get_input: count }", {"count": "3"}, "constraint", "{ get_input: count }", "must be one of 1, 2, 4"),
        ("count: { get_input: [ net, port ] }", {"net": {"name": "n", "port": 5}}, "constraint", "{ get_", "one of"),
        ("count: { get_input: [ sizes, small ] }", {"sizes": {"big": 1}}, "bad-value", "{ get_", 'no entry "small"'),
        (
            "names: [ a, { get_input: [ names, 2 ] } ]",
            {},
            "bad-value",
            "{ get_input: [ names, 2 ] }",
            'input "names" has 2 entries, and index 2',
        ),
        ("names: [ a, { get_input: name } ]", {"name": "long"}, "constraint", "{ get_input: name }", "entry 2"),
        ("names: { get_input: names }", {"names": ["a", "long"]}, "constraint", "{ get_input: names }", "entry 2"),
        ("version: { get_input: name }", {}, "bad-value", "{ get_input: name }", '"abc"'),
        ("text: { concat: [ { get_input: name }, xyz ] }", {}, "constraint", "{ concat", "5"),
        ("must: { get_input: unset }", {}, "missing-value", "{ get_input: unset }", 'input "unset" has no value'),
        ("text: { token: [ 'a b', ' ', 2 ] }", {}, "bad-value", "{ token", "2 parts"),
        ("text: { token: [ { get_input: name }, { get_input: name }, 0 ] }", {"name": ""}, "bad-value", "{", "separat"),
    ],
)
def test_what_does_not_fit(
    tmp_path: Path, written: str, given: Mapping[str, object], code: str, place: str, message: str
) -> None:
    """R-3.6.11-2, R-4.4.1-3, R-4.4.1-4, R-4.3.3-4: one finding, at the call."""
    (only,) = found(tmp_path, written, given)
    assert only[0] == code
    assert only[1].startswith(place)
    assert message in only[2]


LINKED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Node: { derived_from: tosca.nodes.Root, properties: { text: { type: string } } }
topology_template:
  node_templates:
"""


NODE = "    n{}: {{ type: my.Node, properties: {{ text: {} }} }}"


def linked(folder: Path, lines: list[str]) -> list[str]:
    """What is found in a template whose nodes are these, notes aside."""
    path = folder / "service.yaml"
    path.write_text(LINKED + "\n".join(lines), encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    if service is not None:
        check_static_values(service, {}, diagnostics)
    return [str(d) for d in diagnostics if d.severity is not Severity.NOTE]


def test_long_chains(tmp_path: Path) -> None:
    """R-4.3-2: each value is evaluated once, however many others lead to it."""
    texts = ("end", *(f"{{ get_property: [ n{n - 1}, text ] }}" for n in range(1, 10_000)))
    assert linked(tmp_path, [NODE.format(n, text) for n, text in enumerate(texts)]) == []


def test_a_long_circle(tmp_path: Path) -> None:
    """R-4.4.2-8: a circle of very many values is found and named in short, once."""
    texts = (f"{{ get_property: [ n{(n - 1) % 10_000}, text ] }}" for n in range(10_000))
    nodes = [NODE.format(n, text) for n, text in enumerate(texts)]
    (only,) = linked(tmp_path, nodes)
    assert "n0.text -> n9999.text -> n9998.text" in only
    assert "(9981 more) -> n1.text -> n0.text" in only


def test_values_that_double(tmp_path: Path) -> None:
    """R-4.3-2: a text that doubles again and again is refused before memory is gone; what stays small is fine."""
    twice = "{{ concat: [ {{ get_property: [ n{0}, text ] }}, '-', {{ get_property: [ n{0}, text ] }} ] }}"
    texts = ["end", *(twice.format(n) for n in range(60))]
    found = linked(tmp_path, [NODE.format(n, text) for n, text in enumerate(texts)])
    assert any("becomes longer than 16,000,000 characters" in f for f in found)
    texts = ["end", *(f"{{ token: [ {twice.format(n)}, '-', 1 ] }}" for n in range(200))]
    assert linked(tmp_path, [NODE.format(n, text) for n, text in enumerate(texts)]) == []


COUNTED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Site:
    derived_from: tosca.nodes.Root
    properties: { place: { type: string, constraints: [ { max_length: 5 } ] } }
  my.Software: { derived_from: tosca.nodes.SoftwareComponent, properties: { place: { type: string } } }
topology_template:
  inputs:
    places: { type: list, entry_schema: string, default: [ here, there ] }
    number: { type: integer, default: 2 }
    later: { type: integer }
  node_templates:
"""

PLACE = "properties: { place: { get_input: [ places, INDEX ] } }"


@pytest.mark.parametrize(
    ("node", "given", "said"),
    [
        (f"occurrences: [ 1, 9 ], instance_count: 2, {PLACE}", {}, ""),
        (f"occurrences: [ 1, 9 ], instance_count: 3, {PLACE}", {}, 'input "places" has 2 entries, and index 2 was'),
        (f"occurrences: [ 1, 9 ], instance_count: 3, {PLACE}", {"places": ["a", "b", "c"]}, ""),
        (
            f"occurrences: [ 1, 9 ], instance_count: 2, {PLACE}",
            {"places": ["a"]},
            "has 1 entry, and index 1 was requested",
        ),
        (
            f"occurrences: [ 1, 9 ], instance_count: 2, {PLACE}",
            {"places": ["a", "longer"]},
            "at most 5 characters, not 6",
        ),
        (f"occurrences: [ 1, 9 ], instance_count: {{ get_input: number }}, {PLACE}", {"number": 5}, "index 2"),
        (f"occurrences: [ 1, 9 ], instance_count: {{ get_input: later }}, {PLACE}", {}, ""),
        (f"occurrences: [ 3, 9 ], {PLACE}", {}, "index 2 was requested by INDEX"),
        (f"occurrences: [ 0, UNBOUNDED ], instance_count: 1000000, {PLACE}", {}, "index 2"),
    ],
)
def test_index(tmp_path: Path, node: str, given: Mapping[str, object], said: str) -> None:
    """R-2.20-2: a list by whose entries instances differ is long enough for all that there will be."""
    found_there = counted(tmp_path, f"    site: {{ type: my.Site, {node} }}\n", given)
    assert (len(found_there) == 1 and said in found_there[0]) if said else not found_there, found_there


def test_index_in_inputs_of_operations(tmp_path: Path) -> None:
    """R-2.20-2: what operations are given is looked at as well, once for all that share it."""
    own = "properties: { place: x }, interfaces: { Standard: { inputs: { PLACE: { get_input: [ places, INDEX ] } } } }"
    node = f"    site: {{ type: my.Site, occurrences: [ 1, 3 ], instance_count: 3, {own} }}\n"
    (only,) = counted(tmp_path, node, {})
    assert "index 2 was requested by INDEX" in only


def test_index_of_what_is_hosted(tmp_path: Path) -> None:
    """R-2.20-2: what is hosted has as many instances as its host."""
    nodes = "    server: { type: Compute, occurrences: [ 1, 3 ], instance_count: 3 }\n"
    nodes += f"    site: {{ type: my.Software, requirements: [ host: server ], {PLACE} }}\n"
    (only,) = counted(tmp_path, nodes, {})
    assert "index 2 was requested by INDEX" in only


def counted(folder: Path, nodes: str, given: Mapping[str, object]) -> list[str]:
    """What is found in a template of such nodes, notes and warnings aside."""
    path = folder / "service.yaml"
    path.write_text(COUNTED + nodes, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    assert service is not None, [str(d) for d in diagnostics]
    check_static_values(service, bind_inputs(service, given, Diagnostics()), diagnostics)
    return [str(d) for d in diagnostics if d.severity is Severity.ERROR]
