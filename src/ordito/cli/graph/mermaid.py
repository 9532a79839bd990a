"""A graph in Mermaid, which many web pages show as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ordito.authoring.graph import Graph, GraphNode, GraphStep, PlanGraph
from ordito.cli.graph.text import more_steps, step_name
from ordito.results.picture.layout import Forest, clipped, more_nodes, short_type

SPECIAL = re.compile(r"[^\w .-]")


def mermaid(graph: Graph) -> Iterator[str]:
    """The lines of a flow chart."""
    forest = Forest(graph)
    yield "flowchart LR"
    for node, depth, entering in forest.walk():
        indent = "  " * (depth + 1)
        if not entering:
            yield f"{indent}end"
        elif forest.below.get(node.name):
            yield f"{indent}subgraph {forest.ids[node.name]}[{_label(node)}]"
        else:
            yield f"{indent}{forest.ids[node.name]}[{_label(node)}]"
    if graph.left_out:
        yield f'  more["{escaped(more_nodes(graph))}"]'
    for connection in graph.connections:
        source, target = forest.ids[connection.source], forest.ids[connection.target]
        yield f'  {source} -->|"{escaped(clipped(connection.requirement))}"| {target}'
    for number, name in enumerate(graph.groups):
        members = [forest.ids[node.name] for node in graph.nodes if name in node.groups]
        if members:
            yield f"  %% group {escaped(clipped(name))}"
            yield f"  classDef g{number} stroke-dasharray: 4 2"
            yield f"  class {','.join(members)} g{number}"


def _label(node: GraphNode) -> str:
    return f'"{escaped(clipped(node.name))}<br/>{escaped(clipped(short_type(node.type)))}"'


def escaped(text: str) -> str:
    """A text without special characters of Mermaid, which are written by their numbers."""
    return SPECIAL.sub(lambda match: f"#{ord(match[0])};", text) or "#8203;"


# A workflow as a graph in Mermaid: a part for each instance; edges bear the numbers of their reasons.


def plan_mermaid(graph: PlanGraph) -> Iterator[str]:
    """The lines of a flow chart."""
    ids = {step.id: f"s{number}" for number, step in enumerate(graph.steps)}
    in_lane: dict[str, list[GraphStep]] = {}
    for step in graph.steps:
        in_lane.setdefault(step.lane, []).append(step)
    yield "flowchart LR"
    for number, lane in enumerate(graph.lanes):
        yield f'  subgraph i{number}["{escaped(clipped(lane))}"]'
        for step in in_lane[lane]:
            yield f'    {ids[step.id]}["{escaped(step_name(step))}"]'
        yield "  end"
    for step in in_lane.get("", ()):
        yield f'  {ids[step.id]}(("#8203;"))'
    for edge in graph.edges:
        before, after = ids[graph.steps[edge.before].id], ids[graph.steps[edge.after].id]
        yield f'  {before} -->|"{edge.reason + 1}"| {after}'
    no_ops = [ids[step.id] for step in graph.steps if step.shown is not None and step.shown.no_op]
    if no_ops:
        yield "  classDef noop stroke-dasharray: 4 2"
        yield f"  class {','.join(no_ops)} noop"
    legend = [f"{number}  {escaped(reason)}" for number, reason in enumerate(graph.edge_reasons, 1)]
    if graph.left_out:
        legend.append(escaped(more_steps(graph)))
    if legend:
        yield f'  reasons["{"<br/>".join(legend)}"]'
