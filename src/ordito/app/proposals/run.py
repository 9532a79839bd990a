"""Planning `run`: one operation on all instances that pass the filters, with given inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import msgspec

from ordito.app.errors import Refused
from ordito.app.inputs.bound import CalledInputs
from ordito.app.names import MOST_NAMED, InstanceNames, operation_named
from ordito.app.proposal import PlanningContext, Proposal
from ordito.app.proposals.making import for_deployed, make_plan, read_deployed
from ordito.app.requests import INSTANCE, NODE, InstanceFilters, RunRequest
from ordito.app.services.workflows import bound_inputs
from ordito.base.collector import paused_collector
from ordito.base.diagnostics import Diagnostics
from ordito.base.suggest import nearest
from ordito.base.text import listed
from ordito.instances.records import Instance, Snapshot
from ordito.instances.states import INITIAL
from ordito.model.operation import Interface, Operation, interface_named
from ordito.model.service import NodeTemplate, Service
from ordito.planning.options import OfNode, OfStandIn, OperationRun, PlanOptions
from ordito.work.workflows import RUN

# The instances that several filters leave: by node, by instance and by type, all of which an instance must pass.


def filtered(
    filters: InstanceFilters, service: Service, snapshot: Snapshot, diagnostics: Diagnostics
) -> list[Instance]:
    """The existing instances that pass all filters and were started before, in the order of the nodes and of their
    numbers. If there are none, a note says why, and nothing is to be done. Raises ``Refused`` for unknown names, and
    for a named instance on which no operation was ever started."""
    names = InstanceNames(service, snapshot)
    nodes = {names.find(f"{NODE}{n.removeprefix(NODE)}").node for n in filters.nodes}
    ids = {names.find(f"{INSTANCE}{i.removeprefix(INSTANCE)}").instance for i in filters.instances}
    types = {_type(t, service) for t in filters.types}
    for record in (snapshot.instances[i] for i in ids):
        if not is_begun(record):
            raise Refused(
                "never-created",
                f'instance "{record.id}" was never created: no operation was ever started on it',
                next_words=("deploy",),
                purpose="create it",
            )
    found: list[Instance] = []
    for node in service.nodes.values():
        if (nodes and node.name not in nodes) or (types and types.isdisjoint(node.kinds)):
            continue
        records = snapshot.of_node(node.name)
        found += [r for r in records if (not ids or r.id in ids) and is_begun(r)]
    if not found:
        _note_nothing_left(filters, list(_clashes(nodes, ids, types, service, snapshot)), diagnostics)
    return found


def is_begun(record: Instance) -> bool:
    """Whether anything was ever done to an existing instance, by this ensemble or before it was adopted."""
    return bool(record.created or record.applied or record.state != INITIAL)


def _type(text: str, service: Service) -> str:
    known = {kind for node in service.nodes.values() for kind in node.kinds}
    if text in known:
        return text
    meant = sorted(kind for kind in known if kind.rpartition(".")[2] == text.rpartition(":")[2])
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise Refused("ambiguous-name", f'"{text}" may mean several node types', f"write {' or '.join(meant)}")
    near = nearest(text, sorted(known)) or nearest(text, sorted({kind.rpartition(".")[2] for kind in known}))
    raise Refused(
        "unknown-type",
        f'no node is of a type "{text}", or of one derived from it',
        f"did you mean {' or '.join(near)}?" if near else "",
        next_words=("describe",),
        purpose="see the nodes with their types",
    )


def _note_nothing_left(filters: InstanceFilters, clashes: list[str], diagnostics: Diagnostics) -> None:
    if clashes:
        diagnostics.note(
            "nothing-left",
            f"no instance passes all of {filters}: {listed(clashes, MOST_NAMED, between='; ')}",
            None,
            hint="leave out one of the filters, or use filters that agree",
        )
        return
    what = f"of {filters}" if str(filters) else "at all"
    diagnostics.note(
        "nothing-left",
        f"there is no instance {what} on which an operation was ever started",
        None,
        hint="`ordito status` shows what there is",
    )


def _clashes(nodes: set[str], ids: set[str], types: set[str], service: Service, snapshot: Snapshot) -> Iterator[str]:
    """Why the given filters contradict each other."""
    for name in sorted(ids):
        node = snapshot.instances[name].node
        if nodes and node not in nodes:
            yield f'"{name}" is an instance of "{node}"'
        elif types and types.isdisjoint(service.nodes[node].kinds):
            yield f'"{name}" is of type {service.nodes[node].type}'
    for name in sorted(nodes) if types else ():
        if types.isdisjoint(service.nodes[name].kinds):
            yield f'"{name}" is of type {service.nodes[name].type}'


Chosen = tuple[frozenset[str], OperationRun]


def given_of(request: RunRequest, proposal: Proposal) -> Mapping[str, object]:
    """The values of inputs of a request, as they were read for a proposal."""
    values: dict[str, object] = {}
    for call in proposal.plan.calls:
        values.update(call.given)
    for scope in proposal.plan.scopes:
        values.update({n: v for n, v in scope.inputs.items() if n in CalledInputs(request.inputs).names})
    return values


def propose(request: RunRequest, known: PlanningContext) -> Proposal:
    """The plan. Raises ``InvalidDocument``, ``Refused``, ``PlanRefused`` and ``EnsembleError``."""
    status = known.status
    if not status.service:
        raise Refused(
            "nothing-deployed",
            f"nothing is deployed in {known.place.shown}, so that there is nothing to run an operation on",
            next_words=("deploy",),
            purpose="deploy the service first",
        )

    def choose(service: Service, options: PlanOptions) -> PlanOptions:
        instances, wanted = _chosen(request, service, known.snapshot, diagnostics)
        return replace(options, instances=instances, run=wanted)

    diagnostics = Diagnostics()
    with paused_collector():
        read = read_deployed(known)
        made = make_plan(known, RUN, read, status.inputs, choose=choose)
    found = for_deployed(known, RUN, read, made)
    return msgspec.structs.replace(found, diagnostics=(*found.diagnostics, *diagnostics.sorted()))


def _chosen(request: RunRequest, service: Service, snapshot: Snapshot, diagnostics: Diagnostics) -> Chosen:
    """The instances, and the operation that is run on those of each node. Raises ``Refused`` and
    ``InvalidDocument``."""
    filters, stood_for = without_stand_ins(request.filters, service)
    given = CalledInputs(request.inputs)
    on = [stand_in(request.operation, n, given, service, override=request.override) for n in stood_for]
    stand_ins = dict(zip(stood_for, (found for _, found in on), strict=True))
    if stood_for and not filters.nodes:
        return frozenset(), OperationRun(on[0][0], {}, request.in_order, stand_ins)
    instances = filtered(filters, service, snapshot, diagnostics)
    nodes = [service.nodes[name] for name in dict.fromkeys(i.node for i in instances)]
    if not nodes:
        # That nobody has such an operation is a mistake all the same.
        interface, name = operation_named(request.operation, _interfaces(service.nodes.values()))
        return frozenset(), OperationRun(name, {}, request.in_order, stand_ins)
    interface, name = _named(request.operation, nodes, service)
    found: dict[str, OfNode] = {}
    lacking: list[str] = []
    for node in nodes:
        operation = _operation(node, interface, name)
        if operation is None:
            lacking.append(node.name)
            continue
        values = given.bound(operation.inputs, service.data_types)
        _check_inputs(request, node, operation, values)
        found[node.name] = OfNode(operation.interface, values)
    if lacking and not found:
        raise _not_everywhere(f"{interface}.{name}", lacking, service)
    if lacking:
        diagnostics.note(
            "not-everywhere",
            f"{interface}.{name} is run on the nodes that have it; {_quoted(lacking)}"
            f" {'has' if len(lacking) == 1 else 'have'} no such operation",
            None,
        )
    return frozenset(i.id for i in instances if i.node in found), OperationRun(name, found, request.in_order, stand_ins)


def _named(text: str, nodes: Iterable[NodeTemplate], service: Service) -> tuple[str, str]:
    """The interface and the operation that a text names on the chosen nodes. Raises ``Refused``."""
    try:
        return operation_named(text, _interfaces(nodes))
    except Refused as refused:
        if refused.code != "unknown-operation":
            raise
        elsewhere = _elsewhere(text, service)
        linking = list(dict.fromkeys(_linking(text, service)))
        if elsewhere is not None:
            raise _not_everywhere(".".join(elsewhere), [n.name for n in nodes], service) from None
        if not linking:
            raise
        raise Refused(
            "relationship-operation",
            f'"{text}" is an operation of relationships ({listed(linking, MOST_NAMED)}), and only'
            " operations of nodes can be run",
            "relationships are linked and unlinked by deploy, undeploy, start, stop, heal and scale; a workflow of the"
            " template can call their operations one by one (call_operation)",
        ) from None


def _interfaces(nodes: Iterable[NodeTemplate]) -> Iterator[Interface]:
    return (interface for node in nodes for interface in node.interfaces.values())


def _elsewhere(text: str, service: Service) -> tuple[str, str] | None:
    """What a text names on any node."""
    try:
        return operation_named(text, _interfaces(service.nodes.values()))
    except Refused as refused:
        if refused.code == "unknown-operation":
            return None
        raise


def _linking(text: str, service: Service) -> Iterator[str]:
    """The relationships that have an operation with this name."""
    for node in service.nodes.values():
        for relationship in node.requirements:
            try:
                operation_named(text, relationship.interfaces.values())
            except Refused as refused:
                if refused.code == "unknown-operation":
                    continue
            yield relationship.key


def _operation(node: NodeTemplate, interface: str, name: str) -> Operation | None:
    found = interface_named(node.interfaces, interface)
    return found.operations.get(name) if found is not None else None


def _not_everywhere(operation: str, lacking: list[str], service: Service) -> Refused:
    interface, _, name = operation.rpartition(".")
    having = [n.name for n in service.nodes.values() if _operation(n, interface, name) is not None]
    what = f"node {_quoted(lacking)} has" if len(lacking) == 1 else f"nodes {_quoted(lacking)} have"
    return Refused(
        "unknown-operation",
        f"{what} no operation {operation}",
        f"nodes that have it: {listed(having, MOST_NAMED)}; choose among them with --node, --type or --instance",
    )


def _check_inputs(request: RunRequest, node: NodeTemplate, operation: Operation, given: Mapping[str, object]) -> None:
    """Raise ``Refused`` for values that would override those of the template without permission, and for missing
    required ones."""
    full = f"{operation.interface}.{operation.name}"
    own = {name for name, i in operation.inputs.items() if i.has_value and not i.is_default}
    clashes = [name for name in given if name in own]
    if clashes and not request.override:
        several = "inputs" if len(clashes) > 1 else "input"
        raise Refused(
            "input-clash",
            f'the template gives {several} {_quoted(clashes)} of {full} of node "{node.name}" a value already',
            "give --override to have yours used instead, or leave it out",
        )
    missing = [n for n, i in operation.inputs.items() if i.required and not i.has_value and n not in given]
    if missing and operation.implementation is not None:
        raise Refused(
            "missing-input",
            f'{full} of node "{node.name}" needs {_quoted(missing)}, and the template gives no value',
            f"give it with -i {missing[0]}=VALUE",
        )


def _quoted(names: Iterable[str]) -> str:
    return listed((f'"{name}"' for name in names), MOST_NAMED)


# Operations that are run on nodes which topologies stand for: what they are mapped to there (§3.8.12).


def without_stand_ins(filters: InstanceFilters, service: Service) -> tuple[InstanceFilters, tuple[str, ...]]:
    """The filters without the names of substituted nodes, and these names. Raises ``Refused`` if such a node is named
    together with instances or types, because it has none."""
    stood_for = tuple(name for name in filters.nodes if name in service.substituted)
    if stood_for and (filters.instances or filters.types):
        raise Refused(
            "no-instances",
            f'"{stood_for[0]}" is substituted by a topology, and so has no instances of its own to be chosen by'
            " --instance or --type",
            f"choose among those of {listed(service.substituted[stood_for[0]].nodes, MOST_NAMED)}",
        )
    nodes = tuple(name for name in filters.nodes if name not in stood_for)
    return InstanceFilters(nodes, filters.instances, filters.types), stood_for


def stand_in(text: str, name: str, given: CalledInputs, service: Service, *, override: bool) -> tuple[str, OfStandIn]:
    """The operation that a text names on a substituted node, and the operation to which it is mapped, with its inputs.
    Raises ``Refused`` and ``InvalidDocument``."""
    substituted = service.substituted[name]
    interface, operation = operation_named(text, substituted.template.interfaces.values())
    target = substituted.operations.get(f"{interface}.{operation}")
    if target is None:
        raise Refused(
            "not-mapped",
            f'{interface}.{operation} of "{name}" is not mapped in {substituted.file}, which substitutes it',
            f"run it on what is inside: {listed((f'--node {n}' for n in substituted.nodes), MOST_NAMED, between=' ')}",
        )
    values = given.plain()
    if isinstance(target, tuple):
        if values:
            raise Refused(
                "input-clash",
                f'{interface}.{operation} of "{name}" is mapped to {".".join(target)}, which has inputs of its own',
                f"give them to that one: run {target[1]}.{target[2]} --node {target[0]}",
            )
        return operation, OfStandIn(target)
    workflow = service.workflows[target]
    declared = substituted.template.interfaces[interface].operations[operation].inputs
    own = {n: i.value for n, i in declared.items() if i.has_value and n in workflow.inputs}
    said = {n: value for n, value in own.items() if not declared[n].is_default}
    _refuse_clashes(values, said, f'{interface}.{operation} of node "{name}"', override=override)
    return operation, OfStandIn(target, bound_inputs(workflow, {**own, **values}, service))


def _refuse_clashes(given: Mapping[str, object], own: Mapping[str, object], what: str, *, override: bool) -> None:
    clashes = [name for name in given if name in own]
    if clashes and not override:
        raise Refused(
            "input-clash",
            f"the template gives {listed(clashes, MOST_NAMED)} of {what} a value already",
            "give --override to have yours used instead, or leave it out",
        )
