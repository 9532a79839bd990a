"""What a command would do: ``ordito.plan/1``, the result of ``ordito plan``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from ordito.base.sensitive import shown
from ordito.planning.preview import Delays, PreviewStep, Totals, preview
from ordito.planning.risks import Risk, risks_of
from ordito.results.answer import Result
from ordito.work.plan import Change, ChangeCause, Difference, KeptCount, Outage

if TYPE_CHECKING:
    from ordito.app.proposal import Proposal, ProposedInputs
    from ordito.model.choices import Choices

FORMAT = "ordito.plan/1"
"""The format and its version: new names may be added; a change of meaning gets a new number."""

Plain = dict[str, object]


class JoinStep(msgspec.Struct, frozen=True):
    """A step that does nothing but join others."""

    id: str
    reason: str
    joins: bool = True


class PlannedEdge(msgspec.Struct, frozen=True):
    """The order of two steps, and why."""

    before: str
    after: str
    reason: str


class PlannedCount(msgspec.Struct, frozen=True):
    """How many instances of a node are wanted, and where that comes from, "" for the usual place."""

    count: int
    origin: str


class PlanData(Result, frozen=True, kw_only=True):
    """A plan. Text needs neither ``order`` nor ``edges``, which are only there if everything is asked for."""

    service: str
    workflow: str
    environment: str
    back_to: int | None
    """The revision to which a rollback leads."""

    changes: tuple[Change, ...]
    """What happens to each instance."""

    waves: tuple[tuple[PreviewStep, ...], ...]
    """The steps; those of a wave can run at the same time."""

    joins: tuple[JoinStep, ...] = ()
    """The steps that only join others."""

    order: tuple[str, ...] = ()
    """The ids of all steps, joins included, in the order of the plan."""

    edges: tuple[PlannedEdge, ...] = ()
    counts: Mapping[str, PlannedCount]
    part: bool
    """Whether it is for a part of the service."""

    left_out: tuple[Change, ...]
    """What a plan for everything would also do."""

    made_by: Mapping[str, str]
    """The providers of nodes that are not on this machine."""

    chosen: tuple[Mapping[str, str], ...]
    """What was chosen where the service leaves a choice (``chosen_rows``)."""

    totals: Totals
    held: Delays | None
    """What makes it longer than necessary."""

    outages: tuple[Outage, ...]
    warnings: tuple[str, ...]
    unfinished: str
    """The job that must be resumed first, "" for none."""

    kept: tuple[Change, ...] = ()
    """The instances that stay although everything else is removed, and why."""

    kept_counts: Mapping[str, KeptCount] = {}
    """The numbers of instances that scaling has set."""

    losing: Mapping[str, str] = {}
    """The instances whose data is lost, each with the condition of that, "" for none."""

    not_permitted: tuple[str, ...] = ()
    """Those of them of which the command has not permitted it."""

    drifted: tuple[str, ...] = ()
    """The instances that were found to differ from how they were created."""

    limited: tuple[str, ...] = ()
    """The hosts of ``held`` for which the template says how many operations may run there."""

    risks: tuple[Risk, ...] = ()
    """What somebody who approves it should know first."""

    @property
    def data(self) -> Plain:
        """Plain data; what nothing is to be said of beyond the names that are always there is left out."""
        waves = {step.id: number for number, wave in enumerate(self.waves, 1) for step in wave}
        steps: dict[str, PreviewStep | JoinStep] = {step.id: step for wave in self.waves for step in wave}
        steps.update((step.id, step) for step in self.joins)
        more = {
            "kept": changes_data(self.kept),
            "kept_counts": msgspec.to_builtins(self.kept_counts),
            "losing": dict(self.losing),
            "not_permitted": list(self.not_permitted),
            "drifted": list(self.drifted),
            "limited": list(self.limited),
            "risks": list(map(str, self.risks)),
        }
        return {
            "format": FORMAT,
            "service": self.service,
            "workflow": self.workflow,
            "environment": self.environment,
            "back_to": self.back_to,
            "changes": changes_data(self.changes),
            "steps": [_step_data(steps[name], waves.get(name, 0)) for name in self.order or waves],
            "edges": msgspec.to_builtins(self.edges),
            "waves": [[step.id for step in wave] for wave in self.waves],
            "counts": msgspec.to_builtins(self.counts),
            "part": self.part,
            "left_out": changes_data(self.left_out),
            "made_by": dict(self.made_by),
            "chosen": [dict(row) for row in self.chosen],
            "totals": msgspec.to_builtins(self.totals),
            "held": msgspec.to_builtins(self.held),
            "outages": msgspec.to_builtins(self.outages),
            "warnings": list(self.warnings),
            "unfinished": self.unfinished,
            **{name: value for name, value in more.items() if value},
        }

    @classmethod
    def read(cls, plain: Mapping[str, object]) -> Self:
        """The plan of which this is the plain data. Raises ``msgspec.ValidationError``."""
        found = msgspec.convert(plain, WholePlan)
        steps = {step.id: step for step in found.steps if not step.joins}
        joins = [JoinStep(step.id, step.reason) for step in found.steps if step.joins]
        waves = [
            tuple(msgspec.convert(steps[name], PreviewStep, from_attributes=True) for name in w) for w in found.waves
        ]
        own = {name: getattr(found, name) for name in found.__struct_fields__ if name in cls.__struct_fields__}
        changes = {name: tuple(map(_change, getattr(found, name))) for name in ("changes", "left_out", "kept")}
        order = tuple(step.id for step in found.steps)
        return cls(**{**own, **changes, "waves": tuple(waves), "joins": tuple(joins), "order": order})


class StepRow(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a plan in its list: an operation, or what only joins others."""

    id: str
    joins: bool = False
    wave: int = 0
    instance: str = ""
    operation: str = ""
    far: str = ""
    runs_on: str = ""
    artifact: str = ""
    condition: str = ""
    no_op: bool = False
    delegated: bool = False
    reason: str = ""
    declared: str = ""
    hook: str = ""
    phase: str = ""


