"""What looking at instances would do: at all of them, or at those that are named."""

from __future__ import annotations

from typing import ClassVar

from ordito.app.names import InstanceNames
from ordito.app.proposal import KeptAsItIs, PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.base.collector import paused_collector
from ordito.instances.records import Snapshot
from ordito.model.service import Service


class LookAsked(KeptAsItIs, frozen=True):
    """To `check` or to `discover` (the ``workflow``) the instances that ``names`` mean: nodes and instances, all for
    none. The service is the one that was deployed last."""

    makes_ensemble: ClassVar[bool] = False

    workflow: str
    names: tuple[str, ...] = ()

    def propose(self, known: PlanningContext) -> Proposal | None:
        """The plan; None where nothing was ever deployed. Raises ``InvalidDocument``, ``Refused`` and
        ``EnsembleError``."""
        status = known.status
        if not status.service:
            return None
        with paused_collector():
            read = read_deployed(known)
            chosen = _chosen(self, read.service, known.snapshot)
            made = make_plan(known, self.workflow, read, status.inputs, instances=chosen)
        return for_deployed(known, self.workflow, read, made)


def chosen_instances(asked: LookAsked, proposal: Proposal) -> frozenset[str] | None:
    """The ids of the instances that are asked for; None for all."""
    return _chosen(asked, proposal.service, proposal.snapshot)


def _chosen(asked: LookAsked, service: Service, snapshot: Snapshot) -> frozenset[str] | None:
    if not asked.names:
        return None
    return frozenset(i.id for i in InstanceNames(service, snapshot, deleted=True).instances(asked.names))
