"""What is fetched, within which bounds, and that it may fail: what the rest of the room knows of fetching."""

from __future__ import annotations

SCHEMES = ("http", "https")


class FetchLimits:
    """How large an answer may be, and how many seconds it may take as a whole."""

    __slots__ = ("most_bytes", "seconds")

    def __init__(self, most_bytes: int, seconds: float) -> None:
        self.most_bytes = most_bytes
        self.seconds = seconds


class FetchFailed(Exception):
    """Something could not be fetched: why, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
