"""Conditions of steps: whether a step that may start is needed, which only the job itself can find out, and what
changes if it is not needed and counts as done."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ordito.instances.conditions import ConditionEvaluator
from ordito.instances.entities import LinkEntity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.hosting import chain
from ordito.instances.records import Applied, Delta, Instance, Snapshot, StatusReason, note_of
from ordito.instances.states import DELETED
from ordito.instances.status import OPERATIONAL, StatusEvent, is_up, local_after
from ordito.model.service import Relationship, Service
from ordito.operations.called import PlanCalls
from ordito.operations.checks import is_lost
from ordito.operations.peer_notifications import PeerNotifications
from ordito.operations.record_changes import Removal, lacks_optional
from ordito.work.activities import condition_at
from ordito.work.observed_inputs import observed
from ordito.work.plan import Action, OperationCall, Step, StepCondition
from ordito.work.probes import looks_after
from ordito.work.workflow_progress import LEFT_OUT
from ordito.work.workflows import workflow_of

FILTER = Action.FILTER

NOT_RECORDED = frozenset(
    {StepCondition.IF_CHANGED, StepCondition.IF_UNWELL, StepCondition.IF_LINKED, StepCondition.UNLESS_LINKED}
)
"""Where one of these does not hold, nothing is recorded."""


class StepConditions:
    """The conditions of the steps of one plan."""

    def __init__(
        self,
        service: Service,
        snapshot: Snapshot,
        called: PlanCalls,
        filters: StepFilters,
        notifications: PeerNotifications,
        removal: Removal,
    ) -> None:
        self._service = service
        self._snapshot = snapshot
        self._called = called
        self._filters = filters
        self._notifications = notifications
        self._removal = removal
        self._lost_hosts = LostHosts(snapshot, called.plan.workflow)

    def needless(self, step: Step) -> str:
        """Why a step that may start now is not needed, "" if it is."""
        if not step.flow.condition or step.flow.condition is StepCondition.IF_OTHER_INPUTS:
            return self._left_out(step) if step.action is FILTER else ""
        record = self._snapshot.instances[self._called.owner(step)]
        return self._not_found_out(step, record) or self._needless(step, record)

    def _needless(self, step: Step, record: Instance) -> str:
        """Why a step is not needed in the present state of its instance, "" if it is."""
        match step.flow.condition:
            case StepCondition.UNLESS_OK | StepCondition.IF_UNWELL if self.is_up(record):
                return f"check says {record.local}"
            case StepCondition.IF_OK if not self.is_up(record):
                return f"check says {record.local}"
            case StepCondition.IF_ABSENT if record.exists and self._was_done(step, record):
                return "it was carried out, and check does not say absent"
            case StepCondition.UNLESS_ABSENT | StepCondition.IF_LEFT | StepCondition.IF_UNWELL if not self._is_there(
                record
            ):
                return "check says absent"
            case StepCondition.IF_LEFT | StepCondition.UNLESS_LINKED if self._was_done(step, record):
                return "it was carried out"
            case StepCondition.IF_CHANGED:
                return self._notifications.needless(step, self._called.plan.calls[step.call])
            case StepCondition.IF_LINKED | StepCondition.IF_FAR_IS_UP:
                return self._needless_of_pair(step)
        return ""

    def _needless_of_pair(self, step: Step) -> str:
        if step.flow.condition is StepCondition.IF_LINKED:
            return "" if step.link in self._snapshot.links else "it was not linked"
        node = self._snapshot.instances[step.far].node if step.far else ""
        far = [self._snapshot.instances[step.far]] if step.link else self._snapshot.of_node(node)
        return "" if any(i.local in OPERATIONAL for i in far) else f"{step.far or 'the peer'} is not up"

    def _left_out(self, step: Step) -> str:
        call = self._called.plan.calls[step.call]
        if step.flow.condition is StepCondition.IF_OTHER_INPUTS:
            return self._filters.as_before(step, call, self._called.plan.records.observed.get(step.instance, ""))
        return self._filters.left_out(step, call, self._called.relationships.get(call.owner) if call.side else None)

    def on_needless(self, step: Step, change: str, *, applies: bool) -> Delta:
        """What changes if a step that is not needed counts as done."""
        if step.action is FILTER:
            return Delta()
        call, record = self._called.plan.calls[step.call], self._snapshot.instances[self._called.owner(step)]
        if self._goes_with_host(step, record):
            return Delta()
        if step.effect.leave == DELETED:
            return self._removal.deleted(step, change, applies=applies)
        if step.flow.condition in NOT_RECORDED:
            return Delta()
        if looks_after(self._service, call) and self._out_of_reach(step, record):
            return Delta()
        if self.is_up(record):
            if step.link or step.flow.condition is StepCondition.IF_FAR_IS_UP or looks_after(self._service, call):
                return Delta()
            applied = {call.key: Applied(change, call.digest), **record.applied}
            failed = {key: value for key, value in record.failed.items() if key != call.key}
            return Delta(instances=(msgspec.structs.replace(record, applied=applied, failed=failed),))
        local = record.local
        if step.effect.closes:
            lacks = lacks_optional(self._service, self._snapshot, record, step, call)
            local = local_after(local, StatusEvent.CHAIN_LACKS if lacks else StatusEvent.CHAIN_ENDED)
        state = step.effect.leave or step.effect.enter or record.state
        return Delta(instances=(msgspec.structs.replace(record, local=local, state=state),))

    def lost_host(self, record: Instance) -> str:
        """The lost Compute on which an instance is, "" for none."""
        return self._lost_hosts.host_of(record)

    def is_up(self, record: Instance) -> bool:
        """Whether an instance was found to be operational, and its host can be reached."""
        return is_up(record) and not self._lost_hosts.host_of(record)

    def _is_there(self, record: Instance) -> bool:
        """Whether an instance and all its hosts exist."""
        return record.exists and all(host.exists for host in chain(self._snapshot, record.host))

    def _out_of_reach(self, step: Step, record: Instance) -> str:
        """The lost host that keeps a step from monitoring its instance, or from taking it down; "" for none."""
        host = self._lost_hosts.lost_host_of(step, record)
        if not host or step.flow.condition in (
            StepCondition.UNLESS_LOST,
            StepCondition.UNLESS_ABSENT,
            StepCondition.IF_LEFT,
        ):
            return host
        mends = step.flow.condition is StepCondition.UNLESS_OK
        return host if mends and looks_after(self._service, self._called.plan.calls[step.call]) else ""

    def _goes_with_host(self, step: Step, record: Instance) -> bool:
        """Whether an instance is on a lost host, and so is gone only when that host is given up: it may come back
        before."""
        return bool(self._out_of_reach(step, record)) and bool(self._lost_hosts.host_of(record))

    def _not_found_out(self, step: Step, record: Instance) -> str:
        """Why nothing is done about an instance whose state is unknown, "" if that is no reason."""
        if step.action is FILTER and record.status_reason is StatusReason.UNANSWERED:
            return note_of(record)
        host = self._out_of_reach(step, record)
        return f"{host} cannot be reached" if host else ""

    def _was_done(self, step: Step, record: Instance) -> bool:
        call = self._called.plan.calls[step.call]
        if not step.link:
            return call.key in record.applied
        link = self._snapshot.links.get(step.link)
        return link is not None and call.name in link.applied


# Hosts that were found to be out of reach: what healing does about what ran on them.


class LostHosts:
    """Which hosts are lost, in jobs that heal: nothing on such a host is taken down, since it cannot be reached, and
    nothing on it counts as healthy. In other workflows no host counts as lost, and they try to reach it."""

    def __init__(self, snapshot: Snapshot, workflow: str) -> None:
        self._snapshot = snapshot
        self._heals = workflow_of(workflow).heals

    def host_of(self, record: Instance) -> str:
        """The lost Compute on which an instance is hosted, directly or not; "" for none."""
        hosts = chain(self._snapshot, record.host) if self._heals else ()
        return next((host.id for host in hosts if is_lost(host)), "")

    def lost_host_of(self, step: Step, record: Instance) -> str:
        """The lost Compute because of which a step cannot be carried out, "" for none: the step would run there, or a
        provider would have to reach it."""
        if not self._heals:
            return ""
        if step.action is Action.DELEGATE:
            return self.host_of(record)
        host = self._snapshot.instances.get(step.runs_on)
        return host.id if host is not None and is_lost(host) else ""


def entity_at(
    service: Service, step: Step, call: OperationCall, relationship: Relationship | None
) -> NodeEntity | LinkEntity:
    """The instance or link that a step is about."""
    if relationship is None:
        return NodeEntity(service.nodes[call.owner], step.instance)
    ends = (step.instance, step.far) if call.side == "source" else (step.far, step.instance)
    return LinkEntity(relationship, *ends)


class StepFilters:
    """Decides conditions of workflows and filters, for the steps that need them."""

    def __init__(self, service: Service, evaluator: Evaluator, key: Callable[[], bytes] = bytes) -> None:
        self._service = service
        self._evaluator = evaluator
        self._key = key
        self._conditions = ConditionEvaluator(evaluator)

    def as_before(self, step: Step, call: OperationCall, before: str) -> str:
        """Why the steps that follow are not needed, "" if the inputs of an operation differ from those ``before`` (a
        digest)."""
        operation = self._service.nodes[call.owner].interfaces[call.interface].operations[call.operation]
        now = observed(self._evaluator, operation, call.owner, step.instance, self._key)
        return "the inputs it was configured with have not changed" if now == before else ""

    def left_out(self, step: Step, call: OperationCall, relationship: Relationship | None) -> str:
        """Why a filter leaves out the instance or pair of a step, "" if it does not."""
        condition = condition_at(self._service, step.written)
        if condition is None:
            return ""
        verdict = self._conditions.of(condition, entity_at(self._service, step, call, relationship))
        return "" if verdict.holds else f"{LEFT_OUT}: {verdict}"
