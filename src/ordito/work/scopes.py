"""The inputs of a template's workflows, and of the activities in them, as the operations see them that they call
(§7.3.6): evaluated when the first step asks for them, and the same for all that follow.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.instances.context import Context, EvaluationError, NeedsInput, NeedsInstance, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.model.operation import Input, Operation
from ordito.model.schema import PropertyDefinition
from ordito.syntax.expressions import is_static
from ordito.work.activities import activity_at
from ordito.work.operation_inputs import with_given
from ordito.work.outputs import WrongValue, fitting
from ordito.work.plan import OperationCall, Scope


class Scopes:
    """The scopes of one plan. ``nodes`` are those of the instances for which workflows are inlined, if the evaluator
    knows none."""

    def __init__(self, evaluator: Evaluator, scopes: tuple[Scope, ...], nodes: Mapping[str, str] | None = None) -> None:
        self._nodes = nodes or {}
        self._evaluator = evaluator
        self._scopes = scopes
        self._known: dict[int, Mapping[str, object]] = {-1: {}}
        self._wrong: dict[int, str] = {-1: ""}
        self._undecided: set[int] = set()

    def inputs(self, scope: int) -> Mapping[str, object]:
        """What ``get_input`` finds first, by name."""
        if scope not in self._known:
            # Workflows inline each other as deep as planning allows.
            self._known[scope], self._wrong[scope] = self._evaluated(scope)
        return self._known[scope]

    def wrong(self, scope: int) -> str:
        """Why the inputs of a scope cannot be evaluated, "" if they can."""
        self.inputs(scope)
        return self._wrong[scope]

    def is_decided(self, scope: int) -> bool:
        """Whether the inputs of a scope can be evaluated now, or are wrong whatever exists."""
        self.inputs(scope)
        while scope >= 0:
            if scope in self._undecided:
                return False
            scope = self._scopes[scope].outer
        return True

    def _evaluated(self, number: int) -> tuple[Mapping[str, object], str]:
        scope = self._scopes[number]
        service = self._evaluator.service
        workflow = service.workflows.get(scope.workflow)
        prefix = workflow.prefix if workflow is not None else ""
        found = {**self.inputs(scope.outer), **{f"{prefix}{name}": value for name, value in scope.inputs.items()}}
        wrong = self.wrong(scope.outer)
        if not scope.activity or wrong or workflow is None:
            return found, wrong
        *holder, place = scope.activity
        activity = activity_at(service, tuple(holder), int(place))
        record = self._evaluator.snapshot.instances.get(scope.on)
        node, instance = (record.node, scope.on) if record else (self._nodes.get(scope.on, scope.on), "")
        context = Context(node=node, instance=instance, inputs=self.inputs(scope.outer))
        declared = workflow.inputs
        for name, value in activity.inputs.items():
            try:
                data = self._evaluator.evaluate(value, context)
            except EvaluationError as error:
                if isinstance(error, NeedsInput | NeedsInstance):
                    self._undecided.add(number)
                return found, f'input "{name}" of workflow "{workflow.name}" cannot be evaluated: {error}'
            data, misfitting = self._fitted(data, declared.get(name))
            if misfitting:
                return found, f'input "{name}" of workflow "{workflow.name}": {misfitting}'
            if not isinstance(data, Nothing):
                found[f"{prefix}{name}"] = data
            elif name in declared and declared[name].required:
                return found, f'input "{name}" of workflow "{workflow.name}" has no value: {data.reason}'
        return found, ""

    def _fitted(self, value: object, declared: PropertyDefinition | None) -> tuple[object, str]:
        if declared is None or value is None or isinstance(value, Nothing):
            return value, ""
        data_types, marks = self._evaluator.service.data_types, self._evaluator.marks
        try:
            return marks.wrap(fitting(value, declared.schema, data_types), marks.of(declared)), ""
        except WrongValue as wrong:
            return None, str(wrong)

    def operation(self, operation: Operation, call: OperationCall) -> Operation:
        """The operation of a call, with the inputs that its activity gives. One that is called in a scope is an
        operation of its own, since its inputs may have other values there."""
        if call.given:
            operation = with_given(operation, call.given, self._evaluator.marks)
        if call.activity:
            *holder, number = call.activity
            given = activity_at(self._evaluator.service, tuple(holder), int(number)).inputs
            static = {name: value for name, value in given.items() if is_static(value)}
            inputs = dict(with_given(operation, static, self._evaluator.marks).inputs)
            for name, value in given.items():
                if name not in static:
                    declared = inputs.get(name) or Input(name)
                    inputs[name] = msgspec.structs.replace(declared, has_value=True, value=value)
            return msgspec.structs.replace(operation, inputs=inputs)
        return msgspec.structs.replace(operation) if call.scope >= 0 else operation
