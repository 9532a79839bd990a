"""The wait for all that has changed to be ready, before what comes after it begins.

An instance is ready when its check says ok, or when who has made it says so; of one that nobody can ask it is enough
that its operations have ended well. What depends on an instance that has changed is asked as well. Each is asked again
and again, until it is ready or its time is over (``ordito.ready``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.planning.probes import probe
from ordito.work.hooks import Transition
from ordito.work.plan import ChangeKind, StepCondition
from ordito.work.probes import CHECK, maintaining

WITHIN = 300.0
"""Seconds within which an instance is to be ready, where its node says nothing."""

READY, AGAIN, TURN = "ready", "again", "turn"
"""How the ids of the steps end."""


def ready_steps(draft: Draft, among: Collection[str] = ()) -> list[int]:
    """Add a step for each instance that can be asked and has changed, or depends on one that has; where nodes are
    named, for the instances of these alone, which are asked once more in the end."""
    found: list[int] = []
    for node in (n for n in draft.ordered if n.name in among) if among else _concerned(draft):
        for member in draft.of_node.get(node.name, ()):
            if not member.goes and can_be_asked(draft, member):
                number = ask_until_ready(draft, member, "it is to be ready before what comes after it begins", WITHIN)
                if number >= 0:
                    found.append(number)
                    if among:
                        draft.steps[number].id = f"{draft.steps[number].id.removesuffix(READY)}{AGAIN}"
    return found


def ask_until_ready(draft: Draft, member: PlannedInstance, reason: str, within: float, ending: str = READY) -> int:
    """Add the step that asks an instance until it is ready, ``within`` so many seconds where its node says nothing; -1
    where nobody can be asked. ``ending`` is how its id ends."""
    number = probe(draft, member, CHECK, reason)
    if number is None:
        return -1
    step, settings = draft.steps[number], member.template.settings
    within = within if settings.ready is None else settings.ready
    # To be asked is no change of the instance.
    call = msgspec.structs.replace(draft.calls.all[step.call], within=within)
    step.call = draft.calls.put_once((call.owner, "", str(step.call), f"ready {within:g}", call.name), call)
    step.id, step.owner = f"{step.id}.{ending}", ""
    step.after_failure, step.condition = False, StepCondition.UNTIL_READY
    step.optional = step.non_blocking = settings.is_optional
    return number


def can_be_asked(draft: Draft, member: PlannedInstance) -> bool:
    """Whether there is somebody to ask how an instance is. That a host can be reached was seen to when it was made."""
    node = member.template
    if maintaining(node, CHECK) is not None:
        return True
    return draft.sequences.is_delegated(node) and draft.options.abilities.maker(node.name, node.kinds).looks


def _changes(draft: Draft, member: PlannedInstance) -> bool:
    """Whether something happens to an instance, or has happened since the revision was begun."""
    if member.action is not InstanceAction.KEEP or member.kind is ChangeKind.RELINK:
        return True
    hooking = draft.options.hooking
    begun = bool(hooking.since) and member.record.last_config_change >= hooking.since
    return begun or hooking.transition is Transition.INSTALL


def _concerned(draft: Draft) -> Iterable[NodeTemplate]:
    """The nodes with an instance that changes, and all that require one of them, directly or not."""
    found = {
        name: None for name, members in draft.of_node.items() if any(not m.goes and _changes(draft, m) for m in members)
    }
    waiting = list(found)
    while waiting:
        for relationship in draft.service.incoming.get(waiting.pop(), ()):
            if relationship.source not in found:
                found[relationship.source] = None
                waiting.append(relationship.source)
    return [node for node in draft.ordered if node.name in found]
