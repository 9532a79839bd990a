"""The providers that come with the program."""

from __future__ import annotations

from ordito.providers.localhost import LocalhostProvider
from ordito.work.providing import Provider

LOCALHOST = "localhost"


def make_localhost() -> Provider:
    """The provider that needs nothing but this machine."""
    return LocalhostProvider()
