"""The order in which node templates depend on each other through their requirements."""

from __future__ import annotations

from collections import deque

from ordito.model.service import NodeTemplate, Service


def targets_first(service: Service) -> list[NodeTemplate]:
    """The node templates, each after all that it requires, otherwise in declared order.

    Templates on a cycle of requirements, or that depend on one, are left out.
    """
    waits = {n.name: len({r.target for r in n.requirements}) for n in service.nodes.values()}
    dependents: dict[str, list[str]] = {}
    for node in service.nodes.values():
        for target in {r.target: None for r in node.requirements}:
            dependents.setdefault(target, []).append(node.name)
    free = deque(name for name, count in waits.items() if not count)
    ordered: list[NodeTemplate] = []
    while free:
        name = free.popleft()
        ordered.append(service.nodes[name])
        for dependent in dependents.get(name, ()):
            waits[dependent] -= 1
            if not waits[dependent]:
                free.append(dependent)
    return ordered
