"""Making the plan of a request, in a query process."""

from __future__ import annotations

import msgspec

from ordito.app.plan_basis import ExactPlan
from ordito.app.work_items import AskedRequest
from ordito.planning.preview import Totals
from ordito.planning.risks import Risk
from ordito.results.answer import Asked, Result, UseCase
from ordito.results.findings import FindingData, findings_data


class MakeAsked(Asked, frozen=True):
    """What is to be planned."""

    asked: AskedRequest
    is_seen: bool
    """Whether somebody will look at the plan before it is carried out."""


class MadePlanData(Result, frozen=True, kw_only=True):
    """A plan that was made."""

    empty: bool
    """Whether there is nothing to do."""

    exact: ExactPlan | None
    """By what it is known again, None where nothing was ever deployed."""

    risks: tuple[Risk, ...] = ()
    totals: Totals = Totals()
    shown: msgspec.Raw
    """The plan as ``ordito plan -o json`` shows it, with the values of its inputs."""

    drawn: msgspec.Raw = msgspec.Raw(b"null")
    """What its picture is made of (``DrawnPlan``), null where there is nothing to do."""

    saved: bytes = b""
    """The plan as ``ordito plan --out`` saves it, empty where such plans cannot be saved."""

    workflow: str = ""
    """Which of the workflows it is a plan of, by the names of those that can be asked for."""

    findings: tuple[FindingData, ...] = ()
    """Warnings and notes."""


def _make(directory: str, asked: MakeAsked) -> MadePlanData:
    # The server itself knows what is asked and answered, and does not plan.
    from ordito.app.unattended import made_plan
    from ordito.base.json_text import json_text
    from ordito.results.picture.plan import drawn_plan
    from ordito.results.plan import NothingPlannedData, inputs_of, plan_data
    from ordito.work.workflows import is_written

    made = made_plan(directory, asked.asked, is_seen=asked.is_seen)
    if made is None:
        shown = json_text(NothingPlannedData(workflow=asked.asked.kind).data)
        return MadePlanData(empty=True, exact=None, shown=msgspec.Raw(shown.encode()))
    plan, inputs = plan_data(made.proposal), map(msgspec.to_builtins, inputs_of(made.proposal.inputs))
    return MadePlanData(
        empty=made.proposal.is_empty,
        exact=made.exact,
        risks=made.risks,
        totals=plan.totals,
        shown=msgspec.Raw(json_text({**plan.data, "inputs": list(inputs)}).encode()),
        drawn=msgspec.Raw(msgspec.json.encode(drawn_plan(made.proposal))),
        saved=made.saved,
        workflow="workflow" if is_written(made.proposal.workflow) else made.proposal.workflow,
        findings=findings_data(made.proposal.diagnostics),
    )


MAKE = UseCase("make plan", MakeAsked, (MadePlanData,), _make)
