"""What the actions of a trigger would do: one after the other, as an anonymous workflow on its policy's targets.

Actions that follow each other are one job. One that delegates to a workflow as a whole, such as scaling, is a job of
its own: what that workflow's command would do, within the same bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ordito.app.errors import Refused
from ordito.app.proposal import PlanningContext, Proposal, proposer
from ordito.app.proposals.driven import driven
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import HealRequest, TriggerRequest
from ordito.app.trigger_checks import is_driven
from ordito.base.collector import paused_collector
from ordito.instances.evaluate import Evaluator
from ordito.model.imperative import Activity, Policy, Trigger
from ordito.model.service import Service
from ordito.planning.options import Acting, PlanOptions


def propose(request: TriggerRequest, known: PlanningContext) -> Proposal | None:
    """What the actions would do; None where there is no such part of them.

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
    """A trigger of a service. Raises ``Refused`` where it has gone meanwhile."""
    found = service.policies.get(policy)
    if found is None or trigger not in found.triggers:
        raise Refused("unknown-name", f"the service has no trigger {policy}.{trigger} any more")
    return found, found.triggers[trigger]


def _parts(actions: Sequence[Activity]) -> Iterator[tuple[int, int]]:
    """The first action of each part, and the first one after it."""
    first = 0
    for number, action in enumerate(actions):
        if is_driven(action):
            if first < number:
                yield first, number
            yield number, number + 1
            first = number + 1
    if first < len(actions):
        yield first, len(actions)
