"""A graph in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.authoring.graph import Graph, GraphNode, GraphStep, PlanGraph
from ordito.cli.graph.text import more_steps, step_name, step_says
from ordito.results.picture.layout import Forest, clipped, more_nodes, short_type

HEAD = """\
  graph [rankdir=LR, compound=true, fontname="sans-serif", style="rounded"];
  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11];
  edge [fontname="sans-serif", fontsize=9];"""


def dot(graph: Graph) -> Iterator[str]:
    """The lines of a directed graph. A host is a cluster, with a node of its own for its connections."""
    forest = Forest(graph)
    yield f"digraph {quoted(graph.name)} {{"
    yield HEAD
    for node, depth, entering in forest.walk():
        indent = "  " * (depth + 1)
        name = forest.ids[node.name]
        if not entering:
            yield f"{indent}}}"
        elif forest.below.get(node.name):
            yield f"{indent}subgraph cluster_{name} {{"
            yield f"{indent}  {name} [label={_label(node)}, shape=plaintext];"
        else:
            yield f"{indent}{name} [label={_label(node)}];"
    if graph.left_out:
        yield f"  more [label={quoted(more_nodes(graph))}, shape=plaintext];"
    for connection in graph.connections:
        source, target = forest.ids[connection.source], forest.ids[connection.target]
        yield f"  {source} -> {target} [label={quoted(clipped(connection.requirement))}];"
    yield "}"


def _label(node: GraphNode) -> str:
    groups = f"\n[{clipped(', '.join(node.groups))}]" if node.groups else ""
    return quoted(f"{clipped(node.name)}\n{clipped(short_type(node.type))}{groups}")


def quoted(text: str) -> str:
    """A quoted text."""
    safe = "".join(c if c >= " " or c == "\n" else " " for c in text)
    return '"' + safe.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


# A workflow as a graph in DOT, the language of Graphviz: a cluster for each instance; edges bear the numbers of their
# reasons, which stand below, and the reasons themselves as tooltips.


def plan_dot(graph: PlanGraph) -> Iterator[str]:
    """The lines of a directed graph."""
    ids = {step.id: f"s{number}" for number, step in enumerate(graph.steps)}
    in_lane: dict[str, list[GraphStep]] = {}
    for step in graph.steps:
        in_lane.setdefault(step.lane, []).append(step)
    yield f"digraph {quoted(f'{graph.service} {graph.workflow}')} {{"
    yield HEAD
    for number, lane in enumerate(graph.lanes):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={quoted(clipped(lane))};"
        for step in in_lane[lane]:
            style = ', style="rounded,dashed"' if step.shown is not None and step.shown.no_op else ""
            said = f"label={quoted(step_name(step))}, tooltip={quoted(step_says(graph, step))}"
            yield f"    {ids[step.id]} [{said}{style}];"
        yield "  }"
    for step in in_lane.get("", ()):
        yield f'  {ids[step.id]} [label="", shape=point, tooltip={quoted(step_says(graph, step))}];'
    for edge in graph.edges:
        before, after = ids[graph.steps[edge.before].id], ids[graph.steps[edge.after].id]
        reason = quoted(graph.reasons[edge.reason])
        yield f'  {before} -> {after} [label="{edge.reason + 1}", tooltip={reason}, labeltooltip={reason}];'
    legend = [f"{number}  {reason}" for number, reason in enumerate(graph.edge_reasons, 1)]
    if graph.left_out:
        legend.append(more_steps(graph))
    if legend:
        label = quoted("\n".join(legend) + "\n").replace("\\n", "\\l")
        yield f"  reasons [label={label}, shape=plaintext];"
    yield "}"
