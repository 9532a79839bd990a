"""Mistakes of users, and failures of their scripts: what the program says, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.program import ordito

VERSION = "tosca_definitions_version: tosca_simple_yaml_1_3"

MISTAKEN = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    port:
      type: integer
      default: eighty
  node_templates:
    machine:
      type: tosca.nodes.Comptue
    server:
      type: tosca.nodes.WebServer
      propertys: {}
      requirements:
        - host: compute
    compute:
      type: tosca.nodes.Compute
      capabilities:
        host:
          properties:
            num_cpuss: 2
    application:
      type: tosca.nodes.WebApplication
      properties:
        context_root: { get_input: prot }
      requirements:
        - host: sever
"""

FAILING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    good:
      type: tosca.nodes.Root
      interfaces: { Standard: { operations: { create: good.sh, delete: good.sh } } }
    bad:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create: bad.sh
            delete: good.sh
    after:
      type: tosca.nodes.Root
      requirements:
        - dependency: bad
      interfaces: { Standard: { operations: { create: good.sh } } }
"""


def test_all_mistakes_of_a_file_are_shown_at_once(tmp_path: Path) -> None:
    """Position, excerpt and suggestion for each; exit code 3; nothing is touched."""
    service = tmp_path / "service.yaml"
    service.write_text(MISTAKEN, encoding="utf-8")
    for verb in ("validate", "plan", "deploy"):
        options = ["-e", str(tmp_path / "ensemble"), *(["--yes"] if verb == "deploy" else [])]
        refused = ordito(tmp_path, verb, "service.yaml", *(options if verb != "validate" else []))
        assert refused.code == 3, refused.both
        for place, suggestion in (
            ("6:16", "80"),
            ("9:13", "tosca.nodes.Compute"),
            ("12:7", "properties"),
            ("20:13", "num_cpus"),
            ("24:36", "port"),
            ("26:17", "server"),
        ):
            assert f"service.yaml:{place}" in refused.err, refused.err
            assert suggestion in refused.err
        assert refused.err.count("error[") == 6, refused.err
        assert "Traceback" not in refused.both
        assert not (tmp_path / "ensemble").exists()


def test_an_unclosed_bracket_is_shown_with_the_other_mistakes_of_its_file(tmp_path: Path) -> None:
    """Where it should be closed, on the line on which it was opened; what follows is read all the same."""
    service = tmp_path / "service.yaml"
    service.write_text(
        f"{VERSION}\nmetadata: {{ template_name: broken\ntopology_template:\n  inptus: {{}}\n",
        encoding="utf-8",
    )
    refused = ordito(tmp_path, "validate", "service.yaml")
    assert refused.code == 3
    assert "service.yaml:2" in refused.err
    assert "metadata: { template_name: broken" in refused.err
    assert "}" in refused.err
    assert "service.yaml:4:3" in refused.err
    assert '"inputs"' in refused.err
    assert refused.err.count("error[") == 2, refused.err


def test_a_failing_script_fails_the_job_and_nothing_else(tmp_path: Path) -> None:
    """Exit code 1, its last lines, where it is declared; what does not depend on it is deployed, and undeployed."""
    (tmp_path / "service.yaml").write_text(FAILING, encoding="utf-8")
    (tmp_path / "good.sh").write_text("#!/bin/bash\necho $NODE >> $HOME/good.log\n", encoding="utf-8")
    (tmp_path / "bad.sh").write_text("#!/bin/bash\necho preparing\necho it broke >&2\nexit 7\n", encoding="utf-8")
    failed = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert failed.code == 1, failed.both
    assert "it broke" in failed.err
    assert "exit 7" in failed.err
    assert "service.yaml:12" in failed.err
    assert "Traceback" not in failed.both
    assert (tmp_path / "good.log").read_text() == "good\n"

    status = ordito(tmp_path, "status", "-e", "ensemble", "-o", "json")
    assert status.code == 0
    assert '"error"' in status.out

    undeployed = ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes")
    assert undeployed.code == 0, undeployed.both
    assert sorted((tmp_path / "good.log").read_text().split()) == ["bad", "good", "good"]


def test_a_deployment_goes_on_where_a_failure_stopped_it(tmp_path: Path) -> None:
    """What succeeded is not run again; what failed is."""
    (tmp_path / "service.yaml").write_text(FAILING, encoding="utf-8")
    (tmp_path / "good.sh").write_text("#!/bin/bash\necho $NODE >> $HOME/good.log\n", encoding="utf-8")
    (tmp_path / "bad.sh").write_text("#!/bin/bash\ntest -e $HOME/mended\n", encoding="utf-8")
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 1
    (tmp_path / "mended").touch()
    second = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert second.code == 0, second.both
    assert (tmp_path / "good.log").read_text() == "good\nafter\n"


def test_unknown_inputs_are_refused_with_a_suggestion(tmp_path: Path) -> None:
    """A slip in an input's name never deploys the default."""
    (tmp_path / "service.yaml").write_text(
        f"{VERSION}\ntopology_template:\n  inputs:\n    port: {{ type: integer, default: 80 }}\n",
        encoding="utf-8",
    )
    refused = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes", "-i", "prot=81")
    assert refused.code == 3
    assert '"port"' in refused.err
    wrong = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes", "-i", "port=many")
    assert wrong.code == 3
    assert "integer" in wrong.err
