"""Rules that weaving the operations of relationships into the life of their nodes needs (§7.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.base.diagnostics import Related
from ordito.model.operation import Interface, Operation
from ordito.model.rules.topology import Topology
from ordito.model.service import CONFIGURE, RELATIONSHIP_LIFECYCLE, NodeTemplate, Relationship
from ordito.model.values import is_bundled
from ordito.syntax.expressions import Call, calls

LINKS = (
    "tosca.relationships.network.LinksTo",
    "tosca.relationships.network.BindsTo",
    "cloudify.relationships.depends_on",
)
"""Types of dependencies that should have operations."""
BEFORE_THE_SOURCE = ("pre_configure_target", "post_configure_target")
SIDES = ("source", "target")
KNOWN_FROM_THE_START = ("tosca_id", "tosca_name", "state")
MOST_LISTED = 8


def dependency_does_nothing(topology: Topology, relationship: Relationship) -> None:
    """A mere dependency has no operations of its own; a connection has (R-7.2.2.1-2)."""
    if any(kind in relationship.kinds for kind in LINKS):
        return
    for interface in relationship.interfaces.values():
        for operation in interface.operations.values():
            if operation.implementation is not None and not is_bundled(operation.span):
                topology.diagnostics.warning(
                    "operation-of-dependency",
                    f'the operation "{operation.name}" belongs to a relationship that only orders nodes (DependsOn)',
                    operation.span,
                    hint="derive the relationship from tosca.relationships.ConnectsTo",
                )


def sides_have_their_names(topology: Topology, relationship: Relationship) -> None:
    """The name of Cloudify's interfaces says at which end of a relationship their operations run."""
    for interface in relationship.interfaces.values():
        if RELATIONSHIP_LIFECYCLE not in interface.kinds or interface.name in SIDES:
            continue
        for operation in interface.operations.values():
            if operation.implementation is not None:
                topology.diagnostics.warning(
                    "operation-of-no-side",
                    f'"{operation.name}" of the interface "{interface.name}" is never called when nodes are linked, as'
                    " nobody says at which end of the relationship",
                    operation.span,
                    hint='call the interface "source" or "target"',
                )


def target_is_not_configured_by_its_source(topology: Topology, relationship: Relationship) -> None:
    """While the target is configured the source does not exist, so nothing that is known at run time only can come from
    there; properties of the source can (R-7.2.3.3-1)."""
    for interface in relationship.interfaces.values():
        if CONFIGURE not in interface.kinds:
            continue
        for operation in _before_the_source(interface):
            for item in operation.inputs.values():
                for call in calls(item.value):
                    if _is_too_early(call, topology.nodes[relationship.source]):
                        topology.diagnostics.error(
                            "too-early",
                            f'"{operation.name}" runs before the source exists, so input "{item.name}" cannot have its '
                            f"{'output' if call.function == 'get_operation_output' else 'attribute'}",
                            call.span,
                            hint="read a property with get_property, or use add_source, which runs later",
                        )


def _before_the_source(interface: Interface) -> list[Operation]:
    found = (interface.operations.get(name) for name in BEFORE_THE_SOURCE)
    return [o for o in found if o is not None and o.implementation is not None]


def _is_too_early(call: Call, source: NodeTemplate) -> bool:
    """Whether a call reads from the source what is only known once it exists."""
    if len(call.arguments) < 2 or call.arguments[0] != "SOURCE":
        return False
    if call.function == "get_operation_output":
        return True
    if call.function != "get_attribute":
        return False
    name = str(call.arguments[1])
    if name in source.definitions or name in KNOWN_FROM_THE_START:
        return False
    capability = source.capabilities.get(name)
    if capability is not None and len(call.arguments) > 2:
        return call.arguments[2] not in capability.definitions
    return name in source.attribute_definitions


def requirements_have_an_order(topology: Topology) -> None:
    """Nodes that require each other in a circle cannot be woven: each would wait for the other (R-7.2-2). It is a
    warning here, since a workflow of the template's own may do without the order."""
    for cycle in requirement_cycles(topology.nodes, topology.incoming):
        if all(r.is_hosting for r in cycle):
            continue  # such circles are errors, which have been reported
        names = [r.source for r in cycle]
        listed = [*names[:MOST_LISTED], *(["..."] if len(names) > MOST_LISTED else []), names[0]]
        topology.diagnostics.warning(
            "requirement-cycle",
            f"nodes require each other in a circle: {' -> '.join(listed)}; none of them could ever be started",
            cycle[0].span,
            hint="remove one of these requirements",
            related=[
                Related(f"{r.source} requires {r.target} ({r.requirement})", r.span)
                for r in cycle[1:MOST_LISTED]
                if r.span
            ],
        )


# Circles among the requirements of nodes.


def requirement_cycles(
    nodes: Mapping[str, NodeTemplate], incoming: Mapping[str, tuple[Relationship, ...]]
) -> Iterator[list[Relationship]]:
    """The cycles of requirements, also of a node that requires itself: each as its relationships, beginning with the
    node whose name comes first. No node is in two of them: where cycles share nodes, one is given.

    Every relationship is visited only a few times, however many cycles there are.
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
