"""Containers of a real engine, by whole commands: the shop on Computes that are containers, and applications."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.program import SHOP, Finished, environment, free_ports, get, post, status_of
from tests.support import forked
from tests.support.real.podman import LARGE, SMALL, Podman, large_volumes

CUT_AFTER_RUN = """
import os, signal
from ordito.providers.containers import {module} as module
real = module.made
async def made(*given):
    await real(*given)
    os.kill(os.getpid(), signal.SIGKILL)
module.made = made
"""
"""Python that kills the program when a container runs, and nobody has written that down."""


class Deployment:
    """A service that is deployed with podman."""

    def __init__(self, home: Path, podman: Podman) -> None:
        self.home = home
        self.podman = podman
        self.ensemble = home / "ensemble"
        self.ensemble.mkdir()

    def run(self, *words: str | Path, code: str = "") -> Finished:
        """Run a command on it."""
        given = {**environment(self.home), **self.podman.environment}
        arguments = [*map(str, words), "-e", str(self.ensemble)]
        process = forked.start(self.home, given, arguments, code)
        out, err = process.communicate(timeout=110)
        return Finished(process.wait(), out, err)

    def done(self, *words: str | Path) -> Finished:
        """Run a command that must succeed."""
        finished = self.run(*words)
        assert finished.code == 0, finished.both
        return finished

    def containers(self) -> dict[str, str]:
        """The containers that there are: their ids, by the instances that they were made for."""
        form = '{{index .Labels "ordito.instance"}} {{.ID}}'
        return dict(line.split() for line in self.podman.run("ps", "--all", "--format", form).splitlines())

    def inside(self, instance: str, *words: str) -> str:
        """What a command prints in the container of an instance."""
        return self.podman.run("exec", self.containers()[instance], *words)


@pytest.fixture
def deployment(tmp_path: Path, podman: Podman) -> Iterator[Deployment]:
    yield Deployment(tmp_path, podman)
    for name in podman.containers():
        podman.run("rm", "--force", "--time", "0", "--volumes", name)


def test_the_shop_runs_on_computes_that_are_containers(deployment: Deployment) -> None:
    """The same service as on one machine; each tier's files are in its own container, and nowhere else."""
    volumes = "".join(f"    - {volume}\n" for volume in large_volumes())
    inventory = f"containers:\n  engine: podman\n  image: {LARGE}\n  volumes:\n{volumes}"
    (deployment.ensemble / "hosts.yaml").write_text(inventory)
    port = free_ports(6)
    directory = deployment.home / "data"
    values = {"port": port, "api_port": port + 1, "web_port": port + 2, "directory": "/root/shop"}
    inputs = [word for name, value in values.items() for word in ("-i", f"{name}={value}")]

    broken = CUT_AFTER_RUN.format(module="computes")
    deploy: tuple[str | Path, ...] = ("deploy", SHOP / "service.yaml", "--yes", *inputs)
    assert deployment.run(*deploy, code=broken).code != 0
    cut = deployment.containers()
    assert cut
    deployment.done("jobs", "resume", "--yes")
    machines = deployment.containers()
    assert set(machines) == {"data_machine_1", "web_machine_1", "front_machine_1"}
    assert cut.items() <= machines.items()  # What was there was found, and not made a second time.

    url = f"http://127.0.0.1:{port}"
    written = post(f"{url}/records", {"text": "tea"})["written_by"]
    assert {get(f"{url}/records")[1]["X-Served-By"] for _ in range(4)} == {"web_1", "web_2"}
    assert [r["written_by"] for r in get(f"{url}/records")[0]["records"]] == [written]
    found = {machine: deployment.inside(machine, "ls", "/root/shop").split() for machine in machines}
    assert found == {
        "data_machine_1": ["api_1", "database_1"],
        "web_machine_1": ["web_1", "web_2"],
        "front_machine_1": ["balancer_1"],
    }
    assert not directory.exists()
    deployment.done("undeploy", "--yes")
    assert deployment.containers() == {}


COMPUTE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    password: { type: string }
  node_templates:
    server: { type: tosca.nodes.Compute }
"""

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
topology_template:
  inputs:
    password: { type: string, metadata: { sensitive: true } }
  node_templates:
    server: { type: tosca.nodes.Compute }
    runtime:
      type: tosca.nodes.Container.Runtime
      requirements: [ host: server ]
    disk:
      type: ordito.nodes.Container.Volume
      requirements: [ host: server ]
    app:
      type: ordito.nodes.Container.Application
      properties:
        command: [ sh, -c, "trap 'exit 0' TERM; echo up; while :; do sleep 1000 & wait; done" ]
        health: { command: [ test, -d, /tmp ], within: 20 s }
      requirements:
        - host: runtime
        - storage: { node: disk, relationship: { type: ordito.relationships.Mounts, properties: { location: /data } } }
      artifacts:
        image: { file: image, type: tosca.artifacts.Deployment.Image.Container.Docker }
      interfaces:
        Standard:
          operations:
            create: { implementation: image, inputs: { PASSWORD: { get_input: password }, SIZE: 3 } }
            start: started.sh
  outputs:
    address: { value: { get_attribute: [ app, address ] } }
"""


