"""Transform: warnings about values that operations need and that may not be there yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ordito.model.operation import Operation
from ordito.model.service import NodeTemplate, Service
from ordito.planning.draft import Draft
from ordito.planning.lifecycle import INSTALL, Per, Side
from ordito.planning.recipes import implemented
from ordito.syntax.expressions import Call, Value, calls

OF_INSTANCES = frozenset({"get_attribute", "get_operation_output"})


def check_references(draft: Draft) -> None:
    """Warn of every input that reads from a node which nothing orders before, and of every operation that runs before
    the source exists and reads from it (§7.2.3.3)."""
    # Templates of one type that change nothing share its interfaces.
    known: dict[int, list[tuple[Operation, Call]]] = {}
    for node in draft.ordered:
        if id(node.interfaces) not in known:
            known[id(node.interfaces)] = list(_node_calls(node))
        for operation, call in known[id(node.interfaces)]:
            _check_order(draft, node, operation, call)
        _check_early_sources(draft, node)


def _node_calls(node: NodeTemplate) -> Iterator[tuple[Operation, Call]]:
    for interface in node.interfaces.values():
        for row in (p.row for p in INSTALL if p.row.side is Side.NODE and p.row.interface in interface.kinds):
            operation = interface.operations.get(row.operation)
            if operation is not None and operation.implementation is not None:
                for declared in operation.inputs.values():
                    for call in _reading(declared.value):
                        yield operation, call


def _check_order(draft: Draft, node: NodeTemplate, operation: Operation, call: Call) -> None:
    name = str(call.arguments[0])
    if name == node.name or name not in draft.service.nodes:
        return
    if not _requires(draft.service, node, name):
        draft.diagnostics.warning(
            "unordered-reference",
            f'{operation.interface}.{operation.name} of node "{node.name}" reads from node "{name}", and nothing has'
            f' "{name}" deployed before',
            call.span,
            hint=f'add a requirement of "{node.name}" that leads to "{name}"',
        )


def _check_early_sources(draft: Draft, node: NodeTemplate) -> None:
    early = [p.row for p in INSTALL if p.row.per is Per.NEAR and p.row.side is Side.TARGET]
    for relationship in node.requirements:
        for row in early:
            operation = implemented(relationship, row)
            if operation is None:
                continue
            for declared in operation.inputs.values():
                for call in _reading(declared.value):
                    if call.arguments[0] == "SOURCE":
                        draft.diagnostics.warning(
                            "source-not-there-yet",
                            f'{row.operation} of "{relationship.key}" reads from the source, which does not exist while'
                            " the target is configured",
                            call.span,
                            hint="use a property of the source, or add_source",
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
