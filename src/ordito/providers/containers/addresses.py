"""Where a container is reached, as attributes of a Compute (§5.9.2.2, NetworkInfo §5.3.8, PortInfo §5.3.9)."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.providers.containers.engine import Container

LOOPBACK = "127.0.0.1"


def address_of(container: Container) -> str:
    """The address of a container: its own in its first network, that of its host where it shares the host's network,
    and where it has none that others could use, that at which its ports are published."""
    if container.has_host_network:
        return LOOPBACK
    return next((address for _, _, address in _networks(container)), LOOPBACK)


def attributes_of(container: Container) -> dict[str, object]:
    """The attributes of a Compute that say where it is reached."""
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
    """Ports of a container (``80/tcp``), and where each is published on its host (``0.0.0.0:8080``)."""
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
