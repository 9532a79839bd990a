"""How long is waited for what."""

from __future__ import annotations

import msgspec


class Patience(msgspec.Struct, frozen=True):
    """Seconds: between asking processes to end and making them; for output that a daemon still holds open; for an
    operation that is found running after a crash to end by itself; for a host to be reached again after a connection
    was lost; between two tries of that."""

    grace: float = 10.0
    linger: float = 1.0
    settle: float = 3.0
    reconnect: float = 30.0
    pause: float = 0.5
