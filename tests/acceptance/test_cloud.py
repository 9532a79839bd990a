"""A service in a cloud: made, looked at, changed and removed with the real program, in a real server of EC2's API."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ordito.providers.cloud.provider import CloudProvider
from ordito.providers.cloud.settings import CloudSettings
from tests.acceptance.program import files_of, ordito, status_of
from tests.support.real.moto import Moto

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    server:
      type: tosca.nodes.Compute
      capabilities:
        host: { properties: { num_cpus: 1, mem_size: 1 GB } }
        os: { properties: { type: Linux, distribution: Ubuntu, version: 16.04 } }
      requirements:
        - local_storage:
            node: disk
            relationship: { type: tosca.relationships.AttachesTo, properties: { location: /data } }
    disk:
      type: tosca.nodes.Storage.BlockStorage
      properties: { name: data, size: 2 GB }
    net:
      type: tosca.nodes.network.Network
      properties: { network_name: PRIVATE }
    port:
      type: tosca.nodes.network.Port
      properties: { order: 0 }
      requirements: [ link: net, binding: server ]
    app:
      type: tosca.nodes.SoftwareComponent
      artifacts:
        vm: { type: tosca.artifacts.Deployment.Image.VM, file: images/IMAGE }
      requirements: [ host: server ]
      interfaces: { Standard: { operations: { create: vm, start: start.sh } } }
  outputs:
    address: { value: { get_attribute: [ server, private_address ] } }
    networks: { value: { get_attribute: [ server, networks ] } }
    port: { value: { get_attribute: [ port, ip_address ] } }
    volume: { value: { get_attribute: [ disk, volume_id ] } }
    segment: { value: { get_attribute: [ net, segmentation_id ] } }
"""
TRUSTY, XENIAL = "ami-1e749f67", "ami-785db401"
SECRET = "canary-of-the-cloud-key"


@pytest.fixture
def project(tmp_path: Path, moto: Moto) -> Path:
    moto.reset()
    project = tmp_path / "project"
    project.mkdir()
    (project / "service.yaml").write_text(SERVICE.replace("IMAGE", TRUSTY))
    (project / "images").mkdir()
    (project / "images" / TRUSTY).touch()
    (project / "start.sh").write_text("true\n")
    (tmp_path / "key").write_text(SECRET)
    inventory = {
        "cloud": {
            "driver": "EC2",
            "key": "a-key",
            "secret": {"file": str(tmp_path / "key")},
            "arguments": {"region": moto.region, "host": moto.host, "port": moto.port, "secure": False},
            "images": [{"type": "linux", "distribution": "ubuntu", "version": "16.04", "image": XENIAL}],
            "sizes": ["t2.micro", "t2.small"],
            "reach": False,
        }
    }
    (project / "hosts.yaml").write_text(json.dumps(inventory))
    return project


def driver(moto: Moto) -> Any:
    arguments = {"region": moto.region, "host": moto.host, "port": moto.port, "secure": False}
    found: list[Any] = []
    settings = CloudSettings("EC2", moto.key, moto.secret, arguments)
    asyncio.run(CloudProvider(lambda: settings).api.run("looking", found.append))
    return found[0]


