"""Transform: the finished plan, out of what is left of the draft."""

from __future__ import annotations

from array import array

from ordito.base.diagnostics import Severity
from ordito.planning.draft import Draft, Fate, Member
from ordito.work.plan import Action, Change, Plan, Step

SYMBOLS = {Fate.NEW: "+", Fate.CONTINUE: "~", Fate.KEEP: "~", Fate.LOOK: "?", Fate.LEAVE: "-", Fate.DROP: "-"}


def freeze(draft: Draft) -> Plan:
    """The plan: steps in order, edges, calls that are still called, and what it all means for each instance."""
    places = {number: place for place, number in enumerate(draft.order)}
    edges = tuple(
        (places[before], places[after], reason)
        for before, after, reason in zip(draft.befores, draft.afters, draft.edge_reasons, strict=True)
    )
    lengths = _chain_lengths(draft, edges)
    used: dict[int, int] = {}
    steps = tuple(_step(draft, number, lengths[place], used) for place, number in enumerate(draft.order))
    kept = list(used)
    return Plan(
        workflow=draft.workflow,
        steps=steps,
        edges=edges,
        calls=tuple(draft.calls.all[number] for number in kept),
        reasons=tuple(draft.reasons),
        changes=_changes(draft),
        instances=tuple(draft.created),
        capacity=_capacity(draft, steps),
        counts=dict(draft.counts),
        origins={node: origin for node, origin in draft.origins.items() if origin},
        kept=tuple(_kept(m) for m in draft.kept),
        drifted=tuple(m.id for m in draft.members.values() if m.goes and _has_drifted(m)),
        warnings=tuple(str(d) for d in draft.diagnostics if d.severity is Severity.WARNING),
    )


def _step(draft: Draft, number: int, length: int, used: dict[int, int]) -> Step:
    step = draft.steps[number]
    if step.action is Action.JOIN or step.done:
        return Step(id=step.id, action=Action.JOIN, tolerant=step.tolerant, chain=length, reason=step.reason)
    return Step(
        id=step.id,
        action=step.action,
        instance=step.instance,
        far=step.far,
        link=step.link,
        call=used.setdefault(step.call, len(used)),
        runs_on=step.runs_on,
        enter=step.enter,
        leave=step.leave,
        opens=step.opens,
        closes=step.closes,
        tolerant=step.tolerant,
        chain=length,
        reason=step.reason,
        optional=step.optional,
        dispensable=step.dispensable,
        condition=step.condition,
    )


def _chain_lengths(draft: Draft, edges: tuple[tuple[int, int, int], ...]) -> array[int]:
    """For each step, how many working steps the longest chain after it has."""
    lengths = array("i", bytes(4 * len(draft.order)))
    works = bytearray(draft.steps[n].action is not Action.JOIN and not draft.steps[n].done for n in draft.order)
    # Edges are sorted by the step they lead to, and a step comes after all steps before it.
    for before, after, _ in reversed(edges):
        length = lengths[after] + works[after]
        lengths[before] = max(lengths[before], length)
    return lengths


def _changes(draft: Draft) -> tuple[Change, ...]:
    working: dict[str, int] = {}
    for number in draft.order:
        step = draft.steps[number]
        if step.action is not Action.JOIN and not step.done:
            working.setdefault(step.owner, number)
    reasons = tuple(draft.reasons)
    found: list[Change] = []
    for members in draft.of_node.values():
        for member in members:
            first = working.get(member.id)
            if first is not None or member.refused:
                found.append(_change(member, reasons[draft.steps[first].reason] if first is not None else ""))
    return tuple(found)


def _change(member: Member, first_reason: str) -> Change:
    symbol = SYMBOLS[member.fate]
    reason = member.reason
    declared = str(member.template.span) if member.template.span else ""
    if member.refused:
        return Change(member.refused, member.id, reason, declared, member.differences, refused=True)
    if member.fate is Fate.KEEP:
        reason = "links of a target that leaves are undone" if member.undone else first_reason
    elif member.fate is Fate.CONTINUE and not member.record.created:
        symbol = "+"
    return Change(symbol, member.id, reason, declared, member.differences)


def _capacity(draft: Draft, steps: tuple[Step, ...]) -> dict[str, int]:
    """How many operations may run at one time on each Compute instance that is used, where its node says so."""
    capacity: dict[str, int] = {}
    for instance in dict.fromkeys(step.runs_on for step in steps if step.runs_on):
        places = draft.members[instance].template.settings.concurrency
        if places is not None:
            capacity[instance] = places
    return capacity


def _kept(member: Member) -> Change:
    declared = str(member.template.span) if member.template.span else ""
    return Change("=", member.id, member.reason, declared)


def _has_drifted(member: Member) -> bool:
    """Whether an instance was found to be other than it was made, after it was."""
    return member.record.last_state_change > member.record.last_config_change
