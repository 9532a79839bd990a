"""What the end of a step changes in the records: finds the facts by which ``step_end`` decides, and carries out the
decision.

It is called once for each of perhaps hundreds of thousands of steps: facts that the decision does not need are not
looked up.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import OF_LIFECYCLE, STARTS, STOPS, TAKES_BACK
from ordito.instances.records import IN_WORDS, Delta, Instance, Link, StatusReason, end_id
from ordito.instances.states import (
    CONFIGURED,
    CREATED,
    DELETED,
    DELETING,
    ERROR,
    STARTED,
    STOPPING,
    TRANSITIONAL,
)
from ordito.instances.status import (
    ABSENT,
    DEGRADED,
    OPERATIONAL,
    PENDING,
    UNKNOWN,
    WORSE,
    StatusEvent,
    local_after,
)
from ordito.instances.status import ERROR as BROKEN
from ordito.model.service import Relationship, Service
from ordito.operations.artifact_workflows import outputs_of
from ordito.operations.called import NOTHING_GIVEN, PlanCalls
from ordito.operations.checks import ANSWERED, Checks, is_lost, noted
from ordito.operations.conditions import StepConditions, entity_at
from ordito.operations.peer_notifications import PeerNotifications
from ordito.operations.record_changes import (
    NEVER_STARTED,
    Removal,
    lacks_optional,
    link_with_state,
    linked_again,
    marked_by_values,
    of_what_is_up,
    remembered,
    to_be_undone_again,
    touched,
    unlinked_by_stop,
    with_failures,
    with_state,
    without,
)
from ordito.operations.step_end import (
    ChangedRecords,
    Counted,
    HowEnded,
    Modified,
    NextState,
    NextStatus,
    OperationDecision,
    OperationEndFacts,
    StepEndFacts,
    StepKind,
    StepResult,
    what_comes_of,
    what_ended,
)
from ordito.work.activities import output_at
from ordito.work.forms import adopted
from ordito.work.invocation import Ending, Outcome
from ordito.work.outputs import GivenValues, WrongValue, workflow_output
from ordito.work.plan import Action, OperationCall, Plan, Step, StepCondition
from ordito.work.probes import UPDATE, is_probe, unless_ready

KINDS: Mapping[Action, StepKind] = {
    Action.JOIN: StepKind.ORDER,
    Action.FILTER: StepKind.ORDER,
    Action.ADOPT: StepKind.ADOPT,
    Action.WORKFLOW: StepKind.WORKFLOW,
    Action.OUTPUT: StepKind.OUTPUT,
    Action.SET_STATE: StepKind.SET_STATE,
}
"""The kinds of the steps that are no operations."""

STAND_FOR_ORDER = frozenset(KINDS) - {Action.SET_STATE}
"""Steps that change nothing when they start."""

# Names of a module are found faster than members of an enumeration.
DELEGATE = Action.DELEGATE
INSTANCE, PAIR, BY_EVENT, THIS = ChangedRecords.INSTANCE, ChangedRecords.PAIR, NextStatus.BY_EVENT, Counted.THIS
PLANNED, UNCHANGED = NextState.PLANNED, NextState.UNCHANGED
OPERATION, WELL, BADLY, NEVER = StepKind.OPERATION, HowEnded.WELL, HowEnded.BADLY, HowEnded.NEVER_STARTED
OPERATION_ENDED, SUCCEEDED = StepResult.OPERATION_ENDED, Ending.SUCCEEDED
IF_REPAIRED, IF_HEALED, IF_THERE = StepCondition.IF_REPAIRED, StepCondition.IF_HEALED, StepCondition.IF_THERE
IF_UNWELL = StepCondition.IF_UNWELL
LOOKED_AT_IN_THE_END = frozenset({IF_REPAIRED, IF_HEALED, IF_THERE})

REPORTABLE = frozenset(WORSE) - {ABSENT}
"""The statuses that an operation may report of its instance."""

NOT_THERE = (
    "it was found to be absent, and it keeps data: it may come back (is its volume mounted?); only `ordito deploy"
    " --allow-data-loss` with its name creates it again"
)
NOT_REPAIRED = (
    "it is in error or its status is not known, and everything was carried out already: look into it, or repair it"
    " with `ordito heal {}`"
)

# What an operation says of having modified its instance.
_MODIFIED = {None: Modified.UNSAID, True: Modified.YES, False: Modified.NO}


def ended_how(outcome: Outcome) -> HowEnded:
    """How a step has ended, in short."""
    if outcome.succeeded:
        return WELL
    return NEVER if outcome.ending in NEVER_STARTED else BADLY


class EndedOperation(msgspec.Struct, frozen=True, gc=False):
    """The end of an operation: ``change`` is its changeId, ``applies`` says whether what it carries out counts as
    deployed."""

    step: Step
    call: OperationCall
    outcome: Outcome
    ended: HowEnded
    change: str
    applies: bool


class EndEffects:
    """The ends of the steps of one job. ``form`` is the id of the deployed version that the service is."""

    def __init__(  # noqa: PLR0913  (what knows of the records)
        self,
        called: PlanCalls,
        evaluator: Evaluator,
        checks: Checks,
        conditions: StepConditions,
        removal: Removal,
        notifications: PeerNotifications,
        *,
        form: str,
        job: str,
    ) -> None:
        self._service: Service = evaluator.service
        self._snapshot = evaluator.snapshot
        self._called = called
        self._evaluator = evaluator
        self._checks = checks
        self._conditions = conditions
        self._removal = removal
        self._notifications = notifications
        self._form = form
        self._job = job
        self._workflow_outputs = WorkflowOutputs(self._service, evaluator)
        self._before: dict[str, str] = {}

    def begins(self, record: Instance, enter: str) -> None:
        """A step begins on an instance, whose state becomes ``enter``; remembers its state before. If the operation
        then never starts, an instance that was up, or is to be removed, gets that state back. An instance that is being
        created becomes ``error``."""
        is_there = record.local in OPERATIONAL or enter in (STOPPING, DELETING)
        if is_there and record.state not in TRANSITIONAL:
            self._before[record.id] = record.state

    def end(self, step: Step, outcome: Outcome, change: str, *, applies: bool) -> tuple[Outcome, Delta]:
        """How a step has ended, and what that changes. ``applies`` says whether what it carries out counts as
        deployed."""
        call = self._called.plan.calls[step.call] if step.call >= 0 else None
        facts = self._facts(step, call, outcome)
        what = OPERATION_ENDED if facts is OF_OPERATION else what_ended(facts)
        if what is OPERATION_ENDED and call is not None:
            return self._operation(step, call, outcome, change, applies=applies)
        match what:
            case StepResult.ADOPTED:
                return outcome, self._adopted(step, outcome, change, applies=applies)
            case StepResult.OUTPUTS_WRITTEN | StepResult.OUTPUT_WRITTEN if call is not None:
                return self._written(step, call, outcome, change, applies=applies)
            case StepResult.PAIR_STATE_SET | StepResult.STATE_SET | StepResult.REMOVED:
                return outcome, self._state_set(step, what, change, applies=applies)
            case StepResult.FOUND | StepResult.NOT_KNOWN if call is not None:
                return unless_ready(step, *self._checks.found(step, call, outcome, change, applies=applies))
            case StepResult.HOST_AWAY | StepResult.NOT_REPAIRED | StepResult.NOT_HEALED | StepResult.NOT_THERE:
                return self._failed(step, what), Delta()
        return outcome, Delta()

    def _facts(self, step: Step, call: OperationCall | None, outcome: Outcome) -> StepEndFacts:
        """The facts that decide what has ended."""
        kind = KINDS.get(step.action)
        if kind is not None or call is None:
            removes = step.effect.leave == DELETED
            return StepEndFacts(
                kind or StepKind.ORDER,
                ended_how(outcome),
                of_pair=bool(step.link),
                removes=removes,
                is_there=removes and not step.link and self._snapshot.instances[step.instance].exists,
            )
        condition = step.flow.condition if step.flow.condition in LOOKED_AT_IN_THE_END else None
        if is_probe(self._service, call):
            answered = outcome.ending in ANSWERED
            check = StepEndFacts(
                StepKind.CHECK, ended_how(outcome), answered=answered, non_blocking=step.flow.non_blocking
            )
            if condition is None or what_ended(check) is not OPERATION_ENDED:
                return check
        if condition is None:
            return OF_OPERATION
        record = self._snapshot.instances[step.instance]
        if condition is IF_REPAIRED:
            holds, host_lost = record.local in {*OPERATIONAL, PENDING}, is_lost(record)
        elif condition is IF_HEALED:
            holds, host_lost = self._conditions.is_up(record), bool(self._conditions.lost_host(record))
        else:
            holds, host_lost = record.exists, False
        return StepEndFacts(OPERATION, condition=condition, holds=holds, host_lost=host_lost)

    def _failed(self, step: Step, what: StepResult) -> Outcome:
        """The outcome of a step whose final condition does not hold."""
        record = self._snapshot.instances[step.instance]
        if what is StepResult.HOST_AWAY:
            host = record.id if step.flow.condition is IF_REPAIRED else self._conditions.lost_host(record)
            who = "it" if host == record.id else host
            why = self._checks.away.get(host) or f"{who} {IN_WORDS[StatusReason.UNREACHABLE]}"
            return Outcome(Ending.UNREACHABLE, changed=False, message=why)
        message = NOT_THERE if what is StepResult.NOT_THERE else NOT_REPAIRED.format(record.id)
        if what is StepResult.NOT_HEALED:
            said, how = self._checks.said.get(record.id), f"it is {record.local}"
            if said is not None:
                how = f"its check says {record.local}" + (f": {said}" if said else "")
            message = f"it was not repaired: {how}"
        return Outcome(Ending.FAILED, changed=False, message=message)

    # ------------------------------------------------------------------------------------------------- operations

    def _operation(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Outcome, Delta]:
        """What the end of an operation changes."""
        outcome, found = self._given(step, call, outcome)
        end = EndedOperation(step, call, outcome, ended_how(outcome), change, applies)
        owner = self._snapshot.instances[self._called.source(step, call) if step.link else step.instance]
        before = self._before_of(owner, end) if self._before else ""
        decided = what_comes_of(self._facts_of(end, owner, before))
        if decided.effect is INSTANCE:
            delta = self._of_instance(end, owner, _state(decided.state, owner, step, before), decided)
        elif decided.effect is PAIR:
            delta = self._of_pair(end, owner, _state(decided.state, owner, step, before), decided)
        elif decided.effect is ChangedRecords.REMOVED:
            delta = self._removal.deleted(step, change, applies=applies)
        else:
            delta = Delta(instances=(msgspec.structs.replace(owner, state=STARTED),))
        if found is not NOTHING_GIVEN:
            # What is gone has no attributes any more.
            gone = {step.instance} if decided.effect is ChangedRecords.REMOVED else set()
            kept = {name: values for name, values in found.attributes.items() if name not in gone}
            delta = msgspec.structs.replace(delta, attributes=kept, outputs=found.outputs)
            delta = marked_by_values(delta, self._snapshot, change, applies=applies)
        delta = self._with_notifications(end, delta)
        if applies and end.ended is WELL and call.operation in STARTS and not call.side:
            delta = to_be_undone_again(self._snapshot, step.instance, delta, self._called.relationships)
        return outcome, delta

    def _given(self, step: Step, call: OperationCall, outcome: Outcome) -> tuple[Outcome, GivenValues]:
        """The outputs of a step, and the attributes that it has set by itself. If one has the wrong type, the step has
        failed."""
        outcome, found = self._outputs(step, call, outcome)
        if not outcome.attributes:
            return outcome, found
        try:
            changed = self._called.set_by_itself(step, call, outcome)
        except WrongValue as wrong:
            return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong)), found
        merged = {name: {**found.attributes.get(name, {}), **values} for name, values in changed.items()}
        return outcome, GivenValues({**found.attributes, **merged}, found.outputs)

    def _outputs(self, step: Step, call: OperationCall, outcome: Outcome) -> tuple[Outcome, GivenValues]:
        """The outputs of a step."""
        if outcome.ending is SUCCEEDED:
            try:
                return outcome, self._called.given(step, call, outcome)
            except WrongValue as wrong:
                outcome = msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong))
        elif step.action is DELEGATE and outcome.outputs:
            # What a provider has made is still known, so that it is found again, and removed.
            return outcome, GivenValues({step.instance: outcome.outputs})
        return outcome, NOTHING_GIVEN

    def _before_of(self, record: Instance, end: EndedOperation) -> str:
        """The state that an instance gets back because its operation never started, "" for none."""
        if end.ended is NEVER:
            before = self._before.pop(record.id, "")
            return before if record.state in TRANSITIONAL else ""
        if not end.step.link:
            self._before.pop(record.id, None)
        return ""

    def _facts_of(self, end: EndedOperation, record: Instance, before: str) -> OperationEndFacts:
        """The facts that decide what the end of an operation changes."""
        step, call, outcome, applies = end.step, end.call, end.outcome, end.applies
        of_pair, is_well, is_operational = bool(step.link), end.ended is WELL, record.local in OPERATIONAL
        stopping, alone = call.operation in STOPS, not applies and bool(call.artifact)
        asks = not of_pair and (not is_well or stopping or alone)
        decides = asks and self._decides_state(step, call)
        completes = is_well and (step.effect.closes or self._makes_good(end, record))
        removes = is_well and step.effect.leave == DELETED
        return OperationEndFacts(
            end.ended,
            of_pair,
            applies,
            _MODIFIED[outcome.changed],
            step.effect.closes,
            completes,
            completes and lacks_optional(self._service, self._snapshot, record, step, call),
            step.flow.non_blocking,
            step.flow.after_failure,
            step.flow.condition is IF_UNWELL,
            is_operational,
            step.flow.condition is IF_REPAIRED and is_operational,
            is_well and stopping and decides and (applies or alone),
            not of_pair and outcome.status in REPORTABLE and (step.effect.closes or not is_well),
            decides,
            alone and decides,
            not of_pair and bool(step.effect.leave),
            record.state == ERROR,
            record.state in BEING_MADE,
            bool(before),
            removes,
            removes and self._is_kept(step, outcome),
        )

    def _makes_good(self, end: EndedOperation, record: Instance) -> bool:
        """Whether a success repairs the last failure of an instance, so that the instance is complete again."""
        step, call = end.step, end.call
        if not step.link:
            return bool(record.failed) and self._notifications.notifies(call) and [*record.failed] == [call.key]
        link = self._snapshot.links.get(step.link) if end.applies else None
        if link is None or not link.failed or record.state != STARTED:
            return False
        if record.local == DEGRADED:
            return call.name in link.failed
        back = {call.operation, *TAKES_BACK.get(call.operation, ())}
        others = (self._snapshot.links[name] for name in self._snapshot.links_of(record.id) if name != link.id)
        return (
            record.local in {BROKEN, UNKNOWN}
            and not record.failed
            and all(key.rpartition(".")[2] in back for key in link.failed)
            and not any(other.failed and other.source == record.id for other in others)
        )

    def _decides_state(self, step: Step, call: OperationCall) -> bool:
        """Whether the failure of this operation makes the state of its instance ``error``: it does for lifecycle
        operations."""
        if step.action is DELEGATE or call.side:
            return not self._notifications.notifies(call)
        interface = self._service.nodes[call.owner].interfaces.get(call.interface)
        return interface is None or not OF_LIFECYCLE.isdisjoint(interface.kinds)

    def _is_kept(self, step: Step, outcome: Outcome) -> bool:
        """Whether a host is still needed, because something on it was not removed; only for hosts that their provider
        gives up without removing them."""
        provided = step.action is DELEGATE and outcome.changed is False
        return provided and any(self._snapshot.instances[i].exists for i in self._snapshot.hosted_on(step.instance))

    def _of_instance(self, end: EndedOperation, known: Instance, state: str, decided: OperationDecision) -> Delta:
        """What the end of an operation of an instance changes, except for a removal."""
        step, call, outcome, change, applies = end.step, end.call, end.outcome, end.change, end.applies
        local = known.local
        if decided.status is BY_EVENT:
            local = local_after(local, decided.event)
        elif decided.status is NextStatus.REPORTED:
            local = outcome.status
        applied, failed = known.applied, known.failed
        if decided.counts is THIS:
            applied, failed = remembered(known, call, outcome, change)
        elif decided.counts is Counted.TAKEN_BACK:
            applied = without(applied, "", call)
        if applies and step.effect.closes and state == STARTED and decided.state is not NextState.AS_BEFORE:
            applied = of_what_is_up(applied)
        record = msgspec.structs.replace(known, state=state, local=local, applied=applied, failed=failed)
        succeeded = end.ended is WELL
        record = with_failures(known, record, call.key, decided.event, succeeded=succeeded, applies=applies)
        if (
            succeeded
            and call.operation == UPDATE
            and (step.effect.forms or (applies and record.id in self._called.plan.records.adopted))
        ):
            # With its success, not after it: whoever compares once the job was cut off would see what was before.
            record = adopted(self._called.plan, record, self._form, change)
        if step.action is DELEGATE and succeeded:
            record = noted(record, reached=True)
        record = touched(record, outcome, change, self._job, applies=applies)
        unmakes = applies and decided.event is not UNSTARTED and call.operation in STOPS and not call.side
        links = unlinked_by_stop(self._snapshot, step.instance) if unmakes else ()
        return Delta(instances=(record,), links=links)

    def _of_pair(self, end: EndedOperation, source: Instance, state: str, decided: OperationDecision) -> Delta:
        """What the end of an operation of a pair changes."""
        step, call, outcome, change, applies = end.step, end.call, end.outcome, end.change, end.applies
        links: tuple[Link, ...] = ()
        if decided.counts is THIS:
            link = self._snapshot.links.get(step.link) or self._called.new_link(step)
            applied, failed = remembered(link, call, outcome, change)
            links = (msgspec.structs.replace(link, applied=linked_again(call.operation, applied), failed=failed),)
        local = local_after(source.local, decided.event)
        record = msgspec.structs.replace(source, local=local, state=state)
        key, succeeded = f"{step.link}/{call.name}", end.ended is WELL
        record = with_failures(source, record, key, decided.event, succeeded=succeeded, applies=applies)
        record = touched(record, outcome, change, self._job, applies=applies)
        return Delta(instances=() if record == source else (record,), links=links)

    def _with_notifications(self, end: EndedOperation, delta: Delta) -> Delta:
        """A delta with what the ends of pairs know of each other after it: the pair was linked or unlinked, its
        instance was notified of changes, or its chain has ended."""
        step, call, links, succeeded = end.step, end.call, delta.links, end.ended is WELL
        if step.link:
            of_pair = self._notifications.of_pair
            links = tuple([of_pair(link, call, delta, end.change, succeeded=succeeded) for link in links])
        if succeeded:
            if call.side and self._notifications.notifies(call):
                links += self._notifications.notified(step, call, delta, end.change)
            elif step.effect.closes and end.applies and step.effect.leave != DELETED:
                links += self._notifications.of_chain(self._called.owner(step), delta, end.change)
        return delta if links == delta.links else msgspec.structs.replace(delta, links=links)

    # ------------------------------------------------------------------------------------- steps that are no operations

    def _adopted(self, step: Step, outcome: Outcome, change: str, *, applies: bool) -> Delta:
        """What changes when an instance adopts what is wanted without any operation: pairs that are not wanted are
        forgotten."""
        record = adopted(self._called.plan, self._snapshot.instances[step.instance], self._form, change)
        every = [self._snapshot.links[name] for name in self._snapshot.links_of(record.id)]
        links = {link.id: self._as_wanted(link) for link in every if link.source == record.id}
        return Delta(
            instances=(touched(record, outcome, change, self._job, applies=applies),),
            links=tuple(link for link in links.values() if link is not None and link != self._snapshot.links[link.id]),
            unlinked=tuple(name for name, link in links.items() if link is None),
        )

    def _as_wanted(self, link: Link) -> Link | None:
        """The record of a pair without operations that the service no longer has; None if it no longer has the pair."""
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
        taken = {**link.applied, **self._called.plan.records.adopted.get(link.id, {})}
        applied = {key: one for key, one in taken.items() if key in wanted}
        failed = {key: one for key, one in link.failed.items() if key in wanted}
        was_begun = link.applied or link.failed
        is_known = applied or failed or link.told or link.id in self._snapshot.attributes
        return None if was_begun and not is_known else msgspec.structs.replace(link, applied=applied, failed=failed)

    def _written(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Outcome, Delta]:
        """What the outputs of a workflow change that was carried out as a whole, or one output of a workflow whose
        steps have ended."""
        try:
            if step.action is Action.WORKFLOW:
                delta = outputs_of(self._evaluator, call, step, outcome)
            else:
                relationship = self._called.relationships.get(call.owner) if call.side else None
                delta = self._workflow_outputs.delta(self._called.plan, step, call, relationship)
        except WrongValue as wrong:
            return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong)), Delta()
        return outcome, marked_by_values(delta, self._snapshot, change, applies=applies)

    def _state_set(self, step: Step, what: StepResult, change: str, *, applies: bool) -> Delta:
        """What changes when a workflow sets a node state."""
        if what is StepResult.PAIR_STATE_SET:
            return link_with_state(self._snapshot, self._called.new_link(step), step.effect.leave)
        if what is StepResult.REMOVED:
            return self._removal.deleted(step, change, applies=applies)
        delta = Delta(instances=(with_state(self._snapshot.instances[step.instance], step.effect.leave),))
        if step.effect.leave == STARTED and applies:
            # Where a workflow that somebody wrote deploys, this is how an instance comes up.
            delta = msgspec.structs.replace(delta, links=self._notifications.of_chain(step.instance, delta, change))
        return delta


OF_OPERATION = StepEndFacts(OPERATION)
UNSTARTED = StatusEvent.NEVER_STARTED
BEING_MADE = frozenset({CREATED, CONFIGURED})


def _state(state: NextState, record: Instance, step: Step, before: str) -> str:
    """The node state that was decided."""
    if state is PLANNED:
        return step.effect.leave
    if state is UNCHANGED:
        return record.state
    if state is NextState.AS_BEFORE:
        return before
    return ERROR if state is NextState.ERROR else STARTED


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
        """What an output changes for the instance or pair of a step. Raises ``WrongValue`` if nothing gave it a value,
        or one of the wrong type."""
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
        raise WrongValue(f'output "{name}" of the workflow has no value: no operation that it called gave one')
