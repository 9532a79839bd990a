"""A graph as an outline of text."""

from __future__ import annotations

from collections import defaultdict

from ordito.app.graph import Connection, Graph
from ordito.cli.channel import Channel
from ordito.cli.graph.forest import Forest, more_nodes, short_type
from ordito.cli.text_width import printable


def write_tree(graph: Graph, channel: Channel) -> None:
    """Write the nodes, each below its host, with its connections."""
    forest = Forest(graph)
    outgoing: dict[str, list[Connection]] = defaultdict(list)
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


def graph_data(graph: Graph) -> dict[str, object]:
    """A graph as plain data."""
    return {
        "name": graph.name,
        "nodes": [{"name": n.name, "type": n.type, "host": n.host, "groups": list(n.groups)} for n in graph.nodes],
        "connections": [
            {"source": c.source, "target": c.target, "requirement": c.requirement, "type": c.type}
            for c in graph.connections
        ],
        "groups": dict(graph.groups),
        "left_out": graph.left_out,
    }
