"""What all pictures need to know of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ordito.app.graph import Graph, GraphNode

LONGEST = 48


class Forest:
    """The nodes of a graph as trees of hosting. ``ids`` are names that every format can do with."""

    def __init__(self, graph: Graph) -> None:
        self.below: dict[str, list[GraphNode]] = defaultdict(list)
        for node in graph.nodes:
            self.below[node.host].append(node)
        self.ids = {node.name: f"n{number}" for number, node in enumerate(graph.nodes)}

    @property
    def roots(self) -> list[GraphNode]:
        """The nodes that nothing hosts."""
        return self.below[""]

    def walk(self) -> Iterator[tuple[GraphNode, int, bool]]:
        """Every node with its depth, in the order of an outline: on the way in (True) and, if it hosts something, on
        the way out (False). Without recursion, since users stack as many hosts as they like."""
        todo = [(node, 0, True) for node in reversed(self.roots)]
        while todo:
            node, depth, entering = todo.pop()
            yield node, depth, entering
            inner = self.below.get(node.name, ())
            if entering and inner:
                todo.append((node, depth, False))
                todo.extend((child, depth + 1, True) for child in reversed(inner))


def short_type(name: str) -> str:
    """A type's name without its namespace, and without what all normative ones begin with."""
    if "://" in name:
        name = name.rpartition(":")[2]
    return name.removeprefix("tosca.nodes.").removeprefix("tosca.groups.")


def clipped(text: str) -> str:
    """A text that is not too long for a picture, on one line."""
    line = " ".join(text.split()) or text
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def more_nodes(graph: Graph) -> str:
    """What stands for the nodes that are not shown."""
    return f"and {graph.left_out} more node{'s' if graph.left_out > 1 else ''}"
