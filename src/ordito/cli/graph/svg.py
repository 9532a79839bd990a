"""A graph as an SVG picture, drawn without any other program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

import msgspec

from ordito.authoring.graph import Graph, GraphConnection, GraphEdge, GraphStep, PlanGraph
from ordito.base.text_width import width
from ordito.cli.graph.text import more_steps, step_name, step_says
from ordito.results.picture.curves import Curve, curves, middle, path
from ordito.results.picture.layout import (
    CHARACTER,
    MARK,
    PAD,
    Box,
    Forest,
    clipped,
    layout,
    more_nodes,
    short_type,
)

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLORS = ("#bf3989", "#1a7f37", "#9a6700", "#8250df", "#cf222e", "#0a7ea4")
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


def svg(graph: Graph) -> Iterator[str]:
    """The lines of the picture."""
    forest = Forest(graph)
    found = layout(graph)
    drawn = curves([(made.source, made.target) for made in graph.connections], found.boxes)
    colors = {name: COLORS[number % len(COLORS)] for number, name in enumerate(graph.groups)}
    legend = [f"{clipped(name)} ({clipped(short_type(kind))})" for name, kind in graph.groups.items()]
    notes = [more_nodes(graph)] if graph.left_out else []
    rights = [x for curve in drawn for x, _ in curve]
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
    for made, curve in zip(graph.connections, drawn, strict=True):
        yield from _curve(made, curve)
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


def _curve(made: GraphConnection, curve: Curve) -> Iterator[str]:
    x, y = middle(curve)
    title = f"{made.source} {made.requirement} {made.target}: {made.type}"
    yield f"  <g><title>{xml_text(title)}</title>"
    yield f'    <path class="edge" d="{path(curve)}" marker-end="url(#arrow)"/>'
    label = xml_text(clipped(made.requirement))
    yield f'    <text class="label" x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle">{label}</text></g>'


def xml_text(text: str) -> str:
    """The text of an element; characters that XML cannot have are replaced."""
    return escape(NOT_XML.sub("\ufffd", text))


# A workflow as an SVG picture: a lane for each instance, time from left to right; a dot joins others. Edges bear the
# numbers of their reasons, which stand below the picture.

BOX = 24.0
ROW = 32.0
GUTTER = 22.0
GAP = 44.0
DOT = 4.0
PLAN_STYLE = """\
  <style>
    text { font-family: sans-serif; fill: #1f2328; font-size: 11px; }
    .lane { fill: #f6f8fa; stroke: #d0d7de; }
    .name { font-size: 12px; font-weight: bold; }
    .step { fill: #ffffff; stroke: #57606a; }
    .noop { fill: #ffffff; stroke: #8c959f; stroke-dasharray: 4 2; }
    .join { fill: #57606a; }
    .number { font-size: 9px; fill: #0550ae; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
    .edge { fill: none; stroke: #0969da; stroke-width: 1; }
    .tolerant { stroke: #8c959f; stroke-dasharray: 3 2; }
  </style>
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse">
      <path d="M 0 0 L 8 4 L 0 8 z" fill="#0969da"/>
    </marker>
  </defs>"""


class StepBox(msgspec.Struct, frozen=True):
    """The place of a step: its left and right end, and its vertical middle."""

    left: float
    right: float
    y: float


class PictureLane(msgspec.Struct, frozen=True):
    """The place of the steps of an instance."""

    name: str
    top: float
    height: float


class PlanLayout(msgspec.Struct, frozen=True):
    """The places of all steps, in their order, and the size of the picture."""

    lanes: tuple[PictureLane, ...]
    places: tuple[StepBox, ...]
    width: float
    height: float


def plan_layout(graph: PlanGraph) -> PlanLayout:
    """Place lanes below each other and columns beside each other, joins between the lanes."""
    rows, most = _rows(graph)
    lanes: dict[str, PictureLane] = {}
    top = PAD
    for name in graph.lanes:
        lanes[name] = PictureLane(name, top + GUTTER, most.get(name, 1) * ROW + 8)
        top += GUTTER + lanes[name].height
    names = max((width(clipped(name)) for name in graph.lanes), default=0) * CHARACTER + 2 * PAD
    lefts, right = _columns(graph, names + PAD)
    places: list[StepBox] = []
    for number, step in enumerate(graph.steps):
        left, size = lefts[step.column], _size(step)
        if step.lane:
            y = lanes[step.lane].top + 4 + ROW * (rows[number] + 0.5)
            places.append(StepBox(left, left + size, y))
        else:
            places.append(StepBox(left, left + 2 * DOT, 0.0))
    _place_joins(graph, places, [lane.top for lane in lanes.values()])
    return PlanLayout(tuple(lanes.values()), tuple(places), right + PAD, top + GUTTER)


def _rows(graph: PlanGraph) -> tuple[list[int], dict[str, int]]:
    """The row of each step in its lane, and the number of rows of each lane: most have one."""
    taken: dict[tuple[str, int], int] = {}
    rows: list[int] = []
    most: dict[str, int] = {}
    for step in graph.steps:
        row = taken.get((step.lane, step.column), 0)
        taken[step.lane, step.column] = row + 1
        rows.append(row)
        most[step.lane] = max(most.get(step.lane, 0), row + 1)
    return rows, most


def _columns(graph: PlanGraph, left: float) -> tuple[list[float], float]:
    """The left end of each column, and the right end of the last."""
    widest: dict[int, float] = {}
    for step in graph.steps:
        widest[step.column] = max(widest.get(step.column, 0.0), _size(step))
    lefts: list[float] = []
    for column in range(len(widest)):
        lefts.append(left)
        left += widest[column] + GAP
    return lefts, left - GAP if lefts else left


def _size(step: GraphStep) -> float:
    return width(step_name(step)) * CHARACTER + PAD if step.lane else 2 * DOT


def _place_joins(graph: PlanGraph, places: list[StepBox], tops: list[float]) -> None:
    """Place each join between lanes, nearest to the middle of the steps that it joins."""
    near: dict[int, list[float]] = {}
    for edge in graph.edges:
        for own, other in ((edge.before, edge.after), (edge.after, edge.before)):
            if not graph.steps[own].lane and graph.steps[other].lane:
                near.setdefault(own, []).append(places[other].y)
    taken: dict[tuple[float, int], int] = {}
    for number, step in enumerate(graph.steps):
        if step.lane:
            continue
        ys = near.get(number, [tops[0] if tops else 0.0])
        middle = sum(ys) / len(ys)
        gutter = min((top - GUTTER / 2 for top in tops), key=lambda y: abs(y - middle), default=GUTTER / 2)
        turn = taken.get((gutter, step.column), 0)
        taken[gutter, step.column] = turn + 1
        places[number] = msgspec.structs.replace(places[number], y=gutter + (turn % 3 - 1) * DOT * 1.5)


def plan_svg(graph: PlanGraph) -> Iterator[str]:
    """The lines of the picture."""
    found = plan_layout(graph)
    legend = [f"{number}  {reason}" for number, reason in enumerate(graph.edge_reasons, 1)]
    if graph.left_out:
        legend.append(more_steps(graph))
    wide = max([found.width, *(width(line) * CHARACTER * 0.9 + 2 * PAD for line in legend)])
    high = found.height + LINE * len(legend) + PAD
    size = f'width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} {high:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield f"  <title>{xml_text(f'{graph.service}: {graph.workflow}')}</title>"
    yield PLAN_STYLE
    yield '  <rect width="100%" height="100%" fill="#ffffff"/>'
    for lane in found.lanes:
        box = f'x="{PAD / 2:.1f}" y="{lane.top:.1f}" width="{found.width - PAD:.1f}" height="{lane.height:.1f}"'
        yield f'  <rect class="lane" {box} rx="4"/>'
        y = lane.top + lane.height / 2 + 4
        yield f'  <text class="name" x="{PAD:.1f}" y="{y:.1f}">{xml_text(clipped(lane.name))}</text>'
    entering: dict[int, int] = {}
    for edge in graph.edges:
        turn = entering[edge.after] = entering.get(edge.after, -1) + 1
        yield _edge(graph, edge, found.places, turn)
    for step, place in zip(graph.steps, found.places, strict=True):
        yield _step(graph, step, place)
    for number, line in enumerate(legend):
        yield f'  <text x="{PAD:.1f}" y="{found.height + PAD + LINE * number:.1f}">{xml_text(line)}</text>'
    yield "</svg>"


def _step(graph: PlanGraph, step: GraphStep, place: StepBox) -> str:
    said = f"<title>{xml_text(step_says(graph, step))}</title>"
    if not step.lane:
        return f'  <g>{said}<circle class="join" cx="{place.left + DOT:.1f}" cy="{place.y:.1f}" r="{DOT}"/></g>'
    kind = "noop" if step.shown is not None and step.shown.no_op else "step"
    box = f'x="{place.left:.1f}" y="{place.y - BOX / 2:.1f}" width="{place.right - place.left:.1f}" height="{BOX}"'
    middle = (place.left + place.right) / 2
    text = f'<text x="{middle:.1f}" y="{place.y + 4:.1f}" text-anchor="middle">{xml_text(step_name(step))}</text>'
    return f'  <g>{said}<rect class="{kind}" {box} rx="4"/>{text}</g>'


def _edge(graph: PlanGraph, edge: GraphEdge, places: tuple[StepBox, ...], turn: int) -> str:
    """The curve of an edge with its number; ``turn`` separates the numbers of edges that enter one step."""
    before, after = places[edge.before], places[edge.after]
    half = (before.right + after.left) / 2
    way = f"M {before.right:.1f} {before.y:.1f} C {half:.1f} {before.y:.1f}, {half:.1f} {after.y:.1f}, "
    way += f"{after.left:.1f} {after.y:.1f}"
    tolerant = " tolerant" if graph.steps[edge.after].tolerant else ""
    x, y = _on_the_way(before, after, max(0.5, 0.8 - 0.12 * turn))
    number = f'<text class="number" x="{x:.1f}" y="{y - 2:.1f}" text-anchor="middle">{edge.reason + 1}</text>'
    title = f"<title>{xml_text(graph.reasons[edge.reason])}</title>"
    return f'  <g>{title}<path class="edge{tolerant}" d="{way}" marker-end="url(#arrow)"/>{number}</g>'


def _on_the_way(before: StepBox, after: StepBox, part: float) -> tuple[float, float]:
    """A point on the curve between two steps, at a fraction of its length."""
    rest = 1 - part
    first, bend, last = rest**3, 3 * part * rest, part**3
    half = (before.right + after.left) / 2
    x = first * before.right + bend * half + last * after.left
    return x, (first + bend * rest) * before.y + (last + bend * part) * after.y
