"""The definitions of the blocks that come with the program, and what is written about them."""

from __future__ import annotations

import re
from pathlib import Path

from ordito.app.services.read import read_service
from ordito.base.diagnostics import Diagnostics
from ordito.source.bundled import CATALOGUE
from tests.support.blocks import definitions
from tests.support.yaml_files import read_yaml, write_yaml

CHAPTER = (Path(__file__).parents[2] / "docs" / "blocks.md").read_text().partition("\n## Shipped blocks\n")[2]
PARTS = definitions()
SECRETS = ("password", "token", "webhook")
OPERATION = "ordito.dev/lifecycle/run@v1#Operation"


def test_a_block_is_three_types() -> None:
    """A policy type that names it, a node type with what it runs, of one version, and the type of its config."""
    assert list(PARTS["policy_types"]) == list(PARTS["node_types"])
    for fqn, policy in PARTS["policy_types"].items():
        node = PARTS["node_types"][fqn]
        assert (policy["derived_from"], node["derived_from"]) == (
            "ordito.policies.LifecycleStep",
            "ordito.nodes.LifecycleBlock",
        )
        assert policy["version"] == node["version"] == "1.0.0"
        path, _, name = fqn.partition("#")
        family, _, major = path.rpartition("/")[2].partition("@")
        assert policy["properties"]["config"]["type"] == f"ordito.dev.lifecycle.{family}.{major}.{name}"
        assert policy["properties"]["config"]["type"] in PARTS["data_types"]


def test_files_are_there_and_named() -> None:
    """Each block names its script and all that this imports; every file belongs to a block."""
    used = set()
    for fqn, node in PARTS["node_types"].items():
        if fqn == OPERATION:
            assert "interfaces" not in node
            continue
        for operation in ("execute", "undo"):
            found = node["interfaces"]["Block"]["operations"][operation]["implementation"]
            files = {found["primary"], *found["dependencies"]}
            assert needed(found["primary"]) <= files, fqn
            used |= files
    assert used == {
        str(f.relative_to(CATALOGUE)) for f in (CATALOGUE / "scripts").iterdir() if f.suffix in (".py", ".sql")
    }


def needed(script: str) -> set[str]:
    """A script of the catalogue and what it and others import and read from beside them."""
    found: set[str] = set()
    waiting = [script]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        text = (CATALOGUE / name).read_text()
        modules = re.findall(r"^\s*(?:import|from) ((?:block_|ordito_block)\w*)", text, re.MULTILINE)
        waiting += [f"scripts/{module}.py" for module in modules]
        found |= {f"scripts/{file}" for file in re.findall(r'with_name\("(.*?)"\)', text)}
    return found


def test_no_block_takes_what_it_would_run() -> None:
    """No config holds a command, a script or SQL."""
    for name, part in PARTS["data_types"].items():
        assert not {"script", "command", "run", "implementation", "inline", "exec", "sql", "query"} & set(
            part["properties"]
        ), name


def test_the_table_names_every_block() -> None:
    """And no other."""
    assert re.findall(r"^\| `(.*?)` \|", CHAPTER, re.MULTILINE) == list(PARTS["policy_types"])


def test_the_examples_fit(tmp_path: Path) -> None:
    """There is one of each block, and all of them together are a service without errors."""
    examples = [item for text in re.findall(r"```yaml\n(.*?)```", CHAPTER, re.DOTALL) for item in read_yaml(text)]
    assert {policy["type"] for item in examples for policy in item.values()} == set(PARTS["policy_types"])
    secrets = {name: {"type": "string", "metadata": {"sensitive": "true"}} for name in SECRETS}
    nodes = {"database": {"type": "tosca.nodes.Root"}, "api": {"type": "my.Api"}}
    cache = {"derived_from": "tosca.interfaces.Root", "operations": {"warm": {}, "clear": {}}}
    api = {"derived_from": "tosca.nodes.Root", "interfaces": {"Cache": {"type": "my.Cache"}}}
    template = {
        "tosca_definitions_version": "tosca_simple_yaml_1_3",
        "imports": ["profile:blocks"],
        "interface_types": {"my.Cache": cache},
        "node_types": {"my.Api": api},
        "topology_template": {"inputs": secrets, "node_templates": nodes, "policies": examples},
    }
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "001_first.up.sql").write_text("SELECT 1;")
    (tmp_path / "service.yaml").write_text(write_yaml(template))
    service = read_service(str(tmp_path), Diagnostics()).service
    assert len(service.policies) == len(examples)
