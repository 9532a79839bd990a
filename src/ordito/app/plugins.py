"""The executors, providers and connectors: those that come with the program, and those of plug-ins."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import HostInventory
from ordito.ensemble.backing import backing_of
from ordito.ensemble.layout import Layout
from ordito.executors.container.connector import ContainerConnector
from ordito.executors.local import local_executors
from ordito.executors.local_hands import LocalHands
from ordito.executors.remote.commands import RemoteHands
from ordito.executors.remote.connection import Connector
from ordito.executors.remote.executor import RemoteExecutor
from ordito.executors.ssh.connector import SshConnector
from ordito.instances.records import Snapshot
from ordito.planning.options import Maker
from ordito.providers.registry import LOCALHOST
from ordito.work.invocation import Executor
from ordito.work.providing import KeepsBooks, Lends, ProviderFailed, Providers, Starts, TakesArtifacts, recorded_with
from ordito.work.targets import CONTAINER, SSH, Hands, HostTarget, Ran, Unreachable

# Who reaches hosts: each protocol has hands of its own, and each provider knows the hosts that it has made.

THIS_MACHINE = ""
"""The key of the access to this machine among those of protocols."""

Settings = Mapping[str, object]


def _no_settings() -> Settings:
    return {}


class AllHands:
    """Access to hosts of all protocols; the one of each protocol is made when it is first used."""

    def __init__(self, makers: Mapping[str, Callable[[], Hands]]) -> None:
        self._makers = makers
        self._made: dict[str, Hands] = {}

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols by which hosts are reached."""
        return tuple(self._makers)

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``."""
        return await self._for(target).run(target, words, given=given, timeout=timeout)

    async def reach(self, target: HostTarget, timeout: float) -> None:
        """See ``work.targets.Hands``."""
        await self._for(target).reach(target, timeout)

    def _for(self, target: HostTarget | None) -> Hands:
        protocol = THIS_MACHINE if target is None else target.protocol
        if protocol not in self._made:
            if protocol not in self._makers:
                name = "this machine" if target is None else f"{target.name} (protocol {protocol})"
                raise Unreachable(f"nothing here reaches {name}")
            self._made[protocol] = self._makers[protocol]()
        return self._made[protocol]


class KnownTargets:
    """How hosts are reached, by their providers and the inventory (see ``operations.targeting.FindsTargets``).

    ``defaults`` gives the settings for hosts that are in no inventory.
    """

    def __init__(self, providers: Providers, defaults: Callable[[], Settings] = _no_settings) -> None:
        self._providers = providers
        self._defaults = defaults

    def of_provider(self, provider: str, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        """What the provider says. Raises ``Unreachable``."""
        found = self._providers.named(provider)
        if found is None:
            raise Unreachable(
                f'{instance} was made by the provider "{provider}", which is not available: give the inventory'
                " with which it was made (--hosts)"
            )
        return found.target(instance, attributes)

    def at(self, instance: str, node: str, address: str, port: int | None) -> HostTarget:
        """The target by SSH, with the settings of the inventory for all hosts, else with those of the user. Raises
        ``Unreachable``."""
        own: dict[str, object] = {"address": address} if port is None else {"address": address, "port": port}
        return HostTarget(SSH, instance, {**self._defaults(), **own})


SCRATCH = "scratch"

PROTOCOLS = ("", SSH, CONTAINER)
"""The protocols by which hosts can be reached, this machine first; plug-ins may add more."""


class Plugins(msgspec.Struct, frozen=True):
    """The executors, providers and host access of one ensemble."""

    executors: tuple[Executor, ...]
    providers: Providers
    hands: AllHands
    targets: KnownTargets
    remote: RemoteExecutor
    connectors: tuple[Connector, ...]

    def accepts(self, kinds: Sequence[str], protocol: str | None = None) -> bool:
        """Whether an executor runs an artifact of these types on hosts with this protocol ("": this machine; None:
        any)."""
        if protocol is not None:
            return any(executor.accepts(kinds, protocol) for executor in self.executors)
        protocols = dict.fromkeys((*PROTOCOLS, *(provider.protocol for provider in self.providers.all)))
        return any(self.accepts(kinds, one) for one in protocols)

    def provides(self, node: str, kinds: Sequence[str]) -> bool:
        """Whether a provider makes a node template with these types."""
        return self.providers.provides(node, kinds)

    def takes(self, node: str, kinds: Sequence[str], artifact: Sequence[str]) -> bool:
        """Whether the provider of a node template uses artifacts of these types."""
        provider = self.providers.of(node, kinds)
        return provider is not None and (not isinstance(provider, TakesArtifacts) or provider.takes(artifact))

    def maker(self, node: str, kinds: Sequence[str]) -> Maker:
        """The provider of a node template, and how its instances are reached."""
        provider = self.providers.of(node, kinds)
        if provider is None:
            return Maker()
        return Maker(
            provider.name, provider.protocol, looks=provider.name != LOCALHOST, starts=isinstance(provider, Starts)
        )

    def remember(self, ensemble: str, snapshot: Snapshot) -> None:
        """Let providers with a database of their own store what exists. Raises ``Refused``."""
        for provider in self.providers.all:
            if not isinstance(provider, KeepsBooks):
                continue
            try:
                provider.remember(ensemble, recorded_with(provider.name, snapshot))
            except ProviderFailed as failed:
                raise Refused("broken-pool", str(failed), "give this user the right to use it") from failed

    async def leave(self, ensemble: str, job: str, before: Sequence[HostTarget]) -> None:
        """Remove the files of the job on other hosts, and all files of the ensemble on hosts that it has given back,
        and close the connections; to be awaited on the loop that used them, when all outcomes are recorded. ``before``
        are the hosts on which the job ran before it was interrupted."""
        given_back: list[tuple[Lends, Sequence[HostTarget]]] = []
        for provider in self.providers.all:
            if isinstance(provider, Lends):
                # What cannot be read now is tidied up by a later job.
                with contextlib.suppress(ProviderFailed):
                    given_back.append((provider, provider.given_back(ensemble)))
        tidied = await self.remote.leave([target for _, targets in given_back for target in targets], before, job)
        for lender, targets in given_back:
            with contextlib.suppress(ProviderFailed):
                lender.tidied(ensemble, [target for target in targets if target in tidied])

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Close at the end, on the same loop, all connections that were made inside of the ``with`` statement."""
        try:
            yield
        finally:
            for connector in self.connectors:
                await connector.close()

    def close(self) -> None:
        """Release what was kept for further operations."""
        for executor in self.executors:
            executor.close()


