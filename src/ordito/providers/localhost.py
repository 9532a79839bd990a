"""Computes that are this very machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.work.providing import Delegation, Provided, Seen
from ordito.work.targets import Target

COMPUTE = "tosca.nodes.Compute"
ADDRESS = "127.0.0.1"
NETWORK = "loopback"


class LocalhostProvider:
    """Provides ``tosca.nodes.Compute``, and what derives from it, as the machine that runs this program.

    There is nothing to make and nothing to remove: every instance is the same machine, under its loopback address
    (attributes of TOSCA 1.3 §5.9.2.2, NetworkInfo §5.3.8, PortInfo §5.3.9).
    """

    name = "localhost"
    protocol = ""

    def provides(self, kinds: Sequence[str]) -> bool:
        """Whether a node of these types (its type and the ancestors) is a Compute."""
        return COMPUTE in kinds

    def takes(self, kinds: Sequence[str]) -> bool:
        """Nothing: no image is needed for a machine that is there."""
        return False

    async def create(self, asked: Delegation) -> Provided:
        """The addresses of this machine; the same ones for every instance, every time."""
        return Provided(_attributes(), "this machine")

    async def delete(self, asked: Delegation) -> bool:
        """Nothing: the machine stays, and so does what runs on it."""
        return False

    async def look(self, asked: Delegation) -> Seen:
        """It is there, or nobody could ask."""
        return Seen("ok", _attributes(), "this machine")

    def target(self, instance: str, attributes: Mapping[str, object]) -> Target | None:
        """This machine."""
        return None


def _attributes() -> dict[str, object]:
    return {
        "private_address": ADDRESS,
        "public_address": ADDRESS,
        "networks": {NETWORK: {"network_name": NETWORK, "network_id": NETWORK, "addresses": [ADDRESS]}},
        "ports": {NETWORK: {"port_name": NETWORK, "network_id": NETWORK, "addresses": [ADDRESS]}},
    }
