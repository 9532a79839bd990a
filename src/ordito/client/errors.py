"""Why a server has not done what it was asked for, with what commands show of it."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.results.failure import Failure
from ordito.results.findings import FindingData

AT_THE_DOOR = frozenset({"unreachable-server", "signed-out", "expired", "bad-credentials"})
"""The codes of failures of a command that did not get as far as its question."""


class ServerError(Exception):
    """A server refuses, or cannot be asked. ``diagnostics`` are findings about documents."""

    def __init__(self, failure: Failure, diagnostics: Sequence[FindingData] = (), status: int = 0) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.diagnostics = tuple(diagnostics)
        self.status = status
        """The HTTP status, 0 where there was no answer."""


def unreachable(url: str, why: str, hint: str) -> ServerError:
    """A server from which no answer comes that makes sense."""
    return ServerError(Failure("unreachable-server", f"the server {url} is not reached: {why}", hint))
