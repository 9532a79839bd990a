"""Who has to reach whom is told to a provider that others offer, before anything runs; what it gives is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.program import ordito, status_of
from tests.support.plugins import install

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Web:
    derived_from: tosca.nodes.SoftwareComponent
    capabilities:
      http: { type: tosca.capabilities.Endpoint.Public }
    requirements:
      - database:
          capability: tosca.capabilities.Endpoint.Database
          relationship: tosca.relationships.ConnectsTo
  Base:
    derived_from: tosca.nodes.SoftwareComponent
    capabilities:
      database: { type: tosca.capabilities.Endpoint.Database }
topology_template:
  node_templates:
    front: { type: tosca.nodes.Compute }
    back:
      type: tosca.nodes.Compute
      requirements:
        - local_storage:
            node: disk
            relationship:
              type: tosca.relationships.AttachesTo
              properties: { location: /data }
              interfaces:
                Configure:
                  operations:
                    add_target:
                      inputs: { device: { get_attribute: [ SELF, device ] } }
                      implementation: attach.sh
    disk:
      type: tosca.nodes.Storage.BlockStorage
      properties: { name: data, size: 1 GB }
    web:
      type: Web
      capabilities:
        http: { properties: { port: 80, dns_name: DNS_NAME, floating: true } }
      requirements:
        - host: front
        - database:
            node: base
            relationship:
              type: tosca.relationships.ConnectsTo
              properties: { credential: { token: s3cr3t-of-the-link, user: shop } }
              interfaces:
                Configure:
                  operations:
                    add_target:
                      inputs:
                        at: { get_attribute: [ TARGET, database, ip_address ] }
                        secure: { get_property: [ TARGET, database, secure ] }
                        credential: { get_property: [ SELF, credential ] }
                      implementation: connect.sh
      interfaces:
        Standard: { operations: { start: web.sh } }
    base:
      type: Base
      capabilities:
        database: { properties: { port: 5432, secure: true } }
      requirements: [ host: back ]
      interfaces:
        Standard: { operations: { start: base.sh } }
  outputs:
    private: { value: { get_attribute: [ base, database, ip_address ] } }
    public: { value: { get_attribute: [ web, http, ip_address ] } }
    admin: { value: { get_attribute: [ front, endpoint, ip_address ] } }
    volume: { value: { get_attribute: [ disk, volume_id ] } }
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> str:
    plugin = install("cables", tmp_path_factory.mktemp("plugins"))
    # Who is offered may have been asked already by the process that this one is made from.
    known = "from ordito.providers.registry import offered; offered.cache_clear()"
    return f"import sys; sys.path.insert(0, {str(plugin)!r}); {known}"


def project_in(folder: Path, dns_name: str = "shop.example.com") -> Path:
    project = folder / "project"
    project.mkdir()
    (project / "service.yaml").write_text(SERVICE.replace("DNS_NAME", dns_name))
    (project / "hosts.yaml").write_text("cables: { book: book, names: true }\n")
    (project / "book").touch()
    trace = project / "trace"
    for name in ("web", "base"):
        (project / f"{name}.sh").write_text(f"wc -l <{project}/book >>{trace}; echo {name} >>{trace}\n")
    (project / "connect.sh").write_text(f'echo "connect $at $secure $credential" >>{trace}\n')
    (project / "attach.sh").write_text(f'echo "attach $device" >>{trace}\n')
    return project


def test_connections_are_made_before_anything_needs_them(code: str, tmp_path: Path) -> None:
    """R-8.4.1-1, R-8.3.1-3, R-8.3.2-1, R-5.5.7-3, R-5.5.7-4, R-5.5.8-2, R-5.5.8-3, R-5.7.5-2, R-5.5.7-2, R-5.9.3-2: the
    provider of the Computes is told the connections of what stands on them before that starts, and of endpoints that
    float or have names; the link is made when both ends run, with its credential and the address of its target."""
    project = project_in(tmp_path)
    done = ordito(project, "deploy", "service.yaml", "--yes", code=code)
    assert done.code == 0, done.both
    assert "nobody registers" not in done.both
    book: list[dict[str, Any]] = [json.loads(line) for line in (project / "book").read_text().splitlines()]
    asked = {line["instance"]: line for line in book}
    assert sorted(asked) == ["back_1", "disk_1", "front_1"]
    (way,) = asked["front_1"]["connections"]
    assert asked["back_1"]["connections"] == [way]
    assert way == {
        "source": "web",
        "target": "base",
        "source_host": "front",
        "target_host": "back",
        "protocol": "tcp",
        "ports": [[5432, 5432]],
        "source_ports": [],
        "initiator": "source",
        "secure": True,
        "relationship": "web.database",
    }
    (http,) = (e for e in asked["front_1"]["endpoints"] if e["node"] == "web")
    told = (http["name"], http["public"], http["ports"], http["network"], http["dns_name"], http["floating"])
    assert told == ("http", True, [[80, 80]], "PUBLIC", "shop.example.com", True)

    trace = (project / "trace").read_text().splitlines()
    order = [line for line in trace if not line.strip().isdigit()]
    assert [line.split()[0] for line in order if line != "attach /dev/disk_1"] == ["base", "web", "connect"]
    assert "attach /dev/disk_1" in order
    assert {line.strip() for line in trace if line.strip().isdigit()} == {"3"}
    status = status_of(project)
    instances, outputs = status["instances"], status["outputs"]
    back, front = instances["back_1"]["attributes"], instances["front_1"]["attributes"]
    connect = order[-1].split(" ", 3)
    assert connect[:3] == ["connect", back["private_address"], "true"]
    assert json.loads(connect[3])["token"] == "s3cr3t-of-the-link"
    assert outputs == {
        "private": back["private_address"],
        "public": front["public_address"],
        "admin": front["private_address"],
        "volume": "disk-of-disk_1",
    }


def test_names_that_nobody_registers_are_warned_of(code: str, tmp_path: Path) -> None:
    """R-5.5.8-2: the job says which name leads nowhere, and goes on."""
    done = ordito(project_in(tmp_path, "shop.example.org"), "deploy", "service.yaml", "--yes", code=code)
    assert done.code == 0, done.both
    assert 'nobody registers the name "shop.example.org" of endpoint web.http' in done.both
