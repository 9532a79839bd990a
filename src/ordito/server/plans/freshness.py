"""Whether a plan is still for what is, found out by digests: without planning again."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from ordito.ensemble.files import read
from ordito.ensemble.layout import HOSTS_FILE, Layout
from ordito.ensemble.manifest import read_manifest
from ordito.server.answers import stamp_of
from ordito.source.reach import within

FRESH, MOVED, STALE = "fresh", "moved", "stale"


class PlanMarks(msgspec.Struct, frozen=True):
    """What an ensemble was like when a plan was made."""

    stamp: str = ""
    """Of all that Ordito writes, "" where there was no ensemble."""

    user: str = ""
    """The digest of what its user gives to it: the own part of its file, and the inventory."""


def marks_of(directory: str) -> PlanMarks:
    """What an ensemble is like now. Raises ``EnsembleError``."""
    layout = Layout(Path(directory))
    if not layout.exists:
        return PlanMarks()
    with within(directory):
        found = read_manifest(layout)
        hosts = read(layout.root / HOSTS_FILE) or b""
    given = (found.user if found is not None else b"") + b"\0" + hosts
    return PlanMarks(stamp_of(directory), hashlib.sha256(given).hexdigest()[:32])


def freshness(before: PlanMarks, directory: str) -> str:
    """Whether a plan is fresh, or something was recorded since (``moved``), or what it depends on has changed
    (``stale``). Raises ``EnsembleError``."""
    now = marks_of(directory)
    if now.user != before.user:
        return STALE
    return FRESH if now.stamp == before.stamp else MOVED
