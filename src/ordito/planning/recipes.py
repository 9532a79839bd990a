"""What the lifecycle table means for a node template: the operations of each of its instances, in order, and those of
each of its pairs. It is made once per template and shared by all its instances."""

from __future__ import annotations

from enum import StrEnum
from itertools import dropwhile, takewhile

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.instances.states import DELETED, STARTING
from ordito.model.operation import Operation
from ordito.model.service import STANDARD, NodeTemplate, Relationship, Service
from ordito.planning.calls import Calls
from ordito.planning.lifecycle import (
    INSTALL,
    LINKED_BY,
    MAKES,
    REMOVES,
    STARTS,
    STOPS,
    UNINSTALL,
    Per,
    Placed,
    Row,
    Side,
    Stage,
)
from ordito.planning.options import PlanOptions


class Where(StrEnum):
    """On whose Compute an operation runs: none at all, that of the instance itself, of its host, of the far end."""

    ORCHESTRATOR = "orchestrator"
    OWN = "own"
    HOST = "host"
    FAR = "far"


class Entry(msgspec.Struct, frozen=True):
    """One operation of every instance of a node. ``key`` is what the record remembers it by, ``name`` the rest of its
    steps' ids; ``relationship`` and ``side`` are given for operations once per (relationship, near instance)."""

    call: int
    key: str
    name: str
    stage: Stage | None
    where: Where
    delegated: bool = False
    relationship: Relationship | None = None
    side: Side = Side.NODE


class PairEntry(msgspec.Struct, frozen=True):
    """One operation of every pair of a relationship; ``key`` is what the link's record remembers it by."""

    call: int
    key: str
    stage: Stage | None
    where: Where
    side: Side


class Pairs(msgspec.Struct, frozen=True):
    """The operations of the pairs of one relationship. ``evidence`` are keys in the source's record, each of which
    shows that its pairs were begun."""

    relationship: Relationship
    entries: tuple[PairEntry, ...]
    evidence: tuple[str, ...] = ()


class Making(msgspec.Struct, frozen=True):
    """What is done to make an instance of a node, and to link it; ``start`` is what of it is done with one that is only
    stopped."""

    install: tuple[Entry, ...]
    link: tuple[Pairs, ...]
    start: tuple[Entry, ...]


class Removing(msgspec.Struct, frozen=True):
    """What is done to unlink an instance of a node, in the order of removal, and to remove it; ``drop`` is the call
    that stands for the removal of one that was never started, ``stop`` what is done to one that is only stopped."""

    unlink: tuple[Pairs, ...]
    uninstall: tuple[Entry, ...]
    drop: int
    stop: tuple[Entry, ...]


