"""Who reaches hosts: each protocol has hands of its own, and each provider knows the hosts that it has made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ordito.work.providing import Providers
from ordito.work.targets import SSH, Hands, Ran, Target, Unreachable

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
        self, target: Target | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """See ``work.targets.Hands``."""
        return await self._for(target).run(target, words, given=given, timeout=timeout)

    async def reach(self, target: Target, timeout: float) -> None:
        """See ``work.targets.Hands``."""
        await self._for(target).reach(target, timeout)

    def _for(self, target: Target | None) -> Hands:
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

    def of_provider(self, provider: str, instance: str, attributes: Mapping[str, object]) -> Target | None:
        """What the provider says. Raises ``Unreachable``."""
        found = self._providers.named(provider)
        if found is None:
            raise Unreachable(
                f'{instance} was made by the provider "{provider}", which is not there: give the inventory that it was'
                " made with (--hosts)"
            )
        return found.target(instance, attributes)

    def at(self, instance: str, node: str, address: str, port: int | None) -> Target:
        """By SSH, with the settings of the inventory for all hosts, else with those of the user. Raises
        ``Unreachable``."""
        own: dict[str, object] = {"address": address} if port is None else {"address": address, "port": port}
        return Target(SSH, instance, {**self._defaults(), **own})
