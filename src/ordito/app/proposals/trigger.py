"""What the actions of a trigger would do: one after the other, as an anonymous workflow on its policy's targets."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ordito.app.errors import Refused
from ordito.app.proposal import Known, Proposal
from ordito.app.proposals.making import read_deployed
from ordito.base.collector import paused_collector
from ordito.model.imperative import Trigger
from ordito.model.service import Service


class TriggerAsked(msgspec.Struct, frozen=True):
    """To carry out one part of a trigger's actions: those that make up one job, counted from 0."""

    makes_ensemble: ClassVar[bool] = False

    policy: str
    trigger: str
    part: int = 0

    @property
    def workflow(self) -> str:
        """The name of the job's workflow."""
        return f"trigger {self.policy}.{self.trigger}"

    def propose(self, known: Known) -> Proposal | None:
        """What the actions would do; None where there is no such part of them.

        Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
        """
        if not known.status.service:
            return None
        with paused_collector():
            read = read_deployed(known)
            _trigger(read.service, self.policy, self.trigger)
            return None


def _trigger(service: Service, policy: str, trigger: str) -> Trigger:
    """A trigger of a service. Raises ``Refused`` where it has gone meanwhile."""
    found = service.policies.get(policy)
    if found is None or trigger not in found.triggers:
        raise Refused("unknown-name", f"the service has no trigger {policy}.{trigger} any more")
    return found.triggers[trigger]
