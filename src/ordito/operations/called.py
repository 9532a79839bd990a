"""What the steps of a plan call: operations with their inputs, for which instance or pair, and what they give back."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.masking import Masking
from ordito.base.sensitive import sensitive_parts
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Link, Snapshot, link_id
from ordito.instances.states import DELETED
from ordito.model.operation import Operation
from ordito.model.service import Relationship, Service
from ordito.operations.artifact_workflows import sensitive_results
from ordito.work.invocation import Outcome
from ordito.work.outputs import (
    Attributes,
    GivenValues,
    given,
    mark_of,
    sensitive_findings,
    sensitive_outputs,
    set_by_itself,
)
from ordito.work.places import ExecutionPlace
from ordito.work.plan import Action, OperationCall, Plan, Step
from ordito.work.probes import is_probe
from ordito.work.providing import FAR, LINKS
from ordito.work.scopes import Scopes

# A name of a module is found seven times as fast as a member of an enumeration (up to Python 3.11), which counts where
# it is done for every step. Other files do so as well.
DELEGATE, WORKFLOW = Action.DELEGATE, Action.WORKFLOW

NOTHING_GIVEN = GivenValues()


class PlanCalls:
    """The calls of one plan, looked up in the model. What is the same for all steps of a call is found once; ``plan``
    is replaced when it is continued."""

    def __init__(
        self, service: Service, snapshot: Snapshot, plan: Plan, evaluator: Evaluator, masking: Masking
    ) -> None:
        self._service = service
        self._snapshot = snapshot
        self._evaluator = evaluator
        self._masking = masking
        self._operations: dict[int, Operation] = {}
        self.plan = plan
        self.scopes = Scopes(evaluator, plan.scopes)
        self.relationships: Mapping[str, Relationship] = {
            r.key: r for n in service.nodes.values() for r in n.requirements
        }

    def place(self, step: Step, call: OperationCall) -> ExecutionPlace:
        """The instance or pair for which the operation of a step is called."""
        operation = self.operation(step.call, call)
        inputs = self.scopes.inputs(call.scope)
        if not call.side:
            return ExecutionPlace(operation, call.owner, step.instance, inputs=inputs)
        relationship = self.relationships[call.owner]
        node = relationship.source if call.side == "source" else relationship.target
        return ExecutionPlace(operation, node, step.instance, relationship, call.side, step.far, inputs)

    def operation(self, index: int, call: OperationCall) -> Operation:
        """The operation of the call with the number ``index``, with the inputs that are given for it."""
        operation = self._operations.get(index)
        if operation is None:
            holder = self.relationships[call.owner] if call.side else self._service.nodes[call.owner]
            operation = holder.interfaces[call.interface].operations[call.operation]
            if call.given or call.activity or call.scope >= 0:
                operation = self.scopes.operation(operation, call)
                self._masking.know(part for i in operation.inputs.values() for part in sensitive_parts(i.value))
            self._operations[index] = operation
        return operation

    def given(self, step: Step, call: OperationCall, outcome: Outcome) -> GivenValues:
        """The outputs of a step that has succeeded, by attribute. Raises ``WrongValue`` if one has the wrong type."""
        if step.action is DELEGATE:
            gives = outcome.outputs and step.effect.leave != DELETED
            return GivenValues(provided(self._service, self._snapshot, step, outcome.outputs) if gives else {})
        if not call.artifact or not (call.outputs or self.operation(step.call, call).outputs):
            return NOTHING_GIVEN
        return given(self._evaluator, self.place(step, call), step, call, outcome)

    def set_by_itself(self, step: Step, call: OperationCall, outcome: Outcome) -> Attributes:
        """The attributes that an operation has set by itself, however it ended. Raises ``WrongValue``."""
        return set_by_itself(self._evaluator, self.place(step, call), step, outcome.attributes)

    def sensitive_outputs(self, step: Step) -> set[str]:
        """The outputs of a step that are declared sensitive."""
        if step.action is WORKFLOW:
            return sensitive_results(self._evaluator, self.plan.calls[step.call], step)
        if step.action is DELEGATE:
            template = self._service.nodes[self._snapshot.instances[step.instance].node]
            declared = {**template.definitions, **template.attribute_definitions}
            return {name for name, d in declared.items() if mark_of(self._evaluator, template, d) is not None}
        call = self.plan.calls[step.call]
        place = self.place(step, call)
        found = sensitive_outputs(self._evaluator, place, step)
        return found | sensitive_findings(self._evaluator, place) if is_probe(self._service, call) else found

    def new_link(self, step: Step) -> Link:
        """A new record of the pair that a step is about."""
        call = self.plan.calls[step.call]
        source, target = self.source(step, call), step.far
        if source == step.far:
            target = step.instance
        return Link(step.link, call.owner, source, target)

    def source(self, step: Step, call: OperationCall) -> str:
        """The source of the pair that a step is about."""
        return step.instance if call.side == "source" else step.far

    def owner(self, step: Step) -> str:
        """The id of the instance to whose chain a step belongs."""
        return self.source(step, self.plan.calls[step.call]) if step.link else step.instance


# What the end of a delegated step gives: attributes of its instance, of its relationships, and of their peers.


def provided(
    service: Service, snapshot: Snapshot, step: Step, outputs: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    """The attributes that a provider gave, by the ids of their records."""
    own = {name: value for name, value in outputs.items() if name not in (LINKS, FAR)}
    found = {step.instance: own} if own else {}
    if len(own) == len(outputs):
        return found
    template = service.nodes[snapshot.instances[step.instance].node]
    for far, values in _by_far(outputs, LINKS):
        record = snapshot.instances.get(far)
        for relationship in template.requirements:
            if record is not None and relationship.target == record.node:
                found.setdefault(link_id(relationship.key, template.name, step.instance, far), {}).update(values)
    for far, values in _by_far(outputs, FAR):
        if far in snapshot.instances:
            found.setdefault(far, {}).update(values)
    return found


def _by_far(outputs: Mapping[str, object], name: str) -> list[tuple[str, dict[str, object]]]:
    values = outputs.get(name)
    every = values.items() if isinstance(values, Mapping) else ()
    return [(str(far), dict(own)) for far, own in every if isinstance(own, Mapping)]