def plugins_of(layout: Layout, inventory: HostInventory, area: str = "") -> Plugins:
    """The plug-ins for an ensemble; nothing is written to disk or connected before an operation runs. ``area`` is the
    name below which this deployment keeps its files on other hosts. Raises ``InvalidDocument`` with all errors of the
    inventory, and ``Refused`` for a pool where the ensemble is one of a store."""
    connectors: tuple[Connector, ...] = (SshConnector(), ContainerConnector())
    by_protocol = {connector.protocol: partial(RemoteHands, connector) for connector in connectors}
    hands = AllHands({THIS_MACHINE: LocalHands, **by_protocol})
    providers = inventory.providers(hands)
    if any(isinstance(provider, KeepsBooks) for provider in providers.all) and (shown := backing_of(layout).shown):
        raise Refused(
            "pool-in-store",
            f"the inventory has a pool of hosts, whose books are a file on this machine, and {shown} is in a store",
            "take the pool out of the inventory, or keep the ensemble in a directory: `ordito store export`",
        )
    hold = backing_of(layout).hold()
    remote = RemoteExecutor(connectors, area, hold=hold)
    executors = (*local_executors(layout.private / SCRATCH, area, hold), remote)
    return Plugins(executors, providers, hands, KnownTargets(providers, inventory.settings), remote, connectors)
