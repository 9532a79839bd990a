"""Steps that are no operations: what the ends of those change that take over what is wanted, set a node state, write
the outputs of a workflow, or stand for a workflow that was carried out as a whole."""

from __future__ import annotations

import msgspec

from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Link, end_id
from ordito.instances.states import DELETED, STARTED
from ordito.model.service import Relationship, Service
from ordito.operations.artifact_workflows import outputs_of
from ordito.operations.called import PlanCalls
from ordito.operations.happenings import marked_by_values, touched
from ordito.operations.news import News
from ordito.operations.removal import Removal
from ordito.operations.set_state import entity_at, link_with_state, with_state
from ordito.work.activities import output_at
from ordito.work.attribute_values import WrongValue
from ordito.work.forms import adopted
from ordito.work.invocation import Ending, Outcome
from ordito.work.outputs import workflow_output
from ordito.work.plan import Action, OperationCall, Plan, Step

STAND_FOR_ORDER = frozenset({Action.JOIN, Action.ADOPT, Action.FILTER, Action.WORKFLOW, Action.OUTPUT})
"""Steps that change nothing when they start."""
APART = STAND_FOR_ORDER | {Action.SET_STATE}
"""Steps that are no operations."""


class Bookkeeping:
    """The ends of the steps of one job that are no operations. ``form`` is the form that the service is."""

    def __init__(
        self, called: PlanCalls, evaluator: Evaluator, removal: Removal, news: News, *, form: str, job: str
    ) -> None:
        self._called = called
        self._evaluator = evaluator
        self._snapshot = evaluator.snapshot
        self._removal = removal
        self._news = news
        self._form = form
        self._job = job
        self._workflow_outputs = WorkflowOutputs(evaluator.service, evaluator)

    def end(self, step: Step, outcome: Outcome, change: str, *, applies: bool) -> tuple[Outcome, Delta]:
        """What changes by the end of a step, and how it has ended: not well where an output does not fit."""
        match step.action:
            case Action.ADOPT:
                return outcome, self._adopted(step, outcome, change, applies=applies)
            case Action.WORKFLOW:
                return self._workflow(step, self._called.plan.calls[step.call], outcome, change, applies=applies)
            case Action.OUTPUT:
                return self._output(step, self._called.plan.calls[step.call], outcome, change, applies=applies)
            case Action.SET_STATE:
                return outcome, self._state_set(step, change, applies=applies)
            case _:
                return outcome, Delta()

    def _adopted(self, step: Step, outcome: Outcome, change: str, *, applies: bool) -> Delta:
        """What changes when an instance takes over what is wanted of it: pairs that are not are known no more."""
        record = adopted(self._called.plan, self._snapshot.instances[step.instance], self._form, change)
        every = [self._snapshot.links[name] for name in self._snapshot.links_of(record.id)]
        links = {link.id: self._as_wanted(link) for link in every if link.source == record.id}
        return Delta(
            instances=(touched(record, outcome, change, self._job, applies=applies),),
            links=tuple(link for link in links.values() if link is not None and link != self._snapshot.links[link.id]),
            unlinked=tuple(name for name, link in links.items() if link is None),
        )

    def _as_wanted(self, link: Link) -> Link | None:
        """The record of a pair without operations that the service does not have any more; None where it has nothing of
        the pair."""
        relationship = self._called.relationships.get(link.relationship)
        target = self._snapshot.instances.get(link.target)
        if relationship is None or target is None or target.node != relationship.target:
            return None
        wanted = {
            f"{interface.name}.{operation.name}"
            for interface in relationship.interfaces.values()
            for operation in interface.operations.values()
            if operation.implementation is not None
        }
        taken = {**link.applied, **self._called.plan.adopted.get(link.id, {})}
        applied = {key: one for key, one in taken.items() if key in wanted}
        failed = {key: one for key, one in link.failed.items() if key in wanted}
        was_begun = link.applied or link.failed
        is_known = applied or failed or link.told or link.id in self._snapshot.attributes
        return None if was_begun and not is_known else msgspec.structs.replace(link, applied=applied, failed=failed)

    def _output(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Outcome, Delta]:
        """What changes by an output of a workflow whose steps have ended."""
        relationship = self._called.relationships.get(call.owner) if call.side else None
        try:
            delta = self._workflow_outputs.delta(self._called.plan, step, call, relationship)
        except WrongValue as wrong:
            return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong)), Delta()
        return outcome, marked_by_values(delta, self._snapshot, change, applies=applies)

    def _workflow(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Outcome, Delta]:
        """What comes of a workflow that was carried out as a whole: attributes that its outputs are mapped to."""
        if not outcome.succeeded:
            return outcome, Delta()
        try:
            delta = outputs_of(self._evaluator, call, step, outcome)
        except WrongValue as wrong:
            return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong)), Delta()
        return outcome, marked_by_values(delta, self._snapshot, change, applies=applies)

    def _state_set(self, step: Step, change: str, *, applies: bool) -> Delta:
        """What a workflow that sets a node state changes: one that is deleted is gone."""
        if step.link:
            return link_with_state(self._snapshot, self._called.new_link(step), step.leave)
        record = self._snapshot.instances[step.instance]
        if step.leave == DELETED:
            return self._removal.deleted(step, change, applies=applies) if record.exists else Delta()
        delta = Delta(instances=(with_state(record, step.leave),))
        if step.leave == STARTED and applies:
            # Where a workflow that somebody wrote deploys, this is how an instance comes up.
            delta = msgspec.structs.replace(delta, links=self._news.of_chain(record.id, delta, change))
        return delta


# The outputs of workflows that somebody wrote (§3.8.7): values that operations in them gave, written to attributes.
#
# An output has the value of the last operation before it that gave an output of that name.


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
