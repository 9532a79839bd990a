"""What telling instances of changes would do, where these came from outside of any job that could have told of them."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.base.collector import paused_collector
from ordito.work.telling import has_listeners


class TellAsked(msgspec.Struct, frozen=True):
    """To call ``target_changed`` and its like wherever what an instance knows of another is not so any more."""

    workflow: ClassVar[str] = "tell"
    makes_ensemble: ClassVar[bool] = False

    def propose(self, known: PlanningContext) -> Proposal | None:
        """The plan; None where nothing is deployed, or nobody listens.

        Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
        """
        status = known.status
        if not status.service:
            return None
        with paused_collector():
            read = read_deployed(known)
            if not has_listeners(read.service):
                return None
            made = make_plan(known, self.workflow, read, status.inputs)
        return for_deployed(known, self.workflow, read, made)
