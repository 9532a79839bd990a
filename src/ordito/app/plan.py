"""Show what a command would do. Changes nothing, needs no lock, and works while a job runs."""

from __future__ import annotations

import msgspec

from ordito.app.errors import Refused
from ordito.app.gate import no_ensemble
from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.app.place import place_of
from ordito.app.proposal import DEPLOY, UNDEPLOY, Proposal, propose_deploy, propose_undeploy
from ordito.base.suggest import nearest
from ordito.ensemble.store import read_ensemble

WORKFLOWS = (DEPLOY, UNDEPLOY)


class PlanRequest(msgspec.Struct, frozen=True):
    """Which workflow to plan, with what that takes; ``service`` may be "" where the ensemble knows it.
    ``allow_large`` permits very many link operations of one requirement, ``fetch`` that what the service names by URLs
    is fetched; ``choices`` are made where the service leaves a choice."""

    directory: str
    workflow: str = DEPLOY
    service: str = ""
    inputs: GivenInputs = GivenInputs()
    allow_large: bool = False
    fetch: bool = False
    choices: GivenChoices = GivenChoices()


class PlanResult(msgspec.Struct, frozen=True):
    """The plan; ``proposal`` is None where nothing was ever deployed. ``unfinished`` names a job that runs, or was
    interrupted, and changes what exists."""

    proposal: Proposal | None
    unfinished: str = ""


def plan(request: PlanRequest) -> PlanResult:
    """Plan things as they are. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    if request.workflow not in WORKFLOWS:
        near = nearest(request.workflow, WORKFLOWS)
        known = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(WORKFLOWS)}"
        raise Refused("unknown-workflow", f'there is no workflow "{request.workflow}"', known)
    place = place_of(request.directory)
    with read_ensemble(request.directory) as ensemble:
        unfinished = ensemble.unfinished.header.id if ensemble.unfinished else ""
        if request.workflow == DEPLOY:
            proposal = propose_deploy(
                place,
                request.service,
                request.inputs,
                ensemble.snapshot,
                ensemble.status,
                allow_large=request.allow_large,
                fetch=request.fetch,
                choices=request.choices,
            )
            return PlanResult(proposal, unfinished)
        if not place.layout.exists:
            raise no_ensemble(place.shown)
        return PlanResult(propose_undeploy(place, ensemble.snapshot, ensemble.status), unfinished)
