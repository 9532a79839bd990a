"""The wait for everything that has changed to be ready, before what comes after it begins.

An instance is ready when its check says ok, or its provider does; for one that neither can tell of, it is enough that
its operations have succeeded. What depends on a changed instance is asked as well. Each is asked again and again, until
it is ready or its time is over (``ordito.ready``).
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
"""Seconds within which an instance has to be ready, unless its node says otherwise."""

READY, AGAIN, TURN = "ready", "again", "turn"
"""How the ids of the steps end."""


def ready_steps(draft: Draft, among: Collection[str] = ()) -> list[int]:
    """Add a step for each instance that can be asked and has changed, or depends on one that has; if nodes are named,
    only for their instances, which are asked once more at the end."""
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
    """Add the step that asks an instance until it is ready, for ``within`` seconds unless its node says otherwise; -1
    if nothing can be asked. ``ending`` is the end of its id."""
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
    """Whether anything can tell the status of an instance. That a host can be reached was ensured when it was
    created."""
    node = member.template
    if maintaining(node, CHECK) is not None:
        return True
    return draft.sequences.is_delegated(node) and draft.options.abilities.maker(node.name, node.kinds).looks


def _changes(draft: Draft, member: PlannedInstance) -> bool:
    """Whether something is done to an instance, or was done since the revision was begun."""
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
