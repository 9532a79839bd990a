"""Makes the outline of a service. A separate module, since readers of an outline need not know services."""

from __future__ import annotations

from collections.abc import Collection

from ordito.instances.dependencies import targets_first
from ordito.instances.outline import NodeOutline, Outline
from ordito.model.service import Relationship, Service


def outline_of(service: Service, lost: Collection[str] = ()) -> Outline:
    """The outline of a service; ``lost`` are the nodes that its template no longer has."""
    nodes: dict[str, NodeOutline] = {}
    for node in targets_first(service):
        host = node.host
        required: dict[str, Relationship] = {}
        for requirement in node.requirements:
            if not requirement.is_hosting:
                required.setdefault(requirement.target, requirement)
        nodes[node.name] = NodeOutline(
            node.name,
            node.type,
            host.target if host is not None else "",
            tuple(required),
            tuple(requirement.requirement for requirement in required.values()),
            tuple(requirement.type for requirement in required.values()),
            node.settings.is_optional,
            node.name in lost,
        )
    return Outline(service.name, nodes)
