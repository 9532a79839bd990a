"""The curves between boxes. Those that meet at one side of a box share it evenly, in the order of their other ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

BULGE = 46.0
"""How far a curve goes out that begins and ends at the right."""


class Rectangle(Protocol):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


Point: TypeAlias = tuple[float, float]
Curve: TypeAlias = tuple[Point, Point, Point, Point]
"""Two ends, and two control points between them."""


def curves(ends: Sequence[tuple[str, str]], boxes: Mapping[str, Rectangle]) -> list[Curve]:
    """The curves between pairs of boxes, by the names of these."""
    sides = [_sides(boxes[source], boxes[target]) for source, target in ends]
    meeting: dict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
    for number, ((source, target), (begin, end)) in enumerate(zip(ends, sides, strict=True)):
        first, last = boxes[source], boxes[target]
        meeting[source, begin].append((last.y + last.height / 2, number, 0))
        meeting[target, end].append((first.y + first.height / 2, number, 1))
    places: dict[tuple[int, int], Point] = {}
    for (name, side), there in meeting.items():
        box = boxes[name]
        x = box.x if side == "left" else box.x + box.width
        for index, (_, number, which) in enumerate(sorted(there), start=1):
            places[number, which] = x, box.y + box.height * index / (len(there) + 1)
    found: list[Curve] = []
    for number, of in enumerate(sides):
        first_end, last_end = places[number, 0], places[number, 1]
        found.append((first_end, *_bends(first_end, last_end, of), last_end))
    return found


def middle(curve: Curve) -> Point:
    """The middle point of a curve."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = curve
    return (x0 + 3 * x1 + 3 * x2 + x3) / 8, (y0 + 3 * y1 + 3 * y2 + y3) / 8


def path(curve: Curve) -> str:
    """The data of a path in SVG."""
    begin, *bends = (f"{x:.1f} {y:.1f}" for x, y in curve)
    return f"M {begin} C {', '.join(bends)}"


def _sides(source: Rectangle, target: Rectangle) -> tuple[str, str]:
    """The sides at which a curve begins and ends: those that face each other, else both right ones."""
    if source.x + source.width <= target.x:
        return "right", "left"
    if target.x + target.width <= source.x:
        return "left", "right"
    return "right", "right"


def _bends(begin: Point, end: Point, sides: tuple[str, str]) -> tuple[Point, Point]:
    if sides == ("right", "right"):
        far = max(begin[0], end[0]) + BULGE
        return (far, begin[1]), (far, end[1])
    half = (begin[0] + end[0]) / 2
    return (half, begin[1]), (half, end[1])
