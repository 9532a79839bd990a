"""Volumes that applications in containers share, or find again when they are made anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.providers.containers.engine import Engine, Engines, said
from ordito.providers.containers.naming import labels_of, name_of
from ordito.work.providing import Delegation, Provided, ProviderFailed, Seen
from ordito.work.targets import Target

VOLUME = "ordito.nodes.Container.Volume"
NOBODY = "no such volume"
"""What engines say, in small letters, of a volume that is not there."""


class VolumeProvider:
    """Provides ``ordito.nodes.Container.Volume`` as a volume of the engine on its host, under a name that no other
    instance has."""

    name = "container-volume"
    protocol = ""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a volume for containers."""
        return VOLUME in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """No artifact: a volume is empty at first."""
        return False

    async def create(self, asked: Delegation) -> Provided:
        """An empty volume, or the one that is there already."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if not await _is_there(engine, name):
            await engine.ask("volume", "create", *labels_of(asked), name)
        return Provided({"volume": name}, f"volume {name}, made by {engine.name}")

    async def delete(self, asked: Delegation) -> bool:
        """Remove the volume with all that is in it."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if await _is_there(engine, name):
            await engine.ask("volume", "rm", name)
        return True

    async def look(self, asked: Delegation) -> Seen:
        """Whether the volume is there."""
        engine, name = await self._engines.on(asked.host), name_of(asked)
        if await _is_there(engine, name):
            return Seen("ok", {"volume": name}, f"volume {name} on {engine.where}")
        return Seen("absent", {}, f"there is no volume {name} on {engine.where}")

    def target(self, instance: str, attributes: Mapping[str, object]) -> Target | None:
        """Volumes are no hosts."""
        return None


async def _is_there(engine: Engine, name: str) -> bool:
    ran = await engine.run("volume", "inspect", name)
    if ran.status != 0 and NOBODY not in ran.err.decode(errors="replace").lower():
        raise ProviderFailed(f"{engine.name} volume inspect failed on {engine.where}: {said(ran)}")
    return ran.status == 0
