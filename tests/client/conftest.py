"""A server with a deployed ensemble, and commands that are given to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cli.main import run
from tests.support.serving import Client, Served

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: shop }
imports: [ profile:ordito ]
interface_types:
  Sensor: { derived_from: tosca.interfaces.Root, notifications: { busy: {} } }
node_types:
  Part:
    derived_from: tosca.nodes.Root
    properties: { motto: { type: string, default: open } }
    interfaces:
      Standard: { operations: { create: say.sh, start: say.sh, stop: say.sh, delete: say.sh } }
      Maintain: { type: ordito.interfaces.Maintain, operations: { check: say.sh } }
      Sensor: { type: Sensor, notifications: { busy: {} } }
topology_template:
  inputs:
    motto: { type: string, default: open }
    pass: { type: string, default: canary-7431, metadata: { sensitive: "true" } }
  outputs: { motto: { value: { get_input: motto } } }
  node_templates:
    web: { type: Part, properties: { motto: { get_input: motto } }, requirements: [ dependency: db ] }
    db: { type: Part }
  policies:
    - relief:
        type: tosca.policies.Root
        targets: [ web ]
        triggers: { crowd: { event: Sensor.busy, action: [ call_operation: Maintain.check ] } }
  workflows:
    inspect: { steps: { look: { target: db, activities: [ call_operation: Maintain.check ] } } }
"""

HOSTS = "hosts: { one: { address: 192.0.2.11, labels: { zone: a }, user: deploy } }\n"


def deployed(place: Path) -> Path:
    """An ensemble in which the service was deployed; its operations fail while there is a file ``failing`` beside the
    service, and wait while there is one ``waiting``."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "service.yaml").write_text(SERVICE)
    script = (
        f'while [ -e {place}/waiting ]; do sleep 0.05; done; echo "$ORDITO_STEP says hello"; [ ! -e {place}/failing ]\n'
    )
    (place / "say.sh").write_text(script)
    (place / "say.sh").chmod(0o755)
    directory = place / "shop"
    assert run(["-e", str(directory), "-q", "deploy", str(place / "service.yaml"), "--yes"]) == 0
    (directory / "hosts.yaml").write_text(HOSTS)
    return directory


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ensemble that nobody changes."""
    return deployed(tmp_path_factory.mktemp("remote"))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Served]:
    """A server of that ensemble, as ``default/shop``."""
    with Served(tmp_path_factory.mktemp("home"), shop) as server:
        yield server


@pytest.fixture(scope="session")
def admin(served: Served) -> Client:
    """The first user of that server."""
    return served.admin()


@pytest.fixture(autouse=True)
def _nobody_signed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test knows the servers of who runs it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ORDITO_SERVER", "ORDITO_TOKEN"):
        monkeypatch.delenv(name, raising=False)
