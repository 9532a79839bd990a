"""What the activities of a workflow change by themselves: node states, and whether an instance passes a filter
(§3.6.23, §3.6.27)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ordito.instances.conditions import ConditionEvaluator
from ordito.instances.entities import LinkEntity, NodeEntity
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Link, Snapshot
from ordito.instances.states import ERROR, STARTED
from ordito.instances.status import Happened, local_after
from ordito.model.service import Relationship, Service
from ordito.work.activities import condition_at
from ordito.work.observed_inputs import observed
from ordito.work.plan import OperationCall, Step
from ordito.work.workflow_progress import LEFT_OUT

AVAILABLE = "available"

SAYS: dict[str, Happened] = {
    STARTED: Happened.CHAIN_ENDED,
    AVAILABLE: Happened.CHAIN_ENDED,
    ERROR: Happened.FAILED_MODIFIED,
}
"""What the node states that a workflow sets say of the operational status; all others leave it as it is. ``available``
is no state of the lifecycle, but one that the specification takes for known (§7.3.7)."""


def with_state(record: Instance, state: str) -> Instance:
    """The record of an instance whose state a workflow has set."""
    happened = SAYS.get(state)
    local = record.local if happened is None else local_after(record.local, happened)
    failures = record.before_failure if happened is None or happened is Happened.FAILED_MODIFIED else {}
    return msgspec.structs.replace(record, state=state, local=local, before_failure=failures)


def link_with_state(snapshot: Snapshot, new: Link, state: str) -> Delta:
    """A link whose state a workflow has set; ``new`` is its record where it has none yet."""
    link = snapshot.links.get(new.id, new)
    return Delta(links=(msgspec.structs.replace(link, state=state),))


def entity_at(
    service: Service, step: Step, call: OperationCall, relationship: Relationship | None
) -> NodeEntity | LinkEntity:
    """The instance, or the link, that a step is about."""
    if relationship is None:
        return NodeEntity(service.nodes[call.owner], step.instance)
    ends = (step.instance, step.far) if call.side == "source" else (step.far, step.instance)
    return LinkEntity(relationship, *ends)


class StepFilters:
    """Says whether conditions hold, of steps that ask."""

    def __init__(self, service: Service, evaluator: Evaluator, key: Callable[[], bytes] = bytes) -> None:
        self._service = service
        self._evaluator = evaluator
        self._key = key
        self._conditions = ConditionEvaluator(evaluator)

    def as_before(self, step: Step, call: OperationCall, before: str) -> str:
        """Why what follows is not needed, "" where the inputs of an operation are not what they were ``before``."""
        operation = self._service.nodes[call.owner].interfaces[call.interface].operations[call.operation]
        now = observed(self._evaluator, operation, call.owner, step.instance, self._key)
        return "what it was configured with is as it was" if now == before else ""

    def left_out(self, step: Step, call: OperationCall, relationship: Relationship | None) -> str:
        """Why the place of a step is left out, "" where it is not."""
        condition = condition_at(self._service, step.written)
        if condition is None:
            return ""
        verdict = self._conditions.of(condition, entity_at(self._service, step, call, relationship))
        return "" if verdict.holds else f"{LEFT_OUT}: {verdict}"
