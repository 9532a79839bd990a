"""A service as a graph: its nodes, which of them host which, and how they are connected."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping

import msgspec

from ordito.app.given_choices import GivenChoices
from ordito.app.services.viewed import look_at
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics
from ordito.model.service import Service


class GraphRequest(msgspec.Struct, frozen=True):
    """Which service (see ``chosen_service``), how many nodes to show at most, 0 for all, and whether what the
    service names by URLs is fetched; and what is chosen where the service leaves a choice."""

    service: str = ""
    directory: str = "."
    limit: int = 0
    fetch: bool = False
    choices: GivenChoices = GivenChoices()


class GraphNode(msgspec.Struct, frozen=True):
    """A node template: ``host`` is the name of the one that hosts it, or "", ``groups`` are those it belongs to."""

    name: str
    type: str
    host: str = ""
    groups: tuple[str, ...] = ()


class Connection(msgspec.Struct, frozen=True):
    """A relationship that is not one of hosting."""

    source: str
    target: str
    requirement: str
    type: str


class Graph(msgspec.Struct, frozen=True):
    """A graph: hosts come before what they host. ``left_out`` is how many nodes are not in it."""

    name: str
    nodes: tuple[GraphNode, ...]
    connections: tuple[Connection, ...]
    groups: Mapping[str, str]
    left_out: int = 0


class Drawn(msgspec.Struct, frozen=True):
    """A graph, and the files that its service was read from."""

    graph: Graph
    sources: tuple[str, ...] = ()


def graph(request: GraphRequest) -> Drawn:
    """Read a service and give its graph. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    with paused_collector():
        read = look_at(request.service, request.directory, request.choices, diagnostics, fetch=request.fetch)
    return Drawn(graph_of(read.service, request.limit), read.package.sources)


def graph_of(service: Service, limit: int = 0) -> Graph:
    """The graph of a resolved service, of the first nodes only where there are more than ``limit``."""
    hosts = {name: host.target for name, node in service.nodes.items() if (host := node.host) is not None}
    groups: dict[str, list[str]] = defaultdict(list)
    for group in service.groups.values():
        for member in group.members:
            groups[member].append(group.name)
    order = _hosts_first(list(service.nodes), hosts)
    shown = order[:limit] if limit else order
    known = set(shown)
    nodes = [
        GraphNode(name, service.nodes[name].type, hosts.get(name, ""), tuple(dict.fromkeys(groups[name])))
        for name in shown
    ]
    connections = [
        Connection(made.source, made.target, made.requirement, made.type)
        for name in shown
        for made in service.nodes[name].requirements
        if made.target in known and made is not service.nodes[name].host
    ]
    named = {name: group.type for name, group in service.groups.items()}
    return Graph(service.name, tuple(nodes), tuple(connections), named, len(order) - len(shown))


def _hosts_first(names: list[str], hosts: Mapping[str, str]) -> list[str]:
    """All names, level by level from those that nothing hosts; in declared order otherwise."""
    below: dict[str, list[str]] = defaultdict(list)
    for name in names:
        below[hosts.get(name, "")].append(name)
    order: list[str] = []
    todo = deque(below[""])
    while todo:
        name = todo.popleft()
        order.append(name)
        todo.extend(below.get(name, ()))
    return order
