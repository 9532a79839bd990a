"""What the lifecycle table means for the pairs of a node template: the operations of its relationships, each where the
table has it."""

from __future__ import annotations

from collections.abc import Callable

from ordito.base.diagnostics import Diagnostics
from ordito.instances.lifecycle import DELEGATE, INSTALL, PREPARES_LINK, PROVIDE, Per, PlacedRow, Side, Stage
from ordito.instances.states import STARTED, STOPPING
from ordito.model.operation import Operation
from ordito.model.service import LIFECYCLE, STANDARD, NodeTemplate, Relationship, Service
from ordito.planning.calls import Calls
from ordito.planning.implemented import Implementations, of_row, where_run
from ordito.planning.recipe import PairEntry, Pairs, SequencedOperation

SOURCE = Side.SOURCE
NEAR, PAIR = Per.NEAR, Per.PAIR

LINKING = frozenset({STARTED, STOPPING})
"""The states in which pairs are linked, and unlinked, of what is up."""


class PairRecipes:
    """The recipes of pairs. ``is_delegated`` says whether a provider makes a node."""

    def __init__(
        self,
        service: Service,
        calls: Calls,
        implemented: Implementations,
        is_delegated: Callable[[NodeTemplate], bool],
        diagnostics: Diagnostics,
    ) -> None:
        self._service = service
        self._calls = calls
        self._implemented = implemented
        self._is_delegated = is_delegated
        self._diagnostics = diagnostics

    def near(
        self, node: NodeTemplate, placed: PlacedRow, relationships: list[Relationship], *, delegated: bool
    ) -> list[SequencedOperation]:
        row = placed.row
        found: list[SequencedOperation] = []
        for relationship in relationships:
            operation = self._implemented.operation(relationship, row)
            if operation is None:
                continue
            if delegated:
                self._refuse(node, relationship, operation)
                continue
            call = self._calls.of_relationship(relationship, row.side, operation)
            name = f"{relationship.key}.{self._calls.all[call].name}"
            where = where_run(operation, node, row.side, lifecycle=True)
            key = self._calls.all[call].key
            found.append(
                SequencedOperation(call, key, name, placed.stage, where, relationship=relationship, side=row.side)
            )
        return found

    def check_moments(self, node: NodeTemplate, link: tuple[Pairs, ...]) -> None:
        """Refuse what would have to be done with pairs while a provider makes their source."""
        for pairs in link:
            for entry in pairs.entries if not pairs.is_link else ():
                call = self._calls.all[entry.call]
                operation = pairs.relationship.interfaces[call.interface].operations[call.operation]
                self._refuse(node, pairs.relationship, operation)

    def _refuse(self, node: NodeTemplate, relationship: Relationship, operation: Operation) -> None:
        self._diagnostics.error(
            "delegated-node-operation",
            f'relationship "{relationship.key}" implements {operation.name}, but a provider makes node "{node.name}" in'
            " one go, so that there is no moment for it",
            operation.span or relationship.span,
            hint="use add_target or add_source (establish in Cloudify's terms), or implement the operations that make"
            " the node",
        )

    def of_node(
        self, node: NodeTemplate, table: tuple[PlacedRow, ...], stage: Stage | None, places: dict[str, int]
    ) -> tuple[Pairs, ...]:
        """What is done with the pairs of each relationship, at each place where something is."""
        found: list[Pairs] = []
        for relationship in node.requirements:
            every = self._implemented.of(relationship.interfaces)
            entries: dict[str, list[PairEntry]] = {}
            for placed in table if every else ():
                operation = of_row(every, placed.row) if placed.row.per is PAIR else None
                if operation is not None:
                    entry = self._of_pair(relationship, placed, operation, stage)
                    entries.setdefault(placed.reached, []).append(entry)
            if entries:
                evidence, begin_each = self._evidence(node, relationship), self._begin_each(relationship)
                found += (
                    Pairs(relationship, tuple(own), places[reached], reached in LINKING, evidence, begin_each)
                    for reached, own in entries.items()
                )
        return tuple(found)

    def _of_pair(
        self, relationship: Relationship, placed: PlacedRow, operation: Operation, stage: Stage | None
    ) -> PairEntry:
        row = placed.row
        near = relationship.source if row.side is SOURCE else relationship.target
        makes = row.operation in PREPARES_LINK
        where = where_run(operation, self._service.nodes[near], row.side, lifecycle=makes)
        call = self._calls.of_relationship(relationship, row.side, operation)
        return PairEntry(call, self._calls.all[call].name, stage or placed.stage, where, row.side)

    def _begin_each(self, relationship: Relationship) -> bool:
        """Whether there are operations that begin pairs one by one."""
        rows = (p.row for p in INSTALL if p.row.begins and p.row.per is Per.PAIR)
        return any(self._implemented.operation(relationship, row) is not None for row in rows)

    def _evidence(self, node: NodeTemplate, relationship: Relationship) -> tuple[str, ...]:
        """Keys in the source's record that show that pairs were begun: those of near operations that begin them, or
        where no operation begins them, of the start of the source."""
        rows = [p.row for p in INSTALL if p.row.begins]
        begun = [r for r in rows if self._implemented.operation(relationship, r) is not None]
        if begun:
            near = [r for r in begun if r.per is NEAR and r.side is SOURCE]
            found = [self._implemented.operation(relationship, r) for r in near]
            return tuple(f"{relationship.key}/{o.interface}.{o.name}" for o in found if o is not None)
        if self._is_delegated(node):
            return (f"{DELEGATE}.{PROVIDE}",)
        starts = self._implemented.operations(node, STANDARD, "start") or self._implemented.operations(
            node, LIFECYCLE, "start"
        )
        return (f"{starts[0][0] if starts else self._implemented.standard(node)}.start",)


def in_reverse(pairs: tuple[Pairs, ...]) -> tuple[Pairs, ...]:
    """The pairs of a node with its relationships the other way round; what is done with each keeps its order."""
    by_relationship: dict[str, list[Pairs]] = {}
    for one in pairs:
        by_relationship.setdefault(one.relationship.key, []).append(one)
    return tuple(p for own in reversed(by_relationship.values()) for p in own)
