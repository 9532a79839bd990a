"""What messages must not show: other files' contents, passwords, and values of inputs."""

from __future__ import annotations

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
        assert "is no service template" in done.out + done.err
    if form == "text":
        assert done.err.count("error[") == 1
    (tmp_path / "secret").write_text(HEAD + "topology_template: [ unfinished\n")
    assert "is no service template" not in run("validate", written(tmp_path, "imports: [ secret ]\n")).err


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
    assert f"{name}=..." in done.err
    file = tmp_path / "values.yaml"
    file.write_text(f"{name}: hunter2\n")
    done = run("validate", written(tmp_path, INPUTS), "-I", file)
    assert done.code == 3
    assert "hunter2" not in done.err
    shown = run("validate", written(tmp_path, INPUTS), "-i", "port=eighty")
    assert "port=..." in shown.err


def test_what_is_valid_and_not_carried_out(run: Run, tmp_path: Path) -> None:
    """R-7.1-1: what planning refuses is a note when a service is checked."""
    text = """\
topology_template:
  node_templates: { a: { type: tosca.nodes.Root } }
  policies: [ p: { type: tosca.policies.Scaling, targets: [ a ] } ]
  workflows: { deploy: { steps: { s: { target: a, activities: [ set_state: started ] } } } }
"""
    done = run("validate", written(tmp_path, text), "--strict")
    assert done.code == 0, done.err
    assert "note[not-supported-yet]" in done.err
    assert "note[not-enforced]" in done.err
