"""What the program does with blueprints: inputs, workflows, what is found where, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

HEAD = "tosca_definitions_version: cloudify_dsl_1_4\nimports: [ cloudify/types/types.yaml ]\n"


def blueprint(folder: Path, text: str, **files: str) -> Path:
    """A blueprint in a folder of its own; a file ``a/b`` is named ``a__b``."""
    folder.mkdir(parents=True)
    (folder / "blueprint.yaml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


INPUTS = (
    HEAD
    + """\
data_types:
  place: { properties: { city: { type: string }, country: { type: string, default: home } } }
inputs:
  at: { type: place }
  more: { type: list, item_type: string, default: [] }
node_templates: { one: { type: cloudify.nodes.Root } }
outputs: { at: { value: { get_input: at } }, more: { value: { get_input: more } } }
"""
)


def test_files_of_inputs(tmp_path: Path) -> None:
    """R-CFY-4-12, R-CFY-4-13, R-CFY-12-3: maps are completed by their types; of several files of inputs, in YAML and
    JSON, the later one counts, and what the command says before both."""
    folder = blueprint(tmp_path / "blueprint", INPUTS)
    (tmp_path / "one.yaml").write_text("at: { city: here }\nmore: [ a ]\n", encoding="utf-8")
    (tmp_path / "two.json").write_text('{"more": ["b"]}', encoding="utf-8")
    words: list[str | Path] = ["-e", tmp_path / "e", "--yes", "-I", tmp_path / "one.yaml", "-I", tmp_path / "two.json"]
    done = ordito(tmp_path, "deploy", folder, *words)
    assert done.code == 0, done.both
    found = json.loads(ordito(tmp_path, "output", "-e", tmp_path / "e", "-o", "json").out)
    assert found == {"at": {"city": "here", "country": "home"}, "more": ["b"]}
    done = ordito(tmp_path, "plan", folder, "-e", tmp_path / "f", "-i", "at={city: 5, land: x}")
    assert done.code == 3
    assert "land" in done.both


WORKFLOWS = (
    HEAD
    + """\
node_templates: { one: { type: cloudify.nodes.Root } }
workflows:
  mine:
    mapping: scripts/mine.py
    parameters: { count: { type: integer }, word: { default: a } }
