"""What the actions of a trigger would do: one after the other, as an anonymous workflow on its policy's targets.

Actions that follow each other are one job. One that delegates to the scaling of the targets is a job of its own: what
`ordito scale` would do, within the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import msgspec

from ordito.app.errors import Refused
from ordito.app.proposal import Known, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.proposals.scale import ScaleAsked
from ordito.base.collector import paused_collector
from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.model.activities import SCALE, SCALE_IN, SCALE_OUT, SCALES
from ordito.model.imperative import Activity, Policy, Trigger
from ordito.model.service import Service
from ordito.planning.options import Acting, PlanOptions
from ordito.planning.policy_targets import SCALING
from ordito.syntax.expressions import Value

DELTA = "delta"


class TriggerAsked(msgspec.Struct, frozen=True):
    """To carry out one part of a trigger's actions: those that make up one job, counted from 0."""

    makes_ensemble: ClassVar[bool] = False

    policy: str
    trigger: str
    part: int = 0

    @property
    def workflow(self) -> str:
        """The name of the job's workflow."""
        return f"trigger {self.policy}.{self.trigger}"

    def propose(self, known: Known) -> Proposal | None:
        """What the actions would do; None where there is no such part of them.

        Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
        """
        status = known.status
        if not status.service:
            return None
        with paused_collector():
            read = read_deployed(known)
            policy, trigger = _trigger(read.service, self.policy, self.trigger)
            parts = list(_parts(trigger.actions))
            if self.part >= len(parts):
                return None
            first, last = parts[self.part]
            if _scales(trigger.actions[first]):
                evaluator = Evaluator(read.service, known.snapshot, status.inputs, root=read.package.root)
                return scaling(policy, trigger.actions[first], evaluator).propose(known)

            def choose(_: Service, options: PlanOptions) -> PlanOptions:
                return replace(options, acting=Acting(self.policy, self.trigger, first, last))

            made = make_plan(known, self.workflow, read, status.inputs, choose=choose)
        return for_deployed(known, self.workflow, read, made)


def _trigger(service: Service, policy: str, trigger: str) -> tuple[Policy, Trigger]:
    """A trigger of a service. Raises ``Refused`` where it has gone meanwhile."""
    found = service.policies.get(policy)
    if found is None or trigger not in found.triggers:
        raise Refused("unknown-name", f"the service has no trigger {policy}.{trigger} any more")
    return found, found.triggers[trigger]


def _parts(actions: Sequence[Activity]) -> Iterator[tuple[int, int]]:
    """The first action of each part, and the first one after it."""
    first = 0
    for number, action in enumerate(actions):
        if _scales(action):
            if first < number:
                yield first, number
            yield number, number + 1
            first = number + 1
    if first < len(actions):
        yield first, len(actions)


def _scales(action: Activity) -> bool:
    return action.kind == "delegate" and action.name in SCALES


def scaling(policy: Policy, action: Activity, evaluator: Evaluator) -> ScaleAsked:
    """What an action that scales asks for: by its ``delta``, else by the increment of a scaling policy, else by one.
    Raises ``Refused``."""
    if not policy.targets:
        raise Refused(
            "nothing-to-scale",
            f'policy "{policy.name}" names no targets, so it does not say what is to be scaled',
            "name the nodes or groups as its targets",
        )
    unknown = [name for name in action.inputs if name != DELTA]
    if unknown:
        raise Refused("unknown-input", f'"{action.name}" has no input "{unknown[0]}"', f'it has "{DELTA}" only')
    if action.name == SCALE and DELTA not in action.inputs:
        raise Refused(
            "missing-input", f'"{SCALE}" needs the input "{DELTA}"', f"or delegate to {SCALE_OUT}, {SCALE_IN}"
        )
    if DELTA in action.inputs:
        delta = _whole(evaluator, action.inputs[DELTA], f'"{DELTA}" of "{action.name}"')
    else:
        delta = _increment(policy, evaluator)
    if action.name != SCALE and delta < 0:
        raise Refused("bad-value", f'"{DELTA}" of "{action.name}" is {delta}, and must not be negative')
    # Whoever has an event remove instances does not want to be asked of each what was done to it meanwhile.
    return ScaleAsked(names=policy.targets, delta=-delta if action.name == SCALE_IN else delta, allow_changed=True)


def _increment(policy: Policy, evaluator: Evaluator) -> int:
    """By how much one action scales: as the policy itself says, else another one about the same."""
    about = set(policy.nodes)
    others = [p for p in evaluator.service.policies.values() if SCALING in p.kinds and not about.isdisjoint(p.nodes)]
    for one in (policy, *others):
        if "increment" in one.properties:
            return _whole(evaluator, one.properties["increment"], f'"increment" of policy "{one.name}"')
    return 1


def _whole(evaluator: Evaluator, value: Value, what: str) -> int:
    try:
        found = revealed(evaluator.evaluate(value, Context()))
    except EvaluationError as error:
        raise Refused("bad-value", f"{what} cannot be told: {error.message}") from None
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    if isinstance(found, str) and found.lstrip("+-").isdecimal() and len(found) < MOST_DIGITS:
        return int(found)
    raise Refused("bad-value", f"{what} is no whole number")


MOST_DIGITS = 9
