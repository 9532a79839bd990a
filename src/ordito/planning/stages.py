"""Transform: the node states: the first step of a stage enters its state, the last leaves it; and which steps open and
close an instance's chain."""

from __future__ import annotations

from ordito.instances.lifecycle import Stage
from ordito.planning.draft import Draft
from ordito.planning.fates import HALVES, Down, Up
from ordito.planning.members import Chain, DraftStep

REMOVE, MAKE = Down.REMOVE, Up.MAKE


def stages(draft: Draft) -> None:
    """Set the states of all steps that are left to do."""
    for member in draft.members.values():
        halves = HALVES[member.fate]
        if member.down is not None and halves.down:
            # An instance that is only stopped is not at the end of what it is for.
            _set(draft, member.down, closes=halves.down is REMOVE, anew=halves.up is MAKE, part=member.is_conditional)
        if member.up is not None and halves.up:
            _set(draft, member.up, closes=True, anew=halves.down is REMOVE)


def _set(draft: Draft, chain: Chain, *, closes: bool, anew: bool, part: bool = False) -> None:
    """Set the states of a chain. Where only a ``part`` of it may be carried out, links are undone, and made again, of
    what stays up."""
    steps = [s for number in chain.steps if not (s := draft.steps[number]).done]
    if not steps:
        return
    first = steps[0]
    if first.stage is None:
        # What only looks at the instance before its chain begins is no part of it.
        first = next((s for s in steps if s.stage is not None or s.link or s.condition), first)
    first.opens = True
    steps[-1].closes = closes
    if anew:
        first.anew = steps[-1].anew = True
    set_states([step for step in steps if not step.link] if part else steps)


def set_states(steps: list[DraftStep]) -> None:
    """Set the states of steps that follow each other."""
    stage: Stage | None = None
    last: DraftStep | None = None
    for step in steps:
        if step.stage is not stage:
            if stage is not None and last is not None:
                last.leave = stage.leave
            if step.stage is not None:
                step.enter = step.stage.enter
            stage = step.stage
        last = step
    if stage is not None and last is not None:
        last.leave = stage.leave
