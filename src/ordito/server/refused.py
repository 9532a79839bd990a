"""Why the server does not start, or is not handled as was asked."""

from __future__ import annotations


class ServerRefused(Exception):
    """The server does not start, or nothing was done; ``hint`` says what to do, and ``code`` names the reason."""

    def __init__(self, message: str, hint: str = "", code: str = "server") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
