"""Actions of triggers that are workflows as a whole: they delegate to what `ordito scale`, `heal`, `stop`, `start` and
`restart` do, about the targets of their policy."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.app.errors import Refused
from ordito.app.names import INSTANCE
from ordito.app.requests import REQUESTS, HealRequest, MoveRequest, Request, ScaleRequest
from ordito.app.trigger_checks import COMPUTE, DELTA, INPUTS, check_driven
from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.model.activities import SCALE, SCALE_IN
from ordito.model.imperative import Activity, Policy
from ordito.planning.policy_targets import SCALING
from ordito.syntax.expressions import Value

HEAL = "heal"
MOST_DIGITS = 9
TRUTHS = {"true": True, "false": False}
"""Truths as texts, which is what inputs of templates may come as."""


def driven(policy: Policy, action: Activity, evaluator: Evaluator, about: Sequence[str]) -> Request:
    """What such an action asks for; ``about`` are the instances that the event came from. Raises ``Refused``."""
    check_driven(policy, action)
    ids = [i for node in policy.nodes for i in evaluator.snapshot.ids_of(node)]
    if action.name == HEAL:
        # Of the targets the one that failed; where none of them told so, each is looked at.
        wanted = [i for i in ids if i in about] or ids
        return HealRequest(tuple(f"{INSTANCE}{i}" for i in wanted))
    if action.name in INPUTS:
        return _scaling(policy, action, evaluator)
    moves = REQUESTS[action.name]
    assert issubclass(moves, MoveRequest)
    return moves(tuple(f"{INSTANCE}{i}" for i in ids))


def _scaling(policy: Policy, action: Activity, evaluator: Evaluator) -> ScaleRequest:
    """By its ``delta``, else by the increment of a scaling policy, else by one; with the Compute that contains what is
    scaled, unless it says ``scale_compute: false``."""
    if DELTA in action.inputs:
        delta = _whole(evaluator, action.inputs[DELTA], f'"{DELTA}" of "{action.name}"')
    else:
        delta = _increment(policy, evaluator)
    if action.name != SCALE and delta < 0:
        raise Refused("bad-value", f'"{DELTA}" of "{action.name}" is {delta}, and must not be negative')
    # Whoever has an event remove instances does not want to be asked of each what was done to it meanwhile.
    compute = COMPUTE not in action.inputs or _truth(
        evaluator, action.inputs[COMPUTE], f'"{COMPUTE}" of "{action.name}"'
    )
    by = -delta if action.name == SCALE_IN else delta
    return ScaleRequest(names=policy.targets, delta=by, compute=compute, allow_changed=True)


def _increment(policy: Policy, evaluator: Evaluator) -> int:
    """By how much one action scales: as the policy itself says, else another one about the same."""
    about = set(policy.nodes)
    others = [p for p in evaluator.service.policies.values() if SCALING in p.kinds and not about.isdisjoint(p.nodes)]
    for one in (policy, *others):
        if "increment" in one.properties:
            return _whole(evaluator, one.properties["increment"], f'"increment" of policy "{one.name}"')
    return 1


def _value(evaluator: Evaluator, value: Value, what: str) -> object:
    try:
        return revealed(evaluator.evaluate(value, Context()))
    except EvaluationError as error:
        raise Refused("bad-value", f"{what} cannot be told: {error.message}") from None


def _truth(evaluator: Evaluator, value: Value, what: str) -> bool:
    found = _value(evaluator, value, what)
    if isinstance(found, bool):
        return found
    if found in TRUTHS:
        return TRUTHS[str(found)]
    raise Refused("bad-value", f"{what} is neither true nor false")


def _whole(evaluator: Evaluator, value: Value, what: str) -> int:
    found = _value(evaluator, value, what)
    if isinstance(found, int) and not isinstance(found, bool):
        return found
    if isinstance(found, str) and found.lstrip("+-").isdecimal() and len(found) < MOST_DIGITS:
        return int(found)
    raise Refused("bad-value", f"{what} is no whole number")
