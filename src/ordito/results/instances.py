"""The nodes and the instances of an ensemble as lists, by page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, TypeVar

import msgspec

from ordito.app.status import InstanceStatus, StatusRequest, read_status
from ordito.base.collector import paused_collector
from ordito.instances.outline import NodeOutline
from ordito.instances.records import note_of
from ordito.instances.status import aggregate
from ordito.results.answer import Asked, ResultData, UseCase

L = TypeVar("L")


class InstanceLine(msgspec.Struct, frozen=True):
    """An instance in a list."""

    id: str
    node: str
    type: str
    """The type of its node, "" where the service does not have the node any more."""

    state: str
    """The TOSCA node state."""

    status: str
    """Its operational status with what it depends on."""

    local: str
    """Its operational status alone."""

    host: str
    """The id of the instance that hosts it, "" for none."""

    failed: tuple[str, ...]
    """The operations that failed last."""

    orphaned: bool
    """Whether its node is no longer in the service."""

    drift: bool
    """Whether it was found to differ from how it was created."""

    note: str
    """What else there is to say, for people."""


class InstancesData(ResultData, frozen=True, tag="ordito.instances/1"):
    """Instances, by their names."""

    items: tuple[InstanceLine, ...]
    next: str | None
    """With what the next part is asked for, null at the end."""

    total: int
    """How many there are altogether."""


class NodeLine(msgspec.Struct, frozen=True):
    """A node in a list."""

    name: str
    type: str
    host: str
    """The node that hosts it, "" for none."""

    requires: tuple[str, ...]
    """The other nodes that it requires."""

    status: str
    """The effective status of all its instances together."""

    instances: Mapping[str, int]
    """How many instances it has, by effective status."""

    optional: bool
    """Whether nodes that require it can do without it."""

    orphaned: bool
    """Whether it is no longer in the service."""


class NodesData(ResultData, frozen=True, tag="ordito.nodes/1"):
    """Nodes, by their names."""

    items: tuple[NodeLine, ...]
    next: str | None
    """With what the next part is asked for, null at the end."""

    total: int
    """How many there are altogether."""


class _PageAsked(Asked, frozen=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    after: str = ""
    """What the part before has given as ``next``, "" for the first part."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in the name or the type."""


class InstancesAsked(_PageAsked, frozen=True):
    """Which instances are wanted."""

    node: str = ""
    state: str = ""
    """Of these node states, with a comma between them, "" for all."""

    status: str = ""
    """Of these effective statuses, with a comma between them, "" for all."""

    all: bool = False
    """Whether deleted instances are listed too."""


class NodesAsked(_PageAsked, frozen=True):
    """Which nodes are wanted."""

    status: str = ""
    """Of these statuses, with a comma between them, "" for all."""


def natural(name: str) -> tuple[str | int, ...]:
    """By what names are sorted: ``web_2`` comes before ``web_10``."""
    return tuple(int(part) if number % 2 else part for number, part in enumerate(NUMBERS.split(name)))


NUMBERS = re.compile(r"([0-9]{1,18})")


def _page(found: Iterable[L], name: Callable[[L], str], asked: _PageAsked) -> tuple[list[L], str | None, int]:
    """A part of a list: its lines, the name with which the next one is asked for, and how many there are."""
    lines = sorted(found, key=lambda line: (natural(name(line)), name(line)))
    after = (natural(asked.after), asked.after)
    rest = [line for line in lines if (natural(name(line)), name(line)) > after] if asked.after else lines
    part = rest[: asked.limit]
    return part, name(part[-1]) if len(rest) > asked.limit else None, len(lines)


def _instances(directory: str, asked: InstancesAsked) -> InstancesData:
    states, statuses = _words(asked.state), _words(asked.status)
    text = asked.q.casefold()
    with paused_collector():
        there = read_status(StatusRequest(directory, asked.all)).result.instances
        found = (
            one
            for one in there
            if (not asked.node or one.instance.node == asked.node)
            and (not states or one.instance.state in states)
            and (not statuses or one.effective in statuses)
            and (not text or text in one.instance.id.casefold() or text in one.type.casefold())
        )
        part, after, total = _page(found, lambda one: one.instance.id, asked)
    return InstancesData(tuple(map(_instance, part)), after, total)


def _words(text: str) -> frozenset[str]:
    return frozenset(filter(None, text.split(",")))


def _instance(found: InstanceStatus) -> InstanceLine:
    one = found.instance
    return InstanceLine(
        id=one.id,
        node=one.node,
        type=found.type,
        state=one.state,
        status=found.effective,
        local=one.local,
        host=one.host,
        failed=tuple(one.failed),
        orphaned=found.orphaned,
        drift=found.drifted,
        note=note_of(one),
    )


def _nodes(directory: str, asked: NodesAsked) -> NodesData:
    statuses, text = _words(asked.status), asked.q.casefold()
    with paused_collector():
        found = read_status(StatusRequest(directory))
        of_nodes: dict[str, list[InstanceStatus]] = {}
        for one in found.result.instances:
            of_nodes.setdefault(one.instance.node, []).append(one)
        nodes = dict(found.outline.nodes) if found.outline is not None else {}
        for name in of_nodes:
            nodes.setdefault(name, NodeOutline(name, of_nodes[name][0].type, lost=True))
        lines = (_node(node, of_nodes.get(node.name, [])) for node in nodes.values() if _is_there(node, of_nodes))
        wanted = (
            line
            for line in lines
            if (not statuses or line.status in statuses)
            and (not text or text in line.name.casefold() or text in line.type.casefold())
        )
        part, after, total = _page(wanted, lambda line: line.name, asked)
    return NodesData(tuple(part), after, total)


def _is_there(node: NodeOutline, of_nodes: Mapping[str, list[InstanceStatus]]) -> bool:
    return not node.lost or node.name in of_nodes


def _node(node: NodeOutline, instances: list[InstanceStatus]) -> NodeLine:
    counts: dict[str, int] = {}
    for one in instances:
        counts[one.effective] = counts.get(one.effective, 0) + 1
    return NodeLine(
        name=node.name,
        type=node.type,
        host=node.host,
        requires=node.targets,
        status=aggregate(counts),
        instances=counts,
        optional=node.optional,
        orphaned=node.lost,
    )


INSTANCES = UseCase("instances", InstancesAsked, (InstancesData,), _instances)
NODES = UseCase("nodes", NodesAsked, (NodesData,), _nodes)
