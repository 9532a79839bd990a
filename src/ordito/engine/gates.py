"""Gates (``work.plan.Gate``): when a step may start that does not simply wait for the success of all steps before it,
and which steps are rescue steps: those that handle a failure, and those after them."""

from __future__ import annotations

from ordito.engine.states import StepState
from ordito.work.plan import Action, Gate, Plan, Step

# Plain numbers for the inner loop, where an enum's members cost a look-up each.
_WAITING, _SUCCEEDED = int(StepState.WAITING), int(StepState.SUCCEEDED)
_FAILED, _SKIPPED, _LEFT_OUT = int(StepState.FAILED), int(StepState.SKIPPED), int(StepState.LEFT_OUT)
_NUMBERS = {gate: number for number, gate in enumerate(Gate)}
_ALL, _ANY, _IF_FAILED = _NUMBERS[Gate.ALL], _NUMBERS[Gate.ANY], _NUMBERS[Gate.FAILED]
_NONE = Gate.NONE
_SPARED, _FILTERED, _WELL = 1, 2, 3
BECAUSE = (
    "",
    "no failure that it handles has happened",
    "its instance does not pass the filter",
    "not needed: the instance is ok, or waits for another repair",
)
"""Why a step is left out."""


class Gates:
    """The gates of a plan. Ask only if ``matter`` is true: the plan has gates, or halts at failures."""

    def __init__(self, plan: Plan) -> None:
        self._steps = plan.steps
        self.matter = plan.halts or any(step.flow.gate is not _NONE for step in plan.steps)
        count = len(plan.steps) if self.matter else 0
        self._of = bytearray(_NUMBERS[step.flow.gate] for step in plan.steps) if self.matter else bytearray()
        self._open = bytearray(count)
        self._lacks = bytearray(count)
        self._rescues = bytearray(count)

    def hears(self, before: int, state: int, after: int) -> bool:
        """Tell the gate of a step how a step before it has ended; returns whether the gate opens, so that the step
        waits no longer. An open gate need not be told anything more."""
        gate = self._of[after]
        if gate == _IF_FAILED:
            opens = state == _FAILED
            self._rescues[after] |= opens
        else:
            opens = gate == _ANY and state == _SUCCEEDED
            if self._rescues[before] and state in (_SUCCEEDED, _LEFT_OUT):
                self._rescues[after] = True
            if gate == _ALL and state == _LEFT_OUT:
                self._lacks[after] = self._lacks[before] or _lacking(self._steps[before])
        self._open[after] |= opens
        return opens

    def decides(self, index: int, *, blamed: bool) -> int:
        """The state in which a step ends that its gate keeps from running; ``WAITING`` if it may run. ``blamed`` is
        whether a step before it has failed that it needs."""
        if self._open[index]:
            return _WAITING
        if self._of[index] in (_ANY, _IF_FAILED):
            return _SKIPPED if blamed else _LEFT_OUT
        if blamed:
            return _SKIPPED
        return _LEFT_OUT if self._lacks[index] else _WAITING

    def is_open(self, index: int) -> bool:
        """Whether the gate of a step is open."""
        return bool(self._open[index])

    def rescues(self, index: int) -> bool:
        """Whether a step handles a failure that has happened, or comes after such a step."""
        return self.matter and bool(self._rescues[index])

    def rescue(self, index: int) -> bool:
        """Make a step a rescue step; returns whether it was none before."""
        was, self._rescues[index] = self._rescues[index], True
        return not was

    def is_for_failures(self, index: int) -> bool:
        """Whether a step starts only after a failure."""
        return self._of[index] == _IF_FAILED

    def because(self, index: int) -> str:
        """Why a step is left out."""
        return BECAUSE[self._lacks[index]]


def _lacking(before: Step) -> int:
    """Why a step is left out together with the one before it, as an index into ``BECAUSE``."""
    if before.action is not Action.FILTER:
        return _SPARED
    return _WELL if before.flow.condition else _FILTERED
