"""Why the server does not start."""

from __future__ import annotations


class ServerRefused(Exception):
    """The server does not start; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
