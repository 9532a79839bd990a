"""Transform: warnings about values that operations need and that may not be there yet."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ordito.base.diagnostics import Diagnostics, Related
from ordito.instances.context import Context
from ordito.instances.dependencies import targets_first
from ordito.instances.lifecycle import INSTALL, LifecycleRow, Per, Side
from ordito.instances.states import CONFIGURED
from ordito.instances.static_values import StaticValues
from ordito.model.operation import Input, Interface, Operation
from ordito.model.rules.weaving import requirement_cycles
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.model.settings import PREFIX
from ordito.model.values_with_calls import Held
from ordito.planning.draft import Draft
from ordito.planning.implemented import implementations, of_row
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.syntax.expressions import Call, Value, calls
from ordito.work.plan import Action, OperationCall
from ordito.work.scopes import Scopes

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
    """The operations of a relationship run when its target is up, except those at the target that configure it: then
    there is not even a source yet."""
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
    """Whether a node requires another, directly or indirectly; the nearest are looked at first."""
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
    """Report every artifact that nothing processes on the hosts on which it is to run."""
    protocols = {n.name: p for n in draft.ordered if n.is_compute and (p := draft.sequences.protocol(n))}
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
    """The first node that a host carries, directly or indirectly, on which an operation is to run."""
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
    """Refuse operations whose interpreter is not installed on this machine in the version that they ask for."""
    asking = {number for number, call in enumerate(draft.calls.all) if call.version}
    if not asking:
        return
    here: set[int] = set()
    for step in draft.steps:
        if step.call in asking and step.call not in here and step.action is not Action.JOIN and not step.done:
            compute = draft.members.get(step.runs_on)
            if compute is None or not draft.sequences.protocol(compute.template):
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


# Transform: the requirements of the templates have no cycle, and give the order in which templates are planned.


def check_requirements(draft: Draft) -> None:
    """Refuse every cycle of requirements, including a node that requires itself, with the names on it."""
    draft.ordered = targets_first(draft.service)
    _refuse_unordered(draft)
    if len(draft.ordered) == len(draft.service.nodes):
        return
    for cycle in requirement_cycles(draft.service.nodes, draft.service.incoming):
        names = [r.source for r in cycle]
        first = cycle[0]
        what = "requires itself" if len(cycle) == 1 else "are in a cycle of requirements"
        named = " and ".join(f'"{n}"' for n in sorted(set(names))) if len(cycle) < 3 else "nodes"
        path = " -> ".join([*names, names[0]])
        draft.diagnostics.error(
            "requirement-cycle",
            f"{named} {what}: {path}; none of them could ever be started",
            first.span,
            hint="remove one of these requirements",
            related=[Related(f"{r.source} requires {r.target} ({r.requirement})", r.span) for r in cycle if r.span],
        )


ORDERS_NOTHING = "cloudify.base.Relationship"


def _refuse_unordered(draft: Draft) -> None:
    """Refuse relationships of blueprints whose types say neither where a node lives nor what it needs."""
    for node in draft.ordered:
        for relationship in node.requirements:
            if ORDERS_NOTHING in relationship.kinds:
                draft.diagnostics.error(
                    "unsupported-relationship",
                    f'"{relationship.source}" and "{relationship.target}" are related by {relationship.type}, which'
                    " derives from none of contained_in, connected_to and depends_on",
                    relationship.span,
                    hint=f"derive {relationship.type} from cloudify.relationships.depends_on",
                )


# Transform: what comes up in a plan must have what it requires: up already, or coming up in the same plan.
#
# Of a node with several instances one that is up is enough; what is optional need not be up at all.


def check_dependencies(draft: Draft) -> None:
    """Refuse the plan for everything that is required and not up, each once, with the command that repairs it."""
    refused: dict[str, tuple[PlannedInstance, PlannedInstance, str]] = {}
    missing: dict[str, PlannedInstance | None] = {}
    for node in draft.ordered:
        for member in draft.of_node.get(node.name, ()):
            if not member.rises:
                continue
            host = draft.host_of(member)
            if host is not None and not host.is_up:
                refused.setdefault(host.id, (member, host, "is hosted on"))
            for relationship in node.requirements:
                if relationship.is_hosting:
                    continue
                if relationship.target not in missing:
                    missing[relationship.target] = not_up(draft, relationship.target)
                if (target := missing[relationship.target]) is not None:
                    refused.setdefault(target.id, (member, target, "requires"))
    for member, target, how in refused.values():
        _refuse(draft, member, target, how)


def lacks(draft: Draft, member: PlannedInstance) -> bool:
    """Whether something that an instance requires is not up, so that it cannot come up in this plan."""
    host = draft.host_of(member)
    if host is not None and not host.is_up:
        return True
    return requires_what_is_not_up(draft, member.template)


def requires_what_is_not_up(draft: Draft, node: NodeTemplate) -> bool:
    """Whether something that the instances of a node require, other than their hosts, is not up."""
    return any(not r.is_hosting and not_up(draft, r.target) is not None for r in node.requirements)


def not_up(draft: Draft, node: str) -> PlannedInstance | None:
    """An instance of a node of which none is up although one has to be."""
    members = draft.of_node.get(node, [])
    if draft.service.nodes[node].settings.is_optional or any(m.is_up for m in members):
        return None
    if members:
        return members[0]
    lost = (r for r in draft.snapshot.records_of(node) if not r.exists and not r.was_scaled_in)
    return next((PlannedInstance(r, draft.service.nodes[node], InstanceAction.KEEP, "") for r in lost), None)


def _refuse(draft: Draft, member: PlannedInstance, target: PlannedInstance, how: str) -> None:
    record = target.record
    is_stopped = record.state == CONFIGURED
    state = "stopped" if is_stopped else record.local
    if is_stopped:
        hint = f"`ordito start {target.id}` first, or name both in one command"
    else:
        hint = f"`ordito heal {target.id}` first" if record.created else "`ordito deploy` first, which makes it"
    draft.refusals.error(
        "dependency-not-up",
        f"{member.id} {how} {target.id}, which is {state} and not part of this plan",
        member.template.span,
        hint=hint,
    )


# Inputs of operations that documents and inputs decide: what is wrong with one is found before anything runs.


DEPLOY = "deploy"


def check_operation_inputs(service: Service, inputs: Mapping[str, object], diagnostics: Diagnostics) -> None:
    """Evaluate the inputs of all operations that deploying and undeploying call, as far as no instance is needed for
    that. A template with a deployment workflow of its own may set them there: they are checked when that workflow is
    planned."""
    checks = _Checks(StaticValues(service, inputs, diagnostics), diagnostics)
    if DEPLOY in service.workflows:
        return
    for node in service.nodes.values():
        checks.of_all(node.interfaces, f'node "{node.name}"', Context(node=node.name))
        for relationship in node.requirements:
            shown = f'the relationship "{relationship.key}"'
            checks.of_all(relationship.interfaces, shown, Context(relationship=relationship))


def check_called_inputs(draft: Draft) -> None:
    """Transform: evaluate the inputs of everything that a workflow of the template, or a command, calls in the plan,
    with the given values."""
    service, found = draft.service, StaticValues(draft.service, draft.inputs, draft.diagnostics)
    checks = _Checks(found, draft.diagnostics)
    nodes = {on: draft.members[on].template.name for on in {s.on for s in draft.scopes} & draft.members.keys()}
    scopes = Scopes(found.evaluator, tuple(draft.scopes), nodes)
    relationships = {r.key: r for n in service.nodes.values() for r in n.requirements}
    for call in draft.calls.all:
        holder = relationships.get(call.owner) if call.side else service.nodes.get(call.owner)
        interface = holder.interfaces.get(call.interface) if holder is not None else None
        operation = interface.operations.get(call.operation) if interface is not None else None
        if operation is None or not call.artifact or call.form or not scopes.is_decided(call.scope):
            continue
        context = Context(relationship=relationships[call.owner]) if call.side else Context(node=call.owner)
        context = _within(context, scopes, call)
        if wrong := scopes.wrong(call.scope):
            draft.diagnostics.error("bad-value", wrong, operation.span)
            continue
        checks.of(scopes.operation(operation, call), f'"{call.owner}"', context)


def _within(context: Context, scopes: Scopes, call: OperationCall) -> Context:
    """A context with the inputs of the workflow that calls."""
    return Context(node=context.node, relationship=context.relationship, inputs=scopes.inputs(call.scope))


class _Checks:
    """Checks operations; what is the same for several of them is found out once."""

    def __init__(self, values: StaticValues, diagnostics: Diagnostics) -> None:
        self._values = values
        self._diagnostics = diagnostics
        self._known: dict[int, tuple[Mapping[str, Interface], list[Operation]]] = {}

    def of_all(self, interfaces: Mapping[str, Interface], owner: str, context: Context) -> None:
        """Check the operations of the lifecycle that some interfaces implement."""
        known = self._known.get(id(interfaces))
        if known is None:
            every = (o for found in implementations(interfaces).values() for _, o in found)
            # It is kept with the interfaces, so that no others get their identity.
            known = self._known[id(interfaces)] = interfaces, [*filter(_is_open, {id(o): o for o in every}.values())]
        for operation in known[1]:
            self.of(operation, owner, context)

    def of(self, operation: Operation, owner: str, context: Context) -> None:
        """Check the inputs of an operation."""
        shown = f"{operation.interface}.{operation.name} of {owner}"
        for declared in _open_inputs(operation):
            if not declared.has_value or declared.value is None:
                self._diagnostics.error(
                    "missing-value",
                    f'the required input "{declared.name}" of {shown} has no value',
                    declared.span or operation.span,
                    hint="give it one where the operation is assigned, or a default; or write required: false",
                )
                continue
            definition = {} if declared.schema is None else {declared.name: _defined(declared)}
            self._values.check(Held("input", declared.name, declared.value, definition, of=shown), context)


def _is_open(operation: Operation) -> bool:
    return any(True for _ in _open_inputs(operation))


def _open_inputs(operation: Operation) -> Iterator[Input]:
    """The inputs that can be checked: those with function calls, and required ones without a value."""
    for declared in operation.inputs.values():
        has_none = not declared.has_value or declared.value is None
        if declared.required if has_none else any(True for _ in calls(declared.value)):
            yield declared


def _defined(declared: Input) -> PropertyDefinition:
    assert declared.schema is not None
    return PropertyDefinition(
        declared.name, declared.schema, declared.required, metadata=declared.metadata, span=declared.span
    )
