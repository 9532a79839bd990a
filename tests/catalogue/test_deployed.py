"""Blocks that come with the program, and those of the examples, as steps of real jobs."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.answering import Answering
from tests.support.forked import start

EXAMPLE = Path(__file__).parents[2] / "examples" / "catalogue"
SECRET = "services/geheim"

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:blocks ]
node_types:
  shop.Database: { derived_from: tosca.nodes.Root, attributes: { address: { type: string } } }
topology_template:
  inputs:
    webhook: { type: string, metadata: { sensitive: "true" } }
    page: { type: string }
  node_templates:
    database:
      type: shop.Database
      attributes: { address: 10.0.0.7 }
  policies:
    - migrate:
        type: ordito.dev/lifecycle/data@v1#Migrate
        targets: [ database ]
        properties:
          phase: install.before
          config: { database: "HERE/shop.db", create: true, migrations: migrations }
    - names:
        type: ordito.dev/lifecycle/dns@v1#RegisterHosts
        properties:
          phase: install.after
          config: { file: HERE/hosts, names: [ db ], address: { get_attribute: [ database, address ] } }
    - told:
        type: ordito.dev/lifecycle/notify@v1#Slack
        properties: { phase: install.after, config: { url: { get_input: webhook }, text: up } }
    - smoke:
        type: ordito.dev/lifecycle/test@v1#SmokeTest
        properties:
          phase: install.after
          onFailure: rollback
          config: { endpoints: [ { url: { get_input: page } } ] }
"""

SEED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template: { node_templates: { database: { type: tosca.nodes.Root }, api: { type: tosca.nodes.Root } } }
"""
SEED_STEPS = {
    "components": {
        "database": {
            "install": {
                "before": [
                    {
                        "fqn": "opm.dev/lifecycle/data@v0#Backup",
                        "description": "Backup before schema change",
                        "config": {"target": "s3://backups", "stores": "HERE/stores", "path": "HERE/service.yaml"},
                    },
                    {
                        "fqn": "opm.dev/lifecycle/data@v0#Migrate",
                        "description": "Run schema migrations",
                        "onFailure": "rollback",
                    },
                ]
            }
        }
    },
    "module": {
        "install": {
            "after": [
                {
                    "fqn": "opm.dev/lifecycle/test@v0#IntegrationTest",
                    "description": "Verify API can talk to DB",
                    "config": {"endpoints": ["PAGE", "PORT"]},
                },
                {
                    "fqn": "opm.dev/lifecycle/notify@v0#Slack",
                    "description": "Notify team of success",
                    "onFailure": "continue",
                },
            ]
        }
    },
}


def ordito(folder: Path, *words: str) -> tuple[int, str]:
    """A command of the program in a folder; its exit code, and what it said."""
    process = start(folder, {"HOME": str(folder), "no_proxy": "*", "PATH": os.environ["PATH"]}, words)
    return process.wait(60), "".join(process.communicate(60))


@pytest.mark.parametrize("is_well", [True, False])
def test_blocks_of_the_program(tmp_path: Path, is_well: bool) -> None:
    """They do their work in the order of their phases; where a test fails, all of it is undone. No secret is seen."""
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n")
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "001_t.up.sql").write_text("CREATE TABLE t (n);")
    (tmp_path / "migrations" / "001_t.down.sql").write_text("DROP TABLE t;")
    (tmp_path / "service.yaml").write_text(SERVICE.replace("HERE", str(tmp_path)))
    with Answering(lambda path, _: (500 if path == "/page" and not is_well else 200, "")) as server:
        given = [f"webhook={server.url}/{SECRET}", f"page={server.url}/page"]
        words = ["deploy", "service.yaml", "-e", "shop", "--yes", *(w for pair in given for w in ("-i", pair))]
        code, said = ordito(tmp_path, *words)
    assert code == (0 if is_well else 7), said
    sent = [json.loads(asked.body)["text"] for asked in server.asked if asked.path == f"/{SECRET}"]
    assert sent == (["up"] if is_well else ["up", "Taken back: up"])
    added = "10.0.0.7 db # by ordito\n" if is_well else ""
    assert (tmp_path / "hosts").read_text() == f"127.0.0.1 localhost\n{added}"
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        assert connection.execute("SELECT name FROM ordito_migrations").fetchall() == ([("001_t",)] if is_well else [])
    assert SECRET not in said
    shown = [file for file in (tmp_path / "shop").rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert shown == []


def test_steps_as_the_seed_writes_them(tmp_path: Path) -> None:
    """A file of steps in its own words runs with the catalogue of the examples."""
    (tmp_path / "service.yaml").write_text(SEED)
    with Answering() as server:
        steps = json.dumps(SEED_STEPS).replace("HERE", str(tmp_path))
        steps = steps.replace("PAGE", server.url).replace("PORT", server.url.replace("http", "postgres"))
        (tmp_path / "lifecycle.json").write_text(steps)
        code, said = ordito(tmp_path, "deploy", "service.yaml", "-e", "shop", "--yes", "--catalog", str(EXAMPLE))
    assert code == 0, said
    assert len(list((tmp_path / "stores" / "backups").iterdir())) == 1
    assert len(server.asked) == 1
    job = said.partition(", job ")[2].partition(":")[0]
    logs = ordito(tmp_path, "-e", "shop", "jobs", "logs", job)[1]
    assert "notification: install.after of the service: done so far" in logs


def test_a_config_longer_than_linux_takes(tmp_path: Path) -> None:
    """A value that is longer than a variable of a process can be reaches the block all the same, whole."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "it's").write_text("one")
    paths = [*(f"{tmp_path}/files/" for _ in range(4_000)), f"{tmp_path}/files/it's"]
    config = {"paths": paths, "target": str(tmp_path / "backups")}
    properties = {"phase": "install.after", "config": config}
    policy = {"save": {"type": "ordito.dev/lifecycle/data@v1#BackupFiles", "properties": properties}}
    topology = {"node_templates": {"database": {"type": "tosca.nodes.Root"}}, "policies": [policy]}
    service = {"tosca_definitions_version": "tosca_simple_yaml_1_3", "imports": ["profile:blocks"]}
    (tmp_path / "service.yaml").write_text(json.dumps({**service, "topology_template": topology}))
    assert len(json.dumps(paths)) > 128 * 1024
    code, said = ordito(tmp_path, "deploy", "service.yaml", "-e", "shop", "--yes")
    assert code == 0, said
    assert len(list((tmp_path / "backups").iterdir())) == 1
