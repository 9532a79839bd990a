"""Planning `workflow run`, for a workflow of the template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ordito.app.errors import Refused
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import TemplateWorkflowRequest
from ordito.app.services.workflows import bound_inputs, given_values, workflow_named
from ordito.base.collector import paused_collector
from ordito.model.service import Service
from ordito.planning.options import PlanOptions, WrittenWorkflow


def propose(request: TemplateWorkflowRequest, known: PlanningContext) -> Proposal:
    """The plan. Raises ``InvalidDocument``, ``Refused``, ``PlanRefused`` and ``EnsembleError``."""
    if not known.status.service:
        raise nothing_deployed(known.place.shown)
    values = given_values(request.inputs)
    with paused_collector():
        read = read_deployed(known)

        def choose(service: Service, options: PlanOptions) -> PlanOptions:
            workflow = workflow_named(service, request.name)
            return replace(options, written=WrittenWorkflow(request.name, bound_inputs(workflow, values, service)))

        made = make_plan(known, request.workflow, read, known.status.inputs, choose=choose)
    return for_deployed(known, request.workflow, read, made)


def given_of(proposal: Proposal) -> Mapping[str, object]:
    """The inputs of the workflow of a proposal."""
    scopes = proposal.plan.scopes
    return scopes[0].inputs if scopes and not scopes[0].activity else {}


def nothing_deployed(shown: str) -> Refused:
    """The refusal because nothing is deployed."""
    return Refused(
        "nothing-deployed",
        f"nothing is deployed in {shown}, so that there is nothing to run a workflow on",
        next_words=("deploy",),
        purpose="deploy the service first",
    )
