"""Carries out delegated steps: a provider creates, removes or checks an instance, or its host is waited for."""

from __future__ import annotations

from ordito.work.invocation import Ending, Outcome
from ordito.work.providing import (
    Delegation,
    LeavesBehind,
    Lends,
    Provided,
    Provider,
    ProviderFailed,
    Providers,
    ProviderVerb,
    RegistersNames,
    Starts,
    recorded_provider,
)
from ordito.work.targets import Hands, HostTarget, TargetRefused, Unasked, Unreachable

REACHED_WITHIN = 300.0
"""Seconds within which a new host must be reachable, by default."""

LENT_WITHIN = 30.0
"""Seconds within which a host must be reachable that existed before it was given to an instance, by default."""

MOVES = frozenset({ProviderVerb.START, ProviderVerb.STOP})

ANSWERS_WITHIN = 30.0
"""Seconds within which a host must answer a check."""


class Delegates:
    """The providers of a job, and the access to its hosts (None for none)."""

    def __init__(self, providers: Providers, hands: Hands | None) -> None:
        self._providers = providers
        self._hands = hands

    def provider_for(self, asked: Delegation) -> Provider | None:
        """The provider that has made an instance, or is to make it."""
        return self._providers.for_instance(asked.node, asked.kinds, asked.attributes)

    def problem(self, asked: Delegation) -> Outcome | None:
        """How a step ends for which there is no provider; None if there is one."""
        if asked.verb is ProviderVerb.REACH or (asked.verb is ProviderVerb.LOOK and asked.host is not None):
            return None
        return no_provider(asked) if self.provider_for(asked) is None else None

    def warnings(self, asked: Delegation) -> tuple[str, ...]:
        """Warnings before a step is carried out: about DNS names that nobody registers (§5.5.8)."""
        if asked.verb is not ProviderVerb.CREATE:
            return ()
        named = [endpoint for endpoint in asked.endpoints if endpoint.dns_name]
        provider = self.provider_for(asked) if named else None
        return tuple(
            f'nobody registers the name "{endpoint.dns_name}" of endpoint {endpoint.node}.{endpoint.name}, since the'
            f" provider {provider.name} registers none: let it lead to the address of {asked.instance} yourself"
            for endpoint in named
            if provider is not None
            and not (isinstance(provider, RegistersNames) and provider.registers(endpoint.dns_name))
        )

    async def carry_out(self, asked: Delegation) -> Outcome:
        """Do what is asked; returns how it ended."""
        try:
            return await self._carried_out(asked)
        except ProviderFailed as failed:
            message, _, lines = str(failed).partition("\n")
            return Outcome(Ending.FAILED, message=message, outputs=failed.made, tail=tuple(lines.splitlines()))
        except Unreachable as unreachable:
            return ended_unreachable(asked.verb, unreachable)

    async def _carried_out(self, asked: Delegation) -> Outcome:
        if asked.verb is ProviderVerb.REACH:
            return await self._reached(asked)
        provider = self.provider_for(asked) if not asked.by_itself else None
        if provider is None:
            return await self._answers(asked)
        if asked.verb is ProviderVerb.DELETE:
            gone = await provider.delete(asked)
            left = provider.left_behind(asked.instance) if isinstance(provider, LeavesBehind) else ""
            return Outcome(Ending.SUCCEEDED, changed=gone, message=left)
        if asked.verb is ProviderVerb.LOOK:
            seen = await provider.look(asked)
            return Outcome(Ending.SUCCEEDED, status=seen.status, outputs=dict(seen.attributes), message=seen.message)
        if asked.verb in MOVES:
            return await _moved(provider, asked)
        return _made(await provider.create(asked))

    async def _reached(self, asked: Delegation) -> Outcome:
        if asked.host is None:
            return Outcome(Ending.SUCCEEDED, changed=False, message="this machine")
        usual = LENT_WITHIN if isinstance(self.provider_for(asked), Lends) else REACHED_WITHIN
        await self._hands_for(asked.host).reach(asked.host, usual if asked.timeout is None else asked.timeout)
        return Outcome(Ending.SUCCEEDED, changed=False, message=f"{asked.host.name} can be reached")

    async def _answers(self, asked: Delegation) -> Outcome:
        """Check whether a host answers that no provider has made."""
        if asked.host is None:
            return no_provider(asked)
        try:
            await self._hands_for(asked.host).run(asked.host, ("true",), timeout=ANSWERS_WITHIN)
        except TimeoutError as error:
            raise Unreachable(f"{asked.host.name} did not answer within {ANSWERS_WITHIN:g} s") from error
        return Outcome(Ending.SUCCEEDED, status="ok", message=f"{asked.host.name} can be reached")

    def _hands_for(self, target: HostTarget) -> Hands:
        if self._hands is None:
            raise Unreachable(f"no connector reaches {target.name} (protocol {target.protocol})")
        return self._hands


async def _moved(provider: Provider, asked: Delegation) -> Outcome:
    """Have a provider stop or start an instance; returns how that ended."""
    if not isinstance(provider, Starts):
        raise ProviderFailed(f'the provider "{provider.name}" cannot {asked.verb} what it has made')
    if asked.verb is ProviderVerb.START:
        return _made(await provider.start(asked))
    await provider.stop(asked)
    return Outcome(Ending.SUCCEEDED, changed=True)


def _made(provided: Provided) -> Outcome:
    return Outcome(Ending.SUCCEEDED, changed=True, outputs=provided.outputs, message=provided.message)


def ended_unreachable(verb: ProviderVerb, unreachable: Unreachable) -> Outcome:
    """How a step ends whose host cannot be reached. For a check that is an error of the host, unless its provider could
    not be asked, or the host is there but refuses the login: then nothing is known of it."""
    if verb is ProviderVerb.LOOK and not isinstance(unreachable, Unasked | TargetRefused):
        return Outcome(Ending.SUCCEEDED, status="error", message=str(unreachable))
    return Outcome(Ending.UNREACHABLE, message=str(unreachable), refused=isinstance(unreachable, TargetRefused))


def no_provider(asked: Delegation) -> Outcome:
    """The end of a delegated step if no provider makes such nodes."""
    recorded = recorded_provider(asked.attributes)
    message = f"no provider makes nodes of type {asked.kinds[0]}"
    if recorded:
        message = f'the provider "{recorded}", which has made it, is no longer in the inventory'
    return Outcome(Ending.NOT_STARTED, message=message)
