"""Transforms: the phases of a plan, and the barriers between them.

| deploying, upgrading | undeploying |
|---|---|
| lifecycle steps of components, before | lifecycle steps of the module, then those of components, before |
| what is done to the resources | what is done to the resources |
| all that changed is ready | |
| lifecycle steps of components, after, then those of the module | lifecycle steps of components, after |
| what leaves: lifecycle steps before, the removal, lifecycle steps after | |

A barrier is a join that only success passes. There is one where something comes after it alone: a plan that has nothing
of all this is as it was before. All steps of a phase come before a barrier, and all of the next one after it, so that
edges are as many as the first and the last steps of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ordito.base.text import listed
from ordito.planning.draft import Draft
from ordito.planning.hook_steps import AFTER, BEFORE, HookSteps
from ordito.planning.ready import ready_steps
from ordito.work.hooks import Transition
from ordito.work.options import EARLY, LAST
from ordito.work.plan import Action, StepCondition

"""When what leaves is removed: when all else is done."""
MOST_NAMED = 8
"""How many steps are named at most."""

INSTALL, UPGRADE, DELETE = Transition.INSTALL, Transition.UPGRADE, Transition.DELETE


def phases(draft: Draft) -> None:
    """Lay out the phases of a deployment or upgrade."""
    parts, hooks = _parts(draft), HookSteps(draft)
    before = hooks.of_components(BEFORE, INSTALL, UPGRADE)
    main, pruned = parts
    leaving = hooks.of_components(BEFORE, DELETE, last_first=True)
    gone = hooks.of_components(AFTER, DELETE, last_first=True)
    after = hooks.of_components(AFTER, INSTALL, UPGRADE)
    module = hooks.of_module() if draft.options.part is None else []
    _follow(draft, after, module)
    prune = draft.options.changes.prune
    if prune == LAST:
        _warn_of_early(draft, main)
    if not draft.hooks and not draft.options.prunes:
        return  # Everything is one walk, as it is where nobody asks for phases.
    removal: list[Sequence[int]] = [leaving, pruned, gone]
    if prune == EARLY:
        _lay(draft, [before, *removal, main], [after + module])
    else:
        _lay(draft, [before, main], [after + module, *removal])


def _warn_of_early(draft: Draft, main: Sequence[int]) -> None:
    """Warn of what is removed before everything else is done although removals are to come last."""
    leaving = [m for m in draft.members.values() if m.goes and m.down is not None and not m.is_lost]
    if not leaving:
        return
    among = set(main)
    early = [m for m in leaving if any(n in among and does_work(draft, n) for n in (m.down.steps if m.down else ()))]
    if early:
        template = early[0].template
        draft.diagnostics.warning(
            "removed-early",
            f"removed before all else is done, and not last: {listed([m.id for m in early], MOST_NAMED)};"
            " going back would make it again without what it held",
            template.span,
            hint="what it requires, or is hosted on, is replaced: back it up before",
        )


def removal_phases(draft: Draft) -> None:
    """Lay out the phases of a removal of everything."""
    main, hooks = list(range(len(draft.steps))), HookSteps(draft)
    module = hooks.of_module() if draft.options.part is None else []
    before = hooks.of_components(BEFORE, DELETE, last_first=True)
    _follow(draft, module, before)
    after = hooks.of_components(AFTER, DELETE, last_first=True)
    if draft.hooks:
        barriers(draft, [module + before, main, after])


def without_steps(draft: Draft) -> None:
    """Transform: a workflow of the template carries out no lifecycle steps, which is reported."""
    hooking = draft.options.hooking
    left_out = [
        step
        for step in draft.service.hooks.values()
        if hooking.which != "none" and (step.phase.partition(".")[0] == DELETE) is (hooking.transition is DELETE)
    ]
    if left_out and hooking.transition is not Transition.NONE:
        named = listed([step.id for step in left_out], MOST_NAMED)
        draft.diagnostics.warning(
            "steps-left-out",
            f'workflow "{draft.options.written.name}" of the template carries out no lifecycle steps: {named}',
            left_out[0].span,
            hint="remove that workflow, or have it do what they would do",
        )


def _lay(draft: Draft, until_ready: list[Sequence[int]], then: list[Sequence[int]]) -> None:
    """The phases, with the wait for everything that has changed between them if something comes after it."""
    comes = any(does_work(draft, number) for phase in then for number in phase)
    ready = ready_steps(draft) if comes else []
    barriers(draft, [*until_ready, ready, *then])


def _follow(draft: Draft, first: Sequence[int], then: Sequence[int]) -> None:
    if first and then:
        draft.edge(first[-1], then[0], draft.why("lifecycle steps are carried out one after the other"))


# ----------------------------------------------------------------------------------------------------- the resources


def _parts(draft: Draft) -> tuple[list[int], list[int]]:
    """The steps of the draft in two parts: those for what stays, and those that remove instances, as far as these can
    be put off or brought forward: steps that others wait for, or that wait for others, are among the former."""
    count, leaves = len(draft.steps), _leaving(draft) if draft.options.prunes else frozenset[int]()
    if not leaves:
        return list(range(count)), []
    ahead: list[list[int]] = [[] for _ in range(count)]
    behind: list[list[int]] = [[] for _ in range(count)]
    for first, then in zip(draft.befores, draft.afters, strict=True):
        ahead[then].append(first)
        behind[first].append(then)
    toward, away = (behind, ahead) if draft.options.changes.prune == EARLY else (ahead, behind)
    stays = _reached((n for n in range(count) if n not in leaves and _is_bound(draft, n)), toward)
    moves = _reached((n for n in leaves if not stays[n]), away)
    parts: tuple[list[int], list[int]] = [], []
    for number in range(count):
        parts[bool(moves[number])].append(number)
    return parts


def _leaving(draft: Draft) -> set[int]:
    """The steps that remove instances, and those that undo links with them."""
    found: set[int] = set()
    for member in draft.members.values():
        if member.goes and member.down is not None:
            found.update(member.down.steps)
            found.add(member.down.end)
        for number in member.undone:
            step = draft.steps[number]
            ends = (step.instance, step.far)
            if any(draft.members[end].goes for end in ends if end in draft.members):
                found.add(number)
    return found


def _is_bound(draft: Draft, number: int) -> bool:
    """Whether a step itself is for what stays. A notification goes with what it waits for."""
    return does_work(draft, number) and draft.steps[number].condition is not StepCondition.IF_CHANGED


def does_work(draft: Draft, number: int) -> bool:
    """Whether a step does anything: it is no join, and was not carried out before."""
    step = draft.steps[number]
    return step.action is not Action.JOIN and not step.done


def _reached(first: Iterable[int], links: Sequence[Sequence[int]]) -> bytearray:
    """All steps that edges lead to from some steps, including these: a flag for each."""
    found = bytearray(len(links))
    waiting = list(first)
    for number in waiting:
        found[number] = True
    while waiting:
        for other in links[waiting.pop()]:
            if not found[other]:
                found[other] = True
                waiting.append(other)
    return found


# ---------------------------------------------------------------------------------------------------------- barriers


def barriers(draft: Draft, laid: Sequence[Sequence[int]]) -> None:
    """Have each phase with steps begin when the one before has succeeded."""
    phases_of = [phase for phase in laid if any(does_work(draft, number) for number in phase)]
    if len(phases_of) < 2:
        return
    place = [-1] * len(draft.steps)
    for position, phase in enumerate(phases_of):
        for number in phase:
            place[number] = position
    has_next, has_one_before = bytearray(len(place)), bytearray(len(place))
    for before, after in zip(draft.befores, draft.afters, strict=True):
        if place[before] == place[after]:
            has_next[before] = has_one_before[after] = True
    for position, then in enumerate(phases_of[1:]):
        # What takes a job back goes on past failures.
        undoes = draft.options.hooking.undoes
        why = draft.why(f"a phase begins when all that comes before it has ended{'' if undoes else ' well'}")
        barrier = draft.join("phase", why, after_failure=True) if undoes else draft.barrier(why)
        draft.edges([number for number in phases_of[position] if not has_next[number]], [barrier], why)
        draft.edges([barrier], [number for number in then if not has_one_before[number]], why)
