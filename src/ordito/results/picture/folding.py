"""Folding: so many nodes that nobody could read a picture of them become a given number of boxes.

What a host hosts is folded into its box, and neighbours of one type into a box of their own. Nodes that are alike and
stand on one level are folded or shown together, so that a picture does not depend on the order of its nodes; what
somebody opens is shown as long as there is room. The work grows with the number of nodes and connections only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import msgspec

from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.results.picture.layout import short_type

USUAL = 300
"""How many boxes a picture has by itself, at most."""

MOST = 400
"""How many boxes it has at most, with all that was opened: browsers do not move more of them smoothly."""

MANY = "several types"
"""Stands for the type of a box in which nodes of several types are."""


class FoldedBox(msgspec.Struct):
    """A box: a node, or several neighbours together."""

    id: str
    title: str
    type: str
    parent: str
    """The box in which it stands, "" for none."""

    names: tuple[str, ...]
    """The nodes that it stands for itself."""

    nodes: int
    """How many nodes there are in it: itself, and all that they host."""

    is_open: bool = False
    """Whether boxes stand in it."""

    @property
    def is_group(self) -> bool:
        """Whether it stands for several neighbours."""
        return len(self.names) > 1


class Folded(msgspec.Struct, frozen=True):
    """The boxes of a picture, each behind the one in which it stands, and what connects them."""

    boxes: dict[str, FoldedBox]
    connections: tuple[GraphConnection, ...]
    """Between boxes: each with the requirement and the type, if those are the same for all that it stands for."""

    counts: tuple[int, ...]
    """How many connections of nodes each of them stands for."""

    box_of: Mapping[str, str]
    """The innermost box of each node."""

    @property
    def graph(self) -> Graph:
        """The same as a graph whose nodes are the boxes."""
        nodes = tuple(GraphNode(box.id, box.type, box.parent) for box in self.boxes.values())
        return Graph("", nodes, self.connections, {})


def folded(graph: Graph, boxes: int = USUAL, opened: Collection[str] = (), closed: Collection[str] = ()) -> Folded:
    """A graph in at most so many ``boxes``; those whose ids are in ``opened`` are shown with what is in them, as long
    as there are not more than 400 altogether, those in ``closed`` without it."""
    folding = _Folding(graph, opened, closed)
    folding.fill(max(1, min(boxes, MOST)))
    box_of = folding.box_of()
    connections, counts = _joined(graph.connections, box_of)
    return Folded(folding.ordered(), connections, counts, box_of)


class _Folding:
    def __init__(self, graph: Graph, opened: Collection[str], closed: Collection[str]) -> None:
        self._nodes = {node.name: node for node in graph.nodes}
        self._below: dict[str, list[str]] = defaultdict(list)
        for node in graph.nodes:
            self._below[node.host].append(node.name)
        self._sizes = dict.fromkeys(self._nodes, 1)
        # Hosts come first in a graph.
        for node in reversed(graph.nodes):
            if node.host:
                self._sizes[node.host] += self._sizes[node.name]
        self._closed = frozenset(closed)
        self._opened = frozenset(opened) - self._closed
        """By their ids, nodes or boxes."""

        self._way = self._way_to_opened()
        self._boxes: dict[str, FoldedBox] = {}

    def _way_to_opened(self) -> set[str]:
        """The nodes that are opened, with all in which they stand."""
        found: set[str] = set()
        for name in self._opened:
            while name in self._nodes and name not in found:
                found.add(name)
                name = self._nodes[name].host
        return found

    def fill(self, most: int) -> None:
        """Make the boxes."""
        self._add(self._parts("", self._below[""], most))
        self._open_wanted(list(self._boxes))
        level = [box for box in self._boxes.values() if not box.parent]
        while level:
            alike: dict[str, list[FoldedBox]] = defaultdict(list)
            for box in level:
                if not box.is_open and not box.is_group and box.id not in self._closed and self._below.get(box.id):
                    alike[box.type].append(box)
            for same in alike.values():
                self._open_alike(same, most)
            inside = {box.id for box in level}
            level = [box for box in self._boxes.values() if box.parent in inside]

    def _open_wanted(self, ids: list[str]) -> None:
        """Open what was opened by somebody, and what that stands in."""
        todo = list(reversed(ids))
        while todo:
            box = self._boxes[todo.pop()]
            content = self._content(box)
            is_on_way = not box.is_group and box.id in self._way
            wanted = box.id not in self._closed and (box.id in self._opened or is_on_way)
            room = MOST - len(self._boxes)
            if wanted and content and room > 0:
                parts = self._parts(box.id, content, room)
                if len(parts) <= room:
                    self._open(box, parts)
                    todo.extend(part.id for part in reversed(parts))

    def _open_alike(self, same: list[FoldedBox], most: int) -> None:
        room = most - len(self._boxes)
        whole = sum(len(self._below[box.id]) for box in same)
        each = room if whole <= room else max(1, room // len(same))
        parts = [self._parts(box.id, self._below[box.id], each) for box in same] if room >= len(same) else []
        is_mixed = each < room and any(part.type == MANY for found in parts for part in found)
        if parts and not is_mixed and sum(map(len, parts)) <= room:
            for box, found in zip(same, parts, strict=True):
                self._open(box, found)

    def _open(self, box: FoldedBox, parts: Iterable[FoldedBox]) -> None:
        box.is_open = True
        self._add(parts)

    def _add(self, parts: Iterable[FoldedBox]) -> None:
        self._boxes.update((part.id, part) for part in parts)

    def _content(self, box: FoldedBox) -> list[str]:
        """The nodes that stand in a box."""
        return list(box.names) if box.is_group else self._below.get(box.id, [])

    def _parts(self, parent: str, names: list[str], most: int) -> list[FoldedBox]:
        """Nodes as at most so many boxes: each its own, or those of a type together, the most frequent ones first."""
        if len(names) <= most:
            return [self._single(name, parent) for name in names]
        alone = dict.fromkeys([name for name in names if name in self._way][: most - 1])
        if parent in self._boxes and self._boxes[parent].is_group:
            # Of an opened group its first ones, and the others together.
            others = [name for name in names if name not in alone]
            alone.update(dict.fromkeys(others[: max(0, most - 1 - len(alone))]))
        by_type: dict[str, list[str]] = defaultdict(list)
        for name in names:
            if name not in alone:
                by_type[self._nodes[name].type].append(name)
        first: dict[str, list[str]] = {}
        for group in _grouped(list(by_type.values()), most - len(alone)):
            if len(group) == 1:
                alone[group[0]] = None
            else:
                first[group[0]] = group
        found = []
        for name in names:
            if name in alone:
                found.append(self._single(name, parent))
            elif name in first:
                found.append(self._group(first[name], parent))
        return found

    def _single(self, name: str, parent: str) -> FoldedBox:
        return FoldedBox(name, name, self._nodes[name].type, parent, (name,), self._sizes[name])

    def _group(self, names: list[str], parent: str) -> FoldedBox:
        types = {self._nodes[name].type for name in names}
        kind = types.pop() if len(types) == 1 else MANY
        name = f"{kind}@{parent}"
        while name in self._nodes:
            name += "+"
        return FoldedBox(
            name,
            f"{short_type(kind)} \N{MULTIPLICATION SIGN}{len(names):,}",
            kind,
            parent,
            tuple(names),
            self._sum(names),
        )

    def _sum(self, names: list[str]) -> int:
        return sum(self._sizes[name] for name in names)

    def ordered(self) -> dict[str, FoldedBox]:
        """The boxes, level by level."""
        inside: dict[str, list[FoldedBox]] = defaultdict(list)
        for box in self._boxes.values():
            inside[box.parent].append(box)
        found: dict[str, FoldedBox] = {}
        level = inside[""]
        while level:
            found.update((box.id, box) for box in level)
            level = [inner for box in level for inner in inside.get(box.id, ())]
        return found

    def box_of(self) -> dict[str, str]:
        """The innermost box of each node."""
        found: dict[str, str] = {}
        for box in self.ordered().values():
            # What stands in an opened group comes later, and replaces this.
            found.update(dict.fromkeys(box.names, box.id))
        for node in self._nodes.values():
            if node.name not in found:
                found[node.name] = found[node.host]
        return found


def _grouped(by_type: list[list[str]], most: int) -> list[list[str]]:
    """Nodes by type as at most so many groups: those of the rarest types each alone as long as there is room, or all
    together where there are too many types."""
    groups = sorted(by_type, key=len)
    if len(groups) > most:
        rare = len(groups) - most + 1
        groups = [[name for group in groups[:rare] for name in group], *groups[rare:]]
    left, found = most - len(groups), []
    for group in groups:
        if len(group) - 1 <= left:
            left -= len(group) - 1
            found += [[name] for name in group]
        else:
            found.append(group)
    return found


def _joined(
    connections: Iterable[GraphConnection], box_of: Mapping[str, str]
) -> tuple[tuple[GraphConnection, ...], tuple[int, ...]]:
    """What connects boxes, and how many connections of nodes each of those stands for."""
    found: dict[tuple[str, str], GraphConnection] = {}
    counts: dict[tuple[str, str], int] = {}
    for made in connections:
        ends = box_of[made.source], box_of[made.target]
        counts[ends] = counts.get(ends, 0) + 1
        known = found.get(ends)
        if known is None:
            found[ends] = GraphConnection(*ends, made.requirement, made.type)
        elif (known.requirement, known.type) != (made.requirement, made.type):
            requirement = known.requirement if known.requirement == made.requirement else ""
            found[ends] = GraphConnection(*ends, requirement, known.type if known.type == made.type else "")
    # What stays in one box is not seen.
    shown = [ends for ends in found if ends[0] != ends[1]]
    return tuple(found[ends] for ends in shown), tuple(counts[ends] for ends in shown)
