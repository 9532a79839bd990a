"""Environments: inputs, variables and connections of one deployment in several surroundings, through the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordito.cli import verbs
from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  shop.Cloud:
    properties:
      url: { type: string }
      retries: { type: integer, default: 3 }
topology_template:
  inputs:
    size: { type: integer, default: 1 }
    word: { type: string, default: none }
  node_templates:
    shop:
      type: tosca.nodes.Root
      instance_count: { get_input: size }
      occurrences: [ 0, 9 ]
      interfaces:
        Standard:
          operations:
            create: { implementation: show.sh, inputs: { OWN: mine } }
            delete: show.sh
  outputs:
    size: { value: { get_input: size } }
"""

SPEC = """\
spec:
  service: service.yaml
  environment: dev
  inputs: { size: 1 }
  variables: { LEVEL: info, OWN: theirs, VERSION: 1.10 }
  environments:
    dev: {}
    prod:
      inputs: { size: 3 }
      variables: { LEVEL: warn, REGION: { env: SHOP_REGION } }
      connections:
        my-cloud:
          properties: { url: "https://{{ environment }}.example", user: me }
"""


@pytest.fixture(autouse=True)
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "show.sh").write_text(f"env > {tmp_path}/seen\n")
    (tmp_path / "ensemble.yaml").write_text(SPEC)
    monkeypatch.setenv("SHOP_REGION", "north")
    monkeypatch.delenv("ORDITO_ENV", raising=False)


def seen(folder: Path) -> dict[str, str]:
    """What the last operation found in its environment."""
    return dict(line.split("=", 1) for line in (folder / "seen").read_text().splitlines() if "=" in line)


def test_the_first_environment_is_the_one_that_is_written(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "--yes").out == "size = 1\n"
    found = seen(tmp_path)
    assert (found["LEVEL"], found["VERSION"]) == ("info", "1.10")
    assert found["OWN"] == "mine", "the operation's own inputs win"
    assert "REGION" not in found
    status = run("status", "-o", "json").json
    assert status["environment"] == "dev"
    assert "environment dev" in run("status").out
    assert "environment" in run("jobs", "show").out


def test_an_environment_has_inputs_variables_and_connections(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "--yes", "--env", "prod").out == "size = 3\n"
    found = seen(tmp_path)
    assert (found["LEVEL"], found["REGION"]) == ("warn", "north")
    assert (found["MY_CLOUD_URL"], found["MY_CLOUD_USER"]) == ("https://prod.example", "me")


def test_what_is_deployed_stays_in_its_environment_until_another_is_named(run: Run, tmp_path: Path) -> None:
    run("deploy", "--yes", "--env", "prod")
    again = run("deploy", "--yes")
    assert "Nothing to do" in again.err
    assert "other-environment" not in again.err
    changed = run("plan", "--env", "dev")
    assert changed.code == 0
    assert "environment dev" in changed.out
    assert 'the environment "prod" is deployed, but this is the environment "dev"' in changed.err
    assert "size" in changed.err
    assert run("undeploy", "--yes").code == 0
    assert seen(tmp_path)["LEVEL"] == "warn"
    assert run("deploy", "--yes").out == "size = 1\n", "nothing is deployed any more, so the first one holds again"


def test_none_is_an_environment_too(run: Run, tmp_path: Path) -> None:
    assert run("deploy", "--yes", "--env", "").out == "size = 1\n"
    assert run("status", "-o", "json").json["environment"] == ""
    assert "no environment" not in run("deploy", "--yes").err


def test_the_variable_names_one_and_the_option_wins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDITO_ENV", "prod")
    assert run("plan", "-o", "json").json["environment"] == "prod"
    assert run("plan", "--env", "dev", "-o", "json").json["environment"] == "dev"
    assert run("--env", "dev", "plan", "-o", "json").json["environment"] == "dev"


