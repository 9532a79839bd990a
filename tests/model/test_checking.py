"""Why data is no value of a type: for each type what is one, what is none, and what is said of it."""

from __future__ import annotations

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import Sensitive
from ordito.base.span import SourceText, Span
from ordito.model.checking import Checker, misfit
from ordito.model.faults import place_of
from ordito.model.resolve import resolve_service
from ordito.model.schema import Schema
from ordito.model.service import Service
from ordito.source.opening import open_package
from ordito.syntax.expressions import Call, Value

TEMPLATE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.Small: { derived_from: integer, constraints: [ { in_range: [ 1, 4 ] } ] }
  my.Net:
    properties:
      name: { type: string }
      port: { type: my.Small, required: false }
      "on": { type: boolean, default: true }
      kept: { type: string, required: false, status: deprecated }
  my.Secret: { derived_from: string, metadata: { sensitive: "true" }, constraints: [ { min_length: 5 } ] }
  my.Keyed: { derived_from: map, key_schema: { type: integer }, entry_schema: { type: my.Small } }
  my.Holder:
    properties: { secret: { type: my.Secret }, nets: { type: list, entry_schema: my.Net, required: false } }
topology_template: {}
"""
DATA: tuple[tuple[str, object, str], ...] = (
    ("string", 5, ""),
    ("string", True, ""),
    ("string", None, "it is empty"),
    ("string", "", ""),
    ("string", ["a"], "it: a list is not a string"),
    ("string", {"a": 1}, "it: a map is not a string"),
    ("string", {"get_inputs": ["a"]}, "it: a map is not a string"),
    ("integer", "5", 'it: "5" is not an integer'),
    ("integer", 5, ""),
    ("integer", 2.5, 'it: "2.5" is not an integer'),
    ("integer", True, 'it: "true" is not an integer'),
    ("integer", 10**301, "it: 1000000000000000000000000000000000000000... is too large a number"),
    ("integer", None, 'it: "null" is not an integer'),
    ("integer", [1], "it: a list is not an integer"),
    ("float", 1, ""),
    ("float", float("inf"), ""),
    ("float", float("nan"), ""),
    ("float", "1", 'it: "1" is not a float'),
    ("boolean", "true", 'it: "true" is not a boolean'),
    ("boolean", False, ""),
    ("boolean", 1, 'it: "1" is not a boolean'),
    ("null", None, ""),
    ("null", "null", 'it: "null" is not a null'),
    ("null", [], "it: a list is not a null"),
    ("timestamp", "2026-01-01", ""),
    ("timestamp", "x", 'it: "x" is not a timestamp such as 2026-11-21T10:30:00Z'),
    ("timestamp", 5, 'it: "5" is not a timestamp such as 2026-11-21T10:30:00Z'),
    ("version", "1.0", ""),
    ("version", 1.5, ""),
    ("version", "a.b", 'it: "a.b" is not a version (major.minor[.fix[.qualifier[-build]]])'),
    ("version", {}, "it: a map is not a version"),
    ("range", [1, 2], ""),
    ("range", [2, 1], "it: the upper bound 1 is below the lower bound 2"),
    ("range", [1], "it: a range has two bounds"),
    ("range", ["UNBOUNDED", 2], "it: only the upper bound may be UNBOUNDED"),
    ("range", [1, "UNBOUNDED"], ""),
    ("range", ["1", 2], "it: the bounds of a range are whole numbers"),
    ("range", "1", 'it: "1" is not a range'),
    ("range", {}, "it: a map is not a range"),
    ("scalar-unit.size", "1 GB", ""),
    ("scalar-unit.size", "1 gb", ""),
    ("scalar-unit.size", "1", 'it: "1" is not a number with a unit'),
    ("scalar-unit.size", 1, 'it: "1" is not a number with a unit'),
    ("scalar-unit.time", "5 S", ""),
    ("scalar-unit.time", [], "it: a list is not a scalar-unit.time"),
    ("list", [1, "a"], ""),
    ("list", ["a", None], "entry 2 of it is empty"),
    ("list", "a", 'it: "a" is not a list'),
    ("list", {}, "it: a map is not a list"),
    ("map", {"a": "b"}, ""),
    ("map", {"a": [1]}, '"a" of it: a list is not a string'),
    ("map", [1], "it: a list is not a map"),
    ("map", {"get_input": "a"}, ""),
    ("map", {5: "a"}, ""),
    ("my.Small", 5, "it must lie in 1 to 4"),
    ("my.Small", 4, ""),
    ("my.Small", "4", 'it: "4" is not a my.Small'),
    ("my.Net", {"name": "n"}, ""),
    ("my.Net", {}, 'it lacks the required field "name"'),
    ("my.Net", {"name": "n", "port": 9}, 'field "port" must lie in 1 to 4'),
    ("my.Net", {"name": "n", "prt": 9}, 'it has no field "prt"'),
    ("my.Net", {"nam": "n"}, 'it has no field "nam"'),
    ("my.Net", {"name": None}, 'the required field "name" has no value'),
    ("my.Net", {"name": "n", "kept": "k"}, ""),
    ("my.Net", [], "it: a list is not a my.Net"),
    ("my.Net", "n", 'it: "n" is not a my.Net'),
    ("my.Secret", "abc", "it does not fit what is declared"),
    ("my.Secret", "abcdef", ""),
    ("my.Secret", [], "it does not fit what is declared"),
    ("my.Keyed", {"1": 2}, ""),
    ("my.Keyed", {"a": 2}, 'a key of it: "a" is not an integer'),
    ("my.Keyed", {"1": 9}, '"1" of it must lie in 1 to 4'),
    ("my.Holder", {"secret": "a"}, 'field "secret" does not fit what is declared'),
    ("my.Holder", {"secret": "abcdef", "nets": [{"name": "n", "port": 8}]}, 'field "port" must lie in 1 to 4'),
    ("my.Holder", {"secret": "abcdef", "nets": [{"name": []}]}, 'field "name": a list is not a string'),
    (
        "tosca.datatypes.json",
        "{",
        "it: it is not valid JSON: Expecting property name enclosed in double quotes (line 1, column 2 of it)",
    ),
    ("tosca.datatypes.xml", "<a>", "it: it is not well-formed XML: no element found (line 1, column 4 of it)"),
    ("tosca.datatypes.Credential", {"token": "a b", "token_type": "bearer"}, "it: the token is empty or holds blanks"),
    ("tosca.datatypes.Credential", {"token": "a b", "token_type": "bearr"}, ""),
    (
        "tosca.datatypes.TimeInterval",
        {"start_time": "2026-01-02", "end_time": "2026-01-01"},
        "it: it ends (2026-01-01) before it begins (2026-01-02)",
    ),
    ("tosca.datatypes.network.PortSpec", {"protocol": "tcp"}, "it: it names no port"),
    (
        "tosca.datatypes.network.PortSpec",
        {"protocol": "tcp", "source": 80, "source_range": [1, 9]},
        "it: source 80 is outside of source_range, 1 to 9",
    ),
    ("my.Unknown", 5, ""),
    ("integer", Sensitive("x"), "it does not fit what is declared (the value is not shown, since it is sensitive)"),
    (
        "list",
        ["a", Sensitive(["x"])],
        "it does not fit what is declared (the value is not shown, since it is sensitive)",
    ),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    path = tmp_path_factory.mktemp("service") / "service.yaml"
    path.write_text(TEMPLATE, encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    found = resolve_service(package, diagnostics)
    assert found is not None, [str(d) for d in diagnostics]
    return found


@pytest.mark.parametrize(("type_name", "data", "wrong"), DATA)
def test_data(service: Service, type_name: str, data: object, wrong: str) -> None:
    assert misfit(data, Schema(type_name), "it", service.data_types) == wrong


def test_paths(service: Service) -> None:
    """Each fault says where it is, by the way that leads there; its place is the call that gave that part."""
    checker = Checker(service.data_types, literal=True)
    data = {"secret": "abcdef", "nets": [{"name": "n"}, {"name": "n", "port": 9, "prt": 1}], "more": 1}
    checker.read(data, Schema("my.Holder"), "it")
    source = SourceText("service.yaml", "")
    whole, second, port = (Span(source, line, 1, line, 2) for line in (1, 2, 3))
    written: Value = {
        "nets": [
            {"name": "n"},
            {"port": Call("get_input", ("port",), port), "prt": Call("get_input", ("prt",), second)},
        ]
    }
    assert [
        (
            fault.message,
            [s.step for s in fault.path.steps()] if fault.path else [],
            place_of(fault, written, whole).line,
        )
        for fault in checker.faults
    ] == [
        ('field "port" must lie in 1 to 4', ["nets", 1, "port"], 3),
        ('entry 2 of field "nets" has no field "prt"', ["nets", 1, "prt"], 1),
        ('it has no field "more"', ["more"], 1),
    ]


def test_names_of_maps(service: Service) -> None:
    """A name in evaluated data is of the type that its map asks for: no text tells whether it had quotes."""
    checker = Checker(service.data_types, literal=True)
    assert checker.read({"1": 2}, Schema("my.Keyed"), "it") == {"1": 2}
    assert not checker.faults
