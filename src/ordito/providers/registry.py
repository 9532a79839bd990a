"""The providers that come with the program, and those of plug-ins.

A provider is made by a factory, a function that gets its section of the inventory and access to hosts for short
commands. A plug-in offers one by an entry point of the group ``ordito.providers``, whose name is that of the provider
and of its section. `docs/plugins.md` says more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module

from ordito.providers.shapes import InventorySection
from ordito.work.providing import Delegation, Provided, Provider, ProviderFinding
from ordito.work.targets import Hands, HostTarget

GROUP = "ordito.providers"
LOCALHOST, POOL, CONTAINER, CLOUD = "localhost", "pool", "container", "cloud"
HOSTS, CONTAINERS = "hosts", "containers"
"""The sections of the pool and of containers."""

BUILT_IN: Mapping[str, tuple[str, str]] = {
    POOL: (HOSTS, "ordito.providers.pool.provider:make_provider"),
    CONTAINER: (CONTAINERS, "ordito.providers.containers.section:make_computes"),
    CLOUD: (CLOUD, "ordito.providers.cloud.section:make_provider"),
}
"""The providers that come with the program and have a section of the inventory: by name, the section and the factory.
"""

Factory = Callable[[InventorySection, Hands], Provider]


class NoFactory(Exception):
    """The provider of a plug-in cannot be loaded. The text says which and why, for people."""


def section_names() -> tuple[str, ...]:
    """The sections that the inventory may have for providers."""
    return (*(section for section, _ in BUILT_IN.values()), *(n for n in offered() if n not in BUILT_IN))


def provider_names() -> tuple[str, ...]:
    """All providers that the inventory may name."""
    return tuple(dict.fromkeys((LOCALHOST, *BUILT_IN, *offered())))


def section_of(provider: str) -> str:
    """The name of a provider's section, "" for none."""
    if provider == LOCALHOST:
        return ""
    return BUILT_IN[provider][0] if provider in BUILT_IN else provider


def make_localhost() -> Provider:
    """The provider that only needs this machine."""
    return LocalhostProvider()


def make_everywhere(section: InventorySection | None, hands: Hands) -> tuple[Provider, ...]:
    """The providers that need no section of the inventory; ``section`` is the one of containers, if there is one."""
    from ordito.providers.containers.section import make_everywhere as make

    return make(section, hands)


def factory_of(provider: str) -> Factory:
    """The factory of a provider. Raises ``NoFactory``."""
    place = BUILT_IN[provider][1] if provider in BUILT_IN else offered()[provider]
    module, _, attribute = place.partition(":")
    try:
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise NoFactory(f'the provider "{provider}" ({place}) cannot be loaded: {error}') from error
    if not callable(found):
        raise NoFactory(f'the provider "{provider}" ({place}) is not a function that makes a provider')
    return found


@cache
def offered() -> Mapping[str, str]:
    """The providers of plug-ins, by name: where the factory of each is found. Of several with one name the first in
    alphabetical order counts; the names of built-in providers cannot be taken."""
    # It brings half of the library along, and is needed only where there is an inventory.
    from importlib.metadata import entry_points

    found = sorted((point.name, point.value) for point in entry_points(group=GROUP))
    return {name: place for name, place in reversed(found) if name not in BUILT_IN and name != LOCALHOST}


# Computes that are this very machine.

COMPUTE = "tosca.nodes.Compute"
ADDRESS = "127.0.0.1"
NETWORK = "loopback"


class LocalhostProvider:
    """Provides ``tosca.nodes.Compute`` and derived types as the machine that runs this program.

    Nothing is created or removed: every instance is the same machine, at its loopback address (attributes of TOSCA 1.3
    §5.9.2.2, NetworkInfo §5.3.8, PortInfo §5.3.9).
    """

    name = "localhost"
    protocol = ""

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a Compute."""
        return COMPUTE in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """False: the machine exists and needs no image."""
        return False

    async def create(self, asked: Delegation) -> Provided:
        """The addresses of this machine, the same for every instance."""
        return Provided(_attributes(), "this machine")

    async def delete(self, asked: Delegation) -> bool:
        """Does nothing: the machine stays, and so does everything on it."""
        return False

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Always found: this machine runs the program."""
        return ProviderFinding("ok", _attributes(), "this machine")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """This machine."""
        return None


def _attributes() -> dict[str, object]:
    return {
        "private_address": ADDRESS,
        "public_address": ADDRESS,
        "networks": {NETWORK: {"network_name": NETWORK, "network_id": NETWORK, "addresses": [ADDRESS]}},
        "ports": {NETWORK: {"port_name": NETWORK, "network_id": NETWORK, "addresses": [ADDRESS]}},
    }
