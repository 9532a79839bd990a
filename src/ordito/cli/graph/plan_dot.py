"""A workflow as a graph in DOT, the language of Graphviz: a cluster for each instance; edges bear the numbers of their
reasons, which stand below, and the reasons themselves as tooltips."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.app.plan_graph import GraphStep, PlanGraph
from ordito.cli.graph.dot import HEAD, quoted
from ordito.cli.graph.forest import clipped
from ordito.cli.graph.plan_text import more_steps, step_name, step_says


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