def test_one_that_does_not_exist_is_refused_with_the_nearest_names(run: Run, tmp_path: Path) -> None:
    refused = run("deploy", "--yes", "--env", "prd")
    assert refused.code == 3
    assert 'did you mean "prod"' in refused.err
    run("deploy", "--yes", "--env", "prod")
    text = (tmp_path / "ensemble.yaml").read_text()
    (tmp_path / "ensemble.yaml").write_text(text.replace("    prod:", "    production:"))
    gone = run("undeploy", "--yes")
    assert gone.code == 3
    assert 'did you mean "production"' in gone.err
    assert run("undeploy", "--yes", "--env", "production").code == 0
    bare = run("deploy", "service.yaml", "-e", "elsewhere", "--yes", "--env", "prod")
    assert bare.code == 3


def test_a_variable_without_value_stops_everything_before_it_begins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_REGION")
    refused = run("deploy", "--yes", "--env", "prod")
    assert refused.code == 3
    assert "ensemble.yaml:10:48" in refused.err
    assert not (tmp_path / "jobs.tsv").exists()
    assert run("plan", "--env", "prod").code == 0, "a plan runs nothing and needs none of it"


def test_remembered_inputs_do_not_leak_from_one_environment_to_another(run: Run) -> None:
    run("deploy", "--yes", "--env", "prod", "-i", "size=5")
    assert "Nothing to do" in run("deploy", "--yes").err
    assert run("deploy", "--yes", "--env", "dev").out == "size = 1\n"
    assert run("deploy", "--yes", "--env", "prod").out == "size = 3\n"


TYPED = SPEC.replace("          properties: {", "          type: shop.Cloud\n          properties: {").replace(
    ", user: me", ""
)


def test_a_connection_may_be_of_a_data_type(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ensemble.yaml").write_text(TYPED)
    assert run("deploy", "--yes", "--env", "prod").code == 0
    assert seen(tmp_path)["MY_CLOUD_RETRIES"] == "3"
    for wrong, said in (
        (TYPED.replace("url:", "ulr:"), '"ulr"'),
        (TYPED.replace("shop.Cloud", "shop.Cluod"), 'did you mean "shop.Cloud"'),
        (TYPED.replace("url:", "retries: many, url:"), "integer"),
    ):
        machine = (tmp_path / "ensemble.yaml").read_text().partition("# ====")
        (tmp_path / "ensemble.yaml").write_text(wrong + "".join(machine[1:]))
        refused = run("undeploy", "--yes")
        assert refused.code == 3
        assert said in refused.err
        assert "ensemble.yaml:1" in refused.err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("LEVEL: warn", "INSTANCE: warn", "every operation has already"),
        ("LEVEL: warn", "ORDITO_X: warn", "begins with ORDITO_"),
        ("LEVEL: warn", "a-b: warn", "not a valid name of a variable"),
        ("inputs: { size: 3 }", "input: { size: 3 }", '"inputs"'),
        ("inputs: { size: 3 }", "inputs: [ size ]", "is a map"),
        ("inputs: { size: 3 }", "lock: got", '"git"'),
        ("environment: dev", "environment: deb", 'did you mean "dev"'),
        ("user: me", "URL: me", "would be the variable of"),
        ("my-cloud", "9", "not a valid name of a variable"),
        ("properties:", "propertys:", '"properties"'),
    ],
)
def test_what_cannot_be_is_said_at_its_place(run: Run, tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "ensemble.yaml").write_text(SPEC.replace(old, new))
    for verb in (("deploy", "--yes"), ("validate",)):
        refused = run(*verb)
        assert refused.code == 3
        assert "ensemble.yaml:" in refused.err
        assert said in refused.err


