"""Addresses of endpoints: where nothing has set one, an endpoint has the address that the Compute on which its node
stands has on the endpoint's network (TOSCA 1.3 §5.5.7.2, §3.4.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ordito.base.sensitive import revealed
from ordito.instances.asking import MISSING, Answer, Steps
from ordito.instances.context import Nothing

ADDRESS = ("ip_address",)
PRIVATE, PUBLIC = "PRIVATE", "PUBLIC"
"""What stands for the first private and the first public network of a platform."""

OF_ALIAS = {PRIVATE: "private_address", PUBLIC: "public_address"}


def address_of(network: Answer, attribute: Callable[[str], Steps]) -> Steps:
    """The address on a network: an alias, or the name or id of one; ``attribute`` looks an attribute of the Compute up.
    Without a network it is the private one."""
    wanted = str(PRIVATE if network is MISSING or network is None or isinstance(network, Nothing) else network)
    name = OF_ALIAS.get(wanted)
    if name is not None:
        found = yield from attribute(name)
        return Nothing(f'"{name}" of its Compute is not known') if found is MISSING or found is None else found
    networks = yield from attribute("networks")
    if isinstance(networks, Nothing):
        return networks
    address = on_network(revealed(networks), wanted)
    return address or Nothing(f'its Compute has no address on network "{wanted}"')


def on_network(networks: object, wanted: str) -> str:
    """The first address on the network of a name or id, by what a Compute says of its networks (NetworkInfo); "" where
    there is none."""
    for key, network in networks.items() if isinstance(networks, Mapping) else ():
        if not isinstance(network, Mapping):
            continue
        addresses = network.get("addresses")
        if wanted in {key, network.get("network_name"), network.get("network_id")} and isinstance(addresses, list):
            return next((str(a) for a in addresses), "")
    return ""
