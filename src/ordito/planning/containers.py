"""Which nodes contain which, by the templates: directly, or in turn."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.model.service import NodeTemplate, Service


def compute_above(service: Service, node: str) -> str:
    """The nearest Compute node that contains a node, the node itself included; "" where there is none."""
    current: NodeTemplate | None = service.nodes[node]
    while current is not None and not current.is_compute:
        current = service.nodes[current.host.target] if current.host is not None else None
    return current.name if current is not None else ""


def outermost(service: Service, nodes: Sequence[str]) -> tuple[str, ...]:
    """Those of some nodes that are not contained in another one of them, directly or in turn."""
    among = frozenset(nodes)
    within: dict[str, bool] = {}
    for name in nodes:
        path: list[str] = []
        current = name
        while current not in within:
            path.append(current)
            host = service.nodes[current].host
            if host is None or host.target in among:
                within[current] = host is not None
            else:
                current = host.target
        within.update(dict.fromkeys(path, within[current]))
    return tuple(n for n in nodes if not within[n])
