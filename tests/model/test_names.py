"""Names of types in every place that takes one, in every form; many files, and deep and wide derivation."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.model.service import Service
from ordito.model.unit import KINDS
from ordito.model.units import Units
from ordito.source.opening import open_package

VERSION = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
URI = "http://docs.oasis-open.org/tosca/ns/simple/yaml/1.3/"

HOSTED = """
topology_template:
  node_templates:
    c: { type: Compute }
    s: { type: WebServer, requirements: [ host: { node: c, relationship: r } ] }
  relationship_templates: { r: { type: TYPE } }
"""
PLACES = {
    "parent of a node type": ("node", "node_types: { my.T: { derived_from: TYPE } }", "tosca.nodes.Compute"),
    "parent of a capability type": (
        "capability",
        "capability_types: { my.T: { derived_from: TYPE } }",
        "tosca.capabilities.Compute",
    ),
    "parent of a relationship type": (
        "relationship",
        "relationship_types: { my.T: { derived_from: TYPE } }",
        "tosca.relationships.HostedOn",
    ),
    "parent of a data type": (
        "data",
        "data_types: { my.T: { derived_from: TYPE } }",
        "tosca.datatypes.network.PortDef",
    ),
    "parent of an artifact type": (
        "artifact",
        "artifact_types: { my.T: { derived_from: TYPE } }",
        "tosca.artifacts.Implementation.Bash",
    ),
    "parent of an interface type": (
        "interface",
        "interface_types: { my.T: { derived_from: TYPE } }",
        "tosca.interfaces.node.lifecycle.Standard",
    ),
    "type of a property": (
        "data",
        "node_types: { my.T: { derived_from: Root, properties: { p: { type: TYPE } } } }",
        "tosca.datatypes.Credential",
    ),
    "type of list entries": (
        "data",
        "node_types: { my.T: { derived_from: Root, properties: { p: { type: list, entry_schema: TYPE } } } }",
        "tosca.datatypes.network.PortSpec",
    ),
    "capability of a node type": (
        "capability",
        "node_types: { my.T: { derived_from: Root, capabilities: { c: TYPE } } }",
        "tosca.capabilities.network.Bindable",
    ),
    "valid source type": (
        "node",
        "node_types: { my.T: { derived_from: Root, capabilities: { c: { type: Node, valid_source_types: [TYPE] } } } }",
        "tosca.nodes.Storage.BlockStorage",
    ),
    "valid target type": (
        "capability",
        "relationship_types: { my.T: { derived_from: Root, valid_target_types: [ TYPE ] } }",
        "tosca.capabilities.Endpoint.Public",
    ),
    "capability of a requirement": (
        "capability",
        "node_types: { my.T: { derived_from: Root, requirements: [ r: { capability: TYPE } ] } }",
        "tosca.capabilities.Endpoint.Database",
    ),
    "node of a requirement": (
        "node",
        "node_types: { my.T: { derived_from: Root, requirements: [ r: { capability: Node, node: TYPE } ] } }",
        "tosca.nodes.LoadBalancer",
    ),
    "relationship of a requirement": (
        "relationship",
        "node_types: { my.T: { derived_from: Root, requirements: [ r: { capability: Node, relationship: TYPE } ] } }",
        "tosca.relationships.DependsOn",
    ),
    "interface of a node type": (
        "interface",
        "node_types: { my.T: { derived_from: Root, interfaces: { I: { type: TYPE } } } }",
        "tosca.interfaces.relationship.Configure",
    ),
    "artifact of a node type": (
        "artifact",
        "node_types: { my.T: { derived_from: Root, artifacts: { a: { type: TYPE, file: x } } } }",
        "tosca.artifacts.Deployment.Image",
    ),
    "member of a group type": (
        "node",
        "group_types: { my.T: { derived_from: Root, members: [ TYPE ] } }",
        "tosca.nodes.WebServer",
    ),
    "target of a policy type": (
        "node",
        "policy_types: { my.T: { derived_from: Root, targets: [ TYPE ] } }",
        "tosca.nodes.Database",
    ),
    "type of a node template": (
        "node",
        "topology_template: { node_templates: { n: { type: TYPE } } }",
        "tosca.nodes.Compute",
    ),
    "type of a relationship template": (
        "relationship",
        HOSTED,
        "tosca.relationships.HostedOn",
    ),
    "type of an input": (
        "data",
        "topology_template: { inputs: { i: { type: TYPE, required: false } } }",
        "tosca.datatypes.network.PortDef",
    ),
    "type of a group": (
        "group",
        "topology_template: { groups: { g: { type: TYPE, members: [] } } }",
        "tosca.groups.Root",
    ),
    "type of a policy": (
        "policy",
        "topology_template: { node_templates: {n: {type: Compute}}, policies: [ p: { type: TYPE, targets: [n] } ] }",
        "tosca.policies.Scaling",
    ),
}


def resolve(folder: Path, text: str, **files: str) -> tuple[Service | None, Diagnostics]:
    """Resolve a service template that is given as text, with files beside it."""
    (folder / "service.yaml").write_text(VERSION + text)
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(VERSION + content)
    diagnostics = Diagnostics()
    package = open_package(str(folder / "service.yaml"), diagnostics)
    assert package is not None
    return resolve_service(package, diagnostics), diagnostics


def short_names(folder: Path) -> dict[tuple[str, str], str]:
    """The short names of all normative types by kind, as far as tables of the specification list them."""
    (folder / "service.yaml").write_text(VERSION)
    diagnostics = Diagnostics()
    package = open_package(str(folder / "service.yaml"), diagnostics)
    assert package is not None
    units = Units(package, diagnostics)
    units.gather()
    listed = {}
    for kind in KINDS:
        for name, definition in units.definitions[kind].items():
            metadata = definition.content.metadata or {}
            for short in metadata["tosca.shorthand"].text.split(",") if "tosca.shorthand" in metadata else ():
                listed[kind, short.strip()] = name
    assert units.entry is not None
    for (kind, short), name in listed.items():
        for form in (short, f"tosca:{short}", name, f"tosca:{name}"):
            found = units.names.find(kind, form, units.entry)
            assert found is not None, form
            assert found.name == name, form
        if (kind, short.lower()) not in listed:
            assert units.names.find(kind, short.lower(), units.entry) is None, short
    return listed


def test_short_names(tmp_path: Path) -> None:
    """R-5.2-2, R-5.2-3, R-5.2-4: the short names of the tables, each within its kind, exactly as they are written."""
    listed = short_names(tmp_path)
    assert listed["node", "BlockStorage"] == "tosca.nodes.Storage.BlockStorage"
    assert listed["artifact", "Bash"] == "tosca.artifacts.Implementation.Bash"
    assert listed["capability", "network.Bindable"] == "tosca.capabilities.network.Bindable"
    assert listed["interface", "Standard"] == "tosca.interfaces.node.lifecycle.Standard"
    assert listed["data", "PortDef"] == "tosca.datatypes.network.PortDef"
    assert listed["node", "Compute"] != listed["capability", "Compute"]
    assert len(listed) > 40


def form_of(name: str, kind: str, form: str, listed: dict[tuple[str, str], str]) -> str:
    """A type's name in one of the four forms."""
    short = next((s for (k, s), n in listed.items() if k == kind and n == name), name.split(".", 2)[-1])
    return {"short": short, "full": name, "prefixed": f"'tosca:{short}'", "uri": URI + name}[form]


