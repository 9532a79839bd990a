"""Planning `check` and `discover`, for all instances or for named ones."""

from __future__ import annotations

from ordito.app.names import InstanceNames
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import LookRequest
from ordito.base.collector import paused_collector
from ordito.instances.records import Snapshot
from ordito.model.service import Service


def propose(request: LookRequest, known: PlanningContext) -> Proposal | None:
    """The plan; None if nothing was ever deployed. Raises ``InvalidDocument``, ``Refused`` and ``EnsembleError``."""
    status = known.status
    if not status.service:
        return None
    with paused_collector():
        read = read_deployed(known)
        chosen = _chosen(request, read.service, known.snapshot)
        made = make_plan(known, request.workflow, read, status.inputs, instances=chosen)
    return for_deployed(known, request.workflow, read, made)


def chosen_instances(request: LookRequest, proposal: Proposal) -> frozenset[str] | None:
    """The ids of the wanted instances; None for all."""
    return _chosen(request, proposal.service, proposal.snapshot)


def _chosen(request: LookRequest, service: Service, snapshot: Snapshot) -> frozenset[str] | None:
    if not request.names:
        return None
    return frozenset(i.id for i in InstanceNames(service, snapshot, deleted=True).instances(request.names))
