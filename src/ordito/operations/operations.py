"""What the steps of a plan mean: their invocations, and what their starts and ends change in the records.

Node states come from the plan; the local status follows the table in ``instances.status``. Each operation that was
carried out is recorded with its digest, and forgotten when another operation takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from ordito.base.masking import Masking
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import (
    Delta,
    Link,
    Snapshot,
    StatusReason,
)
from ordito.instances.states import (
    CREATING,
)
from ordito.instances.status import (
    StatusEvent,
    local_after,
)
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.service import Service
from ordito.operations.artifact_workflows import Describe
from ordito.operations.called import PlanCalls
from ordito.operations.checks import Checks
from ordito.operations.conditions import StepConditions, StepFilters
from ordito.operations.delegating import Delegating
from ordito.operations.end_effects import STAND_FOR_ORDER, EndEffects
from ordito.operations.peer_notifications import PeerNotifications
from ordito.operations.preparing import PreparedStep, Preparing
from ordito.operations.record_changes import Removal
from ordito.operations.script_context import OwnProgram
from ordito.operations.secrecy import masking_for, without_secrets
from ordito.operations.targeting import THIS_MACHINE, FindsTargets, Targets
from ordito.work.forms import adopted
from ordito.work.invocation import SCRATCH, Invocation, Outcome
from ordito.work.peer_knowledge import PeerKnowledge
from ordito.work.plan import Action, Plan, Step
from ordito.work.probes import UPDATE
from ordito.work.providing import Delegation
from ordito.work.targets import HostTarget
from ordito.work.workflows import workflow_of

DELEGATE = Action.DELEGATE
CHAIN_BEGAN = StatusEvent.CHAIN_BEGAN


class PlanOperations:
    """The steps of one plan, with the model: evaluates inputs when steps start, and keeps the records up to date.

    ``root`` is the absolute folder of the pinned service. Every operation gets ``variables``, unless a variable of its
    own has that name. ``digest_key`` gives the key for digests of sensitive values, ``counts`` the wanted numbers of
    instances of nodes for which the plan has none, and ``describe`` the service as plain data, for processors of
    workflows. ``targets`` knows how hosts are reached, ``ensemble`` is the id of the deployment. ``form`` is the id of
    the deployed version that the service is, "" for the job's own, and ``masking`` that of the job, if there is one
    already. The deltas that it returns must be applied to the snapshot before the next call.

    ``prepare``, ``on_start`` and ``on_end`` are called once for each of perhaps hundreds of thousands of steps: what is
    the same for all steps of a call is cached.
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
        program: OwnProgram | None = None,
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
            deployment=ensemble,
            program=program,
        )
        self._counts = counts or {}
        knowledge = PeerKnowledge(service, snapshot, self._evaluator, digest_key)
        self._notifications = PeerNotifications(service, snapshot, plan, knowledge, job)
        self._removal = Removal(service, snapshot, plan.workflow, job)
        filters = StepFilters(service, self._evaluator, digest_key)
        self._conditions = StepConditions(service, snapshot, self._called, filters, self._notifications, self._removal)
        checks = Checks(service, snapshot, self._called, self._evaluator, job, digest_key)
        self._ends = EndEffects(
            self._called,
            self._evaluator,
            checks,
            self._conditions,
            self._removal,
            self._notifications,
            form=form,
            job=job,
        )

    # ------------------------------------------------------------------------------------------ before the start

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """The invocation of a called operation, with its inputs evaluated now; or why it cannot start."""
        return self._preparing.prepare(step, attempt)

    def shown_inputs(self, step: Step) -> dict[str, object]:
        """The present inputs of a called operation, without secrets; none for what a provider does."""
        return self._preparing.shown_inputs(step)

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """The check that can tell whether a called operation in doubt was done, to be run where that has run; None if
        the instance has no check that an executor ``accepts`` there, or if the check itself is in doubt. Raises
        ``Unreachable``."""
        return self._preparing.question(step, accepts)

    def delegation(self, step: Step) -> Delegation:
        """What a delegated step asks of a provider or of the access to hosts. Raises ``Unreachable``."""
        return self._delegating.delegation(step, self._called.plan.calls[step.call])

    def target(self, step: Step) -> HostTarget | None:
        """How the host of a step is reached, None for this machine. Raises ``Unreachable``."""
        return self._preparing.target_of(step)

    def target_of(self, compute: str) -> HostTarget | None:
        """How a Compute instance is reached, None for this machine ("" is this machine). Raises ``Unreachable``."""
        return self._targets.of(compute)

    # ---------------------------------------------------------------------------------------- starts and ends

    def on_start(self, step: Step, change: str) -> Delta:
        """What the start of a step changes: the node state, the status at the first step of an instance, a new record
        of a link. Operations that a lifecycle step runs do not count as a part of creating an instance."""
        if step.action in STAND_FOR_ORDER:
            return Delta()
        applies = self._applies(step)
        links: tuple[Link, ...] = ()
        owner = step.instance
        if step.link:
            owner = self._called.source(step, self._called.plan.calls[step.call])
            links = () if step.link in self._snapshot.links else (self._called.new_link(step),)
        record = known = self._snapshot.instances[owner]
        is_update = step.effect.forms and self._called.plan.calls[step.call].operation == UPDATE
        if step.effect.forms and record.form != self._form and not is_update:
            # What counts as carried out in that form without being so does from now on: its digests say nothing in any
            # other. What is updated is in the form in which it was until that has succeeded, and is told the same then.
            record = adopted(self._called.plan, record, self._form, change)
        # What its provider could not remove is still there, and known by what is recorded of it.
        is_left = step.action is DELEGATE and record.exists and bool(record.applied)
        again = step.effect.replaces and step.effect.opens and step.effect.enter == CREATING and not is_left
        begins = (
            step.effect.opens and step.effect.enter == CREATING and (again or not (record.created and record.exists))
        )
        begins |= self._makes and not record.created
        if not begins:
            if step.effect.enter and step.effect.enter != record.state:
                self._ends.begins(record, step.effect.enter)
                record = msgspec.structs.replace(record, state=step.effect.enter)
            return Delta(() if record is known else (record,), links)
        local = local_after(record.local, CHAIN_BEGAN)
        host = self._called.plan.records.moved.get(record.id, record.host)
        changed = msgspec.structs.replace(
            record,
            state=step.effect.enter or record.state,
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
        """The outcome of a step without secrets, as it may be recorded and shown."""
        if not outcome.outputs and not self.masking.is_active:
            return outcome
        return without_secrets(outcome, self.masking, self._called.sensitive_outputs(step) if outcome.outputs else ())

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """What the end of a step changes. A success whose outputs are missing or have the wrong type becomes a
        failure."""
        return self._ends.end(step, outcome, change, applies=self._applies(step))

    def _applies(self, step: Step) -> bool:
        """Whether what a step carries out counts as deployed."""
        return (self._all_apply and step.hook < 0) or step.effect.counts

    def needless(self, step: Step) -> str:
        """Why a step that may start now is not needed, "" if it is."""
        return self._conditions.needless(step)

    def on_needless(self, step: Step, change: str) -> Delta:
        """What changes if a step that is not needed counts as done."""
        return self._conditions.on_needless(step, change, applies=self._applies(step))

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._called.plan = plan
        self._evaluator.entities.make_again(plan.made_again())
        self._notifications.extend(plan)

    def topology_outputs(self) -> dict[str, object]:
        """The present outputs of the topology, None for those without a value."""
        return topology_outputs(self._evaluator, {**self._counts, **self._called.plan.counts.wanted})[0]


# The operations of a plan whose calls belong to several forms of the service: each is understood by its own.
#
# The forms see the same snapshot. So what one of them has changed, the others know; what a function gives for a
# property is what the form of the operation says, also of nodes that are in another form by now.


MakesOperations = Callable[[str, Plan, Masking], PlanOperations]
"""Gives the operations of a plan as an earlier deployed version of the service has them, by its id."""


class FormedOperations:
    """The operations of a plan: those of the job's own service, and those of earlier deployed versions that calls name,
    which are loaded when they are first needed. Each step is answered for by the version of its call."""

    def __init__(self, own: PlanOperations, plan: Plan, makes: MakesOperations, job: str = "") -> None:
        """``job`` is the id of the job, by which calls of a rollback name the job's own version."""
        self.masking = own.masking
        self._own = own
        self._makes = makes
        self._known: dict[str, PlanOperations] = {"": own, job: own}
        self._plan = plan
        self._forms = _forms_of(plan)

    def _of(self, step: Step) -> PlanOperations:
        form = self._forms[step.call]
        return self._known.get(form) or self._made(form)

    def _made(self, form: str) -> PlanOperations:
        made = self._known[form] = self._makes(form, self._plan, self.masking)
        return made

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """As ``PlanOperations.without_secrets``."""
        return self._of(step).without_secrets(step, outcome)

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """As ``PlanOperations.prepare``."""
        return self._of(step).prepare(step, attempt)

    def shown_inputs(self, step: Step) -> dict[str, object]:
        """As ``PlanOperations.shown_inputs``."""
        return self._of(step).shown_inputs(step)

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """As ``PlanOperations.question``. Raises ``Unreachable``."""
        return self._of(step).question(step, accepts)

    def delegation(self, step: Step) -> Delegation:
        """As ``PlanOperations.delegation``. Raises ``Unreachable``."""
        return self._of(step).delegation(step)

    def target(self, step: Step) -> HostTarget | None:
        """As ``PlanOperations.target``. Raises ``Unreachable``."""
        return self._of(step).target(step)

    def target_of(self, compute: str) -> HostTarget | None:
        """As ``PlanOperations.target_of``, by the job's own service. Raises ``Unreachable``."""
        return self._own.target_of(compute)

    def on_start(self, step: Step, change: str) -> Delta:
        """As ``PlanOperations.on_start``."""
        return self._of(step).on_start(step, change)

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """As ``PlanOperations.on_end``."""
        return self._of(step).on_end(step, outcome, change)

    def needless(self, step: Step) -> str:
        """As ``PlanOperations.needless``."""
        return self._of(step).needless(step)

    def on_needless(self, step: Step, change: str) -> Delta:
        """As ``PlanOperations.on_needless``."""
        return self._of(step).on_needless(step, change)

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan, self._forms = plan, _forms_of(plan)
        for operations in {id(known): known for known in self._known.values()}.values():
            operations.extend(plan)

    def topology_outputs(self) -> dict[str, object]:
        """The outputs of the topology, as the job's own service declares them."""
        return self._own.topology_outputs()


def _forms_of(plan: Plan) -> tuple[str, ...]:
    """The deployed version of each call by its number; the last entry, -1, is for steps that call nothing."""
    return (*(call.form for call in plan.calls), "")
