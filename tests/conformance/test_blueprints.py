"""Blueprints of Cloudify as they are, by what the program does with them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.acceptance.program import ROOT, ordito
from tests.support.documents import resolve
from tests.support.scenarios import Scenario

BLUEPRINT = """\
tosca_definitions_version: cloudify_dsl_1_3
imports: [ cloudify/types/types.yaml ]
inputs:
  name: { default: world }
  greeting: { default: { concat: [ "hello ", { get_input: name } ] } }
node_templates:
  base: { type: cloudify.nodes.Root }
  web:
    type: cloudify.nodes.WebServer
    properties: { port: 8080 }
    relationships: [ { type: cloudify.relationships.contained_in, target: base } ]
    interfaces:
      cloudify.interfaces.lifecycle:
        create: { implementation: scripts/hello.sh, inputs: { GREETING: { get_input: greeting } } }
        start: { implementation: scripts/hello.sh, inputs: { GREETING: { string_upper: { get_input: name } } } }
outputs:
  url: { value: { concat: [ "http://", { get_input: name }, ":", { get_property: [ web, port ] } ] } }
  ids: { value: { get_attributes_list: [ web, node_instance_id ] } }
  merged: { value: { merge: [ { a: 1, b: 1 }, { b: 2 } ] } }
  text: { value: { string_replace: [ abcb, b, c, 1 ] } }
  parts: { value: { string_split: [ a-b, "-", 1 ] } }
  place: { value: { string_find: [ abc, c ] } }
  nothing: { value: { get_attribute: [ web, whatever ] } }
