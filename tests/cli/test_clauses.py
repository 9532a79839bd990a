"""The conformance clauses of the specification (chapter 14), asked of the command as a user has it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ordito.app.services.read import types_of
from ordito.base.diagnostics import Diagnostics
from ordito.syntax.functions import FUNCTIONS
from tests.cli.program import DATA, Run

ROOT = DATA.parent.parent
SHOP = ROOT / "examples" / "shop"
HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
NODES = HEAD + "topology_template:\n  node_templates:\n"


def written(text: str, name: str = "service.yaml") -> str:
    Path(name).write_text(text)
    return name


def test_additional_requirements_of_chapter_3(run: Run) -> None:
    """R-14.3-2: what chapter 3 says beside its tables holds: names are unique, types refine what they inherit."""
    types = "node_types:\n  my.A: { derived_from: Root, properties: { a: { type: integer } } }\n"
    narrow = "  my.B: { derived_from: my.A, properties: { a: { type: integer, default: 3 } } }\n"
    wide = "  my.B: { derived_from: my.A, properties: { a: { type: string } } }\n"
    assert run("validate", written(HEAD + types + narrow)).code == 0
    refused = run("validate", written(HEAD + types + wide))
    assert refused.code == 3
    assert "error[bad-refinement]" in refused.err


def test_imports_explicit_and_implicit(run: Run) -> None:
    """R-14.3-3: imports are resolved, those that are written and that of the normative types, which nobody writes."""
    written(HEAD + "node_types: { my.Server: { derived_from: tosca.nodes.Compute } }\n", "types.yaml")
    service = NODES + "    server: { type: my.Server }\n    other: { type: tosca.nodes.Compute }\n"
    assert run("validate", written("imports: [ types.yaml ]\n".join((HEAD, service.removeprefix(HEAD))))).code == 0
    refused = run("validate", written(service))
    assert refused.code == 3
    assert "error[unknown-type]" in refused.err


def test_names_of_operating_systems(run: Run) -> None:
    """R-14.3-5: operating systems are matched by their names in lower case, as in the capability of a node."""
    service = NODES + (
        "    server: { type: Compute, capabilities: { os: { properties: { type: LINUX } } } }\n"
        "    other: { type: Compute, capabilities: { os: { properties: { type: windows } } } }\n"
        "    app:\n      type: SoftwareComponent\n      requirements:\n        - host:\n            node: Compute\n"
        "            node_filter: { capabilities: [ os: { properties: [ type: { equal: linux } ] } ] }\n"
    )
    compiled = run("compile", written(service)).json
    assert compiled["nodes"]["app"]["requirements"][0]["target"] == "server"


@pytest.mark.parametrize("words", [["plan", "service.yaml"], ["deploy", "service.yaml", "--yes"]])
def test_the_orchestrator_reads_as_the_processor_does(run: Run, words: list[str]) -> None:
    """R-14.4-1: an orchestrator is a processor: it refuses what `validate` refuses, for the same reason."""
    written(NODES + "    server: { type: Computer }\n")
    refused = run(*words)
    assert refused.code == 3
    assert "error[unknown-type]" in refused.err
    assert not Path("ensemble.yaml").exists()


def test_artifacts_of_all_types(run: Run) -> None:
    """R-14.4-2: artifacts of every normative type are taken, beside the nodes that have them."""
    types = types_of("", Diagnostics())
    names = [name for name in types.artifacts.shapes if name.startswith("tosca.artifacts.")]
    assert len(names) >= 10
    Path("file").touch()
    artifacts = "".join(f"        a{n}: {{ type: {name}, file: file }}\n" for n, name in enumerate(names))
    service = NODES + "    node:\n      type: Root\n      artifacts:\n" + artifacts
    compiled = run("compile", written(service)).json["nodes"]["node"]["artifacts"]
    assert [artifact["kinds"][0] for artifact in compiled.values()] == names


def test_archives(run: Run) -> None:
    """R-14.4-3, R-14.6-1: an archive is read wherever a service is named, and one that breaks the rules is refused."""
    with zipfile.ZipFile("good.csar", "w") as archive:
        about = "metadata: { template_name: good, template_author: me, template_version: 1.0.0 }\n"
        archive.writestr("service.yaml", HEAD + about + NODES.removeprefix(HEAD) + "    node: { type: Root }\n")
    for verb in ("validate", "plan"):
        assert run(verb, "good.csar").code == 0
    with zipfile.ZipFile("bad.csar", "w") as archive:
        archive.writestr("../service.yaml", NODES)
        archive.writestr("service.yaml", NODES + "    node: { type: Root }\n")
    assert run("validate", "bad.csar").code == 3


def test_every_function_is_known() -> None:
    """R-14.4-4: all functions of chapter 4 can be called."""
    assert set(FUNCTIONS) >= {
        "concat",
        "join",
        "token",
        "get_input",
        "get_property",
        "get_attribute",
        "get_operation_output",
        "get_nodes_of_type",
        "get_artifact",
    }


def test_networks(run: Run) -> None:
    """R-14.4-6: networks, ports and what binds and links them are understood."""
    service = NODES + (
        "    network: { type: tosca.nodes.network.Network, properties: { cidr: 10.0.0.0/24 } }\n"
        "    server: { type: Compute }\n"
        "    port: { type: tosca.nodes.network.Port, requirements: [ binding: server, link: network ] }\n"
    )
    found = run("compile", written(service)).json["nodes"]["port"]["requirements"]
    assert [r["kinds"][0].rpartition(".")[2] for r in found] == ["BindsTo", "LinksTo"]


def test_errors_of_substitution_capabilities_and_interfaces(run: Run) -> None:
    """R-14.4-7: a mapping of what the type does not have, a capability against its type, an unknown operation."""
    mapping = "  substitution_mappings: { node_type: Compute, capabilities: { hots: [ m, host ] } }\n"
    mapped = NODES + "    m: { type: Compute }\n" + mapping
    insecure = NODES + "    m: { type: Compute, capabilities: { endpoint: { properties: { secure: false } } } }\n"
    unknown = NODES + "    m: { type: Compute, interfaces: { Standard: { operations: { begin: x.sh } } } }\n"
    for text, code in (
        (mapped, "unknown-capability"),
        (insecure, "constraint"),
        (unknown, "unknown-operation"),
    ):
        refused = run("validate", written(text))
        assert refused.code == 3
        assert f"error[{code}]" in refused.err


def test_workflows_and_policies_too(run: Run) -> None:
    """R-14.4-8: no clause asks for them, and they are understood nevertheless."""
    service = NODES + (
        "    server: { type: Compute }\n"
        "  policies:\n    - near: { type: tosca.policies.Placement, targets: [ server ] }\n"
        "  workflows:\n    check: { steps: { one: { target: server, activities: [ set_state: started ] } } }\n"
    )
    compiled = run("compile", written(service)).json
    assert compiled["policies"]["near"]["nodes"] == ["server"]
    assert list(compiled["workflows"]["check"]["steps"]) == ["one"]


def test_what_is_generated_conforms(run: Run) -> None:
    """R-14.5-1: what `init`, `fmt` and `package` make is valid."""
    assert run("init", "project").code == 0
    assert run("fmt", "project").code == 0
    assert run("validate", "project").code == 0
    assert run("package", SHOP, "--out", "shop.csar").code == 0
    assert run("validate", "shop.csar").code == 0
    assert run("compile", "shop.csar").json["nodes"].keys() == run("compile", SHOP).json["nodes"].keys()
