"""Targets: the hosts that operations run on and that are not this machine, and the hands that reach them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

HOST = "ordito.host"
"""The attribute of a Compute instance that says what it is: a map of ``provider``, the name of who created or chose it,
and ``id``, its id there. It is written when the instance is created, so that it is durable; how the host is reached is
asked of the provider each time, since credentials change, and are nobody else's business."""

SSH, CONTAINER = "ssh", "container"
"""The protocols by which the program itself reaches hosts."""

ENDPOINT = "endpoint"
"""The capability of a Compute that says how it is reached."""


class HostTarget(msgspec.Struct, frozen=True):
    """How a host is reached: by which ``protocol``, and with which ``settings``, plain data that belongs to the
    protocol (address, port, user, credentials); credentials among them are ``Sensitive``. ``name`` is for people.

    Equal targets are one host, and share its connections.
    """

    protocol: str
    name: str
    settings: Mapping[str, object] = {}


class Ran(msgspec.Struct, frozen=True):
    """How a short command ended on a target: its exit status, and the first bytes of what it printed."""

    status: int
    out: bytes = b""
    err: bytes = b""


class Unreachable(Exception):
    """A target cannot be reached, or was lost. The text is for people: which host, why, and what to do next."""


class TargetRefused(Unreachable):
    """A target exists and refuses the login, or it cannot be tried at all, for example with a key that is not accepted:
    waiting does not help."""


class Unasked(Unreachable):
    """Whatever knows a target cannot be asked, such as the API of a cloud: that says nothing of the target itself."""


class Hands(Protocol):
    """Runs short commands on targets, for those who create and maintain hosts."""

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        """Run a program with its arguments (no shell; None: on this machine) and ``given`` as its standard input.

        What is secret belongs into ``given``, since others see arguments. Raises ``Unreachable``, and ``TimeoutError``
        when it has been ended because it took more than ``timeout`` seconds.
        """

    async def reach(self, target: HostTarget, timeout: float) -> None:
        """Wait until the target can be reached and is prepared for operations. Raises ``Unreachable`` after so many
        seconds, or at once if waiting does not help (a key that is not accepted)."""
