"""Checks of triggers before anything is deployed, because nobody can correct them when they act."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ordito.app.errors import Refused
from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.model.activities import DRIVEN, SCALE, SCALE_IN, SCALE_OUT
from ordito.model.imperative import Activity, Policy
from ordito.model.operation import Interface
from ordito.model.service import Service
from ordito.work.evaluations import MOST_REMEMBERED
from ordito.work.triggers import heard_nodes

DELTA, COMPUTE = "delta", "scale_compute"
OF_SCALING = (DELTA, COMPUTE)
INPUTS: Mapping[str, tuple[str, ...]] = dict.fromkeys((SCALE, SCALE_OUT, SCALE_IN), OF_SCALING)
"""The inputs of the workflows to which actions may delegate as a whole; other workflows have none."""


def check_triggers(service: Service, diagnostics: Diagnostics) -> None:
    """Report actions that could never be carried out, and warn about events that nothing raises."""
    for policy in service.policies.values():
        for trigger in policy.triggers.values():
            if (trigger.evaluations or 0) > MOST_REMEMBERED:
                diagnostics.error(
                    "bad-value",
                    f'trigger "{trigger.name}" of policy "{policy.name}" asks for {trigger.evaluations} evaluations, '
                    f"and {MOST_REMEMBERED} at most are remembered",
                    trigger.span,
                )
            for action in filter(is_driven, trigger.actions):
                try:
                    check_driven(policy, action)
                except Refused as refused:
                    diagnostics.error(refused.code, refused.message, action.span, hint=refused.hint)
    _warn_of_unheard(service, diagnostics)


def is_driven(action: Activity) -> bool:
    """Whether an action delegates to a workflow as a whole."""
    return action.kind == "delegate" and action.name in DRIVEN


def check_driven(policy: Policy, action: Activity) -> None:
    """Raise ``Refused`` if such an action makes no sense."""
    name, inputs = action.name, INPUTS.get(action.name, ())
    if not policy.targets:
        raise Refused(
            "unknown-target",
            f'policy "{policy.name}" names no targets, so it does not say what to {name.partition("_")[0]}',
            "name the nodes or groups as its targets",
        )
    unknown = [given for given in action.inputs if given not in inputs]
    if unknown:
        known = "it has " + (" and ".join(f'"{one}"' for one in inputs) if inputs else "none")
        raise Refused("unknown-input", f'"{name}" has no input "{unknown[0]}"', known)
    if name == SCALE and DELTA not in action.inputs:
        hint = f"or delegate to {SCALE_OUT} or {SCALE_IN}"
        raise Refused("missing-input", f'"{SCALE}" needs the input "{DELTA}"', hint)


def _warn_of_unheard(service: Service, diagnostics: Diagnostics) -> None:
    """Warn about events that are no notifications of the trigger's nodes or of their relationships: they are raised
    only by name, and may be misspelt."""
    known: dict[int, frozenset[str]] = {}
    for policy in service.policies.values():
        for trigger in policy.triggers.values():
            nodes = heard_nodes(service, policy, trigger)
            raised: set[str] = set()
            for name in nodes:
                raised |= _raised(service.nodes[name].interfaces.values(), known)
            for node in service.nodes.values():
                for relationship in node.requirements:
                    if relationship.source in nodes or relationship.target in nodes:
                        raised |= _raised(relationship.interfaces.values(), known)
            if not trigger.event or trigger.event in raised:
                continue
            near = nearest(trigger.event, sorted(raised))
            diagnostics.warning(
                "not-acted-on",
                f'trigger "{trigger.name}" of policy "{policy.name}" waits for "{trigger.event}", which is no '
                "notification of its nodes",
                trigger.span,
                hint=f'did you mean "{near[0]}"?' if near else f"raise it with: `ordito notify NODE {trigger.event}`",
            )


def _raised(interfaces: Iterable[Interface], known: dict[int, frozenset[str]]) -> set[str]:
    """The names by which triggers may wait for the notifications of interfaces; ``known`` caches them, because
    templates of one type share interfaces."""
    found: set[str] = set()
    for interface in interfaces:
        if id(interface) not in known:
            owners = ("", interface.name, *interface.kinds)
            known[id(interface)] = frozenset(f"{o}.{n}".lstrip(".") for o in owners for n in interface.notifications)
        found |= known[id(interface)]
    return found
