"""Circles of values: properties and attributes that come to themselves by what they refer to (§4.4.2, R-4.4.2-8).

Only values that hold calls can be part of a circle, so only these are looked at. What an operation needs that it gives
itself is no circle: it may use what its last run gave.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.places import Place, Slot
from ordito.model.reach import Reach
from ordito.model.service import NodeTemplate, Relationship
from ordito.model.values_with_calls import Holders
from ordito.syntax.expressions import Call, Value, calls, is_static

OF_VALUES = {"get_property": "property", "get_attribute": "attribute"}
MOST_LISTED = 20


class Spot(msgspec.Struct, frozen=True, eq=False):
    """A value with calls in it: where its calls stand, what people call it, and the value itself."""

    place: Place
    name: str
    value: Value

    @property
    def key(self) -> tuple[str, str, int]:
        """What no other value has; types share values, so the owner belongs to it."""
        relationship = self.place.relationship
        node = self.place.node
        return (node.name if node is not None else "", relationship.key if relationship else "", id(self.value))


class Cycles:
    """Finds circles. ``reach`` follows calls; what is wrong with them is for others to report."""

    def __init__(self, reach: Reach, diagnostics: Diagnostics) -> None:
        self._reach = reach
        self._diagnostics = diagnostics
        self._done: dict[tuple[str, str, int], bool] = {}
        """By value, whether it is still open: it waits for what it refers to."""
        self._holders = Holders()
        self._reported: set[frozenset[int]] = set()

    def check(self, owner: NodeTemplate | Relationship) -> None:
        """Look for circles from all values of a node or relationship on."""
        for held in self._holders.held(owner):
            if not is_static(held.value):
                prefix = f"{held.capability.name}." if held.capability is not None else ""
                name = owner.name if isinstance(owner, NodeTemplate) else owner.key
                place = Place(node=owner) if isinstance(owner, NodeTemplate) else Place(relationship=owner)
                self._follow(Spot(place, f"{name}.{prefix}{held.name}", held.value))

    def _follow(self, start: Spot) -> None:
        if start.key in self._done:
            return
        self._done[start.key] = True
        path: list[tuple[Spot, Iterator[tuple[Call, Spot]], Call | None]] = [(start, self._edges(start), None)]
        while path:
            spot, edges, _ = path[-1]
            edge = next(edges, None)
            if edge is None:
                self._done[spot.key] = False
                path.pop()
                continue
            call, following = edge
            is_open = self._done.get(following.key)
            if is_open:
                self._report([*((s, c) for s, _, c in path), (following, call)])
            elif is_open is None:
                self._done[following.key] = True
                path.append((following, self._edges(following), call))

    def _edges(self, spot: Spot) -> Iterator[tuple[Call, Spot]]:
        """The values with calls in them that a value refers to, with the call that does."""
        for call in calls(spot.value):
            what = OF_VALUES.get(call.function)
            slot = self._reach.find(call, spot.place) if what is not None else None
            if what is not None and slot is not None:
                following = _spot(slot, call, what)
                if following is not None:
                    yield call, following

    def _report(self, path: list[tuple[Spot, Call | None]]) -> None:
        """Report a circle: the path from where its last value was met first. ``path`` pairs each value with the call
        that led to it."""
        last = path[-1][0].key
        begin = next(i for i, (spot, _) in enumerate(path) if spot.key == last)
        circle = path[begin:]
        involved = [call for _, call in circle[1:] if call is not None]
        if frozenset(map(id, involved)) in self._reported:
            return
        self._reported.add(frozenset(map(id, involved)))
        names = [spot.name for spot, _ in circle]
        if len(names) > MOST_LISTED:
            names = [*names[: MOST_LISTED - 2], f"... ({len(names) - MOST_LISTED} more)", *names[-2:]]
        self._diagnostics.error(
            "value-cycle",
            f"a value depends on itself: {' -> '.join(names)}",
            involved[0].span,
            hint="give one of them a value of its own",
        )


def _spot(slot: Slot, call: Call, what: str) -> Spot | None:
    """The value, or the part of one, that a call leads to; None where it holds no call."""
    _, value = slot.value(what)
    name = slot.path
    for part in call.arguments[slot.rest :]:
        inner = _part(value, part)
        if inner is None:
            break
        value, name = inner, f"{name}.{part}"
    if not isinstance(value, Call | list | dict) or is_static(value):
        return None
    owner = slot.owner
    place = Place(node=owner) if isinstance(owner, NodeTemplate) else Place(relationship=owner)
    return Spot(place, name, value)


def _part(value: Value, part: Value) -> Value:
    """What is written at a place of a list or map; None where that cannot be told."""
    if isinstance(value, dict) and isinstance(part, str | int):
        return value.get(str(part))
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None
