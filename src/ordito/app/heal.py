"""Healing what is on several hosts: a job for each host, since each is asked for itself whether it has to be healed."""

from __future__ import annotations

from ordito.app.place import place_of
from ordito.app.proposal import known_of
from ordito.app.proposals.heal import HealAsked, by_host
from ordito.app.proposals.making import read_deployed
from ordito.ensemble.store import read_ensemble


def healings(
    directory: str, asked: HealAsked, environment: str | None, hosts: str | None = None
) -> tuple[HealAsked, ...]:
    """What is asked for, host by host in the order in which they are named; all at once where nobody is asked.

    Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``.
    """
    place = place_of(directory)
    if asked.reinstall or len(asked.names) < 2 or not place.layout.exists:
        return (asked,)
    with read_ensemble(directory) as ensemble:
        known = known_of(place, ensemble.snapshot, ensemble.status, environment, hosts)
        if not known.status.service:
            return (asked,)
        return by_host(asked, read_deployed(known).service, known.snapshot)
