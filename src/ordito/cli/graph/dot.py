"""A graph in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.app.graph import Graph, GraphNode
from ordito.cli.graph.forest import Forest, clipped, more_nodes, short_type

HEAD = """\
  graph [rankdir=LR, compound=true, fontname="sans-serif", style="rounded"];
  node [shape=box, style="rounded", fontname="sans-serif", fontsize=11];
  edge [fontname="sans-serif", fontsize=9];"""


def dot(graph: Graph) -> Iterator[str]:
    """The lines of a directed graph. A host is a cluster, with a node of its own at which connections end."""
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
