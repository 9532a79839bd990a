"""Planning `stop`, `start` and `restart`, for named instances and those that depend on them."""

from __future__ import annotations

from ordito.app.errors import Refused
from ordito.app.names import InstanceNames
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import MoveRequest, recorded_command
from ordito.base.collector import paused_collector
from ordito.instances.records import Snapshot
from ordito.model.service import Service


def propose(request: MoveRequest, known: PlanningContext) -> Proposal:
    """The plan. Raises ``InvalidDocument``, ``PlanRefused``, ``Refused`` and ``EnsembleError``."""
    status = known.status
    if not status.service:
        raise nothing_deployed(request.workflow)
    with paused_collector():
        read = read_deployed(known)
        chosen = _all(known.snapshot) if request.everything else _named(request, read.service, known.snapshot)
        made = make_plan(known, request.workflow, read, status.inputs, instances=chosen)
    return for_deployed(known, request.workflow, read, made).with_job(told=recorded_command(request))


def nothing_deployed(workflow: str) -> Refused:
    """The refusal because nothing is deployed."""
    return Refused(
        "nothing-deployed",
        f"nothing is deployed: there is nothing to {workflow}",
        next_words=("deploy",),
        purpose="deploy the service",
    )


def _all(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(i.id for i in snapshot.instances.values() if i.exists)


def _named(request: MoveRequest, service: Service, snapshot: Snapshot) -> frozenset[str]:
    names = InstanceNames(service, snapshot)
    found: set[str] = set()
    for text in request.names:
        instances = names.instances((text,))
        if not instances:
            raise Refused(
                "no-instances",
                f'"{text}" has no instances',
                next_words=("deploy",),
                purpose="make them",
            )
        found.update(i.id for i in instances)
    return frozenset(found)
