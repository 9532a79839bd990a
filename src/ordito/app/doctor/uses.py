"""What of this machine an ensemble uses: by its service, and by its inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ordito.app.inventory_file.read import Inventory
from ordito.app.services.files import artifacts
from ordito.model.service import Service
from ordito.providers.registry import CLOUD, CONTAINER, POOL
from ordito.source.nodes import Scalar

BASH, PYTHON = "tosca.artifacts.Implementation.Bash", "tosca.artifacts.Implementation.Python"
ANSIBLE = "ordito.artifacts.Implementation.Ansible"
BY_ARTIFACT = {
    BASH: ("bash", "operations of the service"),
    PYTHON: ("python3", "operations of the service"),
    ANSIBLE: ("ansible-playbook", "playbooks of the service"),
}
BY_SECTION = {POOL: ("asyncssh", "hosts of {file}"), CLOUD: ("apache-libcloud", "the cloud of {file}")}
BY_BLOCK = {
    "ordito.dev/lifecycle/dns@v1#Register": "nsupdate",
    "ordito.dev/lifecycle/dns@v1#Deregister": "nsupdate",
}
"""Blocks that cannot do without a program. Those of databases need one only where the database is PostgreSQL, which the
values of inputs decide."""
APPLICATION = "tosca.nodes.Container.Application"
ENGINE = "engine"
"""Stands for whichever engine of containers answers."""
Uses = Iterator[tuple[str, str]]


def of_service(service: Service) -> Uses:
    """The programs that a service uses, each with why."""
    kinds = {kind for artifact in artifacts(service) for kind in artifact.kinds}
    yield from (used for kind, used in BY_ARTIFACT.items() if kind in kinds)
    if any(APPLICATION in node.kinds for node in service.nodes.values()):
        yield ENGINE, "containers of the service"
    for step in service.hooks.values():
        if step.fqn in BY_BLOCK:
            yield BY_BLOCK[step.fqn], f"lifecycle step {step.name or step.id}"


def of_inventory(inventory: Inventory) -> Uses:
    """The programs and packages that an inventory uses, each with why."""
    file = inventory.file.shown
    for provider, (name, why) in BY_SECTION.items():
        if provider in inventory.sections:
            yield name, why.format(file=file)
    if CONTAINER in inventory.sections:
        engine = inventory.sections[CONTAINER].entries.get("engine")
        yield engine.text if isinstance(engine, Scalar) else ENGINE, f"containers of {file}"


def joined(uses: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The first reason for each."""
    found: dict[str, str] = {}
    for name, why in uses:
        found.setdefault(name, why)
    return found
