"""What the steps of a plan mean: their invocations, and what their starts and ends change in the records.

Node states come from the plan; the local status follows the table in ``instances.status``. What was carried out is
remembered by operation with its digest, and forgotten when another operation takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ordito.base.masking import Masking
from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import STARTS, STOPS
from ordito.instances.records import (
    IN_WORDS,
    Applied,
    Delta,
    Instance,
    Link,
    Snapshot,
    StatusReason,
)
from ordito.instances.states import (
    CREATING,
    DELETED,
    DELETING,
    ERROR,
    STARTED,
    STOPPING,
    TRANSITIONAL,
)
from ordito.instances.status import (
    ABSENT,
    OPERATIONAL,
    PENDING,
    WORSE,
    Happened,
    local_after,
)
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.service import Service
from ordito.operations.artifact_workflows import Describe
from ordito.operations.bookkeeping import APART, STAND_FOR_ORDER, Bookkeeping
from ordito.operations.called import PlanCalls
from ordito.operations.conditions import StepConditions
from ordito.operations.delegating import Delegating
from ordito.operations.happenings import (
    NEVER_STARTED,
    Happenings,
    marked_by_values,
    of_what_is_up,
    remembered,
    touched,
    with_failures,
    without,
)
from ordito.operations.link_ends import LinkEnds, to_be_undone_again
from ordito.operations.looks import ANSWERED, Looks, is_lost, noted
from ordito.operations.news import News
from ordito.operations.preparing import PreparedStep, Preparing
from ordito.operations.removal import Removal
from ordito.operations.secrecy import masking_for, without_secrets
from ordito.operations.set_state import StepFilters
from ordito.operations.targeting import THIS_MACHINE, FindsTargets, Targets
from ordito.work.attribute_values import WrongValue
from ordito.work.forms import adopted
from ordito.work.invocation import SCRATCH, Ending, Invocation, Outcome
from ordito.work.outputs import GivenValues
from ordito.work.plan import Action, OperationCall, Plan, Step, StepCondition
from ordito.work.probes import UPDATE, is_probe, unless_ready
from ordito.work.providing import Delegation
from ordito.work.targets import HostTarget
from ordito.work.telling import Telling
from ordito.work.workflows import workflow_of

DELEGATE = Action.DELEGATE
IF_MENDED = StepCondition.IF_MENDED
SUCCEEDED, UNSTARTED, CHAIN_BEGAN = Ending.SUCCEEDED, Happened.NEVER_STARTED, Happened.CHAIN_BEGAN

REPORTABLE = frozenset(WORSE) - {ABSENT}
"""The statuses that an operation may report of its instance."""


class PlanOperations:
    """The steps of one plan, seen from the model: evaluates inputs late, and keeps the records true.

    ``root`` is the absolute folder of the pinned service, ``variables`` are those that every operation finds in its
    environment where nothing of its own has that name, ``digest_key`` gives the key of digests of sensitive values,
    ``counts`` the wanted numbers of instances of nodes about which the plan says nothing, and ``describe`` gives the
    service as plain data, for processors of workflows. ``targets`` knows how hosts are reached, ``ensemble`` is the id
    of the deployment. ``form`` is the form that the service is, "" for the job's own, and ``masking`` that of the job
    where there is one already. The deltas it gives must be applied to the snapshot before it is asked anything else.

    ``prepare``, ``on_start`` and ``on_end`` are called once for every step of what may be hundreds of thousands: what
    is the same for all steps of a call is kept.
    """

    def __init__(  # noqa: PLR0913  (what a job is)
        self,
        service: Service,
        snapshot: Snapshot,
        plan: Plan,
        inputs: Mapping[str, object],
        *,
        root: str,
        job: str,
        variables: Mapping[str, object] | None = None,
        digest_key: Callable[[], bytes] = bytes,
        counts: Mapping[str, int] | None = None,
        describe: Describe = dict,
        targets: FindsTargets = THIS_MACHINE,
        ensemble: str = "",
        form: str = "",
        masking: Masking | None = None,
    ) -> None:
        self._service = service
        self._form = form
        self._snapshot = snapshot
        self._job = job
        # Whether what is carried out counts as deployed: all of it, or the step that is told of.
        self._all_apply = workflow_of(plan.workflow).applies
        # Of a deployment that somebody wrote, whatever comes first makes an instance.
        self._makes = plan.overlaps and workflow_of(plan.workflow).describes
        self._evaluator = Evaluator(service, snapshot, inputs, root=root, scratch=SCRATCH)
        self._evaluator.entities.make_again(plan.made_again())
        self.masking = masking_for(service, masking)
        self._called = PlanCalls(service, snapshot, plan, self._evaluator, self.masking)
        self._targets = Targets(service, snapshot, self._evaluator, targets)
        self._delegating = Delegating(
            service,
            snapshot,
            self._evaluator,
            self.masking,
            self._targets,
            root=root,
            job=job,
            ensemble=ensemble,
        )
        self._preparing = Preparing(
            service,
            snapshot,
            self._called,
            self._evaluator,
            self.masking,
            variables or {},
            self._targets,
            root=root,
            job=job,
            describe=describe,
        )
        self._counts = counts or {}
        self._news = News(service, snapshot, plan, Telling(service, snapshot, self._evaluator, digest_key), job)
        self._happenings = Happenings(service, snapshot, self._news)
        self._removal = Removal(service, snapshot, plan.workflow, job)
        self._conditions = StepConditions(
            service,
            snapshot,
            self._called,
            StepFilters(service, self._evaluator, digest_key),
            self._news,
            self._happenings,
            self._removal,
        )
        self._not_begun = NotBegun(snapshot)
        self._link_ends = LinkEnds(snapshot, self._called, self._happenings, job)
        self._looks = Looks(service, snapshot, self._called, self._evaluator, job, digest_key)
        self._bookkeeping = Bookkeeping(self._called, self._evaluator, self._removal, self._news, form=form, job=job)

    # ------------------------------------------------------------------------------------------ before the start

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """The invocation of a called operation, with its inputs evaluated now; or why it cannot be started."""
        return self._preparing.prepare(step, attempt)

    def shown_inputs(self, step: Step) -> dict[str, object]:
        """The inputs of a called operation as they are now, and as they may be shown; none of what a provider does."""
        return self._preparing.shown_inputs(step)

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """The check that is asked about a called operation in doubt, where that has run; None where its instance has
        none that an executor ``accepts`` there, or the check itself is in doubt. Raises ``Unreachable``."""
        return self._preparing.question(step, accepts)

    def delegation(self, step: Step) -> Delegation:
        """What is asked for a delegated step, of a provider or of who reaches hosts. Raises ``Unreachable``."""
        return self._delegating.delegation(step, self._called.plan.calls[step.call])

    def target(self, step: Step) -> HostTarget | None:
        """How the host of a step is reached, None for this machine. Raises ``Unreachable``."""
        return self.target_of(step.runs_on)

    def target_of(self, compute: str) -> HostTarget | None:
        """How a Compute instance is reached, None for this machine, which "" is. Raises ``Unreachable``."""
        return self._targets.of(compute)

    # ---------------------------------------------------------------------------------------- starts and ends

    def on_start(self, step: Step, change: str) -> Delta:
        """What changes by the start of a step: the node state, the first sign of life; a link's record begins. What a
        lifecycle step runs does not count as a part of making an instance."""
        if step.action in STAND_FOR_ORDER:
            return Delta()
        applies = self._applies(step)
        links: tuple[Link, ...] = ()
        owner = step.instance
        if step.link:
            owner = self._called.source(step, self._called.plan.calls[step.call])
            links = () if step.link in self._snapshot.links else (self._called.new_link(step),)
        record = known = self._snapshot.instances[owner]
        is_update = step.forms and self._called.plan.calls[step.call].operation == UPDATE
        if step.forms and record.form != self._form and not is_update:
            # What counts as carried out in that form without being so does from now on: its digests say nothing in any
            # other. What is updated is in the form in which it was until that has succeeded, and is told the same then.
            record = adopted(self._called.plan, record, self._form, change)
        # What its provider could not remove is still there, and known by what is recorded of it.
        is_left = step.action is DELEGATE and record.exists and bool(record.applied)
        again = step.anew and step.opens and step.enter == CREATING and not is_left
        begins = step.opens and step.enter == CREATING and (again or not (record.created and record.exists))
        begins |= self._makes and not record.created
        if not begins:
            if step.enter and step.enter != record.state:
                self._not_begun.begins(record, step.enter)
                record = msgspec.structs.replace(record, state=step.enter)
            return Delta(() if record is known else (record,), links)
        local = local_after(record.local, CHAIN_BEGAN)
        host = self._called.plan.moved.get(record.id, record.host)
        changed = msgspec.structs.replace(
            record,
            state=step.enter or record.state,
            local=local,
            status_reason=StatusReason.NONE,
            with_host=False,
            host=host,
        )
        if applies:
            changed = msgspec.structs.replace(changed, created=change, applied={}, failed={}, before_failure={})
        left = (record.id, *self._removal.left_of(record, again=True)) if again and applies else ()
        return Delta(() if changed == known else (changed,), links, left)

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """How a step ended, as it may be kept and shown."""
        if not outcome.outputs and not self.masking.is_active:
            return outcome
        return without_secrets(outcome, self.masking, self._called.sensitive_outputs(step) if outcome.outputs else ())

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """What changes by the end of a step. A success whose outputs are missing or do not fit becomes a failure."""
        applies = self._applies(step)
        if step.action in APART:
            return self._bookkeeping.end(step, outcome, change, applies=applies)
        call = self._called.plan.calls[step.call]
        if is_probe(self._service, call):
            if outcome.ending in ANSWERED or step.dispensable:
                return unless_ready(step, *self._looks.found(step, call, outcome, change, applies=applies))
            if outcome.ending in NEVER_STARTED:
                return outcome, Delta()  # Who was not asked has said nothing.
        if step.condition is IF_MENDED and not self._is_mended(step):
            return self._not_mended(step), Delta()
        if step.condition is StepCondition.IF_HEALED:
            return self._found_in_the_end(step, outcome), Delta()
        if step.condition is StepCondition.IF_THERE:
            is_there = self._snapshot.instances[step.instance].exists
            return outcome if is_there else Outcome(Ending.FAILED, changed=False, message=NOT_THERE), Delta()
        outcome, found = self._given(step, call, outcome)
        delta = self._ended(step, call, outcome, change, applies=applies)
        if found.attributes or found.outputs:
            delta = msgspec.structs.replace(delta, attributes=found.attributes, outputs=found.outputs)
        if found.attributes:
            delta = marked_by_values(delta, self._snapshot, change, applies=applies)
        delta = self._with_news(step, call, outcome, delta, change, applies=applies)
        return outcome, self._linked_anew(step, call, outcome, delta, applies=applies)

    def _ended(self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool) -> Delta:
        """What changes in the records of instances and links by the end of an operation."""
        owner = self._called.source(step, call) if step.link else step.instance
        if step.link:
            delta = self._link_ends.ended(step, call, outcome, change, applies=applies)
        elif step.leave == DELETED and outcome.succeeded:
            is_kept = self._is_kept(step, outcome)
            delta = self._stays(step) if is_kept else self._removal.deleted(step, change, applies=applies)
        else:
            stops = call.operation in STOPS
            links = self._link_ends.stopped(step, call, outcome, applies=applies) if stops else ()
            delta = Delta(instances=(self._end_of_node(step, call, outcome, change, applies=applies),), links=links)
        return self._not_begun.ended(owner, outcome, delta, is_of_pair=bool(step.link))

    def _applies(self, step: Step) -> bool:
        """Whether what a step carries out counts as deployed."""
        return (self._all_apply and step.hook < 0) or step.counts

    def _given(self, step: Step, call: OperationCall, outcome: Outcome) -> tuple[Outcome, GivenValues]:
        """What a step gives. Where what it gives does not fit it has failed."""
        if outcome.ending is SUCCEEDED:
            try:
                return outcome, self._called.given(step, call, outcome)
            except WrongValue as wrong:
                outcome = msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong))
        elif step.action is DELEGATE and outcome.outputs:
            # What a provider has made all the same is known, so that it is found again, and removed.
            return outcome, GivenValues({step.instance: outcome.outputs})
        return outcome, GivenValues()

    def _linked_anew(self, step: Step, call: OperationCall, outcome: Outcome, delta: Delta, *, applies: bool) -> Delta:
        starts = call.operation in STARTS and not call.side and outcome.succeeded and applies
        known = self._called.relationships
        return to_be_undone_again(self._snapshot, step.instance, delta, known) if starts else delta

    def _with_news(
        self, step: Step, call: OperationCall, outcome: Outcome, delta: Delta, change: str, *, applies: bool
    ) -> Delta:
        """A change with what ends of pairs know of each other after it: the pair was linked or unlinked, its instance
        was told of changes, or its chain has ended."""
        links = delta.links
        if step.link:
            of_pair, succeeded = self._news.of_pair, outcome.succeeded
            links = tuple([of_pair(link, call, delta, change, succeeded=succeeded) for link in links])
        if outcome.succeeded:
            if call.side and self._news.tells(call):
                links += self._news.told(step, call, delta, change)
            elif step.closes and applies and step.leave != DELETED:
                links += self._news.of_chain(self._called.owner(step), delta, change)
        return delta if links == delta.links else msgspec.structs.replace(delta, links=links)

    def needless(self, step: Step) -> str:
        """Why a step that may start now is not needed after all, "" if it is."""
        return self._conditions.needless(step)

    def on_needless(self, step: Step, change: str) -> Delta:
        """What changes because a step that was not needed counts as done."""
        return self._conditions.on_needless(step, change, applies=self._applies(step))

    def extend(self, plan: Plan) -> None:
        """The plan goes on: this is the whole of it."""
        self._called.plan = plan
        self._evaluator.entities.make_again(plan.made_again())
        self._news.extend(plan)

    def topology_outputs(self) -> dict[str, object]:
        """The outputs of the topology as things are, None for those that have no value."""
        return topology_outputs(self._evaluator, {**self._counts, **self._called.plan.counts})[0]

    # ---------------------------------------------------------------------------------------------- instances

    def _end_of_node(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> Instance:
        """The record of an instance after an operation on it, well or not, save that it was deleted."""
        record, succeeded = self._snapshot.instances[step.instance], outcome.succeeded
        happened = self._happenings.happened(step, call, outcome, record, applies=applies)
        local = local_after(record.local, happened)
        if step.condition is IF_MENDED and record.local in OPERATIONAL:
            local = record.local
        if outcome.status in REPORTABLE and (step.closes or not succeeded):
            local = outcome.status
        known, applied, failed = record, record.applied, record.failed
        if happened is not UNSTARTED:
            applied, failed = self._counted(record, step, call, outcome, change, applies=applies)
        state = self._state_after(step, call, record, succeeded=succeeded)
        if applies and step.closes and state == STARTED:
            applied = of_what_is_up(applied)
        record = msgspec.structs.replace(record, state=state, local=local, applied=applied, failed=failed)
        record = with_failures(known, record, call.key, happened, succeeded=succeeded, applies=applies)
        if succeeded and applies and call.operation == UPDATE and record.id in self._called.plan.adopted:
            # With its success, not after it: whoever compares once the job was cut off would see what was before.
            record = adopted(self._called.plan, record, self._form, change)
        if step.action is DELEGATE and succeeded:
            record = noted(record, reached=True)
        if succeeded and step.forms and call.operation == UPDATE:
            record = adopted(self._called.plan, record, self._form, change)
        return touched(record, outcome, change, self._job, applies=applies)

    def _counted(
        self, record: Instance, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Mapping[str, Applied], Mapping[str, str]]:
        """What counts as carried out of an instance, and as failed, after an operation was at work."""
        if applies:
            return remembered(record, call, outcome, change)
        if self._happenings.is_of_lifecycle(step, call):
            # Nothing counts as carried out by it, and yet what was stopped is no longer started.
            return without(record.applied, "", call), record.failed
        return record.applied, record.failed

    def _state_after(self, step: Step, call: OperationCall, record: Instance, *, succeeded: bool) -> str:
        """The node state of an instance after an operation on it."""
        if not succeeded:
            return ERROR if self._happenings.decides_state(step, call) else record.state
        # An optional operation that had failed while the instance came up may be made good much later.
        recovered = step.closes and record.state == ERROR
        return step.leave or (STARTED if recovered else record.state)

    def _is_kept(self, step: Step, outcome: Outcome) -> bool:
        """Whether a host that its provider does not really remove is still needed: something on it was not removed."""
        provided = step.action is DELEGATE and outcome.changed is False
        return provided and any(self._snapshot.instances[i].exists for i in self._snapshot.hosted_on(step.instance))

    def _stays(self, step: Step) -> Delta:
        """A host goes on, so that what it still hosts can be removed another time."""
        record = self._snapshot.instances[step.instance]
        return Delta(instances=(msgspec.structs.replace(record, state=STARTED),))

    def _is_mended(self, step: Step) -> bool:
        return self._snapshot.instances[step.instance].local in {*OPERATIONAL, PENDING}

    def _found_in_the_end(self, step: Step, outcome: Outcome) -> Outcome:
        """How the healing of an instance ends: as it is, by what is known of it and of its host."""
        record = self._snapshot.instances[step.instance]
        if self._conditions.is_up(record):
            return outcome
        if host := self._conditions.lost_host(record):
            why = self._looks.away.get(host) or f"{host} {IN_WORDS[StatusReason.UNREACHABLE]}"
            return Outcome(Ending.UNREACHABLE, changed=False, message=why)
        said, how = self._looks.said.get(record.id), f"it is {record.local}"
        if said is not None:
            how = f"its check says {record.local}" + (f": {said}" if said else "")
        return Outcome(Ending.FAILED, changed=False, message=f"it is not healed: {how}")

    def _not_mended(self, step: Step) -> Outcome:
        """How it ends that nothing was done about an instance which is not ok: a host that is away is waited for."""
        if not is_lost(self._snapshot.instances[step.instance]):
            return Outcome(Ending.FAILED, changed=False, message=NOT_MENDED.format(step.instance))
        why = self._looks.away.get(step.instance) or f"it {IN_WORDS[StatusReason.UNREACHABLE]}"
        return Outcome(Ending.UNREACHABLE, changed=False, message=why)


NOT_THERE = (
    "it was found to be absent, and it keeps data: it may come back (is its volume mounted?), and is made once more"
    " only by `ordito deploy --allow-data-loss` with its name"
)
NOT_MENDED = (
    "it is in error, or nothing says that it is ok, and everything was carried out already: see to it, or mend it with"
    " `ordito heal {}`"
)


# What becomes of the node states of instances that are there when what was to be done to them could not begin.


class NotBegun:
    """The states of the instances of one job from before something began on them.

    What never started has changed nothing: an instance that was up, or to be removed, goes on as it was, by its state
    as by its local status. One that is being made has no state to go on in; its ``error`` says how far that came.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._before: dict[str, str] = {}

    def begins(self, record: Instance, enter: str) -> None:
        """Something begins on an instance, whose state becomes ``enter``."""
        is_there = record.local in OPERATIONAL or enter in (STOPPING, DELETING)
        if is_there and record.state not in TRANSITIONAL:
            self._before[record.id] = record.state

    def ended(self, owner: str, outcome: Outcome, delta: Delta, *, is_of_pair: bool) -> Delta:
        """What changes by the end of it, with the state that an instance goes on in where it never started."""
        if outcome.ending not in NEVER_STARTED:
            if not is_of_pair:
                self._before.pop(owner, None)
            return delta
        before = self._before.pop(owner, "")
        known = self._snapshot.instances[owner]
        if not before or known.state not in TRANSITIONAL:
            return delta
        ended = next((record for record in delta.instances if record.id == owner), known)
        others = tuple(record for record in delta.instances if record.id != owner)
        return msgspec.structs.replace(delta, instances=(*others, msgspec.structs.replace(ended, state=before)))
