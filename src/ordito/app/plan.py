"""Show what a command would do. Changes nothing, needs no lock, and works while a job runs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordito.app.ensemble_checks import no_ensemble, refuse_unfinished
from ordito.app.errors import Refused
from ordito.app.output_file import write_private
from ordito.app.place import place_of
from ordito.app.proposal import Proposal, known_of, propose
from ordito.app.requests import Request
from ordito.app.saved_plan import SavedPlanRequest, encoded, is_saved_plan, saved_plan
from ordito.ensemble.status import status_during
from ordito.ensemble.store import read_ensemble
from ordito.work.workflows import workflow_of


class PlanRequest(msgspec.Struct, frozen=True):
    """The plan of a command."""

    directory: str
    wanted: Request
    """The request of the command."""

    environment: str | None = None
    """The environment, None if the command names none."""

    out: str = ""
    """The file in which the plan is saved, "" for none."""

    hosts: str | None = None
    """The inventory, None if the command names none."""


class PlanResult(msgspec.Struct, frozen=True):
    """The plan; ``proposal`` is None if nothing was ever deployed. ``unfinished`` is a job that runs, or was
    interrupted, and changes what exists."""

    proposal: Proposal | None
    unfinished: str = ""


def plan(request: PlanRequest) -> PlanResult:
    """Plan with the present state. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``; and,
    if the plan is to be saved, ``JobUnfinished``, because the plan would be stale as soon as that job goes on."""
    place = place_of(request.directory)
    if not place.layout.exists and not request.wanted.makes_ensemble:
        raise no_ensemble(place.name)
    with read_ensemble(request.directory) as ensemble:
        if request.out:
            refuse_unfinished(ensemble)
        status, unfinished = ensemble.status, ensemble.unfinished
        if unfinished is not None and workflow_of(unfinished.header.workflow).revises:
            status = status_during(status, unfinished.header)
        known = known_of(place, ensemble.snapshot, status, request.environment, request.hosts)
        proposal = propose(request.wanted, known)
        if request.out and isinstance(request.wanted, SavedPlanRequest):
            raise Refused("cannot-save", f"{request.wanted.path} is a saved plan already", "copy the file")
        if request.out and proposal is not None:
            write_private(request.out, encoded(saved_plan(known, request.wanted, proposal)), _is_replaceable)
        return PlanResult(proposal, unfinished.header.id if unfinished is not None else "")


def _is_replaceable(path: Path) -> bool:
    """Whether a saved plan may replace an existing file: only another saved plan."""
    return is_saved_plan(str(path))
