"""The container of an instance: making it exactly once, even after a crash, checking and removing it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ordito.base.sensitive import revealed
from ordito.providers.containers.engine import (
    LONG,
    USUAL,
    Container,
    Engine,
    is_made_by,
    is_of,
    labels_of,
    name_of,
    said,
)
from ordito.work.providing import Delegation, ProviderFailed, ProviderFinding

PIPED = 'cat | exec "$@"'
"""A shell between the variables and the engine: the engine reads them from a file that it must be able to open, which
is not possible with every standard input."""

GRACE = 10.0
"""Seconds that a container has to end by itself, by default."""


class WantedContainer(msgspec.Struct, frozen=True):
    """A wanted container: its image, the words of `run` before the image (``options``) and after it (``command``), and
    variables, whose values may be secret."""

    image: str
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, object] = {}


async def made(engine: Engine, asked: Delegation, wanted: WantedContainer) -> Container:
    """The container of an instance, running or ended: the one that this job has made already, or a new one, which
    replaces what another attempt has left. Raises ``ProviderFailed``."""
    name = name_of(asked)
    found = await own(engine, asked)
    if found is not None:
        if found.state.running and is_made_by(found, asked):
            return found
        await engine.remove(name)
    given = variables(wanted.environment)
    words = [engine.name, "run", "--detach", "--name", name, *labels_of(asked)]
    words += ["--env-file", "/dev/stdin"] if given else []
    words += [*wanted.options, wanted.image, *wanted.command]
    if given:
        words = ["sh", "-c", PIPED, "sh", *words]
    ran = await engine.run_words(words, f"{engine.name} run", given=given, timeout=LONG)
    if ran.status != 0:
        # Where the program was killed its `run` may have gone on, and come before this one: an image takes its time.
        found = await own(engine, asked)
        if found is not None and found.state.running and is_made_by(found, asked):
            return found
        await engine.remove(name)
        raise ProviderFailed(f"the container of {asked.instance} could not be started on {engine.where}: {said(ran)}")
    found = await engine.look(name)
    if found is None:
        raise ProviderFailed(f"the container {name} disappeared as soon as it was started on {engine.where}")
    return found


async def own(engine: Engine, asked: Delegation) -> Container | None:
    """The container of an instance, if there is one. Raises ``ProviderFailed`` if the name is used by another
    container."""
    name = name_of(asked)
    found = await engine.look(name)
    if found is not None and not is_of(found, asked):
        raise ProviderFailed(
            f"a container called {name} exists on {engine.where}, and was not made for {asked.instance} of this"
            f" deployment. Look at it ({engine.name} inspect {name}), and rename or remove it"
        )
    return found


async def started(engine: Engine, asked: Delegation) -> Container:
    """The container of an instance, which is started if it does not run. Raises ``ProviderFailed``."""
    name = name_of(asked)
    if await own(engine, asked) is None:
        raise ProviderFailed(f"there is no container {name} on {engine.where}: run `ordito heal {asked.instance}`")
    await engine.ask("start", name)
    found = await own(engine, asked)
    if found is None or not found.state.running:
        raise await ended(engine, name, found or Container())
    return found


async def stopped(engine: Engine, asked: Delegation, grace: float = GRACE) -> None:
    """Stop the container of an instance, which has ``grace`` seconds to end by itself; no error if there is none.
    Raises ``ProviderFailed``."""
    container = await own(engine, asked)
    if container is not None and container.state.running:
        await engine.ask("stop", "--time", f"{grace:.0f}", name_of(asked), timeout=grace + USUAL)


async def removed(engine: Engine, asked: Delegation) -> None:
    """Remove the container of an instance; no error if there is none."""
    if await own(engine, asked) is not None:
        await engine.remove(name_of(asked))


async def ended(engine: Engine, name: str, container: Container) -> ProviderFailed:
    """The message about a container that has ended."""
    state = container.state
    why = f" ({state.error})" if state.error else ""
    lines = await engine.last_lines(name)
    return ProviderFailed(f"the container {name} ended with exit {state.exit_code}{why} on {engine.where}{lines}")


def seen(engine: Engine, name: str, container: Container | None, attributes: Mapping[str, object]) -> ProviderFinding:
    """The result of a check of a container."""
    if container is None:
        return ProviderFinding("absent", {}, f"there is no container {name} on {engine.where}")
    state = container.state
    if state.paused:
        return ProviderFinding("degraded", attributes, f"the container {name} is paused: {engine.name} unpause {name}")
    if not state.running:
        return ProviderFinding(
            "error", {}, f"the container {name} does not run: {state.status}, exit {state.exit_code}"
        )
    return ProviderFinding("ok", attributes, f"the container {name} runs on {engine.where}")


def variables(environment: Mapping[str, object]) -> bytes:
    """Variables in the file format of an engine. Raises ``ProviderFailed`` for values that it cannot express."""
    lines: list[str] = []
    for name, given in environment.items():
        value = revealed(given)
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if not name.isidentifier():
            raise ProviderFailed(
                f'"{name}" cannot be the name of a variable in a container: letters, digits and _ only'
            )
        if "\n" in text or "\0" in text:
            raise ProviderFailed(f"the value of {name} has several lines, which variables of containers cannot have")
        lines.append(f"{name}={text}\n")
    return "".join(lines).encode()


def options(flag: str, values: Sequence[str]) -> list[str]:
    """An option that is given once for each value."""
    return [word for value in values for word in (flag, value)]


# Where a container is reached, as attributes of a Compute (§5.9.2.2, NetworkInfo §5.3.8, PortInfo §5.3.9).

LOOPBACK = "127.0.0.1"


def address_of(container: Container) -> str:
    """The address of a container: its own in its first network; that of its host if it shares the host's network; and
    if it has none that others could use, the one at which its ports are published."""
    if container.has_host_network:
        return LOOPBACK
    return next((address for _, _, address in _networks(container)), LOOPBACK)


def attributes_of(container: Container) -> dict[str, object]:
    """The attributes of a Compute with its addresses."""
    address = address_of(container)
    networks = [*_networks(container)] or [(container.host_config.network_mode or "host", "", address)]
    return {
        "private_address": address,
        "public_address": address,
        "networks": {
            name: {"network_name": name, "network_id": identity or name, "addresses": [own]}
            for name, identity, own in networks
        },
        "ports": {
            name: {"port_name": name, "network_id": identity or name, "addresses": [own]}
            for name, identity, own in networks
        },
    }


def published(container: Container) -> dict[str, str]:
    """The ports of a container (``80/tcp``), and where each is published on its host (``0.0.0.0:8080``)."""
    found: dict[str, str] = {}
    for port, places in (container.network_settings.ports or {}).items():
        for at in places or ():
            found.setdefault(port, f"{at.host_ip or '0.0.0.0'}:{at.host_port}")
    return found


def _networks(container: Container) -> Iterator[tuple[str, str, str]]:
    """The networks in which a container has an address: name, id, address."""
    if container.has_host_network:
        return
    own = container.network_settings
    for name, network in (own.networks or {}).items():
        if network.address:
            yield name, network.id, network.address
    if not own.networks and own.address:
        yield container.host_config.network_mode, "", own.address