"""
)


def test_own_workflows_are_refused_by_name(tmp_path: Path) -> None:
    """R-CFY-15.3-2, R-CFY-10-2: a workflow of the blueprint is listed with its parameters, which are checked; that it
    cannot be run is said when it is validated, and when it is run. The service is deployed all the same."""
    folder = blueprint(tmp_path / "blueprint", WORKFLOWS, scripts__mine_dot_py="print(1)\n")
    done = ordito(tmp_path, "validate", folder)
    assert done.code == 0
    assert "workflow scripts are not run" in done.both
    assert ordito(tmp_path, "deploy", folder, "-e", tmp_path / "e", "--yes").code == 0
    listed = ordito(tmp_path, "workflow", "list", "-e", tmp_path / "e").out
    assert "mine" in listed
    shown = ordito(tmp_path, "workflow", "show", "mine", "-e", tmp_path / "e").out
    assert "count" in shown
    assert "word" in shown
    for given, said in (
        ((), 'input "count" (integer) has no value'),
        (("-i", "count=x"), "count"),
        (("-i", "count=1", "-i", "wrd=b"), 'did you mean "word"'),
        (("-i", "count=1"), "workflow scripts are not run here"),
    ):
        done = ordito(tmp_path, "workflow", "run", "mine", "-e", tmp_path / "e", "--yes", *given)
        assert done.code == 3
        assert said in done.both, done.both


def test_an_error_in_an_imported_file(tmp_path: Path) -> None:
    """R-CFY-3-8, R-CFY-0-2: it is shown at its own place, with the imports that lead there."""
    folder = blueprint(
        tmp_path / "blueprint",
        HEAD.replace("types.yaml ]", "types.yaml, sub/one.yaml ]"),
        sub__one_dot_yaml="imports: [ two.yaml ]\n",
        sub__two_dot_yaml="node_templates:\n  vm: { type: cloudify.nodes.Roots }\n",
    )
    done = ordito(tmp_path, "validate", folder)
    assert done.code == 3
    assert "sub/two.yaml:2:15" in done.both
    assert 'no node type named "cloudify.nodes.Roots"' in done.both
    place = done.both.index("sub/two.yaml:2:15")
    assert done.both.index("sub/one.yaml:1:12") > place
    assert done.both.index("blueprint.yaml:2:39") > place


def test_anchors_do_not_cross_files(tmp_path: Path) -> None:
    """R-CFY-3-6: an alias means an anchor of its own file."""
    folder = blueprint(
        tmp_path / "blueprint",
        HEAD.replace("types.yaml ]", "types.yaml, one.yaml ]") + "node_templates: { vm: *theirs }\n",
        one_dot_yaml="dsl_definitions: { a: &theirs { type: cloudify.nodes.Root } }\n",
    )
    done = ordito(tmp_path, "validate", folder)
    assert done.code == 3
    assert "theirs" in done.both


def test_what_orders_nothing(tmp_path: Path) -> None:
    """R-CFY-6.3-2: a relationship whose type says neither where a node lives nor what it needs is refused by a plan."""
    text = HEAD + (
        "relationships: { beside: {} }\n"
        "node_templates:\n"
        "  one: { type: cloudify.nodes.Root }\n"
        "  two: { type: cloudify.nodes.Root, relationships: [ { type: beside, target: one } ] }\n"
    )
    folder = blueprint(tmp_path / "blueprint", text)
    assert ordito(tmp_path, "validate", folder).code == 0
    done = ordito(tmp_path, "plan", folder)
    assert done.code == 3
    assert "derives from none of contained_in, connected_to and depends_on" in done.both


def test_static_values_in_a_plan(tmp_path: Path) -> None:
    """R-CFY-11-5: what is known is shown by a plan; secrets and runtime properties are not."""
    text = HEAD + (
        "inputs: { a: { default: x } }\n"
        "node_templates:\n"
        "  one: { type: cloudify.nodes.Root, properties: { resource_id: { concat: [ { get_input: a }, y ] } } }\n"
        "outputs:\n"
        "  known: { value: { get_property: [ one, resource_id ] } }\n"
        "  later: { value: { get_attribute: [ one, set ] } }\n"
        "  hidden: { value: { get_secret: word } }\n"
    )
    folder = blueprint(tmp_path / "blueprint", text)
    done = ordito(tmp_path, "deploy", folder, "-e", tmp_path / "e", "--yes", "-i", "secret:word=hush-hush")
    assert done.code == 0, done.both
    before, _, _ = done.both.partition("Plan:")
    assert "known  = xy" in before
    assert "hush" not in done.both


def test_a_script_of_a_url(tmp_path: Path) -> None:
    """R-CFY-14.1-9, R-CFY-2-8: what is elsewhere is fetched only where that is asked for."""
    text = HEAD + (
        "node_templates:\n"
        "  one:\n"
        "    type: cloudify.nodes.Root\n"
        "    interfaces: { cloudify.interfaces.lifecycle: { create: http://192.0.2.1/run.sh } }\n"
    )
    folder = blueprint(tmp_path / "blueprint", text)
    done = ordito(tmp_path, "plan", folder)
    assert done.code == 3
    assert "--fetch" in done.both


def test_the_version_is_told(tmp_path: Path) -> None:
    """R-CFY-19-1: what is valid is told with the version of its language."""
    folder = blueprint(tmp_path / "hello", HEAD + "node_templates: { one: { type: cloudify.nodes.Root } }\n")
    assert "blueprint is valid (cloudify_dsl_1_4): 1 node, 0 relationships" in ordito(tmp_path, "validate", folder).out


@pytest.mark.parametrize(
    ("word", "meant"), [("executions", "jobs list"), ("blueprints", "validate"), ("deployments", "status")]
)
def test_words_of_the_product(word: str, meant: str, tmp_path: Path) -> None:
    """R-CFY-19-4: words of the product's command line lead to those of this one."""
    done = ordito(tmp_path, word, "start", "install")
    assert done.code == 64
    assert meant in done.both


def test_types_are_explained(tmp_path: Path) -> None:
    """R-CFY-19-2: the types of a blueprint are explained as it has them."""
    folder = blueprint(tmp_path / "blueprint", HEAD + "node_templates: { one: { type: cloudify.nodes.Root } }\n")
    done = ordito(tmp_path, "explain", "cloudify.nodes.Compute", "--service", folder)
    assert done.code == 0, done.both
    assert "agent_config" in done.out
    assert "install_method" in ordito(tmp_path, "explain", "cloudify.datatypes.AgentConfig", "--service", folder).out


def test_the_lifecycle_of_the_bundled_types() -> None:
    """R-CFY-13-4: what the bundled types have is in the lifecycle, or is run by its name."""
    from ordito.instances.lifecycle import INSTALL, UNINSTALL

    rows = [placed.row for placed in (*INSTALL, *UNINSTALL)]
    known = {row.operation for row in rows if row.interface == "cloudify.interfaces.lifecycle"}
    assert {"precreate", "create", "configure", "start", "poststart"} <= known
    assert {"prestop", "stop", "delete", "postdelete"} <= known
    linked = {row.operation for row in rows if row.interface == "cloudify.interfaces.relationship_lifecycle"}
    assert linked == {"preconfigure", "postconfigure", "establish", "unlink"}
