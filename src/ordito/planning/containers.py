"""Which nodes contain which, by the templates: directly, or in turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ordito.model.service import NodeTemplate, Service


def compute_above(service: Service, node: str) -> str:
    """The nearest Compute node that contains a node, the node itself included; "" where there is none."""
    current: NodeTemplate | None = service.nodes[node]
    while current is not None and not current.is_compute:
        current = service.nodes[current.host.target] if current.host is not None else None
    return current.name if current is not None else ""


def outermost(service: Service, nodes: Sequence[str]) -> tuple[str, ...]:
    """Those of some nodes that are not contained in another one of them."""
    among = frozenset(nodes)
    return tuple(n for n in nodes if not _is_within(service, n, among))


def _is_within(service: Service, node: str, among: Collection[str]) -> bool:
    host = service.nodes[node].host
    while host is not None:
        if host.target in among:
            return True
        host = service.nodes[host.target].host
    return False