@pytest.mark.parametrize("form", ["short", "full", "prefixed", "uri"])
def test_each_form_in_each_place(tmp_path: Path, form: str) -> None:
    """R-5.2-1, R-3.2-6, R-3.2-7: each form of a normative type's name is taken wherever a type is named."""
    listed = short_names(tmp_path)
    for place, (kind, text, name) in PLACES.items():
        written = form_of(name, kind, form, listed)
        service, diagnostics = resolve(tmp_path, text.replace("TYPE", written))
        assert service is not None, (place, written, [str(d) for d in diagnostics])


@pytest.mark.parametrize("form", ["short", "full", "prefixed", "uri"])
def test_wrong_case_in_each_place(tmp_path: Path, form: str) -> None:
    """R-5.2-4: a name in lower case is no name of a normative type, and one error says so at its place."""
    listed = short_names(tmp_path)
    for place, (kind, text, name) in PLACES.items():
        written = form_of(name, kind, form, listed)
        last = written.rstrip("'")[-4:]
        wrong = written.replace(last, last.upper())
        _, diagnostics = resolve(tmp_path, text.replace("TYPE", wrong))
        found = [(d.code, d.span.column) for d in diagnostics.sorted() if d.span is not None]
        column = len(text[: text.index("TYPE")].rpartition("\n")[2]) + 1
        assert found == [("unknown-type", column)], (place, wrong, [str(d) for d in diagnostics])


