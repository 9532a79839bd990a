"""Planning the actions of a trigger: one after the other, as an anonymous workflow on its policy's targets.

Consecutive actions are one job. An action that delegates to a whole workflow, such as scaling, is a job of its own: it
does what the command of that workflow would do, within the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ordito.app.errors import Refused
from ordito.app.proposal import PlanningContext, Proposal, proposer
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import INSTANCE, REQUESTS, HealRequest, MoveRequest, Request, ScaleRequest, TriggerRequest
from ordito.app.trigger_checks import COMPUTE, DELTA, INPUTS, check_driven, is_driven
from ordito.base.collector import paused_collector
from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError
from ordito.instances.evaluate import Evaluator
from ordito.model.activities import SCALE, SCALE_IN
from ordito.model.imperative import Activity, Policy, Trigger
from ordito.model.service import Service
from ordito.planning.options import Acting, PlanOptions
from ordito.planning.policy_targets import SCALING
from ordito.syntax.expressions import Value


def propose(request: TriggerRequest, known: PlanningContext) -> Proposal | None:
    """The plan of one part of the actions; None if there is no such part.

    Raises ``Refused``, ``InvalidDocument``, ``PlanRefused`` and ``EnsembleError``.
    """
    status = known.status
    if not status.service:
        return None
    with paused_collector():
        read = read_deployed(known)
        policy, trigger = _trigger(read.service, request.policy, request.trigger)
        parts = list(_parts(trigger.actions))
        if request.part >= len(parts):
            return None
        first, last = parts[request.part]
        if is_driven(trigger.actions[first]):
            evaluator = Evaluator(read.service, known.snapshot, status.inputs, root=read.package.root)
            wanted = driven(policy, trigger.actions[first], evaluator, request.instances)
            try:
                return proposer(wanted)(wanted, known)
            except Refused as refused:
                # Not the command that has the event handled is to be given with more words.
                if refused.more_words and isinstance(wanted, HealRequest):
                    refused.next_words = (*wanted.words, *refused.more_words)
                    refused.more_words = ()
                raise

        def choose(_: Service, options: PlanOptions) -> PlanOptions:
            return replace(options, acting=Acting(request.policy, request.trigger, first, last))

        made = make_plan(known, request.workflow, read, status.inputs, choose=choose)
    return for_deployed(known, request.workflow, read, made)


def _trigger(service: Service, policy: str, trigger: str) -> tuple[Policy, Trigger]:
    """A trigger of a service. Raises ``Refused`` if it no longer exists."""
    found = service.policies.get(policy)
    if found is None or trigger not in found.triggers:
        raise Refused("unknown-name", f"the service no longer has the trigger {policy}.{trigger}")
    return found, found.triggers[trigger]


def _parts(actions: Sequence[Activity]) -> Iterator[tuple[int, int]]:
    """The index of the first action of each part, and of the first one after it."""
    first = 0
    for number, action in enumerate(actions):
        if is_driven(action):
            if first < number:
                yield first, number
            yield number, number + 1
            first = number + 1
    if first < len(actions):
        yield first, len(actions)


# Actions of triggers that are workflows as a whole: they delegate to what `ordito scale`, `heal`, `stop`, `start` and
# `restart` do, about the targets of their policy.

HEAL = "heal"
MOST_DIGITS = 9
TRUTHS = {"true": True, "false": False}
"""Booleans as texts, which inputs of templates may be."""


def driven(policy: Policy, action: Activity, evaluator: Evaluator, about: Sequence[str]) -> Request:
    """The request of an action that delegates; ``about`` are the instances from which the event came. Raises
    ``Refused``."""
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
    """The scaling request of an action: by its ``delta``, else by the increment of a scaling policy, else by one; with
    the Compute that contains the node, unless it says ``scale_compute: false``."""
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
    """The increment of one action: that of its policy, else that of another policy with the same targets."""
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
        raise Refused("bad-value", f"{what} cannot be evaluated: {error.message}") from None


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
    raise Refused("bad-value", f"{what} is not a whole number")
