"""What a plan changes, as a picture: the nodes of the planned service, and the change of each instance.

A server keeps what the picture is made of beside the plan (``DrawnPlan``), since it is folded anew whenever somebody
opens a box.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from ordito.authoring.graph import Graph, graph_of
from ordito.results.answer import ResultData, UseCase
from ordito.results.picture.drawing import PictureBox, PictureEdge, picture
from ordito.results.picture.letters import letters
from ordito.results.picture.topology import TopologyAsked

if TYPE_CHECKING:
    from ordito.app.proposal import Proposal

CHANGES: Mapping[str, str] = {"+": "+", "~": "~", "-/+": "r", "-": "-", "=": "=", "?": "?"}
"""The letter of each change, by its symbol."""


class DrawnPlan(msgspec.Struct, frozen=True):
    """What the picture of a plan is made of."""

    graph: Graph
    instances: Mapping[str, str]
    """By the id of each instance that is changed, its node."""

    symbols: tuple[str, ...]
    """The symbols of their changes."""


def drawn_plan(proposal: Proposal) -> DrawnPlan:
    """What the picture of a proposal is made of."""
    made = {instance.id: instance for instance in proposal.plan.records.new}
    there = proposal.snapshot.instances
    changes = {
        change.instance: change.symbol
        for change in proposal.plan.changes
        if change.instance in made or change.instance in there
    }
    nodes = {name: (made.get(name) or there[name]).node for name in changes}
    return DrawnPlan(graph_of(proposal.service), nodes, tuple(changes.values()))


class ChangeColumns(msgspec.Struct, frozen=True):
    """The instances that are changed, in columns."""

    id: tuple[str, ...]
    box: tuple[int, ...]
    """The number of the box in which each stands, -1 where its node is no longer in the service."""

    change: str
    """What happens to each, one letter: ``+`` made, ``~`` changed, ``r`` replaced, ``-`` removed, ``=`` adopted, ``?``
    checked."""


class PlanTopologyData(ResultData, frozen=True, kw_only=True, tag="ordito.plan-topology/1"):
    """What a plan changes, as a picture."""

    service: str
    nodes: int
    """How many nodes there are."""

    size: tuple[int, int]
    """The width and height of the picture, in pixels."""

    boxes: tuple[PictureBox, ...]
    """Each behind the one in which it stands; ``counts`` are of changed instances, by the letter of their change."""

    edges: tuple[PictureEdge, ...]
    changes: ChangeColumns


class PlanTopologyAsked(TopologyAsked, frozen=True, kw_only=True):
    """About the picture of a plan."""

    drawn: msgspec.Raw
    """What it is made of (``DrawnPlan``): who answers cannot read the files of a server."""


def _topology(_: str, asked: PlanTopologyAsked) -> PlanTopologyData:
    found = msgspec.json.decode(asked.drawn, type=DrawnPlan)
    known = {node.name for node in found.graph.nodes}
    words = letters(found.symbols, CHANGES)
    counts: dict[str, dict[str, int]] = {}
    for node, letter in zip(found.instances.values(), words, strict=True):
        if node in known:
            of_node = counts.setdefault(node, {})
            of_node[letter] = of_node.get(letter, 0) + 1
    drawn = picture(found.graph, counts, asked.boxes, asked.open)
    return PlanTopologyData(
        service=found.graph.name,
        nodes=len(found.graph.nodes),
        size=drawn.size,
        boxes=drawn.boxes,
        edges=drawn.edges,
        changes=ChangeColumns(
            tuple(found.instances),
            tuple(drawn.box_of.get(node, -1) for node in found.instances.values()),
            words,
        ),
    )


PLAN_TOPOLOGY = UseCase("plans topology", PlanTopologyAsked, (PlanTopologyData,), _topology)
