"""`ordito spec`: what the user's part comes to; and the one that `ordito init` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.inputs import variables
from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    size: { type: integer, default: 1 }
    url: { type: string, required: false }
    token: { type: string, required: false }
    password: { type: string, required: false, metadata: { sensitive: "true" } }
  node_templates:
    shop:
      type: tosca.nodes.Root
      instance_count: { get_input: size }
      occurrences: [ 0, 9 ]
"""

SPEC = """\
spec:
  service: service.yaml
  +base.yaml:
  inputs:
    url: "https://{{ environment | default('none') }}.example"
    password: { env: SHOP_PASSWORD }
  environments:
    prod:
      inputs: { size: 3, token: { secret: shop } }
      connections: { cloud: { properties: { user: me, token: { secret: cloud } } } }
"""


class Kept:
    """Secrets that are simply there."""

    def value(self, name: str) -> object:
        return f"canary-{name}"


@pytest.fixture(autouse=True)
def ensemble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "ensemble.yaml").write_text(SPEC)
    (tmp_path / "base.yaml").write_text("variables: { LEVEL: info }\ninputs: { size: 2 }\n")
    monkeypatch.setenv("SHOP_PASSWORD", "canary-password")
    monkeypatch.setattr(variables, "secrets_of", lambda _: Kept())


def test_what_it_comes_to_is_shown_with_its_places(run: Run, tmp_path: Path) -> None:
    shown = run("spec")
    assert shown.code == 0, shown.err
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["service", "service.yaml"] in lines
    assert ["size", "2", "base.yaml:2:17"] in lines
    assert ["url", "https://none.example", "ensemble.yaml:5:10"] in lines
    assert ["password", "(sensitive)", "ensemble.yaml:6:15"] in lines
    assert ["LEVEL", "info"] in lines
    assert not (tmp_path / ".ordito").exists()


def test_an_environment_is_shown_for_programs_without_a_secret(run: Run, tmp_path: Path) -> None:
    shown = run("spec", "--env", "prod", "-o", "json")
    assert shown.code == 0, shown.err
    data = shown.json
    assert data["environment"] == "prod"
    assert data["inputs"]["size"] == {"value": 3, "origin": "ensemble.yaml:9:23"}
    assert data["inputs"]["token"]["value"] == "(sensitive)"
    assert data["variables"] == {"CLOUD_TOKEN": "(sensitive)", "CLOUD_USER": "me", "LEVEL": "info"}
    assert data["files"] == [str(tmp_path / "base.yaml")]
    assert "canary" not in shown.out + shown.err


def test_what_is_not_here_is_said_and_the_rest_is_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_PASSWORD")
    shown = run("spec")
    assert shown.code == 0
    assert "warning[unset-variable]" in shown.err
    assert "https://none.example" in shown.out
    (tmp_path / "ensemble.yaml").write_text(SPEC.replace("environment |", "environmemt |"))
    wrong = run("spec")
    assert wrong.code == 0, "default() takes what is not there"
    (tmp_path / "ensemble.yaml").write_text(SPEC.replace("{{ environment", "{{ 1 / 0"))
    wrong = run("spec")
    assert wrong.code == 3
    assert "division by zero" in wrong.err
    assert "base.yaml:2:17" in wrong.out


def test_where_the_service_cannot_be_read_only_what_stands_there_is_shown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text("broken: [")
    shown = run("spec", "--env", "prod")
    assert "canary" not in shown.out + shown.err
    lines = [line.split() for line in shown.out.splitlines()]
    assert ["size", "3", "ensemble.yaml:9:23"] in lines
    assert ["url", "(sensitive)", "ensemble.yaml:5:10"] in lines


def test_what_a_command_gave_is_shown_as_that(run: Run) -> None:
    assert run("deploy", "--yes", "-i", "size=4").code == 0
    lines = [line.split() for line in run("spec").out.splitlines()]
    assert ["size", "4", "given", "with", "an", "earlier", "command"] in lines


def test_no_ensemble_is_refused(run: Run) -> None:
    assert run("spec", "-e", "nowhere").code == 3


def test_what_init_writes_is_valid_and_so_is_what_it_proposes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("init", "first").code == 0
    monkeypatch.chdir(tmp_path / "first")
    path = tmp_path / "first" / "ensemble.yaml"
    text = path.read_text()
    assert run("validate", "--strict").code == 0
    monkeypatch.setenv("USER", "ada")
    (path.parent / "name.txt").write_text("from a file\n")
    proposals = [line for line in text.splitlines() if line.startswith("  #   name:")]
    assert len(proposals) == 4
    for proposal in proposals:
        path.write_text(text.replace("  # inputs:\n", "  inputs:\n").replace(proposal, f"    {proposal[6:]}"))
        assert run("validate", "--strict").code == 0, proposal
    begin = text.index("  # environment: test")
    lines = text[begin:].replace("  # ", "  ").splitlines()
    path.write_text(text[:begin] + "\n".join(line for line in lines if "What several" not in line))
    assert run("validate", "--strict").code == 0
    assert run("deploy", "--yes", "--env", "production").out == "greeting = Hello, everybody!\n"
