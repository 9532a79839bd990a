"""Transform: the actions of a trigger, as an anonymous workflow on the targets of its policy (§3.6.22, R-12-4)."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.model.imperative import Activity, Policy
from ordito.model.operation import interface_named
from ordito.model.service import NodeTemplate
from ordito.planning.activities import ActivitySetting
from ordito.planning.draft import Draft
from ordito.planning.imperative import weave_actions
from ordito.work.activities import of_trigger


def actions(draft: Draft) -> None:
    """Transform: one action after the other, each at every instance of every target at the same time. The members of
    the draft must be there (``there_are``)."""
    asked = draft.options.acting
    policy = draft.service.policies[asked.policy]
    trigger = policy.triggers[asked.trigger]
    name = f"{policy.name}.{trigger.name}"
    setting = ActivitySetting(
        name=name, holder=of_trigger(policy.name, trigger.name), first=asked.first, reason=f"trigger {name} acts"
    )
    chosen = trigger.actions[asked.first : asked.last]
    weave_actions(draft, setting, chosen, lambda activity: tuple(_targets(draft, policy, activity)))


def _targets(draft: Draft, policy: Policy, activity: Activity) -> Iterator[str]:
    """The nodes at whose instances an activity happens: those that the policy names, members of groups included. Where
    it names none it is about all of the topology, of which not every node has every operation."""
    for name in policy.nodes:
        node = draft.service.nodes.get(name)
        if node is not None and (policy.targets or activity.kind != "call_operation" or _has(node, activity)):
            yield name


def _has(node: NodeTemplate, activity: Activity) -> bool:
    interface = interface_named(node.interfaces, activity.interface)
    return interface is not None and activity.operation in interface.operations
