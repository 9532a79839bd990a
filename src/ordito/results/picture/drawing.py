"""A picture as pages and reports draw it: boxes with their places, room for a dot for each thing in them, and lines."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import msgspec

from ordito.authoring.graph import Graph
from ordito.results.picture.folding import USUAL, folded
from ordito.results.picture.layout import PAD, TITLE, layout

DOT = 12
"""The width and height that a dot takes, in pixels."""

MOST_DOTS = 10_000
"""A box with more things in it says only how many there are."""


class PictureBox(msgspec.Struct, frozen=True):
    """A box: a node, or several nodes of one type that stand beside each other. Places and sizes are in pixels."""

    id: str
    """The name of its node, or of several nodes a text that no node is called by. It opens the box."""

    kind: str
    """``node``, or ``group`` for several nodes."""

    title: str
    type: str
    parent: str
    """The box in which it stands, "" for none."""

    x: int
    """From the left edge of its parent, or of the picture."""

    y: int
    """From the upper edge of its parent, or of the picture."""

    w: int
    h: int
    nodes: int
    """How many nodes there are in it, itself included."""

    folded: bool
    """Whether there is something in it that is not shown."""

    columns: int
    """How many dots stand in a row. Each has 12 pixels; the first begins 12 pixels from the left edge of the box and 40
    from its upper one. 0 where there are none, or too many: then there is room for a line of 150 pixels."""

    counts: Mapping[str, int]
    """How many of the things that it stands for there are, by what is said of each."""


class PictureEdge(msgspec.Struct, frozen=True):
    """Relationships from one box to another."""

    source: str
    target: str
    requirement: str
    """The name of the requirement, "" where it stands for different ones."""

    type: str
    """The type of the relationship, "" where it stands for different ones."""

    count: int
    """How many relationships of nodes it stands for."""


class Picture(msgspec.Struct, frozen=True):
    """A picture of nodes."""

    size: tuple[int, int]
    """Its width and height."""

    boxes: tuple[PictureBox, ...]
    """Each behind the one in which it stands."""

    edges: tuple[PictureEdge, ...]
    box_of: Mapping[str, int]
    """By node, the number of its innermost box."""


Counts = Mapping[str, Mapping[str, int]]
"""By node, how many things it has, by what is said of each."""


def picture(
    graph: Graph,
    counts: Counts,
    boxes: int = USUAL,
    opened: Collection[str] = (),
    closed: Collection[str] = (),
    *,
    most_dots: int = MOST_DOTS,
) -> Picture:
    """The picture of a graph in at most so many boxes, with those opened and folded that somebody wants so, and with
    room for at most so many dots in each."""
    found = folded(graph, boxes, opened, closed)
    things: dict[str, dict[str, int]] = {name: {} for name in found.boxes}
    for node, said in counts.items():
        of_box = things[found.box_of[node]]
        for word, count in said.items():
            of_box[word] = of_box.get(word, 0) + count
    columns = {name: columns_for(sum(said.values()), most_dots) for name, said in things.items()}
    rooms = {name: _room(sum(said.values()), columns[name]) for name, said in things.items() if said}
    drawn = layout(found.graph, {box.id: box.title for box in found.boxes.values()}, rooms)
    made = []
    for box in found.boxes.values():
        at, outer = drawn.boxes[box.id], drawn.boxes.get(box.parent)
        made.append(
            PictureBox(
                id=box.id,
                kind="group" if box.is_group else "node",
                title=box.title,
                type=box.type,
                parent=box.parent,
                x=round(at.x - (outer.x if outer else 0)),
                y=round(at.y - (outer.y if outer else 0)),
                w=math.ceil(at.width),
                h=math.ceil(at.height),
                nodes=box.nodes,
                folded=not box.is_open and (box.is_group or box.nodes > 1),
                columns=columns[box.id],
                counts=things[box.id],
            )
        )
    edges = tuple(
        PictureEdge(one.source, one.target, one.requirement, one.type, count)
        for one, count in zip(found.connections, found.counts, strict=True)
    )
    numbers = {box.id: number for number, box in enumerate(made)}
    box_of = {node: numbers[name] for node, name in found.box_of.items()}
    return Picture((math.ceil(drawn.width), math.ceil(drawn.height)), tuple(made), edges, box_of)


def _room(dots: int, columns: int) -> tuple[float, float]:
    """The width and height for so many dots, or for a line that says how many there are."""
    return (float(columns * DOT), float(math.ceil(dots / columns) * DOT)) if columns else OF_COUNTS


OF_COUNTS = 150.0, 14.0
"""The room for a line with numbers."""


def columns_for(dots: int, most: int = MOST_DOTS) -> int:
    """How many dots stand in a row: few in one row, many in a field that is broader than high; 0 for none."""
    if not 0 < dots <= most:
        return 0
    return min(dots, max(10, math.ceil(math.sqrt(dots * 1.6))))


def dot_place(number: int, columns: int) -> tuple[int, int]:
    """Where the upper left corner of the room for a dot stands in its box."""
    return int(PAD) + number % columns * DOT, int(TITLE) + number // columns * DOT
