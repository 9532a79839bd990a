"""Which operations of the lifecycle table a template implements, and where they run."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.instances.lifecycle import DELEGATE, INSTALL, UNINSTALL, LifecycleRow, Side
from ordito.model.operation import Interface, Operation
from ordito.model.service import RELATIONSHIP_LIFECYCLE, STANDARD, NodeTemplate, Relationship
from ordito.planning.operation_sequence import Where

OWN, HOST, FAR, ORCHESTRATOR = Where.OWN, Where.HOST, Where.FAR, Where.ORCHESTRATOR

Implemented = dict[tuple[str, str], list[tuple[str, Operation]]]
NONE: list[tuple[str, Operation]] = []

WOVEN = frozenset(placed.row.interface for placed in (*INSTALL, *UNINSTALL)) - {DELEGATE}
"""The interface types of the table."""


class Implementations:
    """What templates implement, each found once: templates of one type without changes share its interfaces, which live
    as long as the service."""

    def __init__(self) -> None:
        self._known: dict[int, Implemented] = {}
        self._standards: dict[int, str] = {}

    def of(self, interfaces: Mapping[str, Interface]) -> Implemented:
        """What is implemented of some interfaces."""
        known = self._known.get(id(interfaces))
        if known is None:
            known = self._known[id(interfaces)] = implementations(interfaces)
        return known

    def operations(self, node: NodeTemplate, kind: str, operation: str) -> list[tuple[str, Operation]]:
        """The operations of an interface type that have an implementation, each with the name of its interface."""
        return self.of(node.interfaces).get((kind, operation), NONE)

    def operation(self, relationship: Relationship, row: LifecycleRow) -> Operation | None:
        """The operation of a relationship that a row stands for, if it has an implementation."""
        return of_row(self.of(relationship.interfaces), row)

    def standard(self, node: NodeTemplate) -> str:
        """The name of a node's interface of the standard lifecycle."""
        known = self._standards.get(id(node.interfaces))
        if known is None:
            found = (i.name for i in node.interfaces.values() if STANDARD in i.kinds)
            known = self._standards[id(node.interfaces)] = next(found, "Standard")
        return known


def is_own(row: LifecycleRow, every: Implemented) -> bool:
    """Whether an operation is implemented by the template although a provider creates the node: it is not one that
    creates the node, or it is implemented beside the image from which the node is created."""
    return not row.is_delegated or (row.interface, row.operation) in every


def implementations(interfaces: Mapping[str, Interface]) -> Implemented:
    """Which operations of the table are implemented: by interface type and name, with the names of the interfaces."""
    found: Implemented = {}
    for interface in interfaces.values():
        for kind in interface.kinds:
            for operation in interface.operations.values() if kind in WOVEN else ():
                if operation.implementation is not None:
                    found.setdefault((kind, operation.name), []).append((interface.name, operation))
    return found


def of_row(every: Implemented, row: LifecycleRow) -> Operation | None:
    """The operation of a relationship that a row of the table stands for, if it has an implementation: Cloudify's are
    those of the interface that is called like the side."""
    found = every.get((row.interface, row.operation), NONE)
    if row.interface == RELATIONSHIP_LIFECYCLE:
        return next((operation for name, operation in found if name == row.side), None)
    return found[0][1] if found else None


def where_run(operation: Operation, node: NodeTemplate, side: Side, *, lifecycle: bool) -> Where:
    """Where an operation runs: as its ``operation_host`` says, else on the Compute of the instance; only the lifecycle
    of a Compute itself runs on the orchestrator."""
    asked = operation.operation_host.upper()
    if asked == "ORCHESTRATOR":
        return ORCHESTRATOR
    if asked == "HOST":
        return HOST
    if asked in {"SOURCE", "TARGET"} and side is not Side.NODE:
        return OWN if asked.lower() == side else FAR
    if asked != "SELF" and lifecycle and node.is_compute:
        return ORCHESTRATOR
    return OWN
