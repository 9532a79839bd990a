"""A workflow as a graph in Mermaid: a part for each instance; edges bear the numbers of their reasons."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.app.plan_graph import GraphStep, PlanGraph
from ordito.cli.graph.forest import clipped
from ordito.cli.graph.mermaid import escaped
from ordito.cli.graph.plan_text import more_steps, step_name


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
