"""A plan for people: what changes and why, the operations in waves, and totals; as plain data and as lines of text."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence

import msgspec

from ordito.work.hooks import Hook
from ordito.work.plan import Action, Change, Gate, Outage, Plan, Step

MODULE = "module"
"""What lifecycle steps of the module are shown with."""

AFTER_FAILURE = "only if something fails that it is there for"
"""The condition of steps that handle a failure of the workflow, and of what follows only these."""


class PreviewStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One operation as it is shown. ``operation`` is ``Interface.operation``; ``far`` the other end of a link,
    ``condition`` when it is needed, if only the job finds that out. ``hook`` is the lifecycle step that it carries out,
    or is part of, and ``phase`` that step's; then ``instance`` is its component, "module" for the whole."""

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
    """How many instances are created, continued or changed, replaced, removed, checked, and left alone; how many
    operations run something, are delegated to a provider, and do nothing; and how many waves run or delegate something.
    """

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
    that may run there at one time; without any such limit it would have ``otherwise`` waves."""

    hosts: dict[str, int]
    otherwise: int


class Preview(msgspec.Struct, frozen=True):
    """What a plan would do. All steps of a wave can run at once, even on one host; a step waits only for steps of
    earlier waves. ``held`` says what makes it longer than necessary, None for nothing. ``origins`` says where numbers
    of instances come from, unless it is the usual place."""

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
    """The preview of a plan; ``existing`` are the ids of all instances that exist before it, ``on_host`` is the number
    of operations that may run at one time on a host for which the plan says nothing. Joins are left out, since they
    only keep order."""
    found: list[list[PreviewStep]] = []
    handling, placed = _handling(plan), waves(plan, on_host)
    for number, (step, wave) in enumerate(zip(plan.steps, placed.of_steps, strict=True)):
        if step.action is not Action.JOIN:
            while len(found) <= wave:
                found.append([])
            found[wave].append(_shown(plan, step, AFTER_FAILURE if number in handling else step.flow.condition))
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
        dict(plan.counts.wanted),
        plan.counts.origins,
        plan.summary.warnings,
        plan.summary.outages,
        _held(plan, placed, totals.waves),
    )


def _held(plan: Plan, placed: Waves, count: int) -> Delays | None:
    """What makes the plan longer than if any number of operations could run on one host."""
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
    """The steps that run only after a failure."""
    found = {number for number, step in enumerate(plan.steps) if step.flow.gate is Gate.FAILED}
    plain: set[int] = set()
    # All that lead to a step stand before those that lead on from it.
    for before, after, _ in plan.edges if found else ():
        gate = plan.steps[after].flow.gate
        if gate is Gate.ANY and before not in found:
            plain.add(after)
            found.discard(after)
        elif gate in (Gate.ALL, Gate.ANY) and before in found and after not in plain:
            found.add(after)
    return found


# In which wave of a plan each step is: all steps of a wave can run at the same time, and wait for earlier ones only.
#
# A step comes as early as what it waits for allows, and then as early as its instance and its host have a place: on
# one instance one operation runs at a time, on a host as many as it is allowed to have (§7.2.3), as in the engine.
# What runs nothing takes no place.

JOIN = Action.JOIN


class Waves(msgspec.Struct, frozen=True):
    """The wave of each step, from 0. ``held`` are the hosts on which steps come later because others run there, with
    the number of those that may run there at one time."""

    of_steps: Sequence[int]
    held: dict[str, int]


def runs(plan: Plan, step: Step) -> bool:
    """Whether a step runs anything, or asks a provider."""
    return step.action is Action.DELEGATE or (step.action is not Action.JOIN and bool(plan.calls[step.call].artifact))


def waves(plan: Plan, on_host: int = 1, *, joins: int = 0) -> Waves:
    """The waves of a plan. ``on_host`` operations run at one time on a host for which the plan says nothing, 0 for any
    number, whatever the plan says; ``joins`` is how many waves a join takes."""
    found = array("i", bytes(4 * len(plan.steps)))
    ended = array("i", bytes(4 * len(plan.steps)))
    held: dict[str, int] = {}
    # Most instances have one operation after the other by the order alone: where the last one ended says that.
    last: dict[str, int] = {}
    hosts: dict[str, _Places] = {}
    edges, edge, count = plan.edges, 0, len(plan.edges)
    # Edges are in the order of the steps that they lead to, and steps in an order that satisfies them.
    for number, step in enumerate(plan.steps):
        wave = 0
        while edge < count and edges[edge][1] == number:
            before = ended[edges[edge][0]]
            if before > wave:  # noqa: PLR1730  (a call for each of very many edges)
                wave = before
            edge += 1
        if step.action is JOIN:
            found[number], ended[number] = wave, wave + joins
            continue
        if not plan.overlaps and runs(plan, step):
            name = step.instance
            earliest = wave = max(wave, last.get(name, 0))
            host = _host(plan, step, hosts, on_host)
            if host is not None:
                wave = host.free(wave)
                host.take(wave)
                if wave > earliest:
                    held[step.runs_on] = host.places
            last[name] = wave + 1
        found[number], ended[number] = wave, wave + 1
    return Waves(found, held)


def _host(plan: Plan, step: Step, hosts: dict[str, _Places], on_host: int) -> _Places | None:
    if not (step.runs_on and on_host):
        return None
    found = hosts.get(step.runs_on)
    if found is None:
        found = hosts[step.runs_on] = _Places(max(1, plan.capacity.get(step.runs_on, on_host)))
    return found


class _Places:
    """The places of an instance, or of a host, wave after wave."""

    __slots__ = ("_next", "_taken", "places")

    def __init__(self, places: int) -> None:
        self.places = places
        self._taken: dict[int, int] = {}
        # Where all places of a wave are taken, one after which there may be some: the way there gets shorter each time.
        self._next: dict[int, int] = {}

    def free(self, wave: int) -> int:
        """The first wave from one on in which there is a place."""
        passed: list[int] = []
        while (later := self._next.get(wave)) is not None:
            passed.append(wave)
            wave = later
        for before in passed:
            self._next[before] = wave
        return wave

    def take(self, wave: int) -> None:
        """Take a place in a wave that has one."""
        taken = self._taken[wave] = self._taken.get(wave, 0) + 1
        if taken == self.places:
            self._next[wave] = wave + 1
