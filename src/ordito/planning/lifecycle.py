"""The lifecycle table: which operations a declarative workflow calls, where, and in which order (§5.8.4, §5.8.5, §7.2).

A row says that an operation of an interface type is called between two points of an instance's chain; the points are
the node states that the chain passes through and the other operations. A row applies wherever a node or relationship
type carries the interface, so another vocabulary is just more rows.

| side | per | where the operation runs | how often |
|---|---|---|---|
| node | instance | the instance itself | once |
| source, target | near | the instance at that side of a relationship | once per relationship |
| source, target | pair | the instance at that side, in the chain of the source | once per pair of instances |
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise

import msgspec

from ordito.instances.states import (
    CONFIGURED,
    CONFIGURING,
    CREATED,
    CREATING,
    DELETED,
    DELETING,
    STARTED,
    STARTING,
    STOPPING,
    TRANSITIONAL,
)
from ordito.model.service import CONFIGURE, STANDARD


class Side(StrEnum):
    """On what an operation is declared, and at which end of it it runs."""

    NODE = ""
    SOURCE = "source"
    TARGET = "target"


class Per(StrEnum):
    """How often an operation is called."""

    INSTANCE = "instance"
    NEAR = "near"
    PAIR = "pair"


class Row(msgspec.Struct, frozen=True):
    """One operation in the table. ``after`` and ``before`` are node states or operations of the same chain, "" for
    none; ``always`` says that the call appears even where the operation has no implementation."""

    interface: str
    operation: str
    side: Side
    per: Per
    after: str = ""
    before: str = ""
    always: bool = False


class Stage(msgspec.Struct, frozen=True):
    """A part of a chain: the state during it and the state after it."""

    enter: str
    leave: str


class Placed(msgspec.Struct, frozen=True):
    """A row at its place in the order, and the stage it belongs to (None where it changes no state)."""

    row: Row
    stage: Stage | None


def in_order(states: tuple[str, ...], rows: tuple[Row, ...]) -> tuple[Placed, ...]:
    """The rows in an order that respects their points; rows that nothing else orders keep the order of the table."""
    points = [*states, *(r.operation for r in rows)]
    waits: dict[str, set[str]] = {p: set() for p in points}
    for before, after in pairwise(states):
        waits[after].add(before)
    for row in rows:
        if row.after:
            waits[row.operation].add(row.after)
        if row.before:
            waits[row.before].add(row.operation)
    by_operation = {r.operation: r for r in rows}
    placed: list[Placed] = []
    stage: Stage | None = None
    while waits:
        # Operations before states, so that a stage ends only when nothing belongs to it any more.
        free = [p for p in waits if not waits[p]]
        point = next((p for p in free if p in by_operation), free[0])
        del waits[point]
        for others in waits.values():
            others.discard(point)
        if point in by_operation:
            placed.append(Placed(by_operation[point], stage))
        elif point in TRANSITIONAL:
            stage = Stage(point, states[states.index(point) + 1])
        else:
            stage = None
    return tuple(placed)


INSTALL = in_order(
    (CREATING, CREATED, CONFIGURING, CONFIGURED, STARTING, STARTED),
    (
        Row(STANDARD, "create", Side.NODE, Per.INSTANCE, CREATING, CREATED, always=True),
        Row(CONFIGURE, "pre_configure_source", Side.SOURCE, Per.NEAR, CONFIGURING, "configure"),
        Row(CONFIGURE, "pre_configure_target", Side.TARGET, Per.NEAR, CONFIGURING, "configure"),
        Row(STANDARD, "configure", Side.NODE, Per.INSTANCE, CONFIGURING, CONFIGURED, always=True),
        Row(CONFIGURE, "post_configure_source", Side.SOURCE, Per.NEAR, "configure", CONFIGURED),
        Row(CONFIGURE, "post_configure_target", Side.TARGET, Per.NEAR, "configure", CONFIGURED),
        Row(STANDARD, "start", Side.NODE, Per.INSTANCE, STARTING, STARTED, always=True),
        Row(CONFIGURE, "add_target", Side.SOURCE, Per.PAIR, STARTED),
        Row(CONFIGURE, "add_source", Side.TARGET, Per.PAIR, "add_target"),
    ),
)
"""How an instance comes to be, in order."""

UNINSTALL = in_order(
    (STOPPING, CONFIGURED, DELETING, DELETED),
    (
        Row(CONFIGURE, "remove_target", Side.SOURCE, Per.PAIR, STOPPING, "stop"),
        Row(CONFIGURE, "remove_source", Side.TARGET, Per.PAIR, "remove_target", "stop"),
        Row(STANDARD, "stop", Side.NODE, Per.INSTANCE, STOPPING, CONFIGURED, always=True),
        Row(STANDARD, "delete", Side.NODE, Per.INSTANCE, DELETING, DELETED, always=True),
    ),
)
"""How an instance goes, in order."""

LINKED_BY = ("pre_configure_source", "add_target", "add_source")
"""A pair is unlinked only if one of these was started for it."""

MAKES = Stage(CREATING, STARTED)
REMOVES = Stage(STOPPING, DELETED)
"""The states that an instance passes through while a provider is at work."""

STARTS = Stage(STARTING, STARTED)
STOPS = Stage(STOPPING, CONFIGURED)
"""Those of an instance that nothing stops or starts, because a provider has made it."""
