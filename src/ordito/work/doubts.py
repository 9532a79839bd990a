"""Operations in doubt: those that were running when a job was interrupted, and whose end is unknown.

The ``check`` of the instance may know: it is told which operation is in doubt, and reports ``ordito.done``. Without
that its result decides if it can: what is absent was not created, or was deleted; what is ok was brought up.
"""

from __future__ import annotations

import msgspec

from ordito.instances.lifecycle import DELEGATE, LIFECYCLE_TYPES, MAKES, PROVIDE
from ordito.instances.states import DELETED
from ordito.instances.status import ABSENT, OK
from ordito.work.invocation import Ending, Evidence, Outcome
from ordito.work.plan import OperationCall, Step
from ordito.work.probes import found_status

IN_DOUBT = "in_doubt"
"""The variable that names the operation in doubt, as ``Interface.operation``."""

BROUGHT_UP = frozenset({*MAKES, PROVIDE})
LIFECYCLES = frozenset({DELEGATE, *(kind.rpartition(".")[2] for kind in LIFECYCLE_TYPES)})
"""Operations that have succeeded if an instance is ok, and their interfaces, by the last part of their names. For any
other operation, a backup for example, that shows nothing."""


def id_of_question(step: str) -> str:
    """The id under which the check runs that is asked about a step."""
    return f"{step}.check"


def answer(step: Step, call: OperationCall, found: Outcome) -> Outcome | None:
    """How a step in doubt has ended, by the end of the check; None if it must run again: it was not done, nothing
    knows, or it has outputs that the check does not give."""
    done = found.done
    if done is None and not call.side:
        done = _by_status(step, call, found_status(found))
    if not done or any(name not in found.outputs for name in call.outputs):
        return None
    outputs = {name: found.outputs[name] for name in call.outputs}
    return _found(Outcome(Ending.SUCCEEDED, outputs=outputs), Evidence.CHECK)


def left_behind(outcome: Outcome) -> Outcome:
    """The result that an operation has left behind, which says so if it is a success."""
    if not outcome.succeeded or outcome.message or outcome.status not in {"", OK}:
        return outcome
    return _found(outcome, Evidence.RESULT)


_IN_WORDS = {
    Evidence.CHECK: "interrupted, and done by what check says",
    Evidence.RESULT: "interrupted, and found to be done",
}


def _found(outcome: Outcome, evidence: Evidence) -> Outcome:
    return msgspec.structs.replace(outcome, found=evidence, message=_IN_WORDS[evidence])


def _by_status(step: Step, call: OperationCall, status: str) -> bool:
    if status == ABSENT:
        return step.effect.leave == DELETED
    is_lifecycle = call.interface.rpartition(".")[2] in LIFECYCLES
    return status == OK and is_lifecycle and call.operation in BROUGHT_UP
