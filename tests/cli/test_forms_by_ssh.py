"""An upgrade on hosts: what is stopped runs the script of then, and what is started that of now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.cli.test_hosts_by_ssh import Pool
from tests.support.real.hosts import SshHosts

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { word: { type: string, default: one } }
  node_templates:
    box: { type: tosca.nodes.Compute }
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: box } ]
      interfaces:
        Standard:
          inputs: { word: { get_input: word } }
          operations: { start: do.sh, stop: do.sh }
"""


@pytest.fixture
def pool(tmp_path: Path, ssh_hosts: SshHosts, run: Run) -> Iterator[Pool]:
    with ssh_hosts.some("form-a") as hosts:
        pool = Pool(tmp_path, hosts, run)
        (tmp_path / "service.yaml").write_text(SERVICE)
        assert run("hosts", "check", "--accept-new").code == 0
        yield pool


def write(pool: Pool, version: str) -> None:
    fails = '[ "$ORDITO_STEP" != app_1.Standard.start ]' if version == "v2" else "true"
    (pool.place / "do.sh").write_text(f'echo {version} $word "${{ORDITO_STEP##*.}}" >> "$HOME/log"\n{fails}\n')


def test_what_is_on_a_host_is_stopped_by_the_script_that_started_it(pool: Pool) -> None:
    write(pool, "v1")
    assert pool.run("deploy", "--yes").code == 0
    write(pool, "v2")
    back = pool.run("upgrade", "--yes", "-i", "word=two", "--on-failure", "rollback")
    assert back.code == 7, back.err
    said = (pool.hosts["form-a"].home_outside / "log").read_text().splitlines()
    assert said == ["v1 one start", "v1 one stop", "v2 two start", "v2 two stop", "v1 one start"]
    assert json.loads(pool.run("status", "-o", "json").out)["revision"] == 1
    assert pool.run("undeploy", "--yes").code == 0
