"""Commands that messages propose are about the ensemble that the command was about, so that they can be copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.support.real.hosts import SshHosts

BOX = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    word: { type: string, default: none }
  node_templates:
    box: { type: tosca.nodes.Compute }
"""


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of an ensemble that is not the current one."""
    (tmp_path / "service.yaml").write_text(BOX)
    (tmp_path / "live").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "live"


def test_in_hints_of_errors(run: Run, live: Path) -> None:
    (live / "ensemble.yaml").write_text("spec: { service: .., inputs: { word: { secret: pass } } }\n")
    refused = run("-e", "live", "--env", "", "deploy", "--yes")
    assert refused.code == 3
    assert "`ordito -e live --env '' secrets set pass`" in refused.err
    assert "`ordito secrets" not in refused.err


def test_in_hints_of_diagnostics_for_people_and_programs(run: Run, live: Path) -> None:
    (live / "hosts.yaml").write_text("hosts:\n  small: { connection: local, capabilities: { os: { type: bsd } } }\n")
    (live.parent / "service.yaml").write_text(
        BOX.replace("Compute }", "Compute, capabilities: { os: { properties: { type: linux } } } }")
    )
    for form in ((), ("-o", "json"), ("--json",)):
        refused = run("-e", "live", "deploy", "service.yaml", "--yes", *form)
        assert refused.code == 3
        said = refused.out + refused.err
        assert "`ordito -e live hosts list`" in said
        assert "`ordito hosts" not in said


def test_in_what_hosts_say(run: Run, live: Path, ssh_hosts: SshHosts) -> None:
    with ssh_hosts.some("strange") as (host,):
        (live / "hosts.yaml").write_text(
            f"defaults: {{ user: {host.user}, identity: {host.key}, known_hosts: known_hosts, agent: false }}\n"
            f"hosts:\n  strange: {{ address: {host.address}, port: {host.port} }}\n"
        )
        proposed = "`ordito -e live hosts check --accept-new`"
        checked = run("-e", "live", "hosts", "check")
        assert checked.code == 4
        assert proposed in checked.err
        deployed = run("-e", "live", "deploy", "service.yaml", "--yes")
        assert deployed.code == 4
        assert deployed.err.count(proposed) == 2, "while the job runs, and at its end"
        assert "`ordito hosts" not in deployed.err


def test_a_command_with_an_input_that_is_spelt_wrong_is_proposed_with_the_right_one(run: Run, live: Path) -> None:
    refused = run("-e", "live", "deploy", ".", "-i", "wrod=hidden", "--input=wrd=hidden", "-i", "zzzzz=hidden", "--yes")
    assert refused.code == 3
    assert "ordito -e live deploy . -i 'word=(value)' '--input=word=(value)' -i 'zzzzz=(value)' --yes" in refused.err
    assert "hidden" not in refused.err


KEEPING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    root: { type: string }
    long: { type: string, default: short }
    token: { type: string, metadata: { sensitive: true } }
  node_templates:
    machine: { type: tosca.nodes.Compute }
    kept:
      type: tosca.nodes.DBMS
      properties: { root_password: { get_input: root } }
      requirements: [ host: machine ]
      interfaces:
        Standard:
          operations:
            create:
              implementation: create.sh
              inputs: { ROOT: { get_input: root }, LONG: { get_input: long }, TOKEN: { get_input: token } }
"""


def test_values_that_are_no_secrets_are_repeated_and_others_are_marked(run: Run, live: Path) -> None:
    (live.parent / "service.yaml").write_text(KEEPING)
    (live.parent / "create.sh").write_text(": $ROOT\n")
    asks = run("-e", "live", "deploy", "service.yaml", "-i", "root=a b", "-i", "token=hidden", "--no-input")
    assert asks.code == 64
    assert "deploy service.yaml -i 'root=a b' -i 'token=(value)' --no-input --yes" in asks.err
    first = ("deploy", "service.yaml", "-i", "token=hidden", "--yes")
    assert run("-e", "live", *first, "-i", "root=a b").code == 0
    words = ("-i", "root=c $d", "-i", f"long={'x' * 90}", "--replace", "machine")
    refused = run("-e", "live", *first, *words)
    assert refused.code == 3
    proposed = "-i 'token=(value)' --yes -i 'root=c $d' -i 'long=(value)' --replace machine --allow-data-loss kept_1"
    assert proposed in refused.err
    assert "hidden" not in refused.err


@pytest.mark.parametrize(
    "words", [("deploy", "service.yaml", "-i", "word=(value)"), ("validate", "service.yaml", "-iword=(value)")]
)
def test_a_command_pasted_with_its_marks_is_refused(run: Run, live: Path, words: tuple[str, ...]) -> None:
    refused = run("-e", "live", *words, "--yes")
    assert refused.code == 64
    assert "word=(value) means a value that is not repeated here: write the value itself" in refused.err
    adopted = run("-e", "live", "state", "adopt", "box", "-a", "ip=(value)", "--yes")
    assert adopted.code == 64
    assert "ip=(value) means" in adopted.err