def test_an_application_in_a_container_lives_through_all_that_is_done_with_it(deployment: Deployment) -> None:
    """Made from a build context, with inputs of create as variables, stopped, started, lost and
    healed; a secret is nowhere but in the container."""
    home = deployment.home
    (home / "image").mkdir()
    (home / "image" / "Containerfile").write_text(f"FROM {SMALL}\nENV COLOR=red\n")
    (home / "service.yaml").write_text(SERVICE)
    (home / "started.sh").write_text(f"echo started >>{home}/started\n")
    secret = "c4nary-of-the-app"
    cut = deployment.run(
        *("deploy", home / "service.yaml", "--yes", "-i", f"password={secret}"),
        code=CUT_AFTER_RUN.format(module="applications"),
    )
    assert cut.code != 0
    before = deployment.containers()
    assert set(before) == {"app_1"}
    resumed = deployment.done("jobs", "resume", "--yes")
    assert deployment.containers() == before
    volume = next(iter(deployment.podman.run("volume", "ls", "--quiet").split()))
    deployment.inside("app_1", "sh", "-c", "echo kept >/data/kept")
    assert deployment.inside("app_1", "sh", "-c", "echo $COLOR $PASSWORD $SIZE") == f"red {secret} 3\n"
    assert deployment.done("output", "address").out.strip() == "127.0.0.1"
    assert (home / "started").read_text() == "started\n"

    def state() -> tuple[str, str]:
        record = status_of(deployment.ensemble)["instances"]["app_1"]["readyState"]
        return record["local"], record["state"]

    deployment.done("stop", "app", "--yes")
    assert state() == ("pending", "configured")
    running = ("inspect", "--format", "{{.State.Running}}", before["app_1"])
    assert deployment.podman.run(*running) == "false\n"
    deployment.done("start", "app", "--yes")
    assert state() == ("ok", "started")
    assert deployment.podman.run(*running) == "true\n"
    assert deployment.inside("app_1", "cat", "/data/kept") == "kept\n"
    assert volume in deployment.podman.run("inspect", before["app_1"])
    deployment.podman.run("kill", before["app_1"])
    deployment.run("check", "--yes")
    assert state() == ("error", "error")
    deployment.done("heal", "app_1", "--yes")
    assert state() == ("ok", "started")
    assert set(deployment.containers()) == {"app_1"}
    deployment.done("undeploy", "--yes", "--allow-changed")
    assert deployment.containers() == {}
    assert not deployment.podman.run("volume", "ls", "--quiet")
    assert secret not in resumed.both
    files = [p for p in deployment.ensemble.rglob("*") if p.is_file()]
    assert not [p for p in files if secret.encode() in p.read_bytes()]


def test_what_is_wrong_with_containers_is_said_before_anything_is_made(tmp_path: Path) -> None:
    """The inventory is read with places; an application of which no image is known has no plan."""
    ensemble = tmp_path / "ensemble"
    ensemble.mkdir()
    (tmp_path / "service.yaml").write_text(
        SERVICE.replace("{ implementation: image, inputs", "{ inputs")
        .replace("image: { file: image", "other: { file: service.yaml")
        .replace("            start: started.sh\n", "")
        .replace("Deployment.Image.Container.Docker", "File")
    )

    def said() -> Finished:
        words = ["plan", str(tmp_path / "service.yaml"), "-i", "password=x", "-e", str(ensemble)]
        process = forked.start(tmp_path, environment(tmp_path), words, "")
        out, err = process.communicate(timeout=60)
        return Finished(process.wait(), out, err)

    (ensemble / "hosts.yaml").write_text("containers: { engin: podman, engine: dockr, volumes: 3 }\n")
    wrong = said()
    assert wrong.code == 3
    assert "hosts.yaml:1:15" in wrong.both
    assert 'did you mean "engine"' in wrong.both.lower().replace("`", '"')
    assert "docker" in wrong.both
    (ensemble / "hosts.yaml").write_text(f"containers: {{ image: {SMALL} }}\n")
    wrong = said()
    assert wrong.code == 3
    assert "unclear-image" in wrong.both
    (tmp_path / "service.yaml").write_text(COMPUTE)
    (ensemble / "hosts.yaml").write_text("containers: { network: host }\nprovide: { server: container }\n")
    wrong = said()
    assert wrong.code == 3
    assert "no image for containers is known" in wrong.both


ON_A_MACHINE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { cpus: { type: integer, default: 1 } }
  node_templates:
    host: { type: tosca.nodes.Compute, capabilities: { host: { properties: { num_cpus: { get_input: cpus } } } } }
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [ host: host ]
      interfaces: { Standard: { operations: { create: note.sh, stop: note.sh } } }
"""


def test_a_machine_that_is_replaced_is_another_host_to_what_runs_on_it(deployment: Deployment) -> None:
    """The container that an upgrade makes again has the same name, and nothing of what was in the one before."""
    (deployment.ensemble / "hosts.yaml").write_text(f"containers: {{ engine: podman, image: {SMALL} }}\n")
    service = deployment.home / "service.yaml"
    service.write_text(ON_A_MACHINE)
    (deployment.home / "note.sh").write_text('#!/bin/sh\necho "${ORDITO_STEP##*.}" >>/tmp/noted\n')
    deployment.done("deploy", service, "--yes")
    (before,) = deployment.containers().values()
    deployment.done("upgrade", "-i", "cpus=2", "--yes")
    (after,) = deployment.containers().values()
    assert before != after
    assert deployment.inside("host_1", "cat", "/tmp/noted").split() == ["create"]
    assert "No differences" in deployment.done("diff").out
