"""Transform: the node states: the first step of a stage enters its state, the last leaves it; and which steps open and
close an instance's chain."""

from __future__ import annotations

from ordito.planning.draft import Draft, DraftStep, Fate
from ordito.planning.lifecycle import Stage


def stages(draft: Draft) -> None:
    """Set the states of all steps that are left to do."""
    for member in draft.members.values():
        if member.chain is None or member.fate is Fate.KEEP:
            continue
        steps = [s for number in member.chain.steps if not (s := draft.steps[number]).done]
        if steps:
            # What only looks at the instance before its chain begins is no part of it.
            works = [s for s in steps if s.stage is not None or s.link or s.condition] or steps
            works[0].opens = True
            steps[-1].closes = True
            _set_states(steps)


def _set_states(steps: list[DraftStep]) -> None:
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
