"""The outputs of workflows that somebody wrote (§3.8.7): values that operations in them gave, written to attributes.

An output has the value of the last operation before it that gave an output of that name.
"""

from __future__ import annotations

from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, end_id
from ordito.model.service import Relationship, Service
from ordito.operations.set_state import entity_at
from ordito.work.activities import output_at
from ordito.work.attribute_values import WrongValue
from ordito.work.outputs import workflow_output
from ordito.work.plan import Action, OperationCall, Plan, Step


class WorkflowOutputs:
    """Writes the outputs of the workflows of one plan."""

    def __init__(self, service: Service, evaluator: Evaluator) -> None:
        self._service = service
        self._evaluator = evaluator
        self._places: dict[str, int] = {}

    def delta(self, plan: Plan, step: Step, call: OperationCall, relationship: Relationship | None) -> Delta:
        """What an output changes at the place of a step. Raises ``WrongValue`` where nothing gave it a value, or one
        that does not fit."""
        name, path = output_at(self._service, step.written)
        value = self._value(plan, step, name)
        entity = entity_at(self._service, step, call, relationship)
        try:
            return Delta(attributes=workflow_output(self._evaluator, entity, path[1:], value))
        except WrongValue as wrong:
            raise WrongValue(f'output "{name}" of the workflow: {wrong}') from None

    def _value(self, plan: Plan, step: Step, name: str) -> object:
        outputs = self._evaluator.snapshot.outputs
        if not self._places:
            self._places = {s.id: place for place, s in enumerate(plan.steps)}
        for place in range(self._places[step.id] - 1, -1, -1):
            other = plan.steps[place]
            if other.action is not Action.CALL or name not in plan.calls[other.call].outputs:
                continue
            call = plan.calls[other.call]
            holder = other.instance if not call.side else other.link or end_id(call.owner, other.instance, call.side)
            found = outputs.get(holder, {}).get(call.name, {})
            if name in found:
                return found[name]
        raise WrongValue(f'output "{name}" of the workflow has no value: nothing that it called gave one')