"""
SCRIPT = 'echo "$GREETING" >> "$HOME/said"\n'


@pytest.fixture
def hello(tmp_path: Path) -> Path:
    """A blueprint with a script, in a folder of its own."""
    folder = tmp_path / "hello"
    (folder / "scripts").mkdir(parents=True)
    (folder / "blueprint.yaml").write_text(BLUEPRINT, encoding="utf-8")
    (folder / "scripts/hello.sh").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.fixture
def ensemble(tmp_path: Path) -> Path:
    """An empty folder for an ensemble."""
    (tmp_path / "ensemble").mkdir()
    return tmp_path / "ensemble"


def test_hello_world(hello: Path, ensemble: Path) -> None:
    """R-CFY-0-5, R-CFY-8.1-1, R-CFY-11-2, R-CFY-11-15, R-CFY-11-24, R-CFY-11-25, R-CFY-12-2: it is deployed
    as it is."""
    done = ordito(ensemble, "deploy", hello, "--yes", "-i", "name=you")
    assert done.code == 0, done.both
    assert (ensemble / "said").read_text(encoding="utf-8") == "hello you\nYOU\n"
    found = ordito(ensemble, "output").out
    for line in ("url     = http://you:8080", 'ids     = ["web_1"]', 'merged  = {"a":1,"b":2}', "text    = accb"):
        assert line in found, found
    assert "parts   = b" in found
    assert "place   = 2" in found
    assert ordito(ensemble, "undeploy", "--yes").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("plan",),
        ("compile",),
        ("graph",),
        ("schema",),
        ("fmt", "--check"),
        ("package", "--out", "x.csar"),
    ],
    ids=lambda words: words[0],
)
def test_verbs_that_look(words: tuple[str, ...], hello: Path, ensemble: Path) -> None:
    """R-CFY-0-4, R-CFY-0-7: what only looks at a service takes a blueprint, and runs nothing of it."""
    verb, *options = words
    done = ordito(ensemble, verb, hello / "blueprint.yaml", *options)
    assert done.code == 0, done.both
    assert not (ensemble / "said").exists()


def test_verbs_of_what_is_deployed(hello: Path, ensemble: Path) -> None:
    """R-CFY-0-4: and so does what changes it."""
    assert ordito(ensemble, "deploy", hello, "--yes").code == 0
    for words in (
        ("diff",),
        ("status",),
        ("describe", "web"),
        ("upgrade", str(hello), "--yes"),
        ("heal", "web", "--yes"),
    ):
        done = ordito(ensemble, *words)
        assert done.code == 0, (words, done.both)
    assert "cloudify.nodes.WebServer" in ordito(ensemble, "compile", hello).out


def test_an_archive_with_one_folder(hello: Path, ensemble: Path, tmp_path: Path) -> None:
    """R-CFY-0-6: an archive holds a blueprint at its top, or in the one folder there."""
    for name, below in (("flat.zip", hello), ("folder.zip", hello.parent)):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for file in ("blueprint.yaml", "scripts/hello.sh"):
                archive.write(hello / file, (hello / file).relative_to(below))
        assert ordito(ensemble, "validate", tmp_path / name).code == 0
    assert ordito(ensemble, "deploy", tmp_path / "folder.zip", "--yes").code == 0
    assert (ensemble / "said").exists()


def test_an_archive_with_several_blueprints(hello: Path, ensemble: Path, tmp_path: Path) -> None:
    """R-CFY-0-6: which of them is meant must be clear."""
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for name in ("one.yaml", "two.yaml"):
            archive.write(hello / "blueprint.yaml", name)
    done = ordito(ensemble, "validate", tmp_path / "two.zip")
    assert done.code == 3
    assert "one.yaml, two.yaml" in done.both


def test_a_missing_secret(hello: Path, ensemble: Path) -> None:
    """R-CFY-11-16, R-CFY-11-7: a secret is asked for by its name, and kept out of all records."""
    file = hello / "blueprint.yaml"
    file.write_text(BLUEPRINT.replace("{ get_input: greeting }", "{ get_secret: word }"), encoding="utf-8")
    done = ordito(ensemble, "plan", hello)
    assert done.code == 3
    assert "secrets set word" in done.both
    done = ordito(ensemble, "deploy", hello, "--yes", "-i", "secret:word=hush-hush")
    assert done.code == 0, done.both
    assert (ensemble / "said").read_text(encoding="utf-8").startswith("hush-hush")
    records = [f for f in ensemble.rglob("*") if f.is_file() and f.name != "said"]
    assert not any(b"hush-hush" in f.read_bytes() for f in records)


def test_missing_inputs_are_named_together(hello: Path, ensemble: Path) -> None:
    """R-CFY-4-5, R-CFY-4-6: all that are missing, and none that is unknown."""
    text = BLUEPRINT.replace("{ default: world }", "{ type: string }").replace("inputs:\n", "inputs:\n  more:\n", 1)
    (hello / "blueprint.yaml").write_text(text, encoding="utf-8")
    done = ordito(ensemble, "plan", hello)
    assert done.code == 3
    assert 'input "name" (string) has no value' in done.both
    assert 'input "more" (any) has no value' in done.both
    done = ordito(ensemble, "plan", hello, "-i", "nmae=x", "-i", "more=1")
    assert 'did you mean "name"' in done.both


def test_circle_of_inputs(hello: Path, ensemble: Path) -> None:
    """R-CFY-4-11: inputs that are functions of each other have no value."""
    text = BLUEPRINT.replace("{ default: world }", "{ default: { get_input: greeting } }")
    (hello / "blueprint.yaml").write_text(text, encoding="utf-8")
    done = ordito(ensemble, "plan", hello)
    assert done.code == 3
    assert "depends on itself" in done.both


def test_the_order_of_operations(tmp_path: Path) -> None:
    """R-CFY-17-2, R-CFY-7.1-4, R-CFY-7.1-6, R-CFY-7.1-7, R-CFY-7.1-8: as the scenario says."""
    Scenario(ROOT / "tests/scenarios/cloudify/a_blueprint.yaml").play(tmp_path)


def test_names_of_the_bundled_types() -> None:
    """R-CFY-13-1: the names of types, and of the operations of the root of all."""
    service, _ = resolve(ROOT / "tests/conformance/cloudify/R-CFY-13-2.yaml")
    assert service is not None
    node = service.nodes["tier"]
    lifecycle = (
        "precreate create configure start poststart prestop stop delete postdelete preupdate update postupdate "
        "update_config update_apply update_postapply preheal heal postheal pull check_drift"
    )
    assert " ".join(node.interfaces["cloudify.interfaces.lifecycle"].operations) == lifecycle
    agent = service.nodes["vm"].interfaces["cloudify.interfaces.cloudify_agent"]
    assert {"create", "configure", "start", "stop", "delete", "restart", "validate_amqp"} <= agent.operations.keys()
