"""A Compute that is this machine."""

from __future__ import annotations

import asyncio

from ordito.providers.registry import make_localhost
from ordito.work.providing import Delegation, ProviderVerb


def test_a_compute_is_this_machine() -> None:
    """§5.9.2: the attributes of a Compute; the same every time, and nothing to remove."""
    provider = make_localhost()
    kinds = ("tosca.nodes.Compute", "tosca.nodes.Abstract.Compute", "tosca.nodes.Root")

    async def use() -> dict[str, object]:
        first = await provider.create(Delegation("server_1", kinds, ProviderVerb.CREATE))
        assert await provider.create(Delegation("server_1", kinds, ProviderVerb.CREATE, properties={"x": 1})) == first
        await provider.delete(Delegation("server_1", kinds, ProviderVerb.DELETE, attributes=first.attributes))
        await provider.delete(Delegation("server_1", kinds, ProviderVerb.DELETE))
        return dict(first.attributes)

    attributes = asyncio.run(use())
    assert attributes["private_address"] == attributes["public_address"] == "127.0.0.1"
    assert attributes["networks"] == {
        "loopback": {"network_name": "loopback", "network_id": "loopback", "addresses": ["127.0.0.1"]}
    }
    assert attributes["ports"] == {
        "loopback": {"port_name": "loopback", "network_id": "loopback", "addresses": ["127.0.0.1"]}
    }


def test_computes_and_what_derives_from_them() -> None:
    provider = make_localhost()
    assert provider.provides(["my.Server", "tosca.nodes.Compute", "tosca.nodes.Root"])
    assert not provider.provides(["tosca.nodes.SoftwareComponent", "tosca.nodes.Root"])
    assert not provider.provides(["tosca.nodes.Abstract.Compute"])
