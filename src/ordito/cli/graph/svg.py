"""A graph as an SVG picture, drawn without any other program."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from xml.sax.saxutils import escape

import msgspec

from ordito.app.graph import Connection, Graph
from ordito.cli.graph.forest import Forest, clipped, more_nodes, short_type
from ordito.cli.graph.layout import CHARACTER, MARK, PAD, Box, Layout, layout
from ordito.cli.text_width import width

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLORS = ("#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0a7ea4")
BULGE = 46.0
LINE = 18.0
STYLE = """\
  <style>
    text { font-family: sans-serif; fill: #1f2328; }
    .name { font-size: 13px; font-weight: bold; }
    .type { font-size: 11px; fill: #57606a; }
    .label { font-size: 10px; fill: #0550ae; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
    .leaf { fill: #ffffff; stroke: #57606a; }
    .host { fill: #eaeef2; fill-opacity: 0.6; stroke: #57606a; }
    .edge { fill: none; stroke: #0969da; stroke-width: 1.2; }
  </style>
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
      <path d="M 0 0 L 8 4 L 0 8 z" fill="#0969da"/>
    </marker>
  </defs>"""


class Curve(msgspec.Struct, frozen=True):
    """The way of a connection: two ends and the two points that bend it."""

    connection: Connection
    points: tuple[tuple[float, float], ...]

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = self.points
        return (x0 + 3 * x1 + 3 * x2 + x3) / 8, (y0 + 3 * y1 + 3 * y2 + y3) / 8


def svg(graph: Graph) -> Iterator[str]:
    """The lines of the picture."""
    forest = Forest(graph)
    found = layout(graph)
    curves = curves_of(graph, found)
    colors = {name: COLORS[number % len(COLORS)] for number, name in enumerate(graph.groups)}
    legend = [f"{clipped(name)} ({clipped(short_type(kind))})" for name, kind in graph.groups.items()]
    notes = [more_nodes(graph)] if graph.left_out else []
    rights = [x for curve in curves for x, _ in curve.points]
    longest = max((width(line) for line in (*legend, *notes)), default=0) * CHARACTER + MARK + 2 * PAD
    wide = max(found.width, longest, *(r + PAD for r in rights)) if rights else max(found.width, longest)
    high = found.height + LINE * (len(legend) + len(notes)) + (PAD if legend or notes else 0)
    size = f'width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield f"  <title>{xml_text(graph.name)}</title>"
    yield STYLE
    yield '  <rect width="100%" height="100%" fill="#ffffff"/>'
    for box in found.boxes.values():
        yield from _box(box, bool(forest.below.get(box.node.name)), colors)
    for curve in curves:
        yield from _curve(curve)
    y = found.height + PAD
    for name, line in zip(graph.groups, legend, strict=True):
        yield f'  <rect x="{PAD}" y="{y - 9:.1f}" width="10" height="10" rx="2" fill="{colors[name]}"/>'
        yield f'  <text class="type" x="{PAD + MARK + 2}" y="{y:.1f}">{xml_text(line)}</text>'
        y += LINE
    for line in notes:
        yield f'  <text class="type" x="{PAD}" y="{y:.1f}">{xml_text(line)}</text>'
    yield "</svg>"


def _box(box: Box, is_host: bool, colors: dict[str, str]) -> Iterator[str]:
    x, y, node = box.x, box.y, box.node
    kind = "host" if is_host else "leaf"
    place = f'x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    yield f"  <g><title>{xml_text(f'{node.name}: {node.type}')}</title>"
    yield f'    <rect class="{kind}" {place} rx="5"/>'
    yield f'    <text class="name" x="{x + PAD:.1f}" y="{y + 17:.1f}">{xml_text(clipped(node.name))}</text>'
    yield f'    <text class="type" x="{x + PAD:.1f}" y="{y + 32:.1f}">{xml_text(clipped(short_type(node.type)))}</text>'
    for number, group in enumerate(node.groups, start=1):
        left = x + box.width - PAD / 2 - number * MARK
        yield (
            f'    <rect x="{left:.1f}" y="{y + 7:.1f}" width="10" height="10" rx="2" fill="{colors[group]}">'
            f"<title>{xml_text(group)}</title></rect>"
        )
    yield "  </g>"


def _curve(curve: Curve) -> Iterator[str]:
    begin, *bends = (f"{x:.1f} {y:.1f}" for x, y in curve.points)
    made = curve.connection
    x, y = curve.middle
    title = f"{made.source} {made.requirement} {made.target}: {made.type}"
    yield f"  <g><title>{xml_text(title)}</title>"
    yield f'    <path class="edge" d="M {begin} C {", ".join(bends)}" marker-end="url(#arrow)"/>'
    label = xml_text(clipped(made.requirement))
    yield f'    <text class="label" x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle">{label}</text></g>'


def curves_of(graph: Graph, found: Layout) -> list[Curve]:
    """The ways of all connections. Those that meet a side of a box share it evenly."""
    sides = [_sides(found.boxes[c.source], found.boxes[c.target]) for c in graph.connections]
    ends: dict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
    for number, (made, (begin, end)) in enumerate(zip(graph.connections, sides, strict=True)):
        source, target = found.boxes[made.source], found.boxes[made.target]
        ends[made.source, begin].append((target.y + target.height / 2, number, 0))
        ends[made.target, end].append((source.y + source.height / 2, number, 1))
    places: dict[tuple[int, int], tuple[float, float]] = {}
    for (name, side), meeting in ends.items():
        box = found.boxes[name]
        x = box.x if side == "left" else box.x + box.width
        for index, (_, number, which) in enumerate(sorted(meeting), start=1):
            places[number, which] = x, box.y + box.height * index / (len(meeting) + 1)
    curves = []
    for number, made in enumerate(graph.connections):
        first, last = places[number, 0], places[number, 1]
        curves.append(Curve(made, (first, *_bends(first, last, sides[number]), last)))
    return curves


def _sides(source: Box, target: Box) -> tuple[str, str]:
    """The sides at which a connection begins and ends: those that face each other, else both right ones."""
    if source.x + source.width <= target.x:
        return "right", "left"
    if target.x + target.width <= source.x:
        return "left", "right"
    return "right", "right"


def _bends(
    begin: tuple[float, float], end: tuple[float, float], sides: tuple[str, str]
) -> tuple[tuple[float, float], tuple[float, float]]:
    if sides == ("right", "right"):
        far = max(begin[0], end[0]) + BULGE
        return (far, begin[1]), (far, end[1])
    half = (begin[0] + end[0]) / 2
    return (half, begin[1]), (half, end[1])


def xml_text(text: str) -> str:
    """A text of an element: what XML cannot hold is replaced."""
    return escape(NOT_XML.sub("\ufffd", text))
