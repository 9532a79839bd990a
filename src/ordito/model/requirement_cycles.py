"""Circles among the requirements of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.model.service import NodeTemplate, Relationship


def requirement_cycles(
    nodes: Mapping[str, NodeTemplate], incoming: Mapping[str, tuple[Relationship, ...]]
) -> Iterator[list[Relationship]]:
    """The circles of requirements, a node that requires itself included: each as the relationships on it, beginning
    with the node whose name comes first. No node is in two of them, so where circles share nodes one is given.

    Every relationship is looked at a few times only, however many circles there are.
    """
    left = _Left(nodes, incoming)
    while left.open:
        path: list[Relationship] = []
        places: dict[str, int] = {}
        name = next(iter(left.open))
        while True:
            while name in left.open and name not in places:
                places[name] = len(path)
                path.append(left.follow(name))
                name = path[-1].target
            cycle = path[places[name] :]
            start = min(range(len(cycle)), key=lambda i: cycle[i].source)
            yield cycle[start:] + cycle[:start]
            left.remove([r.source for r in cycle])
            while path and path[-1].source not in left.open:
                del places[path.pop().source]
            if not path:
                break
            name = path.pop().source
            del places[name]


class _Left:
    """The nodes that are in circles or require such that are: ``open`` counts the requirements of each that are met by
    another one of them, so that what leads to no circle any more goes."""

    def __init__(self, nodes: Mapping[str, NodeTemplate], incoming: Mapping[str, tuple[Relationship, ...]]) -> None:
        self._incoming = incoming
        self._nodes = nodes
        self._next: dict[str, int] = {}
        self.open: dict[str, int] = {}
        leaves = []
        for name, node in nodes.items():
            self.open[name] = sum(r.target in nodes for r in node.requirements) if node.requirements else 0
            if not self.open[name]:
                leaves.append(name)
        self.remove(leaves)

    def follow(self, name: str) -> Relationship:
        """A requirement of a node that is left, which leads to one that is left."""
        requirements = self._nodes[name].requirements
        place = self._next.get(name, 0)
        while requirements[place].target not in self.open:
            place += 1
        self._next[name] = place
        return requirements[place]

    def remove(self, names: list[str]) -> None:
        """Take nodes out, and then those that require only nodes that have been taken out."""
        gone = list(names)
        for name in names:
            del self.open[name]
        while gone:
            for relationship in self._incoming.get(gone.pop(), ()):
                source = relationship.source
                if source in self.open:
                    self.open[source] -= 1
                    if not self.open[source]:
                        del self.open[source]
                        gone.append(source)
