"""What messages must not show: other files' contents, passwords, and values of inputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.program import Run

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
FORMATS = ("text", "json", "yaml", "github", "sarif")


def written(folder: Path, text: str) -> Path:
    path = folder / "service.yaml"
    path.write_text(HEAD + text)
    return path


@pytest.mark.parametrize("content", ["root:x:0:hunter2\nother:x\n", "key: hunter2\n", "- [ hunter2\n", b"\xffhunter2"])
@pytest.mark.parametrize("form", FORMATS)
def test_other_files(run: Run, tmp_path: Path, content: str | bytes, form: str) -> None:
    """R-3.6.8-1: of an imported file that is no service template nothing is shown but its name."""
    (tmp_path / "secret").write_bytes(content.encode() if isinstance(content, str) else content)
    for name in (written(tmp_path, "imports: [ secret ]\n"), tmp_path / "secret"):
        done = run("validate", name, "-o", form)
        assert done.code == 3
        assert "hunter2" not in done.out + done.err
        assert "is not a service template" in done.out + done.err
    if form == "text":
        assert done.err.count("error[") == 1
    (tmp_path / "secret").write_text(HEAD + "topology_template: [ unfinished\n")
    assert "is not a service template" not in run("validate", written(tmp_path, "imports: [ secret ]\n")).err


@pytest.mark.parametrize("form", FORMATS)
def test_passwords_in_urls(run: Run, tmp_path: Path, form: str) -> None:
    """R-3.6.8-1: a password in a URL is refused, and not shown by the refusal."""
    done = run("validate", written(tmp_path, 'imports: [ "http://user:hunter2@example.org/a.yaml" ]\n'), "-o", form)
    assert done.code == 3
    assert "hunter2" not in done.out + done.err


INPUTS = """\
topology_template:
  inputs:
    db_password: { type: integer, metadata: { sensitive: true } }
    words: { type: string, constraints: [ max_length: 3 ], metadata: { sensitive: true } }
    port: { type: integer, default: 1 }
"""


@pytest.mark.parametrize("option", [("-i", "{}"), ("--input={}",), ("-i{}",), ("-qi", "{}"), ("--input", "{}")])
@pytest.mark.parametrize("name", ["db_password", "words"])
def test_values_of_inputs(run: Run, tmp_path: Path, option: tuple[str, ...], name: str) -> None:
    """R-3.6.11-1: a value that was given is not repeated, and one of a sensitive input is not shown at all."""
    words = [word.format(f"{name}=hunter2") for word in option]
    done = run("validate", written(tmp_path, INPUTS), *words)
    assert done.code == 3
    assert "error[bad-value]" in done.err
    assert "hunter2" not in done.err
    assert f"{name}=(value)" in done.err
    file = tmp_path / "values.yaml"
    file.write_text(f"{name}: hunter2\n")
    done = run("validate", written(tmp_path, INPUTS), "-I", file)
    assert done.code == 3
    assert "hunter2" not in done.err
    shown = run("validate", written(tmp_path, INPUTS), "-i", "port=eighty")
    assert "port=(value)" in shown.err


def test_what_is_valid_and_not_carried_out(run: Run, tmp_path: Path) -> None:
    """R-7.1-1: what planning refuses is a note when a service is checked."""
    text = """\
imports: [ inner.yaml ]
topology_template:
  node_templates: { a: { type: my.Inner, directives: [ substitute ], occurrences: [ 1, 2 ] } }
  policies: [ p: { type: tosca.policies.Update, targets: [ a ] } ]
"""
    (tmp_path / "inner.yaml").write_text("""\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types: { my.Inner: { derived_from: tosca.nodes.Root } }
topology_template:
  substitution_mappings: { node_type: my.Inner }
  node_templates: { x: { type: tosca.nodes.Root } }