class ChangeData(msgspec.Struct, frozen=True, kw_only=True):
    """The change of one instance."""

    symbol: str
    kind: str = msgspec.field(name="class")
    instance: str
    reason: str
    declared: str
    differences: tuple[Difference, ...]
    cause: ChangeCause = ChangeCause.NONE


class PlannedInput(msgspec.Struct, frozen=True):
    """An input of the service: the value that was deployed last and the one of the plan, without secrets; null for
    none."""

    name: str
    before: object
    after: object


class PlanHead(msgspec.Struct, frozen=True, kw_only=True):
    """A plan but for its lists."""

    service: str
    workflow: str
    environment: str = ""
    back_to: int | None
    counts: Mapping[str, PlannedCount]
    part: bool
    left_out: tuple[ChangeData, ...]
    made_by: Mapping[str, str]
    chosen: tuple[Mapping[str, str], ...]
    totals: Totals
    held: Delays | None
    outages: tuple[Outage, ...]
    warnings: tuple[str, ...]
    unfinished: str
    kept: tuple[ChangeData, ...] = ()
    kept_counts: Mapping[str, KeptCount] = {}
    losing: Mapping[str, str] = {}
    not_permitted: tuple[str, ...] = ()
    drifted: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    risks: tuple[Risk, ...] = ()
    inputs: tuple[PlannedInput, ...] = ()
    """Only of plans on a server."""


class WholePlan(PlanHead, frozen=True, kw_only=True):
    """A plan with all of its lists."""

    changes: tuple[ChangeData, ...]
    steps: tuple[StepRow, ...]
    edges: tuple[PlannedEdge, ...]
    waves: tuple[tuple[str, ...], ...]
    """The ids of the steps; those of a wave can run at the same time."""


class NothingPlannedData(Result, frozen=True, kw_only=True):
    """The plan of a workflow if nothing was ever deployed."""

    format: str = FORMAT
    service: str = ""
    workflow: str
    back_to: int | None = None
    changes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    waves: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    outages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    counts: Mapping[str, PlannedCount] = {}
    part: bool = False
    left_out: tuple[str, ...] = ()
    made_by: Mapping[str, str] = {}
    totals: Totals = Totals()
    held: Delays | None = None
    unfinished: str = ""


