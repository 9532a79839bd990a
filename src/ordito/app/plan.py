"""Show what a command would do. Changes nothing, needs no lock, and works while a job runs."""

from __future__ import annotations

import msgspec

from ordito.app.gate import no_ensemble
from ordito.app.place import place_of
from ordito.app.proposal import Asked, Proposal, known_of, propose
from ordito.ensemble.store import read_ensemble


class PlanRequest(msgspec.Struct, frozen=True):
    """Of which ensemble, what a command would ask for, and in which environment: None where it names none."""

    directory: str
    asked: Asked
    environment: str | None = None


class PlanResult(msgspec.Struct, frozen=True):
    """The plan; ``proposal`` is None where nothing was ever deployed. ``unfinished`` names a job that runs, or was
    interrupted, and changes what exists."""

    proposal: Proposal | None
    unfinished: str = ""


def plan(request: PlanRequest) -> PlanResult:
    """Plan things as they are. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    place = place_of(request.directory)
    if not place.layout.exists and not request.asked.makes_ensemble:
        raise no_ensemble(place.shown)
    with read_ensemble(request.directory) as ensemble:
        unfinished = ensemble.unfinished.header.id if ensemble.unfinished else ""
        known = known_of(place, ensemble.snapshot, ensemble.status, request.environment)
        return PlanResult(propose(request.asked, known), unfinished)
