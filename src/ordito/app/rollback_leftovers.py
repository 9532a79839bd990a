"""Whether what runs is what was deployed last."""

from __future__ import annotations

from ordito.app.place import place_of
from ordito.app.proposal import known_of
from ordito.app.proposals.making import make_plan, read_deployed
from ordito.app.proposals.rollback import without_steps
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import InvalidDocument
from ordito.ensemble.store import read_ensemble
from ordito.planning.refused import PlanRefused
from ordito.work.workflows import ROLLBACK


def leftovers(directory: str) -> tuple[str, ...]:
    """What differs from the last deployment, for people, with the instance. Raises ``Refused`` and
    ``EnsembleError``."""
    place = place_of(directory)
    with paused_collector(), read_ensemble(directory) as ensemble:
        known = known_of(place, ensemble.snapshot, ensemble.status, None)
        try:
            read, inputs = read_deployed(known), known.status.inputs
            made = make_plan(known, ROLLBACK, read, inputs, choose=without_steps)
        except (PlanRefused, InvalidDocument) as refused:
            return tuple(d.message for d in refused.diagnostics)
        return tuple(f"{change.instance}: {change.reason}" for change in made.plan.changes)
