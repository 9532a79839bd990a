"""Triggers that wait for events which nothing in the service raises."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.model.operation import Interface
from ordito.model.service import Service
from ordito.work.triggers import heard_nodes


def warn_of_unheard(service: Service, diagnostics: Diagnostics) -> None:
    """Warn of events that are no notification of the nodes that a trigger hears, nor of their relationships: only
    somebody who names the event raises it, and it may be misspelt."""
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
                hint=f'did you mean "{near[0]}"?' if near else f"raise it with: ordito notify NODE {trigger.event}",
            )


def _raised(interfaces: Iterable[Interface], known: dict[int, frozenset[str]]) -> set[str]:
    """The names by which triggers may wait for the notifications of interfaces; templates of one type share these."""
    found: set[str] = set()
    for interface in interfaces:
        if id(interface) not in known:
            owners = ("", interface.name, *interface.kinds)
            known[id(interface)] = frozenset(f"{o}.{n}".lstrip(".") for o in owners for n in interface.notifications)
        found |= known[id(interface)]
    return found
