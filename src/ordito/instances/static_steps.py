"""The config of lifecycle steps, as far as it depends only on the documents and the inputs: evaluated before anything
runs, and checked against the declarations of the blocks."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import is_sensitive
from ordito.base.span import Span
from ordito.instances.context import Context, EvaluationError, NeedsInput, NeedsInstance, Nothing
from ordito.instances.evaluate import STATIC, Evaluator
from ordito.instances.records import Snapshot
from ordito.model.checking import Checker, misfit
from ordito.model.faults import place_of
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Service
from ordito.syntax.expressions import Value, calls

StaticConfig = Mapping[str, object]
"""The values of a step's config that are known before anything runs, by key."""


def static_configs(service: Service, inputs: Mapping[str, object], diagnostics: Diagnostics) -> dict[str, StaticConfig]:
    """The known part of the config of each step, by its id. A value that cannot be evaluated, or does not fit, is
    reported where it is written; one that needs an input without a value, or an instance, is left out."""
    evaluator = Evaluator(service, Snapshot(), inputs, partial=True)
    return {step.id: _Static(step, evaluator, diagnostics).values() for step in service.hooks.values()}


class _Static:
    def __init__(self, step: LifecycleStep, evaluator: Evaluator, diagnostics: Diagnostics) -> None:
        self._step = step
        self._evaluator = evaluator
        self._diagnostics = diagnostics
        is_known = evaluator.service.template(step.component) is not None
        self._context = Context(node=step.component if is_known else "")

    def values(self) -> StaticConfig:
        found: dict[str, object] = {}
        for key, written in self._step.config.items():
            functions = {call.function for call in calls(written)}
            if not functions:
                found[key] = written
            elif functions <= STATIC:
                data = self._evaluated(key, written)
                if data is not None:
                    found[key] = data
        return found

    def _evaluated(self, key: str, written: Value) -> object:
        """The data that a value comes to, None where that is not known, or it is wrong."""
        definition, place = self._step.definitions.get(key), self._place(key)
        try:
            data = self._evaluator.evaluate(written, self._context)
        except (NeedsInput, NeedsInstance):
            return None
        except EvaluationError as error:
            self._diagnostics.error("bad-value", error.message, error.span or place, hint=error.hint)
            return None
        if isinstance(data, Nothing) or data is None:
            self._lacks(key, data, definition)
            return None
        before = self._diagnostics.errors
        if definition is not None and place is not None:
            self._check(key, written, data, definition, place)
        return data if self._diagnostics.errors == before else None

    def _check(self, key: str, written: Value, data: object, definition: PropertyDefinition, place: Span) -> None:
        what, types = f'"{key}" in the config of lifecycle step "{self._step.name}"', self._step.block
        data_types = types.data_types if types is not None else {}
        if is_sensitive(data):
            wrong = misfit(data, definition.schema, what, data_types)
            if wrong:
                self._diagnostics.error("bad-value", wrong, place)
            return
        checker = Checker(data_types, literal=True)
        checker.read(data, definition.schema, what, definition.span, definition.metadata)
        for fault in checker.faults:
            fault.report(self._diagnostics, place_of(fault, written, place))

    def _lacks(self, key: str, data: Nothing | None, definition: PropertyDefinition | None) -> None:
        if definition is None or not definition.required:
            return
        reason = data.reason if data is not None else "it is null"
        self._diagnostics.error(
            "missing-value",
            f'the required "{key}" in the config of lifecycle step "{self._step.name}" has no value: {reason}',
            self._place(key),
            hint="give it a value, or a default to what it refers to",
        )

    def _place(self, key: str) -> Span | None:
        return self._step.spans.get(f"config.{key}") or self._step.span
