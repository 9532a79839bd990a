"""What the user's part of an ensemble says, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    region: { type: string }
    size: { type: integer, default: 1 }
  node_templates:
    shop:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create:
              implementation: show.sh
              inputs: { region: { get_input: region } }
  outputs:
    region: { value: { get_input: region } }
    size: { value: { get_input: size } }
"""


@pytest.fixture(autouse=True)
def service(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "show.sh").write_text("echo region is $region\nenv > environment.txt\n")


def written(folder: Path, text: str) -> None:
    (folder / "ensemble.yaml").write_text(text)


SPEC = "spec:\n  service: service.yaml\n  inputs:\n    region: { env: SHOP_REGION }\n"


def test_a_variable_is_read_at_each_command(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, SPEC)
    refused = run("deploy", "--yes")
    assert refused.code == 3
    assert "ensemble.yaml:4:20" in refused.err
    assert '"SHOP_REGION" is not set' in refused.err
    monkeypatch.setenv("SHOP_REGION", "north")
    assert run("deploy", "--yes").out == "region = north\nsize   = 1\n"
    assert (tmp_path / "ensemble.yaml").read_text().startswith(SPEC)
    monkeypatch.delenv("SHOP_REGION")
    assert run("undeploy", "--yes").code == 0


def test_what_a_command_gives_wins_and_then_nothing_is_read(run: Run, tmp_path: Path) -> None:
    written(tmp_path, SPEC)
    assert run("deploy", "--yes", "-i", "region=south", "-i", "size=2").out == "region = south\nsize   = 2\n"


def test_validate_warns_of_what_is_only_not_there_on_this_machine(run: Run, tmp_path: Path) -> None:
    written(tmp_path, SPEC)
    checked = run("validate")
    assert checked.code == 0
    assert "warning[unset-variable]" in checked.err
    assert run("validate", "--strict").code == 3


def test_what_the_first_deployment_writes_is_read_as_it_was_given(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "service.yaml", "--yes", "-i", "region={{ none }}").out.startswith("region = {{ none }}\n")
    assert "literal" in (tmp_path / "ensemble.yaml").read_text()
    assert "Nothing to do" in run("deploy", "--yes").err


def test_templates_are_evaluated_here_and_are_text_in_service_templates(run: Run, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE.replace("{ get_input: size }", '"{{ inputs.size }}"'))
    written(tmp_path, SPEC.replace("{ env: SHOP_REGION }", '"{{ inputs.size }}-{{ ensemble.name }}"') + "    size: 3\n")
    done = run("deploy", "--yes")
    assert done.out == f"region = 3-{tmp_path.name}\nsize   = {{{{ inputs.size }}}}\n", done.err


def test_a_template_that_has_no_value_is_shown_with_its_line(run: Run, tmp_path: Path) -> None:
    written(tmp_path, SPEC.replace("{ env: SHOP_REGION }", '"x{{ inputs.sise }}"') + "    size: 3\n")
    refused = run("deploy", "--yes")
    assert refused.code == 3
    assert "ensemble.yaml:4:15" in refused.err
    assert 'did you mean "size"' in refused.err
    assert "{{ inputs.sise }}" in refused.err
    assert not (tmp_path / ".ordito").exists() or not (tmp_path / "jobs.tsv").exists()


@pytest.mark.parametrize("inputs", ["[x, y}", "{ size: 3 ]", '{ region: "x }'])
def test_a_fault_of_yaml_in_the_ensembles_file_is_shown(run: Run, tmp_path: Path, inputs: str) -> None:
    written(tmp_path, f"spec:\n  service: service.yaml\n  inputs: {inputs}\n")
    for verb in (("spec",), ("validate",), ("plan",), ("deploy", "--yes")):
        refused = run(*verb)
        assert refused.code == 3
        assert "error[yaml-syntax]" in refused.err
        assert "ensemble.yaml:3:" in refused.err


def test_what_is_written_anyway_is_not_remembered(run: Run, tmp_path: Path) -> None:
    """As after a first deployment that was killed when it had written ensemble.yaml, and is given again."""
    written(tmp_path, "spec:\n  service: service.yaml\n  inputs:\n    region: north\n    size: 2\n")
    assert run("deploy", "--yes", "-i", "region=south").code == 0
    assert "given:" in (tmp_path / "ensemble.yaml").read_text()
    deployed = run("deploy", "--yes", "-i", "region=north", "-i", "size=2")
    assert deployed.out == "region = north\nsize   = 2\n"
    assert "given:" not in (tmp_path / "ensemble.yaml").read_text()
    assert "earlier command" not in run("plan").err
