"""The section ``containers`` of the inventory, and the providers that use it.

containers:
  image: docker.io/library/debian:12
  network: host
  volumes: [ /srv/shared:/srv/shared:ro ]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ordito.providers.containers.applications import ApplicationProvider, RuntimeProvider
from ordito.providers.containers.computes import ContainerProvider
from ordito.providers.containers.engine import (
    ENGINES,
    ContainerSettings,
    Engine,
    Engines,
    RegistryLogin,
    labels_of,
    name_of,
    said,
)
from ordito.providers.shapes import LINES, TEXT, InventorySection, KnownEntries, ListOf, MapOf, NoValue, OneOf
from ordito.work.providing import Delegation, Provided, Provider, ProviderFailed, ProviderFinding
from ordito.work.targets import Hands, HostTarget

ENGINE = OneOf(*ENGINES)
CONTAINERS = KnownEntries(
    engine=ENGINE,
    image=TEXT,
    images=MapOf(TEXT),
    network=TEXT,
    volumes=ListOf(TEXT),
    environment=MapOf(LINES),
    options=ListOf(TEXT),
    command=ListOf(TEXT),
    user=TEXT,
    base=TEXT,
    registries=MapOf(KnownEntries(user=TEXT, password=LINES)),
)
WHAT = '"containers"'


def make_computes(section: InventorySection, hands: Hands) -> ContainerProvider:
    """The provider of Computes that are containers; errors in its section are reported."""
    checked = section.check(section.node, CONTAINERS, WHAT)
    known = checked if isinstance(checked, Mapping) else {}
    has_image = bool({"image", "images"} & {*section.entries})
    return ContainerProvider(
        Engines(hands, str(known.get("engine", ""))), lambda: _settings(section), has_image=has_image
    )


def make_everywhere(section: InventorySection | None, hands: Hands) -> tuple[Provider, ...]:
    """The providers of runtimes, applications and volumes. They need no section; if there is one, it may name the
    engine."""
    engine = section.entries.get("engine") if section is not None else None
    name = section.check(engine, ENGINE, f'"engine" of {WHAT}') if section is not None and engine is not None else ""

    def logins() -> Mapping[str, RegistryLogin]:
        return _settings(section).registries if section is not None else {}

    engines = Engines(hands, str(name or ""))
    return ApplicationProvider(engines, logins), RuntimeProvider(engines), VolumeProvider(engines)


def _settings(section: InventorySection) -> ContainerSettings:
    """The present settings of the section. Raises ``ProviderFailed``."""
    try:
        found = section.value(section.node, CONTAINERS, WHAT) if section.node is not None else {}
    except NoValue as problem:
        raise ProviderFailed(str(problem)) from problem
    return msgspec.convert(found, ContainerSettings) if isinstance(found, dict) else ContainerSettings()


# Volumes that applications in containers share, or find again when they are replaced.

VOLUME = "ordito.nodes.Container.Volume"
NOBODY = "no such volume"
"""What engines say, in lower case, about a volume that does not exist."""


class VolumeProvider:
    """Provides ``ordito.nodes.Container.Volume`` as a volume of the engine on its host, with a unique name."""

    name = "container-volume"
    protocol = ""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a volume for containers."""
        return VOLUME in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """False: a volume is empty at first."""
        return False

    async def create(self, asked: Delegation) -> Provided:
        """Make an empty volume, or find the existing one."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if not await _is_there(engine, name):
            await engine.ask("volume", "create", *labels_of(asked), name)
        return Provided({"volume": name}, f"volume {name}, made by {engine.name}")

    async def delete(self, asked: Delegation) -> bool:
        """Remove the volume with its data."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if await _is_there(engine, name):
            await engine.ask("volume", "rm", name)
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether the volume exists."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if await _is_there(engine, name):
            return ProviderFinding("ok", {"volume": name}, f"volume {name} on {engine.where}")
        return ProviderFinding("absent", {}, f"there is no volume {name} on {engine.where}")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """Raises: volumes are no hosts."""
        return None


async def _is_there(engine: Engine, name: str) -> bool:
    ran = await engine.run("volume", "inspect", name)
    if ran.status != 0 and NOBODY not in ran.err.decode(errors="replace").lower():
        raise ProviderFailed(f"{engine.name} volume inspect failed on {engine.where}: {said(ran)}")
    return ran.status == 0
