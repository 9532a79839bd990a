"""A service as a graph: its nodes, which of them host which, and how they are connected."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping

import msgspec

from ordito.app.proposal import Proposal
from ordito.app.requests import ChoiceOptions
from ordito.app.services.chosen import look_at
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics
from ordito.model.service import Service
from ordito.planning.preview import PreviewStep, preview, waves
from ordito.work.plan import Action, Plan


class GraphRequest(msgspec.Struct, frozen=True):
    """The graph of a service (see ``chosen_service``): how many nodes to show at most, 0 for all; whether URLs that it
    names are fetched; and what is chosen where it leaves a choice."""

    service: str = ""
    directory: str = "."
    limit: int = 0
    fetch: bool = False
    choices: ChoiceOptions = ChoiceOptions()


class GraphNode(msgspec.Struct, frozen=True):
    """A node template: ``host`` is the name of the node that hosts it, or "", ``groups`` are its groups."""

    name: str
    type: str
    host: str = ""
    groups: tuple[str, ...] = ()


class GraphConnection(msgspec.Struct, frozen=True):
    """A relationship other than hosting."""

    source: str
    target: str
    requirement: str
    type: str


class Graph(msgspec.Struct, frozen=True):
    """A graph: hosts come before what they host. ``left_out`` is how many nodes are not shown."""

    name: str
    nodes: tuple[GraphNode, ...]
    connections: tuple[GraphConnection, ...]
    groups: Mapping[str, str]
    left_out: int = 0


class Drawn(msgspec.Struct, frozen=True):
    """A graph, and the files from which its service was read."""

    graph: Graph
    sources: tuple[str, ...] = ()


def graph(request: GraphRequest) -> Drawn:
    """Read a service and return its graph. Raises ``InvalidDocument``."""
    diagnostics = Diagnostics()
    with paused_collector():
        read = look_at(request.service, request.directory, request.choices, diagnostics, fetch=request.fetch)
    return Drawn(graph_of(read.service, request.limit), read.package.sources)


def graph_of(service: Service, limit: int = 0) -> Graph:
    """The graph of a resolved service, with the first ``limit`` nodes (0: all)."""
    hosts = {name: host.target for name, node in service.nodes.items() if (host := node.host) is not None}
    groups: dict[str, list[str]] = defaultdict(list)
    for group in service.groups.values():
        for member in group.members:
            groups[member].append(group.name)
    order = _hosts_first(list(service.nodes), hosts)
    shown = order[:limit] if limit else order
    known = set(shown)
    nodes = [
        GraphNode(name, service.nodes[name].type, hosts.get(name, ""), tuple(dict.fromkeys(groups[name])))
        for name in shown
    ]
    connections = [
        GraphConnection(made.source, made.target, made.requirement, made.type)
        for name in shown
        for made in service.nodes[name].requirements
        if made.target in known and made is not service.nodes[name].host
    ]
    named = {name: group.type for name, group in service.groups.items()}
    return Graph(service.name, tuple(nodes), tuple(connections), named, len(order) - len(shown))


def _hosts_first(names: list[str], hosts: Mapping[str, str]) -> list[str]:
    """All names, level by level, those without host first; else in declared order."""
    below: dict[str, list[str]] = defaultdict(list)
    for name in names:
        below[hosts.get(name, "")].append(name)
    order: list[str] = []
    todo = deque(below[""])
    while todo:
        name = todo.popleft()
        order.append(name)
        todo.extend(below.get(name, ()))
    return order


# A plan as a graph: its steps, each in the lane of its instance and in a column of time, and what waits for what and
# why.


class GraphStep(msgspec.Struct, frozen=True):
    """A step. ``lane`` is its instance; ``column`` its wave: steps of one column can run at the same time, limits of
    hosts aside. A step without ``shown`` only joins others. ``reason`` is an index into ``PlanGraph.reasons``."""

    id: str
    lane: str
    column: int
    reason: int
    tolerant: bool = False
    shown: PreviewStep | None = None


class GraphEdge(msgspec.Struct, frozen=True):
    """A step waits for another one: indices into ``PlanGraph.steps``, and one into ``PlanGraph.reasons``."""

    before: int
    after: int
    reason: int


class PlanGraph(msgspec.Struct, frozen=True):
    """A plan as a graph: steps in an order that all edges allow. ``reasons`` has those of edges first, then those of
    steps only; ``left_out`` is how many steps are not shown."""

    service: str
    workflow: str
    lanes: tuple[str, ...]
    steps: tuple[GraphStep, ...]
    edges: tuple[GraphEdge, ...]
    reasons: tuple[str, ...]
    left_out: int = 0

    @property
    def edge_reasons(self) -> tuple[str, ...]:
        """The reasons of edges, in the order in which they first appear."""
        count = 1 + max((edge.reason for edge in self.edges), default=-1)
        return self.reasons[:count]


def plan_graph(proposal: Proposal, limit: int = 0) -> PlanGraph:
    """The graph of a proposal's plan, with its first ``limit`` steps (0: all)."""
    plan = proposal.plan
    count = min(len(plan.steps), limit) if limit else len(plan.steps)
    shown = {step.id: step for wave in preview(plan).waves for step in wave}
    edges = [(edge[0], edge[1], edge[2]) for edge in plan.edges if edge[0] < count and edge[1] < count]
    numbers = _numbered([reason for *_, reason in edges], [step.reason for step in plan.steps[:count]])
    columns = waves(msgspec.structs.replace(plan, steps=plan.steps[:count], edges=tuple(edges)), joins=1).of_steps
    steps = tuple(
        GraphStep(
            step.id,
            "" if step.action is Action.JOIN else step.instance or step.id,
            columns[place],
            numbers[step.reason],
            step.flow.after_failure,
            shown.get(step.id),
        )
        for place, step in enumerate(plan.steps[:count])
    )
    return PlanGraph(
        proposal.service.name,
        plan.workflow,
        _lanes(steps),
        steps,
        tuple(GraphEdge(before, after, numbers[reason]) for before, after, reason in edges),
        _texts(plan, numbers),
        len(plan.steps) - count,
    )


def _numbered(*given: Iterable[int]) -> dict[int, int]:
    """New numbers of reasons, in the order in which they appear."""
    numbers: dict[int, int] = {}
    for reasons in given:
        for reason in reasons:
            numbers.setdefault(reason, len(numbers))
    return numbers


def _texts(plan: Plan, numbers: dict[int, int]) -> tuple[str, ...]:
    return tuple(plan.reasons[reason] for reason in numbers)


def _lanes(steps: tuple[GraphStep, ...]) -> tuple[str, ...]:
    """The instances, those that begin first on top."""
    first: dict[str, int] = {}
    for step in steps:
        if step.lane:
            first[step.lane] = min(step.column, first.get(step.lane, step.column))
    return tuple(sorted(first, key=lambda lane: first[lane]))
