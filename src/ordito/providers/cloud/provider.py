"""The provider ``cloud``: machines, volumes, networks and ports of any cloud that libcloud has a driver for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from ordito.providers.cloud.api import Api, UnansweredCall, library
from ordito.providers.cloud.choosing import IMAGES
from ordito.providers.cloud.dialect import CloudDialect
from ordito.providers.cloud.ec2 import Ec2
from ordito.providers.cloud.machines import PROVIDER, Machines, Volumes
from ordito.providers.cloud.networks import CloudPorts, Networks
from ordito.providers.cloud.openstack import OpenStack
from ordito.providers.cloud.settings import PRIVATE, CloudSettings
from ordito.work.providing import Delegation, Provided, ProviderFailed, ProviderFinding
from ordito.work.targets import HOST, SSH, HostTarget, Unasked, Unreachable

COMPUTE = "tosca.nodes.Compute"
STORAGE = "tosca.nodes.Storage.BlockStorage"
NETWORK, PORT = "tosca.nodes.network.Network", "tosca.nodes.network.Port"
MADE = frozenset({COMPUTE, STORAGE, NETWORK, PORT})

DIALECTS: Mapping[str, type[CloudDialect]] = {"ec2": Ec2, "openstack": OpenStack}
"""The clouds for which more than the common interface of libcloud is used."""


class Makes(Protocol):
    """Makes nodes of one type."""

    async def create(self, asked: Delegation) -> Provided:
        """Make an instance, or find it."""

    async def delete(self, asked: Delegation) -> bool:
        """Remove an instance."""

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether an instance exists and is well."""


class CloudProvider:
    """Makes machines, volumes, networks and ports of a cloud, and recognizes them by labels or names."""

    name = PROVIDER

    def __init__(self, settings: Callable[[], CloudSettings], *, reach: bool = True) -> None:
        """``settings`` gives the settings or raises ``ProviderFailed``; secrets are not looked up before the first
        request to the cloud. ``reach`` is the one setting that must be known before."""
        self._load = settings
        self.protocol = SSH if reach else ""

    def provides(self, kinds: Sequence[str]) -> bool:
        """True for Computes, block storage, networks and ports."""
        return not MADE.isdisjoint(kinds)

    def takes(self, kinds: Sequence[str]) -> bool:
        """Whether an artifact of these types is an image for machines."""
        return not IMAGES.isdisjoint(kinds)

    @cached_property
    def settings(self) -> CloudSettings:
        """The settings of the cloud in the inventory. Raises ``ProviderFailed``."""
        return self._load()

    @cached_property
    def api(self) -> Api:
        """Makes the requests to the cloud."""
        return Api(self.settings, self._dialect)

    @cached_property
    def _dialect(self) -> CloudDialect:
        driver = library().drivers.get(self.settings.driver.lower(), "")
        return DIALECTS.get(driver, CloudDialect)(self.settings)

    @cached_property
    def _makers(self) -> Mapping[str, Makes]:
        of = self.settings, self.api, self._dialect
        return {COMPUTE: Machines(*of), STORAGE: Volumes(*of), NETWORK: Networks(*of), PORT: CloudPorts(*of)}

    def _maker(self, asked: Delegation) -> Makes:
        return next(self._makers[kind] for kind in asked.kinds if kind in MADE)

    async def create(self, asked: Delegation) -> Provided:
        """Make the instance, or find it."""
        return await self._maker(asked).create(asked)

    async def delete(self, asked: Delegation) -> bool:
        """Remove the instance, and wait until it is gone."""
        return await self._maker(asked).delete(asked)

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether the instance exists and is well. Raises ``Unasked`` if the cloud does not answer."""
        try:
            return await self._maker(asked).look(asked)
        except UnansweredCall as silent:
            raise Unasked(str(silent)) from silent

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """The target by SSH at its address; None (this machine) if the settings say that machines are not reached."""
        if not self.protocol:
            return None
        try:
            settings = self.settings
        except ProviderFailed as failed:
            raise Unreachable(f"{instance}: {failed}") from failed
        name = "private_address" if settings.address == PRIVATE else "public_address"
        address = str(attributes.get(name) or "")
        if not address:
            host = attributes.get(HOST)
            id = host.get("id", "") if isinstance(host, Mapping) else ""
            raise Unreachable(f"{instance} (machine {id}) has no {name}: look at `address` in the section `cloud`")
        return HostTarget(SSH, instance, {**settings.connection, "address": address})