class Recipes:
    """The recipes of a service's templates, each made when it is first asked for."""

    def __init__(self, service: Service, calls: Calls, options: PlanOptions, diagnostics: Diagnostics) -> None:
        self._service = service
        self._calls = calls
        self._options = options
        self._diagnostics = diagnostics
        self._making: dict[str, Making] = {}
        self._removing: dict[str, Removing] = {}
        # Templates of one type that change nothing share its interfaces, which live as long as the service.
        self._found: dict[tuple[int, str], tuple[tuple[str, Operation], ...]] = {}
        self._implemented: dict[tuple[int, str], Operation | None] = {}
        self._standards: dict[int, str] = {}

    def making(self, node: NodeTemplate) -> Making:
        """How instances of a node template are made."""
        recipe = self._making.get(node.name)
        if recipe is None:
            stage = MAKES if self.is_delegated(node) else None
            install = self._entries(node, INSTALL, stage)
            recipe = Making(install, self._pairs(node, INSTALL, None), self._start(node, install))
            self._making[node.name] = recipe
        return recipe

    def removing(self, node: NodeTemplate) -> Removing:
        """How instances of a node template are removed."""
        recipe = self._removing.get(node.name)
        if recipe is None:
            stage = REMOVES if self.is_delegated(node) else None
            uninstall = self._entries(node, UNINSTALL, stage)
            recipe = self._removing[node.name] = Removing(
                unlink=tuple(reversed(self._pairs(node, UNINSTALL, stage))),
                uninstall=uninstall,
                drop=self._calls.nothing(node, self._standard(node), "delete"),
                stop=self._stop(node, uninstall),
            )
        return recipe

    def is_delegated(self, node: NodeTemplate) -> bool:
        """Whether a provider makes the node: it does not exist yet, one can, and the template implements none of its
        Standard operations."""
        own = (
            operation
            for interface in node.interfaces.values()
            if STANDARD in interface.kinds
            for operation in interface.operations.values()
        )
        return not node.existing and self._options.provides(node.kinds) and all(o.implementation is None for o in own)

    # ------------------------------------------------------------------------------------------------- instances

    def _entries(self, node: NodeTemplate, table: tuple[Placed, ...], delegated: Stage | None) -> tuple[Entry, ...]:
        found: list[Entry] = []
        if delegated is not None:
            name = "deploy" if delegated is MAKES else "undeploy"
            call = self._calls.of_provider(node, name)
            key = self._calls.all[call].key
            found.append(Entry(call, key, key, delegated, Where.ORCHESTRATOR, delegated=True))
        for placed in table:
            if placed.row.side is Side.NODE and delegated is None:
                found.extend(self._of_node(node, placed))
            elif placed.row.per is Per.NEAR:
                found.extend(self._near(node, placed, delegated=delegated is not None))
        return tuple(found)

    def _start(self, node: NodeTemplate, install: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """The part of an installation that starts. Nothing starts what a provider has made: only its state changes."""
        if install and install[0].delegated:
            return (self._pretend(node, "start", STARTS), *(e for e in install if e.stage is None))
        return tuple(dropwhile(lambda e: e.stage is None or e.stage.enter != STARTING, install))

    def _stop(self, node: NodeTemplate, uninstall: tuple[Entry, ...]) -> tuple[Entry, ...]:
        """The part of a removal that stops; as for ``_start``."""
        stop = tuple(takewhile(lambda e: e.stage is None or e.stage.leave != DELETED, uninstall))
        return (*stop, self._pretend(node, "stop", STOPS)) if self.is_delegated(node) else stop

    def _pretend(self, node: NodeTemplate, operation: str, stage: Stage) -> Entry:
        return self._entry(self._calls.nothing(node, self._standard(node), operation), stage, Where.ORCHESTRATOR)

    def _of_node(self, node: NodeTemplate, placed: Placed) -> list[Entry]:
        row = placed.row
        found: list[Entry] = []
        for interface, operation in self._operations(node, row):
            call = self._calls.of_node(node, interface, row.operation, operation)
            where = where_run(operation, node, Side.NODE, lifecycle=True)
            found.append(self._entry(call, placed.stage, where))
        if not found and row.always:
            name = self._standard(node)
            declared = node.interfaces[name].operations.get(row.operation) if name in node.interfaces else None
            call = self._calls.of_node(node, name, row.operation, declared)
            found.append(self._entry(call, placed.stage, Where.ORCHESTRATOR))
        return found

    def _operations(self, node: NodeTemplate, row: Row) -> tuple[tuple[str, Operation], ...]:
        """The operations with an implementation that a row stands for, each with the name of its interface."""
        key = id(node.interfaces), row.operation
        known = self._found.get(key)
        if known is None:
            having = [i for i in node.interfaces.values() if row.interface in i.kinds and row.operation in i.operations]
            every = ((i.name, i.operations[row.operation]) for i in having)
            known = tuple((name, operation) for name, operation in every if operation.implementation is not None)
            self._found[key] = known
        return known

    def _operation(self, relationship: Relationship, row: Row) -> Operation | None:
        """The operation of a relationship that a row stands for, if it has an implementation."""
        key = id(relationship.interfaces), row.operation
        if key not in self._implemented:
            self._implemented[key] = implemented(relationship, row.interface, row.operation)
        return self._implemented[key]

    def _standard(self, node: NodeTemplate) -> str:
        known = self._standards.get(id(node.interfaces))
        if known is None:
            known = self._standards[id(node.interfaces)] = _standard(node)
        return known

    def _entry(self, call: int, stage: Stage | None, where: Where) -> Entry:
        key = self._calls.all[call].key
        return Entry(call, key, key, stage, where)

    def _near(self, node: NodeTemplate, placed: Placed, *, delegated: bool) -> list[Entry]:
        row = placed.row
        found: list[Entry] = []
        relationships = node.requirements if row.side is Side.SOURCE else self._service.incoming.get(node.name, ())
        for relationship in relationships:
            operation = self._operation(relationship, row)
            if operation is None:
                continue
            if delegated:
                self._refuse(node, relationship, operation)
                continue
            call = self._calls.of_relationship(relationship, row.side, operation)
            name = f"{relationship.key}.{self._calls.all[call].name}"
            where = where_run(operation, node, row.side, lifecycle=True)
            key = self._calls.all[call].key
            found.append(Entry(call, key, name, placed.stage, where, relationship=relationship, side=row.side))
        return found

    def _refuse(self, node: NodeTemplate, relationship: Relationship, operation: Operation) -> None:
        self._diagnostics.error(
            "delegated-node-operation",
            f'relationship "{relationship.key}" implements {operation.name}, but a provider makes node "{node.name}" in'
            " one go, so that there is no moment for it",
            operation.span or relationship.span,
            hint="use add_target or add_source, or implement the Standard operations of the node",
        )

    # ----------------------------------------------------------------------------------------------------- pairs

    def _pairs(self, node: NodeTemplate, table: tuple[Placed, ...], stage: Stage | None) -> tuple[Pairs, ...]:
        found: list[Pairs] = []
        for relationship in node.requirements:
            entries = []
            for placed in table:
                row = placed.row
                operation = self._operation(relationship, row) if row.per is Per.PAIR else None
                if operation is not None:
                    call = self._calls.of_relationship(relationship, row.side, operation)
                    where = where_run(operation, node, row.side, lifecycle=False)
                    entries.append(PairEntry(call, self._calls.all[call].name, stage or placed.stage, where, row.side))
            if entries:
                found.append(Pairs(relationship, tuple(entries), self._evidence(node, relationship)))
        return tuple(found)

    def _evidence(self, node: NodeTemplate, relationship: Relationship) -> tuple[str, ...]:
        """Keys in the source's record that show that pairs were begun: those of near operations that begin them, or
        where no operation begins them, of the start of the source."""
        rows = [p.row for p in INSTALL if p.row.operation in LINKED_BY]
        begun = [r for r in rows if self._operation(relationship, r) is not None]
        if begun:
            near = [r for r in begun if r.per is Per.NEAR and r.side is Side.SOURCE]
            found = [self._operation(relationship, r) for r in near]
            return tuple(f"{relationship.key}/{o.interface}.{o.name}" for o in found if o is not None)
        if self.is_delegated(node):
            return ("delegate.deploy",)
        return (f"{self._standard(node)}.start",)


def implemented(relationship: Relationship, interface_type: str, name: str) -> Operation | None:
    """A relationship's operation of an interface type, if it has an implementation."""
    for interface in relationship.interfaces.values():
        operation = interface.operations.get(name)
        if operation is not None and operation.implementation is not None and interface_type in interface.kinds:
            return operation
    return None


def _standard(node: NodeTemplate) -> str:
    return next((i.name for i in node.interfaces.values() if STANDARD in i.kinds), "Standard")


def where_run(operation: Operation, node: NodeTemplate, side: Side, *, lifecycle: bool) -> Where:
    """Where an operation runs: as its ``operation_host`` says, else on the Compute of the instance; only the lifecycle
    of a Compute itself is the orchestrator's business."""
    asked = operation.operation_host.upper()
    if asked == "ORCHESTRATOR":
        return Where.ORCHESTRATOR
    if asked == "HOST":
        return Where.HOST
    if asked in {"SOURCE", "TARGET"} and side is not Side.NODE:
        return Where.OWN if asked.lower() == side else Where.FAR
    if asked != "SELF" and lifecycle and node.is_compute:
        return Where.ORCHESTRATOR
    return Where.OWN
