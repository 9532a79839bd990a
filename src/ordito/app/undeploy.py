"""Remove everything that was deployed."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Declined
from ordito.app.gate import no_ensemble, refuse_unfinished
from ordito.app.job_run import JobReport, run_new
from ordito.app.place import place_of
from ordito.app.proposal import propose_undeploy
from ordito.ensemble.store import open_ensemble
from ordito.work.records import JobOptions


class UndeployRequest(msgspec.Struct, frozen=True):
    """Which ensemble; ``wait_lock`` is how many seconds to wait for another command."""

    directory: str
    options: JobOptions = JobOptions()
    wait_lock: float = 0.0


class UndeployResult(msgspec.Struct, frozen=True):
    """What came of it; ``report`` is None where there was nothing to remove; ``kept`` then names the instances that
    exist all the same, because their nodes are not in the service that was deployed."""

    report: JobReport | None = None
    kept: tuple[str, ...] = ()


def undeploy(request: UndeployRequest, conversation: Conversation) -> UndeployResult:
    """Plan, ask, and carry out, with the service as it was deployed last.

    Raises ``InvalidDocument``, ``PlanRefused``, ``Refused``, ``Locked``, ``JobUnfinished``, ``EnsembleError`` and
    ``Declined``; then no operation has run.
    """
    place = place_of(request.directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    with open_ensemble(request.directory, command="undeploy", wait_lock=request.wait_lock) as ensemble:
        refuse_unfinished(ensemble)
        proposal = propose_undeploy(place, ensemble.snapshot, ensemble.status)
        if proposal is None:
            return UndeployResult()
        conversation.found(proposal.diagnostics)
        if proposal.plan.is_empty:
            return UndeployResult(kept=proposal.orphans)
        if not conversation.approve(proposal):
            raise Declined
        return UndeployResult(run_new(ensemble, proposal, request.options, conversation))
