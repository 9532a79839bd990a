"""The layout of a picture: hosted nodes are inside of their hosts, connections go from left to right.

The nodes of one host, and those without host, are in columns: a node that needs another one is left of it, unless
connections form circles. The order in a column keeps crossings of connections few. Nodes without connections are in
rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from ordito.authoring.graph import Graph, GraphNode
from ordito.base.text_width import width

PAD = 12.0
GAP = 14.0
LABEL = 5.6
"""The width of a character of a connection's label."""
TITLE = 40.0
CHARACTER = 7.6
"""The width of a character, somewhat more than fonts need."""
BOLD = 9.2
"""The width of a character of a node's name, which is bold."""
BROADEST = 14.0
BROAD = frozenset("mwMW@%")
"""Characters that are much wider than others."""
MARK = 14.0
SWEEPS = 4

NO_ROOM = 0.0, 0.0
NO_TITLES: Mapping[str, str] = {}
NO_ROOMS: Mapping[str, tuple[float, float]] = {}


class Box(msgspec.Struct):
    """The rectangle of a node; ``x`` and ``y`` are those of its upper left corner."""

    node: GraphNode
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0


class PictureLayout(msgspec.Struct, frozen=True):
    """The boxes by names of nodes, hosts first, and the size of the picture."""

    boxes: dict[str, Box]
    width: float
    height: float


def layout(
    graph: Graph, titles: Mapping[str, str] = NO_TITLES, rooms: Mapping[str, tuple[float, float]] = NO_ROOMS
) -> PictureLayout:
    """Place all nodes of a graph. ``titles`` are what stands in boxes instead of the names of their nodes; ``rooms``
    the width and height that are left free in boxes, below the title and above what is hosted."""
    forest = Forest(graph)
    boxes: dict[str, Box] = {}
    near = _neighbours(graph)
    # Hosts come first in a graph, so in reverse everything is measured before what it stands in.
    for node in reversed(graph.nodes):
        box = boxes[node.name] = _empty(node, titles.get(node.name, node.name), rooms.get(node.name, NO_ROOM))
        inner = [boxes[child.name] for child in forest.below.get(node.name, ())]
        if inner:
            wide, high = _arrange(inner, near.get(node.name, {}))
            for child in inner:
                child.x += PAD
                child.y += box.height
            box.width, box.height = max(box.width, wide + 2 * PAD), box.height + high + PAD
    wide, high = _arrange([boxes[node.name] for node in forest.roots], near.get("", {}))
    for node in graph.nodes:
        outer = boxes[node.host] if node.host else None
        boxes[node.name].x += outer.x if outer is not None else PAD
        boxes[node.name].y += outer.y if outer is not None else PAD
    return PictureLayout({n.name: boxes[n.name] for n in graph.nodes}, wide + 2 * PAD, high + 2 * PAD)


def _empty(node: GraphNode, name: str, room: tuple[float, float]) -> Box:
    """The box of a node that hosts nothing."""
    title = _bold_width(clipped(name)) + MARK * len(node.groups)
    wide = max(title, width(clipped(short_type(node.type))) * CHARACTER * 0.9, 66.0, room[0])
    return Box(node, wide + 2 * PAD, TITLE + (room[1] + PAD / 2 if room[1] else 0.0))


def _bold_width(text: str) -> float:
    """The width of a node's name in bold letters."""
    return width(text) * BOLD + sum(letter in BROAD for letter in text) * (BROADEST - BOLD)


_Near: TypeAlias = dict[str, dict[str, int]]
"""The nodes that each node needs, with the length of the longest label between them."""


def _neighbours(graph: Graph) -> dict[str, _Near]:
    """By host, the connections between the nodes that it hosts directly; "" for those between roots."""
    host = {node.name: node.host for node in graph.nodes}
    depth: dict[str, int] = {}
    for node in graph.nodes:
        depth[node.name] = depth[node.host] + 1 if node.host else 0
    found: dict[str, _Near] = {}
    for made in graph.connections:
        source, target = made.source, made.target
        while depth[source] > depth[target]:
            source = host[source]
        while depth[target] > depth[source]:
            target = host[target]
        while host[source] != host[target]:
            source, target = host[source], host[target]
        if source != target:
            labels = found.setdefault(host[source], {}).setdefault(source, {})
            labels[target] = max(labels.get(target, 0), width(clipped(made.requirement)))
    return found


