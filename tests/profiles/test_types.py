"""The types that come with the program against the tables of the specification, in ``types.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.artifacts import PLAYBOOK_PROPERTIES
from ordito.model.capabilities import CapabilityShape
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.model.types import RequirementShape, Types
from ordito.model.units import Definition, Unit, Units, find_type
from ordito.source.opening import open_package
from ordito.syntax import entities
from tests.support.yaml_files import read_yaml

TABLE = read_yaml((Path(__file__).parent / "types.yaml").read_text(encoding="utf-8"))
EXPECTED: dict[str, dict[str, dict[str, Any]]] = {
    kind: {**TABLE["normative"].get(kind, {}), **TABLE["non-normative"].get(kind, {})} for kind in TABLE["normative"]
}
CASES = [(kind, name) for kind, known in EXPECTED.items() for name in known]
COUNTS = {
    "data": 9,
    "artifact": 9,
    "capability": 15,
    "relationship": 8,
    "interface": 3,
    "node": 16,
    "group": 1,
    "policy": 5,
}
MINIMAL = "tosca_definitions_version: tosca_simple_yaml_1_3\n"


class Known:
    """All types as a service without definitions of its own sees them."""

    def __init__(self, folder: Path, text: str = MINIMAL) -> None:
        (folder / "service.yaml").write_text(text, encoding="utf-8")
        self.diagnostics = Diagnostics()
        package = open_package(str(folder), self.diagnostics)
        assert package is not None
        self.units = Units(package, self.diagnostics)
        self.units.gather()
        self.types = Types(self.units, self.diagnostics)
        self.types.flatten()

    @property
    def entry(self) -> Unit:
        """The service's own file."""
        assert self.units.entry is not None
        return self.units.entry

    def find(self, kind: str, name: str) -> Definition | None:
        """The type that a name means."""
        return find_type(kind, name, self.entry, self.units)

    def facts(self, kind: str, name: str) -> dict[str, Any]:
        """What is known of a type, in the words of the table, what it inherits included."""
        found = self.find(kind, name)
        assert found is not None
        shapes: dict[str, Mapping[str, object]] = {
            "data": self.types.data,
            "artifact": self.types.artifacts.shapes,
            "capability": self.types.capabilities,
            "relationship": self.types.relationships,
            "interface": self.types.interfaces.shapes,
            "node": self.types.nodes,
        }
        shape = shapes.get(kind, {}).get(name)
        facts: dict[str, Any] = {
            "properties": {n: value(d) for n, d in _of(shape, "properties").items()},
            "attributes": {n: value(d).replace("?", "") for n, d in _of(shape, "attributes").items()},
            "interfaces": {n: i.kinds[0] for n, i in _of(shape, "interfaces").items()},
            "operations": list(_of(shape, "operations")),
            "capabilities": {n: capability(c) for n, c in _of(shape, "capabilities").items()},
            "requirements": {n: requirement(r) for n, r in _of(shape, "requirements").items()},
            "valid_target_types": list(getattr(shape, "valid_target_types", ())),
            "mime_type": getattr(shape, "mime_type", ""),
            "file_ext": list(getattr(shape, "extensions", ())),
            "constraints": " ".join(clause(c) for c in getattr(shape, "constraints", ())),
        }
        return {key: value for key, value in facts.items() if value}


def value(definition: PropertyDefinition) -> str:
    """A property or attribute in the words of the table; no attribute is required."""
    entry = f" of {definition.schema.entry.type}" if definition.schema.entry else ""
    text = definition.schema.type + entry + ("" if definition.required else "?")
    if definition.has_default:
        text += f" = {definition.default}"
    text += "".join(f" {clause(c)}" for c in definition.schema.constraints)
    return text + (f" {definition.status}" if definition.status != "supported" else "")


def _of(shape: object, part: str) -> dict[str, Any]:
    return dict(getattr(shape, part, {}))


def clause(constraint: Constraint) -> str:
    """A constraint in the words of the table."""
    return f"{{{constraint.operator} {constraint.operand}}}"


def occurrences(bounds: tuple[int, int | None]) -> str:
    """Occurrences in the words of the table."""
    return f"[{bounds[0]}, {'UNBOUNDED' if bounds[1] is None else bounds[1]}]"


def capability(shape: CapabilityShape) -> str:
    """A capability of a node type in the words of the table."""
    sources = f" from {' '.join(shape.valid_source_types)}" if shape.valid_source_types else ""
    return f"{shape.kinds[0]}{sources} {occurrences(shape.occurrences)}"


def requirement(shape: RequirementShape) -> str:
    """A requirement of a node type in the words of the table."""
    parts = (shape.capability, shape.node, shape.relationship, occurrences(shape.occurrences))
    return " ".join(p for p in parts if p)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """All types that come with the program."""
    return Known(tmp_path_factory.mktemp("types"))


def expected(kind: str, name: str) -> dict[str, Any]:
    """What the table says of a type, what it inherits included."""
    written = EXPECTED[kind].get(name, {})
    facts: dict[str, Any] = expected(kind, written["parent"]) if written.get("parent") in EXPECTED[kind] else {}
    for key, value in written.items():
        if isinstance(value, dict):
            facts[key] = {**facts.get(key, {}), **value}
        elif key not in {"names", "parent"}:
            facts[key] = value
    return facts


@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda v: v)
def test_type_is_as_the_tables_say(known: Known, kind: str, name: str) -> None:
    """R-5.1-1, R-5.9.1-3, R-5.9.5-1: every type has the members that the tables of the specification give it."""
    found = known.find(kind, name)
    assert found is not None
    derived = found.content.derived_from
    assert (derived.text if derived else None) == EXPECTED[kind][name].get("parent")
    assert known.facts(kind, name) == expected(kind, name)


