"""What removing everything would do: with the service as it was deployed last, whatever became of its files."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ordito.app.given_part import EVERYTHING, GivenPart
from ordito.app.proposal import KeptAsItIs, PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.proposals.part import with_part
from ordito.app.services.workflows import in_place
from ordito.base.collector import paused_collector
from ordito.work.workflows import UNDEPLOY

replace = msgspec.structs.replace


class UndeployAsked(KeptAsItIs, frozen=True):
    """To remove everything that exists, save what is protected and what this ensemble has not created, unless that is
    included; with ``force`` all is carried out, what was done before and what removes instances that were never started
    too. ``allow_changed`` permits to remove without asking what was found to be other than it was made. ``part`` is
    which part of the service goes."""

    workflow: ClassVar[str] = UNDEPLOY
    makes_ensemble: ClassVar[bool] = False

    force: bool = False
    include_protected: bool = False
    include_unmanaged: bool = False
    allow_changed: bool = False
    part: GivenPart = EVERYTHING

    def propose(self, known: PlanningContext) -> Proposal | None:
        """What removing everything would do; None where nothing was ever deployed.

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
                force=self.force,
                include_protected=self.include_protected,
                include_unmanaged=self.include_unmanaged,
                choose=lambda service, options: with_part(
                    in_place(service, options, UNDEPLOY, {}), self.part, service, known.snapshot
                ),
            )
        proposal = replace(for_deployed(known, UNDEPLOY, read, made), told=self.part.told)
        return proposal if self.allow_changed else replace(proposal, unapproved=made.plan.drifted)
