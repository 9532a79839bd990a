"""A graph in Mermaid, which many web pages show as a picture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ordito.app.graph import Graph, GraphNode
from ordito.cli.graph.forest import Forest, clipped, more_nodes, short_type

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
    """A text in which nothing has a meaning for Mermaid: special characters are written by their numbers."""
    return SPECIAL.sub(lambda match: f"#{ord(match[0])};", text) or "#8203;"
