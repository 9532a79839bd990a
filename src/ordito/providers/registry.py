"""The providers that come with the program."""

from __future__ import annotations

from ordito.providers.localhost import LocalhostProvider


def local_providers() -> tuple[LocalhostProvider, ...]:
    """The providers that need nothing but this machine."""
    return (LocalhostProvider(),)
