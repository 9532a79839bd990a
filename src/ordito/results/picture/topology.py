"""The topology of an ensemble, of a package and of a plan: the same picture, with what is said of each instance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from ordito.app.status import InstanceStatus, StatusRequest, read_status
from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.instances.outline import Outline
from ordito.results.answer import Asked, ResultData, UseCase
from ordito.results.picture.drawing import Picture, PictureBox, PictureEdge, picture
from ordito.results.picture.folding import MOST, USUAL
from ordito.results.picture.letters import STATES, STATUSES, letters


class InstanceColumns(msgspec.Struct, frozen=True):
    """The instances in columns, in the order of their creation."""

    id: tuple[str, ...]
    box: tuple[int, ...]
    """The number of the box in which each stands."""

    state: str
    """The node state of each, one letter: ``i`` initial, ``C`` creating, ``c`` created, ``F`` configuring, ``f``
    configured, ``S`` starting, ``s`` started, ``T`` stopping, ``D`` deleting, ``d`` deleted, ``x`` error."""

    status: str
    """The effective status of each: ``o`` ok, ``d`` degraded, ``p`` pending, ``u`` unknown, ``e`` error, ``a`` absent.
    """

    local: str
    """The status of each instance alone, in the same letters."""

    host: tuple[int, ...]
    """The number of the instance that hosts each, -1 for none."""


class TopologyData(ResultData, frozen=True, kw_only=True, tag="ordito.topology/1"):
    """What exists, as a picture."""

    service: str
    """The name of the service, "" for none."""

    nodes: int
    """How many nodes there are."""

    size: tuple[int, int]
    """The width and height of the picture, in pixels."""

    boxes: tuple[PictureBox, ...]
    """Each behind the one in which it stands; ``counts`` are of instances, by effective status."""

    edges: tuple[PictureEdge, ...]
    instances: InstanceColumns | UnsetType = UNSET
    """Left out where only the picture is wanted, and where nothing is deployed."""


class TopologyAsked(Asked, frozen=True):
    """How much of a picture is wanted."""

    boxes: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = USUAL
    """At most so many boxes; what does not fit is folded into others."""

    open: tuple[str, ...] = ()
    """The ids of boxes whose content is to be shown, as long as there are not more than 400 boxes."""

    fold: tuple[str, ...] = ()
    """The ids of boxes whose content is not to be shown."""

    instances: bool = True
    """Whether the instances are told."""


def topology_data(graph: Graph, asked: TopologyAsked, instances: Iterable[InstanceStatus] = ()) -> TopologyData:
    """The picture of a graph, with instances of its nodes."""
    there = list(instances)
    counts: dict[str, dict[str, int]] = {}
    for one in there:
        of_node = counts.setdefault(one.instance.node, {})
        of_node[one.effective] = of_node.get(one.effective, 0) + 1
    drawn = picture(graph, counts, asked.boxes, asked.open, asked.fold)
    return TopologyData(
        service=graph.name,
        nodes=len(graph.nodes),
        size=drawn.size,
        boxes=drawn.boxes,
        edges=drawn.edges,
        instances=_columns(there, drawn) if asked.instances else UNSET,
    )


def _columns(instances: list[InstanceStatus], drawn: Picture) -> InstanceColumns:
    numbers = {one.instance.id: number for number, one in enumerate(instances)}
    return InstanceColumns(
        id=tuple(numbers),
        box=tuple(drawn.box_of[one.instance.node] for one in instances),
        state=letters((one.instance.state for one in instances), STATES),
        status=letters((one.effective for one in instances), STATUSES),
        local=letters((one.instance.local for one in instances), STATUSES),
        host=tuple(numbers.get(one.instance.host, -1) for one in instances),
    )


def graph_of_outline(outline: Outline | None, instances: Iterable[InstanceStatus]) -> Graph:
    """The graph of an outline, with the nodes that only instances still have."""
    nodes, connections = {}, []
    there = {one.instance.node: one for one in instances}
    for node in outline.nodes.values() if outline is not None else ():
        if node.lost and node.name not in there:
            continue
        nodes[node.name] = GraphNode(node.name, node.type, node.host if node.host in nodes else "")
        for target, requirement, kind in zip(node.targets, node.requirements, node.relationships, strict=True):
            connections.append(GraphConnection(node.name, target, requirement, kind))
    for name, one in there.items():
        nodes.setdefault(name, GraphNode(name, one.type))
    made = tuple(one for one in connections if one.target in nodes)
    return Graph(outline.service if outline is not None else "", tuple(nodes.values()), made, {})


def _topology(directory: str, asked: TopologyAsked) -> TopologyData:
    found = read_status(StatusRequest(directory))
    return topology_data(graph_of_outline(found.outline, found.result.instances), asked, found.result.instances)


TOPOLOGY = UseCase("topology", TopologyAsked, (TopologyData,), _topology)
