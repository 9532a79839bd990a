"""A graph as an outline of text."""

from __future__ import annotations

from collections import defaultdict

from ordito.authoring.graph import Graph, GraphConnection, GraphStep, PlanGraph
from ordito.cli.channel import Channel
from ordito.cli.progress.ledger import called, nothing, title
from ordito.cli.text_width import printable
from ordito.results.picture.layout import Forest, clipped, more_nodes, short_type


def write_tree(graph: Graph, channel: Channel) -> None:
    """Write the nodes, each below its host, with its connections."""
    forest = Forest(graph)
    outgoing: dict[str, list[GraphConnection]] = defaultdict(list)
    for connection in graph.connections:
        outgoing[connection.source].append(connection)
    arrow = "→" if channel.is_unicode else "->"
    for node, depth, entering in forest.walk():
        if not entering:
            continue
        groups = f"  [{', '.join(node.groups)}]" if node.groups else ""
        name = channel.paint("strong", printable(node.name))
        kind = channel.paint("faint", printable(short_type(node.type)))
        channel.line(f"{'  ' * depth}{name}  {kind}{printable(groups)}")
        for connection in outgoing[node.name]:
            target = f"{connection.target} ({connection.requirement})"
            channel.line(f"{'  ' * depth}    {arrow} {printable(target)}")
    if graph.left_out:
        channel.line(f"... {more_nodes(graph)}")


# A workflow as a graph in text: each step with all that it waits for, and why; and as plain data.


def step_name(step: GraphStep) -> str:
    """The text of a step's box."""
    return clipped(title(step.shown.operation, step.shown.far)) if step.shown is not None else ""


def step_says(graph: PlanGraph, step: GraphStep) -> str:
    """A step in one line: its name, what it runs and why."""
    return f"{called(step.id)}: {_does(graph, step)}"


def _does(graph: PlanGraph, step: GraphStep) -> str:
    """What a step runs, and why."""
    shown = step.shown
    if shown is None:
        return graph.reasons[step.reason]
    runs = "by a provider" if shown.delegated else shown.artifact or nothing(shown.operation)
    where = f" on {shown.runs_on}" if shown.runs_on and shown.runs_on != shown.instance else ""
    when = f", {shown.condition}" if shown.condition else ""
    return f"{runs}{where}{when}; {graph.reasons[step.reason]}"


def more_steps(graph: PlanGraph) -> str:
    """The text that counts the steps that are not shown."""
    return f"and {graph.left_out} more step{'s' if graph.left_out > 1 else ''}"


def write_plan_graph(graph: PlanGraph, channel: Channel) -> None:
    """Write the steps, each below those that it waits for."""
    arrow = "←" if channel.is_unicode else "<-"
    into: dict[int, list[tuple[int, int]]] = {}
    for edge in graph.edges:
        into.setdefault(edge.after, []).append((edge.before, edge.reason))
    channel.line(f"{channel.paint('strong', printable(graph.service))}  ({printable(graph.workflow)})")
    for place, step in enumerate(graph.steps):
        channel.line(f"{printable(called(step.id))}  {channel.paint('faint', printable(_does(graph, step)))}")
        for before, reason in into.get(place, ()):
            channel.line(printable(f"    {arrow} {called(graph.steps[before].id)}: {graph.reasons[reason]}"))
    if graph.left_out:
        channel.line(f"... {more_steps(graph)}")


def plan_graph_data(graph: PlanGraph) -> dict[str, object]:
    """The graph as plain data."""
    return {
        "name": graph.service,
        "workflow": graph.workflow,
        "steps": [
            {
                "id": step.id,
                "instance": step.lane,
                "operation": step.shown.operation if step.shown is not None else "",
                "no_op": step.shown is not None and step.shown.no_op,
                "column": step.column,
                "reason": graph.reasons[step.reason],
            }
            for step in graph.steps
        ],
        "edges": [
            {
                "before": graph.steps[edge.before].id,
                "after": graph.steps[edge.after].id,
                "reason": graph.reasons[edge.reason],
            }
            for edge in graph.edges
        ],
        "left_out": graph.left_out,
    }
