"""What HTTP and git have in common when they fetch files: their limits, and the exception for a failure."""

from __future__ import annotations

SCHEMES = ("http", "https")


class FetchLimits:
    """How many bytes an answer may have, and how many seconds fetching it may take in all."""

    __slots__ = ("most_bytes", "seconds")

    def __init__(self, most_bytes: int, seconds: float) -> None:
        self.most_bytes = most_bytes
        self.seconds = seconds


class FetchFailed(Exception):
    """A file could not be fetched: ``message`` says why, ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
