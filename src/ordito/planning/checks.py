"""Transform: warnings about values that operations need and that may not be there yet."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple

from ordito.instances.lifecycle import INSTALL, LifecycleRow, Per, Side
from ordito.model.operation import Operation
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.model.settings import PREFIX
from ordito.planning.draft import Draft
from ordito.planning.implemented import implementations, of_row
from ordito.syntax.expressions import Call, Value, calls
from ordito.work.plan import Action

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


# Transform: no instance of a node serves more others than the occurrences of its capabilities allow (§3.7.2).
#
# The model has counted the templates; how many instances there are of each is known only here.


def check_capabilities(draft: Draft) -> None:
    """Refuse counts by which a capability of one instance would serve too many (R-3.7.2-8)."""
    limited: dict[int, list[Capability]] = {}
    for node in draft.ordered:
        found = limited.get(id(node.capabilities))
        if found is None:
            found = [c for c in node.capabilities.values() if c.occurrences[1] is not None]
            limited[id(node.capabilities)] = found
        if found and draft.counts[node.name]:
            users = _users(draft, node.name)
            for capability in found:
                _check(draft, node.name, capability, users[capability.name])


def _users(draft: Draft, target: str) -> Counter[str]:
    """How many source instances each capability of one instance of a node serves: those of a hosted node are spread
    over its hosts, others have a relationship with every target."""
    found: Counter[str] = Counter()
    for relationship in draft.service.incoming.get(target, ()):
        count = draft.counts.get(relationship.source, 0)
        if relationship.is_hosting:
            count = -(-count // draft.counts[target])
        found[relationship.capability] += count
    return found


def _check(draft: Draft, target: str, capability: Capability, users: int) -> None:
    most = capability.occurrences[1]
    if most is None or users <= most:
        return
    node = draft.service.nodes[target]
    draft.diagnostics.error(
        "too-many-sources",
        f'capability "{capability.name}" of "{target}" serves at most {most}, and {users} instances would use it',
        node.span,
        hint="lower the number of instances that use it, or raise the occurrences of the capability",
    )


# A check of the finished steps: what runs on hosts that are not this machine needs an executor that reaches them.


def check_executors(draft: Draft) -> None:
    """Report every artifact that nobody processes on the hosts on which it is to run."""
    protocols = {n.name: p for n in draft.ordered if n.is_compute and (p := draft.recipes.protocol(n))}
    if not protocols:
        return
    seen: set[tuple[int, str]] = set()
    for step in draft.steps:
        if not step.runs_on or step.done or step.call < 0:
            continue
        node = draft.members[step.runs_on].template.name
        if node not in protocols or (step.call, node) in seen:
            continue
        seen.add((step.call, node))
        call = draft.calls.all[step.call]
        if (
            call.artifact
            and call.processor
            and not draft.options.abilities.accepts_on((call.processor,), protocols[node])
        ):
            draft.diagnostics.error(
                "no-executor",
                f'no executor processes "{call.artifact}" (artifact type {call.processor}) on "{node}", which is'
                f" reached by {protocols[node]}",
                draft.service.nodes[node].span,
                hint="have the operation run on the orchestrator (operation_host: ORCHESTRATOR), or use an"
                " implementation in Bash or Python",
            )


# Transform: what is to run on machines that exist already can run there.

ADDRESSES = ("private_address", "public_address")
THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


def check_existing(draft: Draft) -> None:
    """Refuse operations on selected machines other than this one, which this version does not reach."""
    for node in draft.ordered:
        if not node.existing or not node.is_compute:
            continue
        if any(name.startswith(PREFIX) for name in node.attributes):
            continue  # It is a host that somebody knows how to reach.
        addresses = [str(node.attributes[a]) for a in ADDRESSES if node.attributes.get(a)]
        if not addresses or any(a in THIS_MACHINE for a in addresses):
            continue
        hosted = _operated(draft.service, node)
        if hosted is not None:
            draft.diagnostics.error(
                "not-supported-yet",
                f'"{hosted.name}" has operations that run on "{node.name}", the machine {addresses[0]} of the'
                " inventory, which this version does not reach",
                node.span,
                hint=f"select a machine whose address is one of {', '.join(sorted(THIS_MACHINE))}",
            )


def _operated(service: Service, host: NodeTemplate) -> NodeTemplate | None:
    """The first node that a host carries, directly or in turn, on which an operation is to run."""
    waiting = [host.name]
    seen = set(waiting)
    while waiting:
        for relationship in service.incoming.get(waiting.pop(), ()):
            node = service.nodes[relationship.source]
            if not relationship.is_hosting or node.name in seen:
                continue
            if any(o.implementation for i in node.interfaces.values() for o in i.operations.values()):
                return node
            seen.add(node.name)
            waiting.append(node.name)
    return None


# Transform: what runs on this machine finds the version of its interpreter there (§13.2.4).
#
# Of other hosts nobody knows that before they are reached; there it is looked for when the operation is to begin.


def check_interpreters(draft: Draft) -> None:
    """Refuse operations whose interpreter this machine does not have in the version that they ask for."""
    asking = {number for number, call in enumerate(draft.calls.all) if call.version}
    if not asking:
        return
    here: set[int] = set()
    for step in draft.steps:
        if step.call in asking and step.call not in here and step.action is not Action.JOIN and not step.done:
            compute = draft.members.get(step.runs_on)
            if compute is None or not draft.recipes.protocol(compute.template):
                here.add(step.call)
    said: set[tuple[str, str]] = set()
    for number in sorted(here):
        call = draft.calls.all[number]
        why = draft.options.abilities.lacking(call.processor, call.version)
        if why and (call.artifact, why) not in said:
            said.add((call.artifact, why))
            draft.diagnostics.error(
                "no-interpreter",
                f'"{call.artifact}" cannot be run: {why}',
                draft.calls.asking.get((call.artifact, call.version)),
                hint="install it, or write another artifact_version (docs/artifacts.md says what each means)",
            )
