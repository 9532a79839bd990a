"""Follow the status of an ensemble: what other commands do to it is seen as it happens."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ordito.app.place import place_of
from ordito.app.status import StatusRequest, StatusResult, status
from ordito.base.collector import let_go
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder

PAUSE = 0.25
"""Seconds between two looks at the files."""
SHARE = 4
"""Reading takes at most one part in so many of the time."""

Seen = tuple[object, ...]


def watch(request: StatusRequest) -> Iterator[StatusResult]:
    """The status as it is, and again each time something has changed; it never ends by itself.

    Raises ``Refused`` where there is no ensemble, and ``EnsembleError``.
    """
    layout = place_of(request.directory).layout
    seen: Seen = ()
    while True:
        now = _look(layout)
        if now != seen:
            began = time.monotonic()
            yield status(request)
            seen = now
            # What was read for it, the service above all, is read again for the next one.
            let_go()
            time.sleep(max(PAUSE, (time.monotonic() - began) * SHARE))
        else:
            time.sleep(PAUSE)


def _look(layout: Layout) -> Seen:
    """What is other when anything that the status shows is."""
    journal = layout.journal
    files = (layout.manifest, journal, journal.with_name(f"{journal.name}-wal"))
    owner = holder(layout) if layout.exists else None
    return (*(_file(file) for file in files), str(owner) if owner else "")


def _file(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
