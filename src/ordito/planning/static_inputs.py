"""Inputs of operations that documents and inputs decide: what is wrong with one is found before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.instances.context import Context
from ordito.instances.static_values import StaticValues
from ordito.model.operation import Input, Interface, Operation
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Service
from ordito.model.values_with_calls import Held
from ordito.planning.draft import Draft
from ordito.planning.implemented import implementations
from ordito.syntax.expressions import calls
from ordito.work.plan import OperationCall
from ordito.work.scopes import Scopes

DEPLOY = "deploy"


def check_operation_inputs(service: Service, inputs: Mapping[str, object], diagnostics: Diagnostics) -> None:
    """Evaluate the inputs of all operations that deploying and undeploying call, as far as no instance is needed for
    it. A template with a workflow of its own that deploys may give them there: then that is asked for when it is
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
    """Transform: evaluate the inputs of what a plan calls that somebody wrote or asked for, with the values that are
    given for it."""
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
    """Looks through operations. What is the same for all that have an operation is found out once."""

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
    """The inputs of which something is to be found out: those with calls, and required ones without a value."""
    for declared in operation.inputs.values():
        has_none = not declared.has_value or declared.value is None
        if declared.required if has_none else any(True for _ in calls(declared.value)):
            yield declared


def _defined(declared: Input) -> PropertyDefinition:
    assert declared.schema is not None
    return PropertyDefinition(
        declared.name, declared.schema, declared.required, metadata=declared.metadata, span=declared.span
    )