def plan_data(proposal: Proposal, unfinished: str = "", *, whole: bool = True) -> PlanData:
    """A plan; only with ``whole`` the order of all steps and the reasons of that, which may be very many."""
    plan, seen = proposal.plan, preview(proposal.plan, existing=proposal.existing, on_host=proposal.setting.on_host)
    there = {step.id for wave in seen.waves for step in wave} if whole else set()
    steps, reasons, summary = plan.steps, plan.reasons, plan.summary
    return PlanData(
        service=proposal.service.name,
        workflow=seen.workflow,
        environment=proposal.setting.environment,
        back_to=proposal.job.back_to or None,
        changes=seen.changes,
        waves=seen.waves,
        joins=tuple(JoinStep(s.id, reasons[s.reason]) for s in steps if s.id not in there) if whole else (),
        order=tuple(step.id for step in steps) if whole else (),
        edges=tuple(PlannedEdge(steps[b].id, steps[a].id, reasons[r]) for b, a, r in plan.edges) if whole else (),
        counts={node: PlannedCount(count, seen.origins.get(node, "")) for node, count in seen.counts.items()},
        part=summary.is_part,
        left_out=summary.left_out,
        made_by=summary.makers,
        chosen=tuple(chosen_rows(proposal.service.choices)),
        totals=seen.totals,
        held=seen.held,
        outages=seen.outages,
        warnings=seen.warnings,
        unfinished=unfinished,
        kept=tuple(summary.kept),
        kept_counts=plan.counts.kept or {},
        losing={name: summary.lost_if.get(name, "") for name in summary.losing},
        not_permitted=proposal.risks.lost,
        drifted=tuple(summary.drifted),
        risks=risks_of(plan, proposal.service, proposal.snapshot),
        limited=tuple(host for host in seen.held.hosts if host in plan.capacity) if seen.held is not None else (),
    )


def inputs_of(inputs: ProposedInputs) -> Iterator[PlannedInput]:
    """The inputs of a plan, as they may be shown."""
    for name in dict.fromkeys((*inputs.before, *inputs.values)):
        yield PlannedInput(name, shown(inputs.before.get(name)), shown(inputs.values.get(name)))


def changes_data(changes: Sequence[Change]) -> list[Plain]:
    """Changes as plain data."""
    return [change_data(change) for change in changes]


def change_data(change: Change) -> Plain:
    """The change of one instance as plain data."""
    plain: Plain = {
        "symbol": change.symbol,
        "class": change.kind,
        "instance": change.instance,
        "reason": change.reason,
        "declared": change.declared,
        "differences": [
            {"what": d.what, "before": d.before, "after": d.after, "declared": d.declared} for d in change.differences
        ],
    }
    return {**plain, "cause": str(change.cause)} if change.cause else plain


def _change(found: ChangeData) -> Change:
    return Change(
        found.symbol, found.instance, found.reason, found.declared, found.differences, found.kind, found.cause
    )


def _step_data(step: PreviewStep | JoinStep, wave: int) -> Plain:
    if isinstance(step, JoinStep):
        return {"id": step.id, "joins": True, "reason": step.reason}
    return {
        "id": step.id,
        "wave": wave,
        "instance": step.instance,
        "operation": step.operation,
        "far": step.far,
        "runs_on": step.runs_on,
        "artifact": step.artifact,
        "condition": step.condition,
        "no_op": step.no_op,
        "delegated": step.delegated,
        "reason": step.reason,
        "declared": step.declared,
        **({"hook": step.hook, "phase": step.phase} if step.hook else {}),
    }


def chosen_rows(choices: Choices) -> list[dict[str, str]]:
    """What was chosen where a service leaves a choice (§5.8.2): ``for`` a node, or a requirement of one, the
    ``topology`` that substitutes it or the existing ``node`` that is selected."""
    found = [{"for": name, "topology": file} for name, file in choices.substitutes.items()]
    found += [{"for": name, "node": selected.node} for name, selected in choices.selected.items()]
    return found + [{"for": name, "node": node} for name, node in choices.requirements.items()]
