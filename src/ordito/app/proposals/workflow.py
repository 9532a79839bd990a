"""What running a workflow of the template would do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import msgspec

from ordito.app.errors import Refused
from ordito.app.given_inputs import GivenInputs
from ordito.app.place import Place
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.services.workflows import bound_inputs, given_values, workflow_named
from ordito.base.collector import paused_collector
from ordito.model.service import Service
from ordito.planning.options import PlanOptions
from ordito.work.workflows import NAMED


class WorkflowAsked(msgspec.Struct, frozen=True):
    """To run the workflow ``name`` of the service that was deployed last, with ``inputs`` of its own."""

    makes_ensemble: ClassVar[bool] = False

    name: str
    inputs: GivenInputs = GivenInputs()

    @property
    def workflow(self) -> str:
        """What the job's record calls it."""
        return NAMED + self.name

    def to_keep(self, known: PlanningContext, proposal: Proposal) -> WorkflowAsked:
        """The same, with values in the place of files."""
        return msgspec.structs.replace(self, inputs=GivenInputs(values=given_of(proposal)))

    def from_kept(self, place: Place) -> WorkflowAsked:
        """The same."""
        return self

    def propose(self, known: PlanningContext) -> Proposal:
        """The plan. Raises ``InvalidDocument``, ``Refused``, ``PlanRefused`` and ``EnsembleError``."""
        if not known.status.service:
            raise nothing_deployed(known.place.shown)
        values = given_values(self.inputs)
        with paused_collector():
            read = read_deployed(known)

            def choose(service: Service, options: PlanOptions) -> PlanOptions:
                workflow = workflow_named(service, self.name)
                return replace(options, written=self.name, given=bound_inputs(workflow, values, service))

            made = make_plan(known, self.workflow, read, known.status.inputs, choose=choose)
        return for_deployed(known, self.workflow, read, made)


def given_of(proposal: Proposal) -> Mapping[str, object]:
    """The inputs of the workflow that a proposal is about."""
    scopes = proposal.plan.scopes
    return scopes[0].inputs if scopes and not scopes[0].activity else {}


def nothing_deployed(shown: str) -> Refused:
    """Why no workflow can be run."""
    return Refused(
        "nothing-deployed",
        f"nothing is deployed in {shown}, so that there is nothing to run a workflow on",
        next_words=("deploy",),
        purpose="deploy the service first",
    )
