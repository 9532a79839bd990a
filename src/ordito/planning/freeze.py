"""Transform: the finished plan, out of what is left of the draft."""

from __future__ import annotations

from ordito.base.diagnostics import Severity
from ordito.instances.lifecycle import DELEGATE, PROVIDE
from ordito.planning.adopt import older
from ordito.planning.draft import Draft
from ordito.planning.in_turn import outages
from ordito.planning.losing import losing, lost_if
from ordito.planning.planned_instances import UNCHANGED, DraftStep, InstanceAction, PlannedInstance
from ordito.work.plan import (
    NO_EFFECT,
    NORMAL,
    Action,
    Change,
    InstanceCounts,
    Plan,
    PlannedRecords,
    PlanSummary,
    Step,
    StepCondition,
    StepEffect,
    StepFlow,
)

JOIN, KEEP, CONTINUE, ALWAYS = Action.JOIN, InstanceAction.KEEP, InstanceAction.CONTINUE, StepCondition.ALWAYS

SYMBOLS = {
    InstanceAction.NEW: "+",
    InstanceAction.CONTINUE: "~",
    InstanceAction.KEEP: "~",
    InstanceAction.LOOK: "?",
    InstanceAction.RUN: "~",
    InstanceAction.LEAVE: "-",
    InstanceAction.DROP: "-",
    InstanceAction.REPLACE: "-/+",
    InstanceAction.STOP: "~",
    InstanceAction.START: "~",
    InstanceAction.RESTART: "~",
    InstanceAction.RECONFIGURE: "~",
    InstanceAction.UPDATE: "~",
}


def freeze(draft: Draft) -> Plan:
    """The plan: steps in order, edges, the calls that are still needed, and what it means for each instance."""
    places = [0] * len(draft.steps)
    for place, number in enumerate(draft.order):
        places[number] = place
    befores, afters = ([places[number] for number in numbers] for numbers in (draft.befores, draft.afters))
    edges = tuple(zip(befores, afters, draft.edge_reasons, strict=True))
    lengths = _chain_lengths(draft, edges)
    used: dict[int, int] = {}
    flows, effects = _SharedFlows({_fields(NORMAL): NORMAL}), _SharedEffects({_fields(NO_EFFECT): NO_EFFECT})
    drafted = draft.steps
    steps = tuple(
        [_step(drafted[n], length, used, flows, effects) for n, length in zip(draft.order, lengths, strict=True)]
    )
    kept = list(used)
    lost = losing(draft)
    return Plan(
        workflow=draft.workflow.name,
        steps=steps,
        edges=edges,
        calls=tuple(draft.calls.all[number] for number in kept),
        reasons=tuple(draft.reasons),
        changes=_changes(draft),
        capacity=_capacity(draft, steps),
        scopes=tuple(draft.scopes),
        hooks=tuple(draft.hooks),
        undone=tuple(draft.undone),
        overlaps=draft.overlaps,
        halts=draft.halts,
        counts=InstanceCounts(
            wanted=dict(draft.counts),
            origins={node: origin for node, origin in draft.origins.items() if origin},
            kept=draft.kept_counts,
        ),
        records=PlannedRecords(
            new=tuple(draft.created),
            absent=tuple(draft.absent),
            older=older(draft),
            adopted={
                **{
                    m.id: dict(m.adopted)
                    for m in draft.members.values()
                    if m.adopted and m.action is not InstanceAction.REPLACE
                },
                **draft.adopted_links,
            },
            moved={m.id: m.record.host for m in draft.members.values() if m.was_on is not None},
            observed=dict(draft.observed),
        ),
        summary=PlanSummary(
            warnings=tuple(str(d) for d in draft.diagnostics if d.severity is Severity.WARNING),
            kept=tuple(_kept(m) for m in draft.kept),
            drifted=tuple(m.id for m in draft.members.values() if m.record.drift and _loses(m)),
            outages=outages(draft),
            losing=lost,
            lost_if=lost_if(draft, lost),
            makers=_makers(draft, kept),
        ),
    )


class _SharedFlows(dict[tuple[object, ...], StepFlow]):
    """The ``StepFlow`` objects that all steps share, each once, by its fields in their order."""

    def __missing__(self, fields: tuple[object, ...]) -> StepFlow:
        found = self[fields] = StepFlow(*fields)  # type: ignore[arg-type]
        return found


class _SharedEffects(dict[tuple[object, ...], StepEffect]):
    """The ``StepEffect`` objects that all steps share, each once, by its fields in their order."""

    def __missing__(self, fields: tuple[object, ...]) -> StepEffect:
        found = self[fields] = StepEffect(*fields)  # type: ignore[arg-type]
        return found


def _fields(part: StepFlow | StepEffect) -> tuple[object, ...]:
    return tuple(getattr(part, name) for name in part.__struct_fields__)


