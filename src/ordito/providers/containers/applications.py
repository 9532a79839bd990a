"""Applications in containers, and the runtimes that they run on (§5.9.12, §5.9.13)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from ordito.providers.containers.asked_for import Health, application_of
from ordito.providers.containers.engine import Container, Engine, Engines, RegistryLogin, name_of
from ordito.providers.containers.images import KIND, forget, forget_former, image_artifact, image_of, made_before
from ordito.providers.containers.making import (
    WantedContainer,
    address_of,
    ended,
    made,
    own,
    published,
    removed,
    seen,
    started,
    stopped,
)
from ordito.work.providing import Delegation, Provided, ProviderFailed, ProviderFinding
from ordito.work.targets import HostTarget

APPLICATION = "tosca.nodes.Container.Application"
RUNTIME = "tosca.nodes.Container.Runtime"

CONTAINER_ATTRIBUTE = "ordito.container"
"""The attribute of an application with its container and image."""

_STEADY = 0.5
"""Seconds that an application without a health check must keep running."""

_EACH_TRY = 30.0
"""Seconds that one health check may take."""


class ApplicationProvider:
    """Provides ``tosca.nodes.Container.Application`` and derived types as a container of its image on the host of its
    runtime."""

    name = "container-application"
    protocol = ""

    def __init__(
        self, engines: Engines, logins: Callable[[], Mapping[str, RegistryLogin]] = dict[str, RegistryLogin]
    ) -> None:
        """``logins`` gives the logins of registries in the inventory, or raises ``ProviderFailed``."""
        self._engines = engines
        self._logins = logins

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is an application in a container."""
        return APPLICATION in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """Whether an artifact of these types is an image of a container."""
        return KIND in kinds

    async def create(self, asked: Delegation) -> Provided:
        """Make a container, and wait until it runs and is well; after a crash, the existing one is used."""
        application, artifact = application_of(asked), image_artifact(asked)
        engine = await self._engines.on(asked.host)
        former = await made_before(engine, asked, artifact)
        image = await image_of(engine, asked, artifact, self._logins)
        wanted = WantedContainer(image.digest, application.options, application.command, application.environment)
        container = await made(engine, asked, wanted)
        await forget_former(engine, former, image)
        attributes = _attributes(engine, asked, container, image.registered or image.digest)
        try:
            container = await _well(engine, asked, application.health)
        except ProviderFailed as failed:
            raise ProviderFailed(str(failed), attributes) from failed
        attributes = _attributes(engine, asked, container, image.registered or image.digest)
        return Provided(attributes, f"container {name_of(asked)} of {artifact.file}, made by {engine.name}")

    async def delete(self, asked: Delegation) -> bool:
        """Stop the application, and remove its container with its anonymous volumes."""
        engine = await self._engine_of(asked)
        await stopped(engine, asked, application_of(asked).grace)
        await removed(engine, asked)
        await forget(engine, asked)
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether the container runs, and the application is well."""
        engine = await self._engine_of(asked)
        name = name_of(asked)
        container = await own(engine, asked)
        known = asked.attributes.get(CONTAINER_ATTRIBUTE)
        image = str(known.get("image", "")) if isinstance(known, Mapping) else ""
        found = seen(engine, name, container, _attributes(engine, asked, container, image) if container else {})
        if container is None or found.status != "ok":
            return found
        health = application_of(asked).health
        if why := await _illness(engine, name, health, container.checks_health):
            return ProviderFinding("degraded", found.attributes, f"the container {name} runs, but is not well: {why}")
        return found

    async def start(self, asked: Delegation) -> Provided:
        """Start the stopped container again."""
        engine = await self._engine_of(asked)
        await started(engine, asked)
        container = await _well(engine, asked, application_of(asked).health)
        known = asked.attributes.get(CONTAINER_ATTRIBUTE)
        image = str(known.get("image", "")) if isinstance(known, Mapping) else ""
        return Provided(_attributes(engine, asked, container, image), f"container {name_of(asked)} started")

    async def stop(self, asked: Delegation) -> None:
        """Stop the container; it stays as it is."""
        await stopped(await self._engine_of(asked), asked, application_of(asked).grace)

    async def _engine_of(self, asked: Delegation) -> Engine:
        return await self._engines.of(asked.host, asked.attributes.get(CONTAINER_ATTRIBUTE))

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """Raises: applications are no hosts."""
        return None


class RuntimeProvider:
    """Provides ``tosca.nodes.Container.Runtime`` if no operation installs it: an engine must answer on the host."""

    name = "container-runtime"
    protocol = ""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) runs containers."""
        return RUNTIME in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """False: no artifact is needed for an engine that exists."""
        return False

    async def create(self, asked: Delegation) -> Provided:
        """Check that an engine answers on the host."""
        engine = await self._engines.on(asked.host)
        return Provided({}, f"{engine.name} answers on {engine.where}")

    async def delete(self, asked: Delegation) -> bool:
        """Does nothing: the engine existed before, and each container is removed separately."""
        return False

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether an engine answers."""
        try:
            engine = await self._engines.on(asked.host)
        except ProviderFailed as failed:
            return ProviderFinding("error", {}, str(failed))
        return ProviderFinding("ok", {}, f"{engine.name} answers on {engine.where}")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """Raises: runtimes are no hosts."""
        return None


# ---------------------------------------------------------------------------------------------------------- health


async def _well(engine: Engine, asked: Delegation, health: Health) -> Container:
    """Wait until an application runs and is well. Raises ``ProviderFailed``, with its last lines, if it ends or is not
    well in time."""
    name, loop = name_of(asked), asyncio.get_running_loop()
    until = loop.time() + health.within
    while True:
        container = await _running(engine, name)
        why = await _illness(engine, name, health, container.checks_health)
        if not why:
            break
        if loop.time() > until:
            lines = await engine.last_lines(name)
            raise ProviderFailed(f"{asked.instance} is not well after {health.within:g} s: {why}{lines}")
        await asyncio.sleep(health.every)
    if not health.command and not container.checks_health:
        await asyncio.sleep(_STEADY)
    return await _running(engine, name)


async def _running(engine: Engine, name: str) -> Container:
    container = await engine.look(name)
    if container is None:
        raise ProviderFailed(f"the container {name} no longer exists on {engine.where}")
    if not container.state.running:
        raise await ended(engine, name, container)
    return container


async def _illness(engine: Engine, name: str, health: Health, checks_itself: bool) -> str:
    """Why an application is not well, "" if it is: by the health check of its template, else by that of its image."""
    if health.command:
        words = ["exec", name, *health.command]
    elif not checks_itself:
        return ""
    elif engine.name == "podman":
        words = ["healthcheck", "run", name]
    else:
        status = await engine.ask("inspect", "--format", "{{.State.Health.Status}}", name)
        return "" if status == "healthy" else f"its health check says {status}"
    try:
        ran = await engine.run(*words, timeout=_EACH_TRY)
    except ProviderFailed as failed:
        return str(failed)
    called = " ".join(health.command) or "the health check of the image"
    if ran.status == 0:
        return ""
    printed = (ran.err.strip() or ran.out.strip()).decode(errors="replace").splitlines()
    return f"`{called}` ended with exit {ran.status}" + (f": {printed[-1].strip()}" if printed else "")


# ------------------------------------------------------------------------------------------------------ attributes


def _attributes(engine: Engine, asked: Delegation, container: Container, image: str) -> dict[str, object]:
    name = name_of(asked)
    found: dict[str, object] = {
        CONTAINER_ATTRIBUTE: {"engine": engine.name, "id": name, "image": image, "digest": _digest(container)}
    }
    if application_of(asked).has_own_type:
        found |= {"container": name, "image": image, "address": address_of(container)}
        found["published"] = published(container)
    return found


def _digest(container: Container) -> str:
    """The digest of the image from which a container was made."""
    return container.image if ":" in container.image else f"sha256:{container.image}"
