"""The topology of a report: the boxes of the picture, with a dot for what the job has done to each instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.authoring.graph import Graph
from ordito.results.picture.curves import curves, middle, path
from ordito.results.picture.drawing import DOT, PictureBox, dot_place, picture
from ordito.results.picture.layout import PAD, short_type
from ordito.results.report.text import clipped, text

MOST_BOXES = 80
MOST_DOTS = 400
"""Of a box with more instances only their numbers are shown."""

VERDICTS = ("failed", "interrupted", "running", "not run", "done", "untouched")
"""What a job has done to an instance, the most important first."""

KINDS: Mapping[str, str] = {
    "failed": "bad",
    "interrupted": "wait",
    "running": "run",
    "not run": "hollow",
    "done": "ok",
    "untouched": "none",
}
SYMBOLS: Mapping[str, str] = {
    "failed": "✖",
    "interrupted": "!",
    "running": "◔",
    "not run": "○",
    "done": "●",
    "untouched": "·",
}


class _PlacedBox(msgspec.Struct):
    """Where a box stands in the picture."""

    x: float
    y: float
    width: float
    height: float


def topology(graph: Graph, verdicts: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """The lines of the picture in SVG. ``verdicts`` are by instance its node and what was done to it."""
    counts: dict[str, dict[str, int]] = {}
    for node, verdict in verdicts.values():
        of_node = counts.setdefault(node, {})
        of_node[verdict] = of_node.get(verdict, 0) + 1
    drawn = picture(graph, counts, MOST_BOXES, most_dots=MOST_DOTS)
    if not drawn.boxes:
        return
    places: dict[str, _PlacedBox] = {}
    for box in drawn.boxes:
        outer = places.get(box.parent)
        x, y = (box.x + outer.x, box.y + outer.y) if outer is not None else (box.x, box.y)
        places[box.id] = _PlacedBox(x, y, box.w, box.h)
    lines = curves([(edge.source, edge.target) for edge in drawn.edges], places)
    wide = max([drawn.size[0], *(x + PAD for line in lines for x, _ in line)])
    size = f'width="{wide:.0f}" height="{drawn.size[1]}" viewBox="0 0 {wide:.0f} {drawn.size[1]}"'
    yield f'<svg class="topology" {size} role="img" aria-label="Topology">'
    yield (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="arrow" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>'
    )
    inside: list[list[tuple[str, str]]] = [[] for _ in drawn.boxes]
    for name, (node, verdict) in verdicts.items():
        inside[drawn.box_of[node]].append((name, verdict))
    hosts = {box.parent for box in drawn.boxes}
    for box, instances in zip(drawn.boxes, inside, strict=True):
        yield from _box(box, places[box.id], instances, is_host=box.id in hosts)
    for edge, line in zip(drawn.edges, lines, strict=True):
        x, y = middle(line)
        more = f" ({edge.count:,})" if edge.count > 1 else ""
        label = text(f"{clipped(edge.requirement, 24)}{more}")
        yield f'<path class="edge" d="{path(line)}" marker-end="url(#arrow)"/>'
        yield f'<text class="edge-label" x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle">{label}</text>'
    yield "</svg>"


def _box(box: PictureBox, at: _PlacedBox, instances: list[tuple[str, str]], *, is_host: bool) -> Iterator[str]:
    kind = "host" if is_host else "leaf"
    yield f"<g><title>{text(f'{box.title}: {box.type}')}</title>"
    place = f'x="{at.x:.0f}" y="{at.y:.0f}" width="{at.width:.0f}" height="{at.height:.0f}"'
    yield f'<rect class="box {kind}" {place} rx="6"/>'
    yield f'<text class="title" x="{at.x + PAD:.0f}" y="{at.y + 17:.0f}">{text(clipped(box.title, 48))}</text>'
    below = short_type(box.type)
    if box.folded and box.kind == "node":
        below += f", {box.nodes:,} nodes"
    yield f'<text class="type" x="{at.x + PAD:.0f}" y="{at.y + 32:.0f}">{text(clipped(below, 60))}</text></g>'
    if not box.columns:
        numbers = "  ".join(f"{SYMBOLS[word]} {box.counts[word]:,}" for word in VERDICTS if box.counts.get(word))
        yield f'<text class="type" x="{at.x + PAD:.0f}" y="{at.y + 50:.0f}">{numbers}</text>'
        return
    instances.sort(key=lambda one: VERDICTS.index(one[1]))
    for number, (name, verdict) in enumerate(instances):
        x, y = dot_place(number, box.columns)
        cx, cy = at.x + x + DOT / 2, at.y + y + DOT / 2
        hint = f"<title>{text(f'{name}: {verdict}')}</title>"
        if verdict == "failed":
            cross = f"M {cx - 3.5:.1f} {cy - 3.5:.1f} l 7 7 m 0 -7 l -7 7"
            yield f'<path class="cross" d="{cross}">{hint}</path>'
        else:
            yield f'<circle class="dot {KINDS[verdict]}" cx="{cx:.1f}" cy="{cy:.1f}" r="4">{hint}</circle>'