def _arrange(boxes: list[Box], near: _Near) -> tuple[float, float]:
    """Place boxes beside each other, from (0, 0) on; returns the width and height that they take."""
    by_name = {box.node.name: box for box in boxes}
    connected = {*near, *(target for targets in near.values() for target in targets)}
    columns = _columns([name for name in by_name if name in connected], near)
    gap = 40.0 + LABEL * max((length for targets in near.values() for length in targets.values()), default=0)
    x = bottom = 0.0
    for column in columns:
        y = 0.0
        for name in column:
            by_name[name].x, by_name[name].y = x, y
            y += by_name[name].height + GAP
        bottom = max(bottom, y - GAP)
        x += max(by_name[name].width for name in column) + gap
    for column in columns:
        last = by_name[column[-1]]
        middle = (bottom - last.y - last.height) / 2
        for name in column:
            by_name[name].y += middle
    alone = [box for name, box in by_name.items() if name not in connected]
    if not alone:
        return x - gap, bottom
    wide, high = _rows(alone, x)
    return x + wide, max(bottom, high)


def _rows(boxes: list[Box], left: float) -> tuple[float, float]:
    """Place boxes in rows: up to three below each other, more as a square."""
    per_row = math.ceil(math.sqrt(len(boxes))) if len(boxes) > 3 else 1
    x = y = high = wide = 0.0
    for number, box in enumerate(boxes):
        if number and number % per_row == 0:
            x, y, high = 0.0, y + high + GAP, 0.0
        box.x, box.y = left + x, y
        x += box.width + GAP
        high, wide = max(high, box.height), max(wide, x - GAP)
    return wide, y + high


def _columns(names: list[str], near: _Near) -> list[list[str]]:
    """Names by column, those that need others first."""
    depth = _depths(names, near)
    columns: dict[int, list[str]] = defaultdict(list)
    for name in names:
        columns[depth[name]].append(name)
    found = [columns[number] for number in sorted(columns)]
    for _ in range(SWEEPS):
        _sweep(found, near)
    return found


def _depths(names: list[str], near: _Near) -> dict[str, int]:
    """The column of each node: right of all that need it, without the connections that close circles."""
    forward: dict[str, list[str]] = {name: [] for name in names}
    state: dict[str, int] = {}
    finished: list[str] = []
    for start in names:
        todo = [(start, False)]
        while todo:
            name, done = todo.pop()
            if done:
                state[name] = 2
                finished.append(name)
                continue
            if name in state:
                continue
            state[name] = 1
            todo.append((name, True))
            for target in reversed(list(near.get(name, ()))):
                if state.get(target) != 1:
                    forward[name].append(target)
                    todo.append((target, False))
    depth = dict.fromkeys(names, 0)
    for name in reversed(finished):
        for target in forward[name]:
            depth[target] = max(depth[target], depth[name] + 1)
    return depth


def _sweep(columns: list[list[str]], near: _Near) -> None:
    """Order each column by the average position of connected nodes in the others."""
    others: dict[str, list[str]] = defaultdict(list)
    for source, targets in near.items():
        for target in targets:
            others[source].append(target)
            others[target].append(source)
    place = {name: float(index) for column in columns for index, name in enumerate(column)}
    for column in columns:
        weight = {n: sum(place[o] for o in others[n]) / len(others[n]) for n in column}
        column.sort(key=weight.__getitem__)
        place.update({name: float(index) for index, name in enumerate(column)})


# What all pictures need to know of a graph.

LONGEST = 48


class Forest:
    """The nodes of a graph as trees of hosting. ``ids`` are names that are valid in every format."""

    def __init__(self, graph: Graph) -> None:
        self.below: dict[str, list[GraphNode]] = defaultdict(list)
        for node in graph.nodes:
            self.below[node.host].append(node)
        self.ids = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}

    @property
    def roots(self) -> list[GraphNode]:
        """The nodes that nothing hosts."""
        return self.below[""]

    def walk(self) -> Iterator[tuple[GraphNode, int, bool]]:
        """Every node with its depth, in the order of an outline: True before its content and, if it hosts something,
        False after it. Without recursion, because hosts can be nested to any depth."""
        todo = [(node, 0, True) for node in reversed(self.roots)]
        while todo:
            node, depth, entering = todo.pop()
            yield node, depth, entering
            inner = self.below.get(node.name, ())
            if entering and inner:
                todo.append((node, depth, False))
                todo.extend((child, depth + 1, True) for child in reversed(inner))


def short_type(name: str) -> str:
    """A type's name without its namespace and without the prefix of normative types."""
    if "://" in name:
        name = name.rpartition(":")[2]
    return name.removeprefix("tosca.nodes.").removeprefix("tosca.groups.")


def clipped(text: str) -> str:
    """A text on one line, shortened for a picture."""
    line = " ".join(text.split()) or text
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def more_nodes(graph: Graph) -> str:
    """The text that counts the nodes that are not shown."""
    return f"and {graph.left_out} more node{'s' if graph.left_out > 1 else ''}"
