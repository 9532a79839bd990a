"""Watch an ensemble at a server: its status again, whenever something has changed there."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ordito.client.connection import LONG_PATIENCE
from ordito.client.events import follow
from ordito.client.looks import RemoteEnsemble
from ordito.results.status import STATUS, StatusAsked, StatusData

SHARE = 4
"""Asking takes at most this fraction (1/SHARE) of the time."""


def watch(ensemble: RemoteEnsemble, asked: StatusAsked) -> Iterator[StatusData]:
    """The present status, and again each time something has changed; it never ends by itself. Raises
    ``ServerError``."""
    shown = ensemble.ask(STATUS, asked)
    yield shown
    for event in follow(ensemble.connection, f"ensemble:{ensemble.shown}"):
        if event is None:
            continue
        began = time.monotonic()
        found = ensemble.ask(STATUS, asked, patience=LONG_PATIENCE)
        if found != shown:
            shown = found
            yield shown
        time.sleep((time.monotonic() - began) * SHARE)