def test_validate_looks_at_all_environments(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_REGION")
    checked = run("validate")
    assert checked.code == 0
    assert "warning[unset-variable]" in checked.err
    for old, new, place, said in (
        ("size: 3", "size: many", "9:23", "integer"),
        ("size: 3", "sise: 3", "9:23", 'did you mean "size"'),
        ("{{ environment }}", "{{ environmemt }}", "13:", "undefined"),
    ):
        (tmp_path / "ensemble.yaml").write_text(SPEC.replace(old, new))
        refused = run("validate")
        assert refused.code == 3, new
        assert f"ensemble.yaml:{place}" in refused.err
        assert said in refused.err


def test_where_nothing_depends_on_the_environment_the_one_that_is_deployed_stays(run: Run, tmp_path: Path) -> None:
    run("deploy", "--yes", "--env", "dev")
    again = run("deploy", "--yes", "--env", "")
    assert "Nothing to do" in again.err
    assert 'the environment "dev" stays' in again.err
    assert run("status", "-o", "json").json["environment"] == "dev"


def test_every_verb_that_plans_hears_of_the_environment() -> None:
    """A global option means the same everywhere."""
    folder = Path(verbs.__file__).parents[1]
    planning = [
        f for f in folder.rglob("*.py") if re.search(r"\b(Workflow|Plan)Request\(", f.read_text(encoding="utf-8"))
    ]
    assert len(planning) >= 3
    deaf = [file.name for file in planning if "wanted_environment" not in file.read_text(encoding="utf-8")]
    assert not deaf, f"{deaf} should hand session.settings.wanted_environment on"


def test_what_failed_is_tried_again_in_its_environment(run: Run, tmp_path: Path) -> None:
    (tmp_path / "show.sh").write_text("exit 1\n")
    assert run("deploy", "--yes", "--env", "prod").code == 1
    assert run("plan", "-o", "json").json["environment"] == "prod"


def test_checks_are_made_in_the_environment_that_is_deployed(run: Run, tmp_path: Path) -> None:
    text = SERVICE.replace("topology_template:", "imports: [ profile:ordito ]\ntopology_template:")
    maintain = "        Maintain: { type: ordito.interfaces.Maintain, operations: { check: show.sh } }\n"
    text = text.replace("  outputs:", f"{maintain}  outputs:")
    (tmp_path / "service.yaml").write_text(text)
    assert run("deploy", "--yes", "--env", "prod").code == 0
    (tmp_path / "seen").unlink()
    assert run("check").code == 0
    assert seen(tmp_path)["LEVEL"] == "warn"
    assert run("check", "--env", "dev").code == 0
    assert seen(tmp_path)["LEVEL"] == "info"
    assert run("status", "-o", "json").json["environment"] == "prod", "looking moves nothing"


def test_secrets_reach_operations_and_nothing_else(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From inputs, templates made of them, variables and connections; also where only the type says that it is one."""
    pytest.importorskip("cryptography")
    (tmp_path / "service.yaml").write_text(SERVICE.replace("OWN: mine", "word: { get_input: word }"))
    (tmp_path / "show.sh").write_text('echo "word=$word pw=$PW token=$CLOUD_TOKEN"\n')
    (tmp_path / "ensemble.yaml").write_text(
        "spec:\n  service: service.yaml\n  variables: { PW: { secret: pw } }\n"
        '  inputs: { size: 1, word: "x-{{ inputs.size }}" }\n'
        "  environments:\n    prod:\n      inputs: { word: { secret: pw } }\n"
        "      connections:\n        cloud:\n          type: tosca.datatypes.Credential\n"
        "          properties: { user: me, token: { env: CLOUD_TOKEN } }\n"
    )
    monkeypatch.setenv("CLOUD_TOKEN", "canary-typed")
    (tmp_path / "value").write_text("canary-kept")
    assert run("secrets", "set", "pw", "--file", tmp_path / "value").code == 0
    (tmp_path / "value").unlink()
    done = run("deploy", "--yes", "-v", "--env", "prod")
    assert done.code == 0, done.err
    assert "word=(sensitive) pw=(sensitive) token=(sensitive)" in done.err
    shown = run("spec")
    assert "CLOUD_USER        me" in shown.out
    said = done.out + done.err + shown.out + shown.err
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert "canary" not in said
    assert b"canary" not in written
