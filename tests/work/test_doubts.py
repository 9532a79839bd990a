"""What a check says of an operation in doubt."""

from __future__ import annotations

import pytest

from ordito.work.doubts import answer
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import OperationCall, Step, StepEffect


def found(exit_code: int = 0, done: bool | None = None, status: str = "", **outputs: object) -> Outcome:
    ending = Ending.FAILED if exit_code else Ending.SUCCEEDED
    return Outcome(ending, exit_code=exit_code, done=done, status=status, outputs=outputs)


@pytest.mark.parametrize(
    ("operation", "check", "is_done"),
    [
        ("create", found(done=True), True),
        ("create", found(done=False), False),
        ("create", found(3, done=True), True),
        ("create", found(), True),
        ("create", found(1), False),
        ("create", found(3), False),
        ("create", found(7), False),
        ("create", found(status="ok"), True),
        ("create", found(status="unknown"), False),
        ("configure", found(), True),
        ("start", found(status="degraded"), False),
        ("stop", found(), False),
        ("stop", found(3), False),
        ("stop", found(done=True), True),
        ("delete", found(3), True),
        ("delete", found(), False),
        ("delete", found(1), False),
        ("delete", found(status="absent"), True),
        ("delete", found(3, done=False), False),
    ],
)
def test_what_says_itself_wins_and_else_the_status_decides(operation: str, check: Outcome, is_done: bool) -> None:
    step = Step(
        f"n_1.Standard.{operation}", instance="n_1", effect=StepEffect(leave="deleted" if operation == "delete" else "")
    )
    ended = answer(step, OperationCall("n", "", "Standard", operation, "a.sh"), check)
    assert (ended is not None) is is_done
    assert ended is None or ended.succeeded


@pytest.mark.parametrize(("interface", "operation"), [("Ops", "backup"), ("cloudify.interfaces.monitoring", "start")])
def test_what_brings_nothing_up_is_done_only_by_its_own_word(interface: str, operation: str) -> None:
    step = Step(f"n_1.{interface}.{operation}", instance="n_1")
    call = OperationCall("n", "", interface, operation, "a.sh")
    assert answer(step, call, found()) is None
    assert answer(step, call, found(done=True)) is not None


def test_a_link_is_done_only_by_its_own_word() -> None:
    step = Step("n_1.peer.m_1.Configure.add_target", instance="n_1", far="m_1", link="n_1.peer.m_1")
    call = OperationCall("n.peer", "source", "Configure", "add_target", "a.sh")
    assert answer(step, call, found()) is None
    assert answer(step, call, found(done=True)) is not None


def test_what_has_to_give_values_is_done_only_with_them() -> None:
    step, call = (
        Step("n_1.Standard.create", instance="n_1"),
        OperationCall("n", "", "Standard", "create", "a.sh", outputs=("id",)),
    )
    assert answer(step, call, found(done=True)) is None
    ended = answer(step, call, found(done=True, id="i-1", more="x"))
    assert ended is not None
    assert ended.outputs == {"id": "i-1"}


def test_nobody_knows_where_the_check_takes_too_long() -> None:
    step, call = Step("n_1.Standard.create", instance="n_1"), OperationCall("n", "", "Standard", "create", "a.sh")
    assert answer(step, call, Outcome(Ending.TIMED_OUT)) is None
