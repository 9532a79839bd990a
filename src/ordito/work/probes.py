"""Operations that only look: what the end of a ``check`` or a ``discover`` says of the instance it has looked at.

An exit code of 0 means ok, 1 error, 3 absent, anything else and a timeout that nothing is known; ``ordito.status``
among the outputs wins. Outputs become attributes where they are mapped to some, or have the name of one.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import DELEGATE
from ordito.instances.records import Delta
from ordito.instances.states import DELETED, ERROR, STARTED
from ordito.instances.status import ABSENT, DEGRADED, OK, UNKNOWN, WORSE
from ordito.instances.status import ERROR as BROKEN
from ordito.model.operation import Operation
from ordito.model.service import MAINTAIN, NodeTemplate, Service
from ordito.work.invocation import Ending, Outcome
from ordito.work.outputs import found_values
from ordito.work.places import ExecutionPlace
from ordito.work.plan import OperationCall, Step, StepCondition

CHECK = "check"
DISCOVER = "discover"
HEAL = "heal"
UPDATE = "update"
LOOK = "look"
"""What is asked of a provider about an instance that no operation looks at."""
PROBES = frozenset({CHECK, DISCOVER, LOOK})

STATUS_OF_EXIT: Mapping[int, str] = {0: OK, 1: BROKEN, 3: ABSENT}
STATE_OF: Mapping[str, str] = {OK: STARTED, DEGRADED: STARTED, BROKEN: ERROR, ABSENT: DELETED}


def maintaining(node: NodeTemplate, name: str) -> Operation | None:
    """An operation by which a node's instances are looked after, if it is implemented."""
    for interface in node.interfaces.values():
        operation = interface.operations.get(name) if MAINTAIN in interface.kinds else None
        if operation is not None and operation.implementation is not None:
            return operation
    return None


def is_probe(service: Service, call: OperationCall) -> bool:
    """Whether a call only looks."""
    return call.operation in PROBES and looks_after(service, call)


def looks_after(service: Service, call: OperationCall) -> bool:
    """Whether a call is of an operation by which instances are looked after, and no part of making them."""
    if call.side:
        return False
    if call.interface == DELEGATE:
        return call.operation == LOOK
    interface = service.nodes[call.owner].interfaces.get(call.interface)
    return interface is not None and MAINTAIN in interface.kinds


def found_status(outcome: Outcome) -> str:
    """The status of an instance, by the end of what has looked at it."""
    if outcome.status in WORSE:
        return outcome.status
    if outcome.ending is Ending.TIMED_OUT:
        return UNKNOWN
    code = 0 if outcome.exit_code is None and outcome.succeeded else outcome.exit_code
    return STATUS_OF_EXIT.get(-1 if code is None else code, UNKNOWN)


def unless_ready(step: Step, outcome: Outcome, delta: Delta) -> tuple[Outcome, Delta]:
    """What has looked at an instance that is to be ready has failed as long as it does not say ok."""
    if step.flow.condition is not StepCondition.UNTIL_READY or outcome.status == OK or not outcome.succeeded:
        return outcome, delta
    said = f": {outcome.message}" if outcome.message else ""
    message = f"it is not ready, its check says {outcome.status or UNKNOWN}{said}"
    return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=message), delta


def state_found(status: str, before: str) -> str:
    """The node state that goes with a status that was found; the one before where that says nothing."""
    return STATE_OF.get(status, before)


def found_attributes(evaluator: Evaluator, place: ExecutionPlace, outcome: Outcome) -> dict[str, object]:
    """The attributes that were found and have other values than are recorded.

    Raises ``WrongValue`` for one that does not fit its type.
    """
    recorded = evaluator.snapshot.attributes.get(place.instance, {})
    found = found_values(evaluator, place, outcome)
    return {name: value for name, value in found.items() if name not in recorded or recorded[name] != value}
