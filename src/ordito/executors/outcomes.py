"""The outcome of an operation, from how its process ended and the files that it has left."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from ordito.executors.operation_process import ProcessEnd
from ordito.executors.result_files import (
    NOTHING,
    LeftFile,
    Reported,
    ResultFile,
    header,
    look_at,
    merge,
    read_reported,
    read_result,
)
from ordito.executors.slots import WorkDirectory
from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome


def outcome_of(invocation: Invocation, ended: ProcessEnd, slot: WorkDirectory, tail: Sequence[str]) -> Outcome:
    """The outcome of an operation whose process has ended just now."""
    result = look_at(slot.result) if tells_result(invocation) else NOTHING
    outputs = look_at(slot.outputs) if slot.is_touched else NOTHING
    return outcome_from(invocation, ended, result, outputs, slot.outputs, tail)


def outcome_from(
    invocation: Invocation,
    ended: ProcessEnd,
    result_file: LeftFile,
    outputs_file: LeftFile,
    path: str,
    tail: Sequence[str],
) -> Outcome:
    """The outcome of an operation from the files that it has left: its result file, and ``$ORDITO_OUTPUTS``, which is
    at ``path``."""
    result = None
    if tells_result(invocation):
        result = read_result(result_file.data, *_identity(invocation))
        if result_file.problem:
            result = ResultFile({}, problem=f"the file that its variables are written into {result_file.problem}")
    reported = read_reported(outputs_file, path)
    ending, message = _judge(invocation, ended, result, reported)
    return Outcome(
        ending,
        exit_code=ended.status if ended.status >= 0 else 128 - ended.status,
        outputs=merge(result, reported, invocation.outputs),
        changed=reported.changed,
        status=reported.status,
        done=reported.done,
        message=message,
        tail=() if ending is Ending.SUCCEEDED else tuple(tail),
        seconds=ended.seconds,
        attributes=reported.attributes,
        again=reported.again,
        final=reported.final,
    )


def outcome_left_behind(
    job: str, step: str, attempt: int, slot: WorkDirectory, outputs: Sequence[str]
) -> Outcome | None:
    """The outcome of an operation that ended unobserved; None if its work directory has no result."""
    result = read_result(look_at(slot.result).data, job, step, attempt)
    if result is None or result.status is None:
        return None
    return _found(result.status, result, read_reported(look_at(slot.outputs), slot.outputs), outputs)


def tells_result(invocation: Invocation) -> bool:
    """Whether the result file is needed: reading it costs more than everything else."""
    return bool(invocation.outputs or (invocation.needs is not None and invocation.needs.requirements))


def outcome_found(doubt: InDoubt, status: int, result_file: LeftFile, outputs_file: LeftFile, path: str) -> Outcome:
    """The outcome of an operation that ended unobserved, and whose exit status is known."""
    result = read_result(result_file.data, doubt.job, doubt.step, doubt.attempt)
    return _found(status, result, read_reported(outputs_file, path), doubt.outputs)


def _found(status: int, result: ResultFile | None, reported: Reported, outputs: Sequence[str]) -> Outcome:
    """The outcome of an operation that ended unobserved with this status."""
    problem = (result.problem if result else "") or reported.problem or reported.why
    return Outcome(
        Ending.FAILED if status or problem else Ending.SUCCEEDED,
        exit_code=status,
        outputs=merge(result, reported, outputs),
        changed=reported.changed,
        status=reported.status,
        done=reported.done,
        message=problem if reported.why else _joined(f"exit {status}" if status else "", problem),
        attributes=reported.attributes,
        again=reported.again,
        final=reported.final,
    )


def is_result_of(slot: WorkDirectory, job: str, step: str) -> bool:
    """Whether a work directory holds a result of this step, complete or not."""
    wanted = "\0".join(header(job, step, "")).encode()
    return look_at(slot.result, len(wanted)).data.startswith(wanted)


def _judge(
    invocation: Invocation, ended: ProcessEnd, result: ResultFile | None, reported: Reported
) -> tuple[Ending, str]:
    if ended.ending is not None:
        message = "in doubt: it was ended while it was running"
        if ended.ending is Ending.TIMED_OUT:
            message = f"timed out after {invocation.timeout:g} s"
        if ended.unended:
            numbers = ", ".join(str(pid) for pid in ended.unended)
            message += f"; processes that cannot be ended, not even by KILL: {numbers}"
        return ended.ending, message
    problem = (result.problem if result else "") or reported.problem or reported.why
    if reported.why:
        return Ending.FAILED, problem
    if ended.status == 0:
        return (Ending.FAILED, problem) if problem else (Ending.SUCCEEDED, "")
    return Ending.FAILED, _joined(_status(ended.status), problem)


def _status(status: int) -> str:
    if status > 0:
        return f"exit {status}"
    try:
        return f"killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"killed by signal {-status}"


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def _identity(invocation: Invocation) -> tuple[str, str, int]:
    return invocation.job, invocation.step, invocation.attempt
