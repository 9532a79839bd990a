"""A server with an ensemble that was deployed, shared by the tests that change nothing of either."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cli.main import run
from tests.support.serving import MANY_REQUESTS, Client, Served

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Said:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string, default: none, metadata: { sensitive: "true" } } }
    interfaces:
      Standard:
        operations: { create: say.sh, start: say.sh }
topology_template:
  inputs: { pass: { type: string, metadata: { sensitive: "true" }, default: canary-7431 } }
  outputs: { motto: { value: printed and given out } }
  node_templates:
    web: { type: Said, requirements: [ dependency: db ] }
    db: { type: Said, properties: { word: { get_input: pass } } }
"""


CANARY = "canary-7431"
"""The value of a sensitive input, which no byte of a server may hold."""


def deployed(place: Path, name: str = "shop", service: str = SERVICE) -> Path:
    """An ensemble in which the service was deployed."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "service.yaml").write_text(service)
    (place / "say.sh").write_text(f'echo "$ORDITO_STEP says hello"; [ ! -e {place}/failing ]\n')
    (place / "say.sh").chmod(0o755)
    directory = place / name
    assert run(["-e", str(directory), "-q", "deploy", str(place / "service.yaml"), "--yes"]) == 0
    return directory


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ensemble that nobody changes."""
    return deployed(tmp_path_factory.mktemp("looked"))


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Iterator[Served]:
    """A server of that ensemble, as ``default/shop``."""
    # So that it can tell whether the service is as it was deployed, as the command does.
    settings = f"{MANY_REQUESTS}reads: [ {shop.parent} ]\n"
    with Served(tmp_path_factory.mktemp("home"), shop, settings=settings) as server:
        yield server


@pytest.fixture(scope="session")
def admin(served: Served) -> Client:
    """The first user of that server."""
    return served.admin()
