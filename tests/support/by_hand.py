"""Plans that are put together by hand."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals import description, undeploy
from ordito.app.requests import DeployRequest, GivenInputs, Request, UndeployRequest
from ordito.ensemble.status import Status, current_form
from ordito.instances.records import Snapshot
from ordito.work.plan import InstanceCounts, OperationCall, Plan, PlannedRecords, Step

replace = msgspec.structs.replace


class Restarting(Request, frozen=True):
    """To stop the first instance of each of these nodes as it was deployed, and to start it as the service says now;
    one node after the other. Of the nodes that are ``new`` the whole way up is taken."""

    WORKFLOW = "upgrade"

    nodes: tuple[str, ...]
    new: tuple[str, ...] = ()
    inputs: Mapping[str, str] = {}

    def planned(self, _: Request, known: PlanningContext) -> Proposal:
        """The plan, as a service with nothing deployed and one that is to be removed have its steps."""
        down = undeploy.propose(UndeployRequest(), known)
        up = description.propose(
            DeployRequest(inputs=GivenInputs(texts=self.inputs)),
            replace(known, snapshot=Snapshot(), status=replace(Status(), given=known.status.given)),
        )
        assert down is not None
        form = current_form(known.status)
        steps: list[Step] = []
        calls: list[OperationCall] = []
        for node in self.nodes:
            for plan, operation, of in ((down.plan, "stop", form), (up.plan, "start", "")):
                step, call = _found(plan, f"{node}_1", operation)
                steps.append(
                    replace(
                        step,
                        call=len(calls),
                        reason=0,
                        flow=replace(step.flow, after_failure=False),
                        effect=replace(step.effect, forms=not of),
                    )
                )
                calls.append(replace(call, form=of))
        for node in self.new:
            for step in up.plan.steps:
                if step.instance == f"{node}_1" and step.call >= 0:
                    steps.append(replace(step, call=len(calls), reason=0))
                    calls.append(up.plan.calls[step.call])
        plan = Plan(
            "upgrade",
            tuple(steps),
            tuple((first, first + 1, 0) for first in range(len(steps) - 1)),
            tuple(calls),
            ("by hand",),
            counts=InstanceCounts(up.plan.counts.wanted),
            records=PlannedRecords(
                new=tuple(record for record in up.plan.records.new if record.node in self.new),
                older={f"{node}_1": form for node in self.nodes},
            ),
        )
        source = replace(up.source, user_part=None)
        return replace(up, workflow="upgrade", plan=plan, snapshot=known.snapshot, source=source)


def _found(plan: Plan, instance: str, operation: str) -> tuple[Step, OperationCall]:
    for step in plan.steps:
        if step.instance == instance and step.call >= 0 and plan.calls[step.call].operation == operation:
            return step, plan.calls[step.call]
    raise AssertionError(f"{instance} has no {operation}")
