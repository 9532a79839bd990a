"""A plan for people: what changes and why, the operations in waves, and totals; as plain data and as lines of text."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from ordito.planning.waves import Waves, runs, waves
from ordito.work.hooks import Hook
from ordito.work.plan import Action, Change, Gate, Outage, Plan, Step

MODULE = "module"
"""What lifecycle steps are shown with that are about the whole."""

AFTER_FAILURE = "only if something fails that it is there for"
"""The condition of what a workflow has for its failures, and of what only follows that."""


class PreviewStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One operation as it is shown. ``operation`` is ``Interface.operation``; ``far`` the other end of a link,
    ``condition`` when it is needed where only the job finds that out. ``hook`` is the lifecycle step that it carries
    out, or is a part of, and ``phase`` that step's; then ``instance`` is its component, "module" for the whole."""

    id: str
    instance: str
    operation: str
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


class Totals(msgspec.Struct, frozen=True):
    """How many instances are made, continued or changed, made anew, removed, looked at, and left alone; how many
    operations have something to run, are delegated to a provider, and do nothing; and how many waves have something
    that is run or delegated."""

    made: int = 0
    changed: int = 0
    replaced: int = 0
    removed: int = 0
    looked_at: int = 0
    unchanged: int = 0
    operations: int = 0
    delegated: int = 0
    no_op: int = 0
    waves: int = 0


class Delays(msgspec.Struct, frozen=True):
    """What makes a plan longer: ``hosts`` are those on which operations wait for each other, with the number of those
    that may run there at one time; were there no such limit it would have so many waves (``otherwise``)."""

    hosts: dict[str, int]
    otherwise: int


class Preview(msgspec.Struct, frozen=True):
    """What a plan would do. All steps of a wave can run at once, be it on one host; a step waits for steps of earlier
    waves only. ``held`` says what makes it longer than it need be, None for nothing.
    ``origins`` says where counts come from, where that is more than the usual."""

    workflow: str
    changes: tuple[Change, ...]
    waves: tuple[tuple[PreviewStep, ...], ...]
    totals: Totals
    counts: dict[str, int]
    origins: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    outages: tuple[Outage, ...] = ()
    held: Delays | None = None


def preview(plan: Plan, existing: Collection[str] = (), on_host: int = 1) -> Preview:
    """The preview of a plan; ``existing`` are the ids of all instances that there are before it, ``on_host`` is the
    number of operations that may run at one time on a host of which the plan says nothing. Joins are left out: they are
    nothing but order."""
    found: list[list[PreviewStep]] = []
    handling, placed = _handling(plan), waves(plan, on_host)
    for number, (step, wave) in enumerate(zip(plan.steps, placed.of_steps, strict=True)):
        if step.action is not Action.JOIN:
            while len(found) <= wave:
                found.append([])
            found[wave].append(_shown(plan, step, AFTER_FAILURE if number in handling else step.condition))
    shown = [step for wave in found for step in wave]
    symbols = [change.symbol for change in plan.changes]
    totals = Totals(
        made=symbols.count("+"),
        changed=symbols.count("~"),
        replaced=symbols.count("-/+"),
        removed=symbols.count("-"),
        looked_at=symbols.count("?"),
        unchanged=len(set(existing).difference(change.instance for change in plan.changes)),
        operations=sum(not s.no_op and not s.delegated for s in shown),
        delegated=sum(s.delegated for s in shown),
        no_op=sum(s.no_op for s in shown),
        waves=sum(not all(s.no_op for s in wave) for wave in found),
    )
    return Preview(
        plan.workflow,
        plan.changes,
        tuple(tuple(w) for w in found),
        totals,
        dict(plan.counts),
        plan.origins,
        plan.warnings,
        plan.outages,
        _held(plan, placed, totals.waves),
    )


def _held(plan: Plan, placed: Waves, count: int) -> Delays | None:
    """What makes the plan longer than it would be if any number of operations could run on one host."""
    if not placed.held:
        return None
    free = waves(plan, 0).of_steps
    otherwise = len({wave for step, wave in zip(plan.steps, free, strict=True) if runs(plan, step)})
    return Delays(placed.held, otherwise) if otherwise < count else None


def _shown(plan: Plan, step: Step, condition: str) -> PreviewStep:
    call, hook = plan.calls[step.call], hook_of(plan, step)
    delegated = step.action is Action.DELEGATE
    return PreviewStep(
        id=step.id,
        instance=step.instance or (call.interface if hook is None else hook.component or MODULE),
        operation=call.name,
        far=step.far,
        runs_on=step.runs_on,
        artifact=call.artifact,
        condition=condition or (f"if {hook.condition}" if hook is not None and hook.condition else ""),
        no_op=not delegated and not call.artifact,
        delegated=delegated,
        reason=plan.reasons[step.reason],
        declared=call.declared,
        hook=hook.id if hook is not None else "",
        phase=hook.phase if hook is not None else "",
    )


def hook_of(plan: Plan, step: Step) -> Hook | None:
    """The lifecycle step that a step is about; None for others."""
    if step.hook < 0:
        return None
    return plan.undone[step.hook].hook if step.action is Action.UNDO else plan.hooks[step.hook]


def _handling(plan: Plan) -> set[int]:
    """The steps that run after a failure only."""
    found = {number for number, step in enumerate(plan.steps) if step.gate is Gate.FAILED}
    plain: set[int] = set()
    # All that lead to a step stand before those that lead on from it.
    for before, after, _ in plan.edges if found else ():
        gate = plan.steps[after].gate
        if gate is Gate.ANY and before not in found:
            plain.add(after)
            found.discard(after)
        elif gate in (Gate.ALL, Gate.ANY) and before in found and after not in plain:
            found.add(after)
    return found