def test_types_are_complete(known: Known) -> None:
    """R-14.4-5, R-9-1: there are 66 normative and 12 non-normative types, and no other one is there unasked."""
    assert {kind: len(names) for kind, names in TABLE["normative"].items()} == COUNTS
    assert sum(COUNTS.values()) == 66
    assert sum(len(names) for names in TABLE["non-normative"].values()) == 12
    assert {kind: set(found) for kind, found in known.units.definitions.items()} == {
        kind: set(names) for kind, names in EXPECTED.items()
    }
    assert not list(known.diagnostics)


@pytest.mark.parametrize(("kind", "name"), CASES, ids=lambda v: v)
def test_type_is_found_by_all_its_names(known: Known, kind: str, name: str) -> None:
    """R-5.2-1, R-5.2-2, R-5.2-3, R-5.2-4: the URI, every shorthand, and both with ``tosca:``, in the very spelling."""
    for short in EXPECTED[kind][name]["names"]:
        for text in (short, f"tosca:{short}", name, f"tosca:{name}"):
            found = known.find(kind, text)
            assert found is not None, text
            assert found.name == name, text
        assert known.find(kind, short.swapcase()) is None
    assert known.find(kind, name.upper()) is None


def test_names_of_one_kind_are_distinct() -> None:
    """R-5.2-5: no two types of one kind have a name in common."""
    for names in EXPECTED.values():
        given = [short for entry in names.values() for short in entry["names"]]
        assert len(given) == len(set(given))


def test_input_of_nodejs_is_its_property(known: Known) -> None:
    """R-9-1: operations of a Node.js server are given where the source of the application is."""
    shape = known.types.nodes["tosca.nodes.WebServer.Nodejs"]
    value = shape.interfaces["Standard"].inputs["github_url"].value
    assert getattr(value, "arguments", None) == ("SELF", "github_url")


OWN = """tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  tosca.nodes.DBMS.MySQL:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { mine: { type: string, default: x } }
topology_template:
  node_templates:
    machine: { type: Compute }
    server: { type: tosca.nodes.DBMS.MySQL, requirements: [ host: machine ] }
    web: { type: tosca.nodes.WebServer.Apache, requirements: [ host: machine ] }
"""


def test_own_type_takes_the_place_of_a_non_normative_one(tmp_path: Path) -> None:
    """R-9-1: what a service defines under a non-normative name is meant; what refers to that name goes too."""
    known = Known(tmp_path, OWN)
    found = known.find("node", "tosca.nodes.DBMS.MySQL")
    assert found is not None
    assert isinstance(found.content, entities.NodeType)
    assert list(found.content.properties or ()) == ["mine"]
    assert known.find("node", "tosca.nodes.Database.MySQL") is None
    assert known.find("node", "tosca.nodes.WebServer.Apache") is not None
    assert not list(known.diagnostics)


@pytest.mark.parametrize(
    "how", ["profile:tosca_non_normative_1_3", "{ file: profile:tosca_non_normative_1_3, namespace_prefix: nn }"]
)
def test_non_normative_types_may_be_imported(tmp_path: Path, how: str) -> None:
    """R-9-1: importing the profile by name does no harm."""
    known = Known(tmp_path, f"{MINIMAL}imports:\n  - {how}\n")
    found = known.find("node", "nn:tosca.nodes.DBMS.MySQL" if "nn" in how.partition("prefix")[2] else "DBMS.MySQL")
    assert found is not None
    assert found is known.find("node", "tosca.nodes.DBMS.MySQL")
    assert not list(known.diagnostics)


def test_types_of_the_program_itself(tmp_path: Path) -> None:
    """R-5.2-5: the profile that adds types of the program's own is valid, and collides with no other one."""
    known = Known(tmp_path, f"{MINIMAL}imports:\n  - profile:ordito\n")
    assert not list(known.diagnostics)
    assert all(
        name.startswith("ordito.")
        for kind, found in known.units.definitions.items()
        for name in set(found) - set(EXPECTED[kind])
    )
    artifact = known.types.artifacts.shapes["ordito.artifacts.Implementation.Ansible"]
    assert artifact.extensions == ("yaml", "yml")
    # What holds without the profile says the same.
    assert {n: (d.schema, d.required, d.metadata) for n, d in artifact.properties.items()} == {
        n: (d.schema, d.required, d.metadata) for n, d in PLAYBOOK_PROPERTIES.items()
    }
    maintain = known.types.interfaces.shapes["ordito.interfaces.Maintain"]
    assert list(maintain.operations) == ["check", "discover", "heal", "update", "monitor_start", "monitor_stop"]


def test_types_of_cloudify(tmp_path: Path) -> None:
    """R-5.2-5: they have their own names, and derive from those of TOSCA; a connection leads to any node."""
    known = Known(tmp_path, f"{MINIMAL}imports:\n  - profile:cloudify\n")
    assert not list(known.diagnostics)
    nodes, relationships = known.types.nodes, known.types.relationships
    assert nodes["cloudify.nodes.Compute"].kinds[1] == "tosca.nodes.Compute"
    for name in ("Root", "Compute"):
        asked = {r.name: r.occurrences for r in nodes[f"cloudify.nodes.{name}"].requirements.values()}
        assert asked["contained_in"] == (0, 1)
        assert asked["connected_to"] == asked["depends_on"] == (0, None)
    connected = relationships["cloudify.relationships.connected_to"]
    assert connected.kinds[1] == "tosca.relationships.ConnectsTo"
    assert connected.valid_target_types == ("tosca.capabilities.Node",)
    assert connected.properties["connection_type"].default == "all_to_all"
    assert set(connected.interfaces) >= {"source", "target"}
