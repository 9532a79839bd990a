"""Values of inputs: what users give, by the declared types."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.instances.static_values import check_static_values
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.opening import open_package
from ordito.source.package import load_file

TEMPLATE = """
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Name: { derived_from: string, constraints: [ { pattern: "[a-z].*" } ] }
  my.Point: { properties: { x: { type: integer }, y: { type: integer, default: 0 } } }
node_types:
  my.App:
    properties:
      number: { type: integer, required: false, constraints: [ { less_than: 10 } ] }
      size: { type: float, required: false, constraints: [ { valid_values: [ 1, 2 ] } ] }
topology_template:
  inputs:
    text: { type: string, default: x }
    name: { type: my.Name, default: abc }
    number: { type: integer, default: 1, constraints: [ { in_range: [ 1, 20 ] } ] }
    flag: { type: boolean, required: false }
    memory: { type: scalar-unit.size, required: false }
    list: { type: list, entry_schema: integer, required: false }
    point: { type: my.Point, required: false }
    version: { type: version, required: false }
    fixed: { type: string, value: always }
    needed: { type: string }
    old: { type: string, required: false, status: deprecated }
    event: { type: json, required: false, external-schema: '{ "type": "array" }' }
  node_templates:
    app: { type: my.App, properties: { number: { get_input: number }, size: { get_input: number } } }
"""


@pytest.fixture
def service(tmp_path: Path) -> Service:
    """The service of the template above."""
    path = tmp_path / "service.yaml"
    path.write_text(TEMPLATE, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    found = resolve_service(package, diagnostics)
    assert found is not None, [str(d) for d in diagnostics]
    return found


def bind(service: Service, given: Mapping[str, object]) -> tuple[dict[str, object], list[tuple[str, str, str]]]:
    """The bound values, and what was found as (code, place, message and hint)."""
    diagnostics = Diagnostics()
    bound = bind_inputs(service, given, diagnostics)
    if not diagnostics.has_errors:
        check_static_values(service, bound, diagnostics)
    return dict(bound), [(d.code, str(d.span), f"{d.message}; {d.hint}") for d in diagnostics]


def test_defaults(service: Service) -> None:
    """R-3.6.14-3, R-3.9-2: defaults stand in; inputs that are not required and have no value are left out."""
    bound, found = bind(service, {"needed": "y"})
    assert found == []
    assert bound == {"needed": "y", "text": "x", "name": "abc", "number": 1, "fixed": "always"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("text", "no: [ 1", "no: [ 1"),
        ("text", "", ""),
        ("text", "~", "~"),
        ("name", "a: b", "a: b"),
        ("name", "  x", None),
        ("number", "2", 2),
        ("flag", "true", True),
        ("memory", "10GB", "10 GB"),
        ("list", "[ 1, 2 ]", [1, 2]),
        ("point", "{ x: 1 }", {"x": 1, "y": 0}),
        ("point", "x: 1\ny: 2", {"x": 1, "y": 2}),
        ("version", "1.10", "1.10"),
    ],
)
def test_texts(service: Service, name: str, text: str, expected: object) -> None:
    """R-3.6.14-5: texts of the command line are converted by the declared type; those for strings are not YAML."""
    bound, found = bind(service, {"needed": "y", name: text})
    assert bound[name] == expected
    assert (found == []) == (expected is not None)


@pytest.mark.parametrize(
    ("given", "code", "place", "message"),
    [
        ({"number": "x"}, "bad-value", "-i number:1:1", "whole number"),
        ({"number": "21"}, "constraint", "-i number:1:1", "1 to 20"),
        ({"number": '"2"'}, "bad-value", "-i number:1:1", "without quotes"),
        ({"number": "[ 2"}, "yaml-syntax", "-i number:1:4", "write ] here"),
        ({"flag": "yes"}, "bad-value", "-i flag:1:1", "true or false"),
        ({"list": "[ 1, x ]"}, "bad-value", "-i list:1:6", 'entry 2 of input "list"'),
        ({"point": "{ x: 1, z: 2 }"}, "unknown-field", "-i point:1:9", "z"),
        ({"point": {"x": "a"}}, "bad-value", "-i point:1:6", "whole number"),
        ({"version": "1"}, "bad-value", "-i version:1:1", "not a version"),
        ({"name": "Abc"}, "constraint", "-i name:1:1", "pattern"),
        ({"typo": "1"}, "unknown-input", "-i typo:1:1", "has no input"),
        ({"txet": "1"}, "unknown-input", "-i txet:1:1", 'did you mean "text"?'),
        ({"fixed": "1"}, "fixed-value", "-i fixed:1:1", "fixed"),
        ({"fixed": ""}, "fixed-value", "-i fixed:1:1", "fixed"),
        ({"list": "{ get_input: number }"}, "bad-value", "-i list:1:1", "not by a function"),
        ({"text": "\udcff"}, "encoding", "-i text:1:1", "not valid text"),
        ({"number": "\udcff"}, "encoding", "-i number:1:1", "not valid UTF-8"),
    ],
)
def test_refused(service: Service, given: dict[str, object], code: str, place: str, message: str) -> None:
    """R-2.1-4, R-3.6.14-5 to R-3.6.14-7: what does not fit, is not known, or is fixed; nothing follows from it."""
    _, found = bind(service, {"needed": "y", **given})
    assert [(c, p) for c, p, _ in found] == [(code, place)]
    assert message in found[0][2]


def test_missing(service: Service) -> None:
    """R-3.6.14-3: a required input without a value is named, with the way to give it."""
    _, found = bind(service, {})
    assert [(c, p.rpartition("/")[2]) for c, p, _ in found] == [("missing-input", "service.yaml:22:5")]
    assert "-i needed=VALUE" in found[0][2]
    assert [c for c, _, _ in bind(service, {"needed": None})[1]] == ["missing-input"]


def test_values_reach_properties(service: Service) -> None:
    """R-3.6.11-2: a value that fits the input must fit the property that takes it, too."""
    _, found = bind(service, {"needed": "y", "number": "12"})
    assert [(c, p.rpartition("/")[2]) for c, p, _ in found] == [
        ("constraint", "service.yaml:26:48"),
        ("constraint", "service.yaml:26:77"),
    ]
    assert bind(service, {"needed": "y", "number": "2"})[1] == []


def test_the_value_that_breaks_a_constraint_is_named(service: Service) -> None:
    """It stands neither in the template nor in the message of the rule: so it is told, with the way to another."""
    told = bind(service, {"needed": "y", "number": "12"})[1][0][2]
    assert "less than 10, and is 12" in told
    assert "-i number=VALUE" in told


def test_values_of_a_file(service: Service, tmp_path: Path) -> None:
    """Values of a file are shown at their place in it."""
    path = tmp_path / "inputs.yaml"
    path.write_text("needed: 1.10\nlist:\n  - 1\n  - b\n", encoding="utf-8")
    document = load_file(str(path), Diagnostics())
    assert document is not None
    assert isinstance(document.root, MappingNode)
    bound, found = bind(service, document.root.values)
    assert bound["needed"] == "1.10"
    assert [(c, p) for c, p, _ in found] == [("bad-value", f"{path}:4:5")]


def test_status(service: Service) -> None:
    """R-3.6.10-4, R-3.6.14-1: an input that is deprecated is warned of when it is given."""
    bound, found = bind(service, {"needed": "y", "old": "x"})
    assert bound["old"] == "x"
    assert [(c, p) for c, p, _ in found] == [("status", "-i old:1:1")]
    assert bind(service, {"needed": "y"})[1] == []