def test_a_service_in_a_cloud(project: Path, moto: Moto) -> None:
    """R-5.8.4.3-1, R-13.4.5-1, R-5.9.3-2, R-5.9.11-1, R-8.5-1, R-8.5.1-3, R-8.5.1-8, R-8.5.2-3,
    R-3.4.4-1: machine (of the image that a component on it is), volume, network and port come up with what the cloud
    says of them; a second deployment has nothing to do; what is lost is healed; all of it goes again."""
    done = ordito(project, "deploy", "service.yaml", "--yes")
    assert done.code == 0, done.both
    cloud = driver(moto)
    (machine,) = cloud.list_nodes()
    volumes = {v.id: v for v in cloud.list_volumes()}
    status = status_of(project)
    outputs, instances = status["outputs"], status["instances"]
    assert outputs["address"] == machine.private_ips[0]
    assert machine.extra["image_id"] == TRUSTY
    assert volumes[outputs["volume"]].extra["instance_id"] == machine.id
    (network,) = outputs["networks"].values()
    assert network["addresses"] == [outputs["address"], outputs["port"]]
    assert outputs["segment"] == machine.extra["vpc_id"]
    assert instances["server_1"]["attributes"]["ordito.host"] == {"provider": "cloud", "id": machine.id}

    again = ordito(project, "deploy", "service.yaml", "--yes")
    assert "nothing to do" in again.both.lower(), again.both
    checked = ordito(project, "check", "--yes")
    assert checked.code == 0, checked.both
    cloud.destroy_node(machine)
    checked = ordito(project, "check", "--yes")
    assert status_of(project)["instances"]["server_1"]["readyState"]["local"] == "absent", checked.both
    healed = ordito(project, "heal", "server", "--yes")
    assert healed.code == 0, healed.both
    (anew,) = (n for n in cloud.list_nodes() if n.state != "terminated")
    outputs = status_of(project)["outputs"]
    assert outputs["address"] == anew.private_ips[0]
    assert {v.id: v for v in cloud.list_volumes()}[outputs["volume"]].extra["instance_id"] == anew.id
    checked = ordito(project, "check", "--yes")
    assert status_of(project)["instances"]["port_1"]["readyState"]["local"] == "error", checked.both
    healed = ordito(project, "heal", "port", "--yes")
    assert healed.code == 0, healed.both
    outputs = status_of(project)["outputs"]
    (network,) = outputs["networks"].values()
    assert network["addresses"] == [outputs["address"], outputs["port"]]

    gone = ordito(project, "undeploy", "--yes")
    assert gone.code == 0, gone.both
    assert [n for n in cloud.list_nodes() if n.state != "terminated"] == []
    assert outputs["volume"] not in {v.id for v in cloud.list_volumes()}
    assert [g.name for g in cloud.ex_get_security_groups()] == ["default"]
    assert SECRET.encode() not in b"".join(files_of(project).values())


def test_a_cloud_that_cannot_be_reached_changes_no_record(project: Path, moto: Moto) -> None:
    """Neither does a check find anything, nor does healing forget what was made: both are out of reach, and what is
    there is removed once the cloud answers again."""
    assert ordito(project, "deploy", "service.yaml", "--yes").code == 0
    (machine,) = driver(moto).list_nodes()
    inventory = json.loads((project / "hosts.yaml").read_text())
    inventory["cloud"]["arguments"]["port"] = 9
    answers = (project / "hosts.yaml").read_text()
    (project / "hosts.yaml").write_text(json.dumps(inventory))
    before = status_of(project)["instances"]
    checked = ordito(project, "check", "--yes")
    assert checked.code == 4, checked.both
    assert status_of(project)["instances"] == before
    healed = ordito(project, "heal", "server", "--yes")
    assert healed.code == 4, healed.both
    # Nothing is taken down of what may be well.
    on_it = status_of(project)["instances"]["app_1"]["readyState"]
    assert (on_it["local"], on_it["state"]) == ("ok", "started")
    healed = ordito(project, "heal", "server", "--reinstall", "--yes")
    assert healed.code == 4, healed.both
    recorded = status_of(project)["instances"]["server_1"]
    assert recorded["readyState"]["local"] == "unknown"
    assert recorded["attributes"]["ordito.host"] == {"provider": "cloud", "id": machine.id}
    (project / "hosts.yaml").write_text(answers)
    gone = ordito(project, "undeploy", "--yes", "--allow-changed")
    assert gone.code == 0, gone.both
    assert [n for n in driver(moto).list_nodes() if n.state != "terminated"] == []


DIES = """
import os
from libcloud.common.base import Connection
request = Connection.request
def dying(self, path, params=None, **more):
    answer = request(self, path, params=params, **more)
    if (params or {}).get("Action") == "RunInstances":
        os._exit(9)
    return answer
Connection.request = dying
"""


def test_a_machine_that_a_dead_job_has_asked_for(project: Path, moto: Moto) -> None:
    """Killed between the cloud's making of the machine and anything else, a job that is resumed finds it."""
    assert ordito(project, "deploy", "service.yaml", "--yes", code=DIES).code == 9
    (machine,) = driver(moto).list_nodes()
    done = ordito(project, "jobs", "resume", "--yes")
    assert done.code == 0, done.both
    (found,) = driver(moto).list_nodes()
    assert found.id == machine.id
    host = status_of(project)["instances"]["server_1"]["attributes"]["ordito.host"]
    assert host == {"provider": "cloud", "id": machine.id}
    assert ordito(project, "undeploy", "--yes").code == 0
    assert [n for n in driver(moto).list_nodes() if n.state != "terminated"] == []
