"""Healing several instances: a job for each, since each is asked for itself how far healing has to go."""

from __future__ import annotations

from ordito.app.place import place_of
from ordito.app.proposal import known_of
from ordito.app.proposals.heal import HealAsked, one_by_one
from ordito.app.proposals.making import read_deployed
from ordito.ensemble.store import read_ensemble


def healings(
    directory: str, asked: HealAsked, environment: str | None, hosts: str | None = None
) -> tuple[HealAsked, ...]:
    """What is asked for, one after the other, or host by host; all at once where nobody is asked.

    Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``.
    """
    place = place_of(directory)
    if len(asked.names) < 2 or not place.layout.exists:
        return (asked,)
    with read_ensemble(directory) as ensemble:
        known = known_of(place, ensemble.snapshot, ensemble.status, environment, hosts)
        if not known.status.service:
            return (asked,)
        return one_by_one(asked, read_deployed(known).service, known.snapshot)
