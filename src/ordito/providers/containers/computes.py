"""Computes that are containers of this machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from ordito.base.scalar_units import amount
from ordito.providers.containers.engine import Container, ContainerSettings, Engine, Engines, name_of
from ordito.providers.containers.making import (
    WantedContainer,
    attributes_of,
    ended,
    made,
    options,
    own,
    removed,
    seen,
    started,
    stopped,
)
from ordito.work.providing import Delegation, Provided, ProviderFailed, ProviderFinding, Recorded
from ordito.work.targets import CONTAINER, HOST, HostTarget, Unreachable

COMPUTE = "tosca.nodes.Compute"
SIZE = "scalar-unit.size"
MEBIBYTE = 1024 * 1024

NO_IMAGE = (
    "no image for containers is known: add one to the inventory, for example"
    " `containers: {image: docker.io/library/debian:12}`"
)

WAIT = "trap 'exit 0' TERM INT; while :; do sleep 86400 & wait $!; done"
"""What runs in a container that is a Compute: it waits, and adopts processes whose parents have ended."""

SHORT = 12
"""How many characters of a container's id are shown."""


class ContainerProvider:
    """Provides ``tosca.nodes.Compute`` and derived types as containers of the engine of this machine: one for each
    instance, from the image that the inventory names. Operations run in it by `exec`."""

    name = "container"
    protocol = CONTAINER

    def __init__(self, engines: Engines, find: Callable[[], ContainerSettings], *, has_image: bool = True) -> None:
        """``find`` gives the settings of the inventory, with secrets, or raises ``ProviderFailed``."""
        self._engines = engines
        self._find = find
        self._has_image = has_image

    @cached_property
    def _settings(self) -> ContainerSettings:
        return self._find()

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a Compute, and there is an image for it."""
        return COMPUTE in kinds and self._has_image

    def takes(self, kinds: Sequence[str]) -> bool:
        """False: the inventory names the image."""
        return False

    def foresee(
        self, asked: Sequence[Delegation], going: Collection[str], has: Mapping[str, Recorded]
    ) -> Mapping[str, str]:
        """All of them, if the inventory names no image."""
        return {} if self._has_image else {one.instance: NO_IMAGE for one in asked}

    def _image(self, asked: Delegation) -> str:
        distribution, version = (str(asked.properties.get(f"os::{part}") or "") for part in ("distribution", "version"))
        return self._settings.image_for(distribution, version)

    async def create(self, asked: Delegation) -> Provided:
        """Make a running container; after a crash, the existing one is used."""
        engine = await self._engines.on(None)
        container = await made(engine, asked, self._wanted(engine, asked))
        name = name_of(asked)
        if not container.state.running:
            raise await ended(engine, name, container)
        return Provided(self._attributes(engine, name, container), f"container {name}, made by {engine.name}")

    async def delete(self, asked: Delegation) -> bool:
        """Remove the container, with everything that runs in it."""
        await removed(await self._engine_of(asked), asked)
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether the container exists and runs."""
        engine = await self._engine_of(asked)
        name = name_of(asked)
        container = await own(engine, asked)
        return seen(engine, name, container, self._attributes(engine, name, container) if container else {})

    async def start(self, asked: Delegation) -> Provided:
        """Start the stopped container again; its address may change."""
        engine = await self._engine_of(asked)
        container = await started(engine, asked)
        return Provided(self._attributes(engine, name_of(asked), container), f"container {name_of(asked)} started")

    async def stop(self, asked: Delegation) -> None:
        """Stop the container with all that runs in it; its files stay."""
        await stopped(await self._engine_of(asked), asked)

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """The container of an instance."""
        made_by = attributes.get(HOST)
        if not isinstance(made_by, Mapping) or not made_by.get("id"):
            raise Unreachable(
                f"the container of {instance} is not known: run `ordito discover`, or `ordito heal {instance}`"
            )
        name = str(made_by["id"])
        engine = self._engines.wanted or str(made_by.get("engine") or "podman")
        try:
            settings = self._settings
        except ProviderFailed as problem:
            raise Unreachable(f"{instance}: {problem}") from problem
        # One that is replaced under its name is another host: nothing that was made ready on the former one is there.
        made = str(made_by.get("container") or "")
        told = {"engine": engine, "container": name, "made": made, "user": settings.user, "base": settings.base}
        told["instance"] = instance
        return HostTarget(CONTAINER, f"container {name}", {key: value for key, value in told.items() if value})

    async def _engine_of(self, asked: Delegation) -> Engine:
        return await self._engines.of(None, asked.attributes.get(HOST))

    def _attributes(self, engine: Engine, name: str, container: Container) -> dict[str, object]:
        host = {"provider": self.name, "id": name, "engine": engine.name, "container": container.id[:SHORT]}
        return {HOST: host, **attributes_of(container)}

    def _wanted(self, engine: Engine, asked: Delegation) -> WantedContainer:
        """The container that the inventory and the template ask for."""
        settings = self._settings
        image = self._image(asked)
        if not image:
            raise ProviderFailed(f"{asked.instance}: {NO_IMAGE}")
        program, *arguments = settings.command or ("sh", "-c", WAIT)
        return WantedContainer(
            image,
            (
                *(["--network", settings.network] if settings.network else []),
                *(["--user", settings.user] if settings.user else []),
                *options("--volume", settings.volumes),
                *_limits(engine, asked),
                *settings.options,
                *("--entrypoint", program),
            ),
            tuple(arguments),
            settings.environment,
        )


def _limits(engine: Engine, asked: Delegation) -> list[str]:
    """The options that limit processors and memory to those of the ``host`` capability, if the engine can do that.
    Raises ``ProviderFailed`` if the machine itself has less."""
    machine, words = engine.machine, list[str]()
    cpus, memory = asked.properties.get("host::num_cpus"), asked.properties.get("host::mem_size")
    if isinstance(cpus, int):
        if machine.cpus and cpus > machine.cpus:
            raise ProviderFailed(f"{asked.instance} asks for {cpus} CPUs, but {engine.where} has {machine.cpus}")
        words += ["--cpus", str(cpus)] if machine.limits_cpus else []
    if isinstance(memory, str):
        size = math.ceil(amount(memory, SIZE))
        if machine.memory and size > machine.memory:
            there = f"{machine.memory // MEBIBYTE} MiB"
            raise ProviderFailed(f"{asked.instance} asks for {memory} of memory, but {engine.where} has {there}")
        words += ["--memory", str(size)] if machine.limits_memory else []
    return words
