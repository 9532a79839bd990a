"""Values that depend only on the documents and the inputs, evaluated as soon as the inputs are bound: each must meet
its declaration, in type and constraints (§4.4, R-3.6.11-2, R-4.4.1-3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import is_sensitive
from ordito.base.span import Span
from ordito.instances.context import Context, EvaluationError, NeedsInput, NeedsInstance, Nothing
from ordito.instances.evaluate import STATIC, Evaluator
from ordito.instances.lookup import INDEX
from ordito.instances.slots import InstanceSlots
from ordito.model.block_types import LIFECYCLE_STEP
from ordito.model.checking import Checker, misfit
from ordito.model.faults import Fault, place_of
from ordito.model.imperative import Activity
from ordito.model.operation import KEYWORDS
from ordito.model.schema import PropertyDefinition
from ordito.model.service import NodeTemplate, Service
from ordito.model.values_with_calls import Held, Holders
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.functions import OF_ENTITIES


def check_static_values(service: Service, inputs: Mapping[str, object], diagnostics: Diagnostics) -> None:
    """Evaluate the properties and outputs of a service that hold calls, as far as they need no instance, or only its
    index among those that the node will have.

    A value that cannot be evaluated, or does not meet its declaration, is reported at the call. A value that needs an
    input without a value is skipped.
    """
    checks = StaticValues(service, inputs, diagnostics)
    holders = Holders()
    for node in (*service.nodes.values(), *(s.template for s in service.substituted.values())):
        for held in (*holders.held(node), *_numbered(node), *_of_artifacts(node)):
            checks.check(held, Context(node=node.name))
        for relationship in node.requirements:
            for held in holders.held(relationship):
                checks.check(held, Context(relationship=relationship))
    for held in chain.from_iterable(map(holders.held, service.groups.values())):
        checks.check(held, Context())
    for policy in service.policies.values():
        # What a lifecycle step says may speak of the node that it is about.
        about = policy.nodes if LIFECYCLE_STEP in policy.kinds and policy.targets else ("",)
        for held in holders.held(policy):
            for name in about:
                checks.check(held, Context(node=name))
    _check_activities(service, checks)
    for output in service.outputs.values():
        definitions = (
            {} if output.schema is None else {output.name: PropertyDefinition(output.name, output.schema, False)}
        )
        checks.check(Held("output", output.name, output.value, definitions), Context())


def _numbered(node: NodeTemplate) -> Iterator[Held]:
    """The inputs of a node's operations that differ from instance to instance by its number."""
    if node.instance_count is None and node.occurrences is None:
        return
    for interface in node.interfaces.values():
        for operation in interface.operations.values():
            for name, declared in operation.inputs.items():
                if any(INDEX in call.arguments for call in calls(declared.value)):
                    yield Held(INPUT, name, declared.value, {})


def _check_activities(service: Service, checks: StaticValues) -> None:
    """Check the inputs that workflows and triggers give to what they call, as far as these are the same whoever it is
    called for and whatever the workflow is given."""
    for workflow in service.workflows.values():
        for step in workflow.steps.values():
            node = step.target if step.target in service.nodes and not step.relationship else ""
            for held in _of_activities(step.activities, workflow.inputs, f'workflow "{workflow.name}"', node):
                checks.check(held, Context(node=node))
    for policy in service.policies.values():
        for trigger in policy.triggers.values():
            for held in _of_activities(trigger.actions, (), f'trigger "{trigger.name}"', ""):
                checks.check(held, Context())


def _of_activities(activities: Iterable[Activity], given: Collection[str], owner: str, node: str) -> Iterator[Held]:
    """The inputs of activities that need none of the inputs ``given`` to their workflow, and no entity of which it is
    not known which one is meant."""
    for activity in activities:
        for name, value in activity.inputs.items():
            first = [(call.function, call.arguments[0]) for call in calls(value)]
            if not any(
                (function == "get_input" and argument in given)
                or (function in OF_ENTITIES and argument in KEYWORDS and not node)
                for function, argument in first
            ):
                yield Held(INPUT, name, value, {}, of=f"{activity.name} in {owner}")


def _of_artifacts(node: NodeTemplate) -> Iterator[Held]:
    for artifact in node.artifacts.values():
        for name, value in artifact.properties.items():
            yield Held("property", name, value, {})


