"""Take the lock that clones share away from one that does not come back."""

from __future__ import annotations

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.place import place_of
from ordito.ensemble.git.shared_lock import Lease, find, remove
from ordito.ensemble.git.sharing import Meeting, asks_for_lock, meeting_of
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import SharedLocked
from ordito.ensemble.store import read_ensemble


class HeldLock(msgspec.Struct, frozen=True):
    """A lock that is held: where, by whom (``lease``), and the job of this very clone that must be resumed first, ""
    for none."""

    meeting: Meeting
    lease: Lease


def held_lock(directory: str) -> HeldLock | None:
    """The lock of an ensemble; None where nobody holds it.

    Raises ``Refused`` where there is no such lock, ``Locked`` if its holder is known to be at work, ``EnsembleError``.
    """
    place = place_of(directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    if not asks_for_lock(place.layout):
        raise Refused(
            "no-shared-lock",
            f'{place.manifest} does not ask for a lock that clones share: it nowhere says "lock: git"',
            "the lock of this directory needs no unlocking: it ends with its process",
            next_words=("status",),
            purpose="see whether a command is at work",
        )
    meeting = meeting_of(place.layout)
    lease = find(meeting)
    if lease is None:
        return None
    if lease.owner.is_alive:
        raise SharedLocked(meeting.remote, lease.owner)
    _refuse_own_job(place.layout, lease)
    return HeldLock(meeting, lease)


def _refuse_own_job(layout: Layout, lease: Lease) -> None:
    """A job of this clone needs no unlocking: resuming it takes the lock over."""
    if lease.owner.place != str(layout.root):
        return
    with read_ensemble(layout.root) as ensemble:
        if ensemble.unfinished is not None:
            raise Refused(
                "unfinished-job",
                f"the lock is held for job {ensemble.unfinished.header.id} of this clone, which is not finished",
                "resuming it takes the lock over, and gives it back at the end",
                next_words=("jobs", "resume"),
                purpose="continue it where it stopped",
            )


def take_away(held: HeldLock) -> None:
    """Take the lock away, if it is still held by who was shown. Raises ``EnsembleError``."""
    remove(held.meeting, held.lease.id)