def test_chain_of_imports(tmp_path: Path) -> None:
    """R-3.6.8-10, R-3.2-5: files that import each other in a long chain, closed to a circle, all see the last one."""
    count = 300
    files = {
        f"f{n}": f"imports: [ f{(n + 1) % count}.yaml ]\nnode_types:\n  T{n}: {{ derived_from: T{count - 1} }}\n"
        for n in range(count - 1)
    }
    files[f"f{count - 1}"] = (
        f"imports: [ f0.yaml ]\nnode_types:\n  T{count - 1}: {{ derived_from: tosca.nodes.Root }}\n"
    )
    text = "imports: [ f0.yaml ]\ntopology_template: { node_templates: { n: { type: T7 } } }"
    service, diagnostics = resolve(tmp_path, text, **files)
    assert service is not None, [str(d) for d in diagnostics]
    assert len(diagnostics) == 0
    assert service.nodes["n"].kinds == ("T7", f"T{count - 1}", "tosca.nodes.Root")


def test_deep_and_wide_derivation(tmp_path: Path) -> None:
    """R-3.7.1-3, R-3.7.1-6: a thousand levels of derivation, and a thousand types of one parent."""
    count = 1000
    lines = [
        "node_types:",
        "  D0: { derived_from: tosca.nodes.Root, properties: { p: { type: integer, default: 1 } } }",
    ]
    lines += [f"  D{n}: {{ derived_from: D{n - 1} }}" for n in range(1, count)]
    lines += [f"  W{n}: {{ derived_from: D0, properties: {{ p: {{ default: {n} }} }} }}" for n in range(count)]
    lines += [f"topology_template: {{ node_templates: {{ d: {{ type: D{count - 1} }}, w: {{ type: W5 }} }} }}"]
    service, diagnostics = resolve(tmp_path, "\n".join(lines))
    assert service is not None, [str(d) for d in diagnostics]
    assert len(service.nodes["d"].kinds) == count + 1
    assert service.nodes["d"].properties["p"] == 1
    assert service.nodes["w"].properties["p"] == 5


def test_a_hint_does_not_offer_what_is_refused(tmp_path: Path) -> None:
    """R-4.6.1-1: get_operation_output knows no HOST, and the keywords that it knows are named."""
    file = tmp_path / "service.yaml"
    call = "{ get_operation_output: [ HOST, Standard, create, x ] }"
    inputs = f"interfaces: {{ Standard: {{ operations: {{ start: {{ inputs: {{ x: {call} }} }} }} }} }}"
    file.write_text(
        f"{VERSION}topology_template:\n  node_templates:\n    app: {{ type: SoftwareComponent, {inputs} }}\n"
    )
    diagnostics = Diagnostics()
    package = open_package(str(file), diagnostics)
    assert package is not None
    resolve_service(package, diagnostics)
    (only,) = [d for d in diagnostics if d.code == "bad-call"]
    assert only.hint == "keywords that mean something here: SELF"


@pytest.mark.parametrize(
    ("name", "imports", "hint"),
    [
        ("ordito.nodes.Reboot", "", 'such types come with Ordito: write imports: [ "profile:ordito" ]'),
        ("cloudify.nodes.Compute", "", 'such types come with Ordito: write imports: [ "profile:cloudify" ]'),
        ("cloudify.nodes.Computer", "imports: [ profile:cloudify ]\n", 'did you mean "cloudify.nodes.Compute"?'),
    ],
)
def test_types_of_a_profile_that_is_not_imported_lead_to_it(tmp_path: Path, name: str, imports: str, hint: str) -> None:
    _, found = resolve(tmp_path, f"{imports}topology_template: {{ node_templates: {{ a: {{ type: {name} }} }} }}")
    (only,) = found
    assert (only.code, only.hint) == ("unknown-type", hint)
