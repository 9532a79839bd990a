"""Transform: warnings about values that operations need and that may not be there yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ordito.instances.lifecycle import INSTALL, LifecycleRow, Per, Side
from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.planning.draft import Draft
from ordito.planning.implemented import implementations, of_row
from ordito.syntax.expressions import Call, Value, calls

OF_INSTANCES = frozenset({"get_attribute", "get_operation_output"})


def check_references(draft: Draft) -> None:
    """Warn of every input that reads from a node which nothing orders before, and of every operation that runs before
    the source exists and reads from it (§7.2.3.3)."""
    # Templates of one type that change nothing share its interfaces.
    known: dict[int, list[tuple[Operation, Call]]] = {}
    of_links: dict[int, list[_Read]] = {}
    for node in draft.ordered:
        if id(node.interfaces) not in known:
            known[id(node.interfaces)] = list(_node_calls(node))
        for operation, call in known[id(node.interfaces)]:
            _check_order(draft, node, f'{operation.interface}.{operation.name} of node "{node.name}"', call)
        for relationship in node.requirements:
            if id(relationship.interfaces) not in of_links:
                of_links[id(relationship.interfaces)] = list(_link_calls(relationship))
            for read in of_links[id(relationship.interfaces)]:
                _check_link(draft, node, relationship, read)


class _Read(NamedTuple):
    """An input of a relationship's operation that reads from an instance."""

    row: LifecycleRow
    operation: Operation
    call: Call


def _node_calls(node: NodeTemplate) -> Iterator[tuple[Operation, Call]]:
    every = implementations(node.interfaces)
    for row in OF_NODES:
        for _, operation in every.get((row.interface, row.operation), ()):
            for declared in operation.inputs.values():
                for call in _reading(declared.value):
                    yield operation, call


def _link_calls(relationship: Relationship) -> Iterator[_Read]:
    every = implementations(relationship.interfaces)
    for row in OF_LINKS if every else ():
        operation = of_row(every, row)
        if operation is not None:
            for declared in operation.inputs.values():
                yield from (_Read(row, operation, call) for call in _reading(declared.value))


OF_LINKS = [placed.row for placed in INSTALL if placed.row.side is not Side.NODE]
OF_NODES = [placed.row for placed in INSTALL if placed.row.side is Side.NODE]


def _check_link(draft: Draft, node: NodeTemplate, relationship: Relationship, read: _Read) -> None:
    """The operations of a relationship run when its target is up, save those at the target itself that configure it:
    then there is not even a source."""
    row, operation, call = read
    name = str(call.arguments[0])
    is_early = row.per is Per.NEAR and row.side is Side.TARGET
    if is_early and name in {"SOURCE", relationship.source}:
        draft.diagnostics.warning(
            "source-not-there-yet",
            f'{row.operation} of "{relationship.key}" reads from the source, which does not exist while'
            " the target is configured",
            call.span,
            hint="use a property of the source, or add_source",
        )
        return
    waiting = draft.service.nodes[relationship.target] if is_early else node
    what = f'{operation.interface}.{operation.name} of relationship "{relationship.key}"'
    _check_order(draft, waiting, what, call)


def _check_order(draft: Draft, node: NodeTemplate, what: str, call: Call) -> None:
    """Warn where an operation in a node's chain reads from a node that this one does not wait for."""
    name = str(call.arguments[0])
    if name == node.name or name not in draft.service.nodes:
        return
    if not _requires(draft.service, node, name):
        draft.diagnostics.warning(
            "unordered-reference",
            f'{what} reads from node "{name}", and nothing has "{name}" deployed before: "{node.name}" lacks a'
            " requirement that leads to it",
            call.span,
            hint=f'add a requirement of "{node.name}" that leads to "{name}"',
        )


def _reading(value: Value) -> Iterator[Call]:
    if isinstance(value, Call | list | dict):
        yield from (c for c in calls(value) if c.function in OF_INSTANCES)


def _requires(service: Service, node: NodeTemplate, wanted: str) -> bool:
    """Whether a node requires another, directly or in turn; the nearest are looked at first."""
    found: set[str] = set()
    waiting = deque(r.target for r in node.requirements)
    while waiting:
        name = waiting.popleft()
        if name == wanted:
            return True
        if name not in found:
            found.add(name)
            waiting.extend(r.target for r in service.nodes[name].requirements)
    return False
