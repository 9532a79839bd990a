"""Planning `undeploy`: with the service as it was deployed last, even if its files have changed since."""

from __future__ import annotations

import msgspec

from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.proposals.part import with_part
from ordito.app.requests import UndeployRequest
from ordito.app.services.workflows import in_place
from ordito.base.collector import paused_collector
from ordito.base.options import recorded
from ordito.planning.options import RemovalOptions
from ordito.work.workflows import UNDEPLOY


def propose(request: UndeployRequest, known: PlanningContext) -> Proposal | None:
    """The plan; None if nothing was ever deployed.

    Raises ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
    """
    status = known.status
    if not status.service:
        return None
    with paused_collector():
        read = read_deployed(known)
        made = make_plan(
            known,
            UNDEPLOY,
            read,
            status.inputs,
            force=request.force,
            removal=RemovalOptions(request.include_protected, request.include_unmanaged),
            choose=lambda service, options: with_part(
                in_place(service, options, UNDEPLOY, {}), request.part, service, known.snapshot
            ),
        )
    unapproved = () if request.allow_changed else made.plan.summary.drifted
    proposal = for_deployed(known, UNDEPLOY, read, made)
    return msgspec.structs.replace(proposal, unapproved=unapproved).with_job(told=recorded(request))