def _step(step: DraftStep, length: int, used: dict[int, int], flows: _SharedFlows, effects: _SharedEffects) -> Step:
    if step.action is JOIN or step.done:
        flow = flows[ALWAYS, step.gate, step.after_failure, step.barrier, False, False]
        return Step(step.id, JOIN, chain=length, reason=step.reason, flow=flow)
    # In the order of the fields: giving them by name takes half as long again, 300,000 times.
    return Step(
        step.id,
        step.action,
        step.instance,
        step.far,
        step.link,
        used.setdefault(step.call, len(used)),
        step.runs_on,
        length,
        step.reason,
        flows[step.condition, step.gate, step.after_failure, step.barrier, step.optional, step.non_blocking],
        effects[step.enter, step.leave, step.opens, step.closes, step.replaces, step.counts, step.forms],
        False,  # No step of a plan in the making was done by hand.
        step.written,
        step.hook,
    )


def _chain_lengths(draft: Draft, edges: tuple[tuple[int, int, int], ...]) -> list[int]:
    """For each step, how many working steps the longest chain after it has."""
    lengths = [0] * len(draft.order)
    drafted = draft.steps
    works = [(s := drafted[n]).action is not JOIN and not s.done for n in draft.order]
    # Edges are sorted by the step they lead to, and a step comes after all steps before it.
    for before, after, _ in reversed(edges):
        length = lengths[after] + works[after]
        if length > lengths[before]:  # noqa: PLR1730  (a call for each of very many edges)
            lengths[before] = length
    return lengths


def _changes(draft: Draft) -> tuple[Change, ...]:
    working: dict[str, DraftStep] = {}
    drafted = draft.steps
    for number in reversed(draft.order):
        step = drafted[number]
        if step.action is not JOIN and not step.done:
            working[step.owner] = step
    reasons, forms = tuple(draft.reasons), draft.is_forming
    found: list[Change] = []
    for members in draft.of_node.values():
        span = members[0].template.span if members else None
        declared = str(span) if span is not None else ""
        for member in members:
            first = working.get(member.record.id)
            if first is not None:
                stays = member.action is KEEP and member.kind is UNCHANGED
                reason = _why_linked(draft, member, first) if stays else ""
                found.append(_change(member, reason or reasons[first.reason], declared, forms=forms))
            elif member.kind is not UNCHANGED:
                found.append(
                    Change("=", member.id, member.reason, declared, member.differences, member.kind, member.cause)
                )
    return tuple(found)


def _why_linked(draft: Draft, member: PlannedInstance, first: DraftStep) -> str:
    """Why an instance that stays is linked, or its links are undone: the action of the other end; "" if that stays as
    well."""
    undone = "links of a target that leaves or stops are undone" if member.undone else ""
    if not draft.workflow.forms:
        return undone
    other = draft.members.get(first.far if first.instance == member.record.id else first.instance)
    if not first.link or other is None or other.action is KEEP:
        return undone
    how = "its link is undone" if other.goes else "it is linked again" if member.undone else "it is linked"
    return f"{how}: {other.template.name} {other.action}"


def _change(member: PlannedInstance, first_reason: str, declared: str, *, forms: bool) -> Change:
    action, identity, reason = member.action, member.record.id, member.reason
    symbol, kind = SYMBOLS[action], "" if member.kind is UNCHANGED else member.kind
    if action is KEEP:
        reason = member.reason if kind else first_reason
    elif action is CONTINUE and not member.record.created:
        symbol = "+"
    elif forms and member.is_looked_at:
        symbol = SYMBOLS[InstanceAction.LOOK]
    return Change(symbol, identity, reason, declared, member.differences, kind, member.cause)


def _capacity(draft: Draft, steps: tuple[Step, ...]) -> dict[str, int]:
    """How many operations may run at one time on each Compute instance that is used, if its node limits that."""
    capacity: dict[str, int] = {}
    for instance in dict.fromkeys(step.runs_on for step in steps if step.runs_on):
        places = draft.members[instance].template.settings.concurrency
        if places is not None:
            capacity[instance] = places
    return capacity


def _makers(draft: Draft, calls: list[int]) -> dict[str, str]:
    """The providers of the nodes of which instances are created, except those that are this machine."""
    found: dict[str, str] = {}
    for call in (draft.calls.all[number] for number in calls):
        if call.interface == DELEGATE and call.operation == PROVIDE:
            maker = draft.options.abilities.maker(call.owner, draft.service.nodes[call.owner].kinds)
            if maker.looks:
                found[call.owner] = maker.name
    return found


def _kept(member: PlannedInstance) -> Change:
    declared = str(member.template.span) if member.template.span else ""
    return Change("=", member.id, member.reason, declared, cause=member.cause)


def _loses(member: PlannedInstance) -> bool:
    """Whether the state that an instance has built up is lost with it: it is removed, or replaced for another reason
    than repair."""
    return member.goes or (member.action is InstanceAction.REPLACE and not member.is_broken)