""")
    done = run("validate", written(tmp_path, text), "--strict")
    assert done.code == 0, done.err
    assert "note[not-supported-yet]" in done.err
    assert "note[not-enforced]" in done.err


@pytest.mark.parametrize(
    "verb", [("validate", "service.yaml"), ("deploy", "service.yaml", "--yes"), ("deploy", "--yes")]
)
@pytest.mark.parametrize("content", ["dbpassword: hunter2", "words: 'hunter2", "words: [ x, hunter2}", "- hunter2: ["])
def test_a_file_of_inputs_with_faults(run: Run, tmp_path: Path, verb: tuple[str, ...], content: str) -> None:
    """R-3.6.11-1: what is given under a mistyped name, or in a file that cannot be read, may be a secret."""
    written(tmp_path, INPUTS)
    if "service.yaml" not in verb:
        (tmp_path / "ensemble.yaml").write_text("spec: { service: service.yaml }\n")
    (tmp_path / "given.yaml").write_text(f"{content}\n")
    done = run(*verb, "-I", "given.yaml")
    assert done.code == 3
    assert "given.yaml:1:" in done.err
    assert "hunter2" not in done.out + done.err


def test_a_mistyped_name(run: Run, tmp_path: Path) -> None:
    """R-3.6.11-1: the value of an input that does not exist is not shown: it may be a secret with its name mistyped."""
    done = run("validate", written(tmp_path, INPUTS), "-i", "db_pasword=hunter2")
    assert done.code == 3
    assert 'did you mean "db_password"' in done.err
    assert "hunter2" not in done.out + done.err


def test_what_is_made_of_an_input_that_is_declared_sensitive(run: Run, tmp_path: Path) -> None:
    """R-3.6.11-1: a template string in `ensemble.yaml` that holds a sensitive input, also one that does so through
    another, gives what is sensitive."""
    nodes = "  node_templates: { n: { type: tosca.nodes.Root } }\n"
    outputs = "  outputs: { a: { value: { get_input: a } }, b: { value: { get_input: b } } }\n"
    strings = "    a: { type: string }\n    b: { type: string }\n"
    written(
        tmp_path,
        INPUTS.replace("    port:", f"{strings}    port:").replace("max_length: 3", "max_length: 9") + nodes + outputs,
    )
    spec = ["service: service.yaml", 'inputs: { db_password: 1, a: "x{{ inputs.words }}", b: "y{{ inputs.a }}" }']
    (tmp_path / "ensemble.yaml").write_text("spec:\n" + "".join(f"  {line}\n" for line in spec))
    for verb in (("plan",), ("deploy", "--yes"), ("status", "-o", "json"), ("output",), ("spec",), ("state", "export")):
        done = run(*verb, *(("-i", "words=hunter2") if verb[0] in {"plan", "deploy"} else ()))
        assert done.code == 0, done.err
        assert "hunter2" not in done.out + done.err
    assert run("output", "b", "--reveal").out == "yxhunter2\n"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path.name for path in files if b"hunter2" in path.read_bytes()]


@pytest.mark.parametrize(
    "template",
    ["[1, 2][inputs.words]", "ensemble[inputs.words]", "env[inputs.words]", "inputs[inputs.a]", "{}[inputs.a]"],
)
def test_what_is_wrong_with_a_template_repeats_no_value_of_an_input(run: Run, tmp_path: Path, template: str) -> None:
    """R-3.6.11-1: the service is not known yet, and so not which inputs it declares sensitive."""
    written(tmp_path, INPUTS)
    spec = ["service: service.yaml", f'inputs: {{ a: "x{{{{ inputs.words }}}}", b: "y{{{{ {template} }}}}" }}']
    (tmp_path / "ensemble.yaml").write_text("spec:\n" + "".join(f"  {line}\n" for line in spec))
    done = run("deploy", "--yes", "-i", "words=hunter2")
    assert done.code == 3
    assert "bad-template" in done.err
    assert "hunter2" not in done.out + done.err


def test_an_inherited_default_that_does_not_fit(run: Run, tmp_path: Path) -> None:
    """R-3.6.10-5: also where an external schema says what is wrong with it."""
    service = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  a.Base:
    derived_from: tosca.nodes.Root
    properties:
      word: { type: json, metadata: { sensitive: true }, default: '{"word": "hunter2"}' }
  a.Derived:
    derived_from: a.Base
    properties:
      word:
        type: json
        metadata: { sensitive: true }
        constraints: [ { schema: '{"properties": {"word": {"enum": ["x"]}}}' } ]
topology_template:
  node_templates: { n: { type: a.Derived } }
"""
    (tmp_path / "service.yaml").write_text(service)
    for form in ("text", "json"):
        done = run("validate", "service.yaml", "-o", form)
        assert done.code == 3
        assert "does not fit" in done.out + done.err
        assert "hunter2" not in done.out + done.err


@pytest.mark.parametrize("arguments", [("password", "hunter2"), ("password=hunter2",)])
def test_a_secret_on_the_command_line(run: Run, arguments: tuple[str, ...]) -> None:
    """A value that was given where it does not belong is refused and not repeated."""
    done = run("secrets", "set", *arguments)
    assert done.code == 64
    assert "give the name only" in done.err
    assert "hunter2" not in done.out + done.err


def test_a_clone_without_the_key_does_not_say_that_nothing_is_deployed(run: Run, tmp_path: Path) -> None:
    service = tmp_path / "service.yaml"
    service.write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  inputs: { word: { type: string, metadata: { sensitive: true } } }\n"
        "  node_templates: { a: { type: tosca.nodes.Root } }\n"
    )
    assert run("-e", "one", "deploy", service, "-i", "word=secret-word", "--yes").code == 0
    shutil.copytree("one", "two", ignore=shutil.ignore_patterns(".ordito"))
    shown = run("-e", "two", "status")
    assert shown.out.startswith("a service that cannot be read here  ")
    assert "nothing is deployed" not in shown.out
    assert "the key that opens it is not here" in shown.err
