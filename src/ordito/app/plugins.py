"""Who carries out operations, makes nodes and reaches hosts: what comes with the program, and what is added to it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.inventory import HostInventory
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
"""The place of the hands of this machine among those of protocols."""

Settings = Mapping[str, object]


def _no_settings() -> Settings:
    return {}


class AllHands:
    """Hands that reach whatever one of others does, by protocol; each is made when it is first asked for something."""

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
    """How hosts are reached, by what their providers and the inventory say now (see ``work.targeting.FindsTargets``).

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
                f'{instance} was made by the provider "{provider}", which is not there: give the inventory that it was'
                " made with (--hosts)"
            )
        return found.target(instance, attributes)

    def at(self, instance: str, node: str, address: str, port: int | None) -> HostTarget:
        """By SSH, with the settings of the inventory for all hosts, else with those of the user. Raises
        ``Unreachable``."""
        own: dict[str, object] = {"address": address} if port is None else {"address": address, "port": port}
        return HostTarget(SSH, instance, {**self._defaults(), **own})


SCRATCH = "scratch"

PROTOCOLS = ("", SSH, CONTAINER)
"""By which hosts may be reached, this machine first; those of further providers come to them."""


class Plugins(msgspec.Struct, frozen=True):
    """The executors, providers and hands of one ensemble, and how its hosts are reached."""

    executors: tuple[Executor, ...]
    providers: Providers
    hands: AllHands
    targets: KnownTargets
    remote: RemoteExecutor
    connectors: tuple[Connector, ...]

    def accepts(self, kinds: Sequence[str], protocol: str | None = None) -> bool:
        """Whether some executor processes an artifact of these types on hosts that are reached by a protocol ("": on
        this machine; None: by any)."""
        if protocol is not None:
            return any(executor.accepts(kinds, protocol) for executor in self.executors)
        protocols = dict.fromkeys((*PROTOCOLS, *(provider.protocol for provider in self.providers.all)))
        return any(self.accepts(kinds, one) for one in protocols)

    def provides(self, node: str, kinds: Sequence[str]) -> bool:
        """Whether some provider makes a node template, whose types are ``kinds``."""
        return self.providers.provides(node, kinds)

    def takes(self, node: str, kinds: Sequence[str], artifact: Sequence[str]) -> bool:
        """Whether the provider of a node template does something with an artifact of such and such types."""
        provider = self.providers.of(node, kinds)
        return provider is not None and (not isinstance(provider, TakesArtifacts) or provider.takes(artifact))

    def maker(self, node: str, kinds: Sequence[str]) -> Maker:
        """Who makes a node template, and how what it makes is reached."""
        provider = self.providers.of(node, kinds)
        if provider is None:
            return Maker()
        return Maker(
            provider.name, provider.protocol, looks=provider.name != LOCALHOST, starts=isinstance(provider, Starts)
        )

    def remember(self, ensemble: str, snapshot: Snapshot) -> None:
        """Have providers that keep books of their own write down what exists. Raises ``Refused``."""
        for provider in self.providers.all:
            if not isinstance(provider, KeepsBooks):
                continue
            try:
                provider.remember(ensemble, recorded_with(provider.name, snapshot))
            except ProviderFailed as failed:
                raise Refused("broken-pool", str(failed), "give this user the right to use it") from failed

    async def leave(self, ensemble: str, job: str, before: Sequence[HostTarget]) -> None:
        """Take away what the job has on other hosts, and from hosts that the ensemble has given back all that is there,
        and end the connections to them: to be awaited where they were used, when every outcome is written down.
        ``before`` are the hosts on which the job was before it was cut off."""
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
        """Connections that are made meanwhile are closed at the end, whatever happens, on the same loop."""
        try:
            yield
        finally:
            for connector in self.connectors:
                await connector.close()

    def close(self) -> None:
        """Let go of what was kept for further operations."""
        for executor in self.executors:
            executor.close()


def plugins_of(layout: Layout, inventory: HostInventory, area: str = "") -> Plugins:
    """What is at hand for an ensemble; nothing is made on disk before an operation runs, and nothing is connected.
    ``area`` is the word that tells what this deployment has on other hosts from what others have there.

    Raises ``InvalidDocument`` with all that is wrong with the inventory."""
    connectors: tuple[Connector, ...] = (SshConnector(), ContainerConnector())
    by_protocol = {connector.protocol: partial(RemoteHands, connector) for connector in connectors}
    hands = AllHands({THIS_MACHINE: LocalHands, **by_protocol})
    providers = inventory.providers(hands)
    remote = RemoteExecutor(connectors, area)
    executors = (*local_executors(layout.private / SCRATCH, area), remote)
    return Plugins(executors, providers, hands, KnownTargets(providers, inventory.settings), remote, connectors)
