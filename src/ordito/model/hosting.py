"""Which nodes host which, by the templates: directly, or in turn. ``instances.hosting`` says it of instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ordito.model.service import LIFECYCLE, STANDARD, NodeTemplate


def chain(nodes: Mapping[str, NodeTemplate], name: str) -> Iterator[NodeTemplate]:
    """A node and those that host it, the nearest first. It ends where one is missing, or hosts itself in turn."""
    seen: set[str] = set()
    node = nodes.get(name)
    while node is not None and node.name not in seen:
        yield node
        seen.add(node.name)
        host = node.host
        node = nodes.get(host.target) if host is not None else None


def compute_of(nodes: Mapping[str, NodeTemplate], name: str, known: dict[str, str] | None = None) -> str:
    """The nearest Compute that hosts a node, the node itself included; "" where there is none. ``known`` keeps results,
    for calls with many nodes."""
    known = {} if known is None else known
    passed: list[str] = []
    found = ""
    for node in chain(nodes, name):
        if node.name in known:
            found = known[node.name]
            break
        passed.append(node.name)
        if node.is_compute:
            found = node.name
            break
    known.update(dict.fromkeys(passed, found))
    return found


def outermost(nodes: Mapping[str, NodeTemplate], names: Sequence[str]) -> tuple[str, ...]:
    """Those of some nodes that are not hosted by another one of them, directly or in turn."""
    among = frozenset(names)
    within: dict[str, bool] = {}
    for name in names:
        path: list[str] = []
        current = name
        while current not in within:
            path.append(current)
            host = nodes[current].host
            if host is None or host.target in among:
                within[current] = host is not None
            else:
                current = host.target
        within.update(dict.fromkeys(path, within[current]))
    return tuple(n for n in names if not within[n])


def makes_itself(node: NodeTemplate) -> bool:
    """Whether a node template implements operations of its lifecycle itself, or represents something that exists: then
    no provider makes it."""
    return bool(node.existing) or any(
        operation.implementation is not None
        for interface in node.interfaces.values()
        if STANDARD in interface.kinds or LIFECYCLE in interface.kinds
        for operation in interface.operations.values()
    )