INPUT = "input"
GIVE_ONE = "give it a value, or a default to what it refers to"
OR_NONE = "; or write required: false"
SIMPLE = (bool, int, float, str)
MOST_SHOWN = 60


def _told(problem: Fault, value: Value, data: object) -> Fault:
    """A broken constraint, with the value that breaks it."""
    text = msgspec.json.encode(data).decode()
    shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
    hint = "; ".join(filter(None, (problem.hint, _of_input(value))))
    return msgspec.structs.replace(problem, message=f"{problem.message}, and is {shown}", hint=hint)


def _of_input(value: Value) -> str:
    """How to give another value to the input that a value is, "" where it is not just an input."""
    if not isinstance(value, Call) or value.function != "get_input" or len(value.arguments) != 1:
        return ""
    return f"it is the value of an input: give another with -i {value.arguments[0]}=VALUE"


class StaticValues:
    """Evaluates values that depend only on documents and inputs, and reports what is wrong with them."""

    def __init__(self, service: Service, inputs: Mapping[str, object], diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._slots = InstanceSlots(service, inputs)
        self._checker = Checker(service.data_types, literal=True)

    @property
    def evaluator(self) -> Evaluator:
        """An evaluator without instances."""
        return self._slots.without

    def check(self, held: Held, context: Context) -> None:
        """Check one value."""
        found = list(calls(held.value))
        if not found or any(c.function not in STATIC for c in found):
            return
        try:
            self._check(held, found, self._slots.without, context)
        except NeedsInstance:
            self._check_each(held, found, context)

    def _check_each(self, held: Held, found: list[Call], context: Context) -> None:
        """Check a value for each instance that there will be, up to the first for which it is wrong."""
        known = len(self._diagnostics)
        for evaluator, instance in self._slots.of(context):
            try:
                self._check(held, found, evaluator, instance)
            except NeedsInstance:
                return
            if len(self._diagnostics) > known:
                return

    def _check(self, held: Held, found: list[Call], evaluator: Evaluator, context: Context) -> None:
        try:
            data = evaluator.evaluate(held.value, context)
        except NeedsInput:
            return
        except NeedsInstance:
            raise
        except EvaluationError as error:
            self._diagnostics.error("bad-value", error.message, error.span or found[0].span, hint=error.hint)
            return
        definition = held.definitions.get(held.name)
        what = f'{held.what} "{held.name}"'
        if definition is None:
            if isinstance(data, Nothing) and held.what == INPUT:
                self._warn_of_unset(f"the {what} of {held.of}", data, found[0].span)
            return
        if is_sensitive(data):
            wrong = misfit(data, definition.schema, what, self._checker.data_types)
            if wrong:
                self._diagnostics.error("bad-value", wrong, found[0].span)
        elif not isinstance(data, Nothing) and data is not None:
            self._check_type(held, data, definition, found[0].span)
        elif definition.required:
            reason = data.reason if isinstance(data, Nothing) else "it is null"
            owner = f" of {held.of}" if held.of else ""
            meant = data.hint if isinstance(data, Nothing) else ""
            self._diagnostics.error(
                "missing-value",
                f"the required {what}{owner} has no value: {reason}",
                found[0].span,
                hint=meant or GIVE_ONE + (OR_NONE if held.what == INPUT else ""),
            )

    def _check_type(self, held: Held, data: object, definition: PropertyDefinition, span: Span) -> None:
        """What is found says which value it is that does not keep a constraint, and of which input it is, since neither
        stands at the call."""
        checker = self._checker
        checker.read(data, definition.schema, f'{held.what} "{held.name}"', definition.span)
        is_told = isinstance(data, SIMPLE) and not checker.is_sensitive(definition)
        for fault in checker.taken():
            told = _told(fault, held.value, data) if fault.code == "constraint" and is_told else fault
            told.report(self._diagnostics, place_of(fault, held.value, span))

    def _warn_of_unset(self, what: str, data: Nothing, span: Span) -> None:
        """An input that is declared nowhere is not asked for, but whoever gives it a value wants it to have one."""
        self._diagnostics.warning(
            "unset-input", f"{what} has no value: {data.reason}", span, hint=data.hint or GIVE_ONE
        )
