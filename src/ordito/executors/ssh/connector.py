"""Reaching hosts by SSH, with asyncssh, which is loaded when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ordito.executors.remote.connection import CommandChannel, CommandListener
from ordito.executors.ssh.settings import SshSettings, settings_of
from ordito.work.targets import SSH, HostTarget, TargetRefused

if TYPE_CHECKING:
    from ordito.executors.ssh.connections import Connections

MISSING = "hosts that are reached by SSH need asyncssh, which is not installed: pip install 'ordito[ssh]'"


MOST_KNOWN = 10_000
"""How many targets have their settings cached."""


class SshConnector:
    """All hosts that are reached by SSH, with their connections."""

    protocol = SSH

    def __init__(self) -> None:
        self._hosts: dict[SshSettings, Connections] = {}
        # The settings of a target are read once: there may be thousands of commands for it.
        self._known: dict[int, tuple[HostTarget, Connections]] = {}

    async def start(self, target: HostTarget, words: Sequence[str], ears: CommandListener) -> CommandChannel:
        """See ``Connector``."""
        return await self._of(target).start(words, ears)

    def forget_failure(self, target: HostTarget) -> None:
        """See ``Connector``."""
        self._of(target).forget_failure()

    async def close(self) -> None:
        """See ``Connector``."""
        hosts, self._hosts = self._hosts, {}
        self._known.clear()
        await asyncio.gather(*(host.close() for host in hosts.values()))

    def _of(self, target: HostTarget) -> Connections:
        known = self._known.get(id(target))
        if known is not None:
            return known[1]
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        settings = settings_of(target)
        if (found := self._hosts.get(settings)) is None:
            found = self._hosts[settings] = _connections(settings, target.name)
        self._known[id(target)] = (target, found)
        return found


def _connections(settings: SshSettings, name: str) -> Connections:
    try:
        from ordito.executors.ssh.connections import Connections
    except ModuleNotFoundError as error:
        if error.name != "asyncssh":
            raise
        raise TargetRefused(f"{name}: {MISSING}") from None
    return Connections(settings, name)
