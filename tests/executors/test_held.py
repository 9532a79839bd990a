"""Operations of an ensemble that another machine may take over: after it has, nothing begins any more in its name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from ordito.executors.held import EpochFile
from ordito.executors.local import LocalExecutor, local_executors, settle_for
from ordito.work.invocation import Ending, Epoch, Executor, InDoubt, Invocation, Outcome
from tests.executors.place import BASH, JOB, Place, Ran

ONE, TWO = Epoch(7, "one", "e1"), Epoch(8, "two", "e1")
SAME_AGAIN = Epoch(7, "three", "e1")
"""As one that a database gives that has forgotten."""

DOUBT = InDoubt(JOB, "run.sh", 1, processor=BASH)


class KnownHold:
    """How an ensemble is held, as a test wants it."""

    def __init__(self, epoch: Epoch, elsewhere: Outcome | None = None, *, is_elsewhere: bool = False) -> None:
        self.epoch = epoch
        self.is_sure = True
        self.is_guarded = False
        self.waited = 0
        self._is_elsewhere = is_elsewhere
        self._elsewhere = elsewhere

    async def be_sure(self) -> None:
        self.waited += 1
        self.is_sure = True

    async def is_elsewhere(self, doubt: InDoubt) -> bool:
        return self._is_elsewhere

    async def ask(self, doubt: InDoubt) -> Outcome | None:
        return self._elsewhere


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def executor_of(place: Place, hold: KnownHold) -> Executor:
    return local_executors(place.slots, "", hold)[0]


def carried_out(executor: Executor, invocation: Invocation) -> Ran:
    async def run() -> Ran:
        ran = Ran()
        async for _, progress in executor.run([invocation]):
            ran.take(progress)
        return ran

    return asyncio.run(run())


def run(place: Place, hold: KnownHold) -> Outcome:
    return carried_out(executor_of(place, hold), place.invocation("#!/bin/bash\nexit 0\n")).outcome


def test_who_was_succeeded_here_begins_nothing(place: Place) -> None:
    former = KnownHold(ONE)
    assert (run(place, former)).succeeded
    assert (run(place, KnownHold(TWO))).succeeded
    outcome = run(place, former)
    assert outcome.ending is Ending.NOT_STARTED
    assert "another worker has taken this ensemble over" in outcome.message


@pytest.mark.parametrize(
    ("epoch", "begins"), [(SAME_AGAIN, False), (msgspec.structs.replace(ONE, ensemble="e2"), True)]
)
def test_an_equal_epoch_is_that_of_one_worker(place: Place, epoch: Epoch, begins: bool) -> None:
    """Where the ensemble is the same one; another one that has its name counts anew."""
    assert (run(place, KnownHold(ONE))).succeeded
    assert (run(place, KnownHold(epoch))).succeeded is begins


def test_nothing_begins_before_the_lease_is_sure(place: Place) -> None:
    hold = KnownHold(ONE)
    hold.is_sure = False
    assert (run(place, hold)).succeeded
    assert hold.waited == 1


def test_who_is_asked_for_another_lets_the_former_begin_nothing(place: Place) -> None:
    """And finds what has ended."""
    script = "#!/bin/bash\nOUT=kept\n"
    ran = carried_out(executor_of(place, KnownHold(ONE)), place.invocation(script, outputs=("OUT",)))
    doubt = InDoubt(JOB, "run.sh", 1, ran.started, ("OUT",), processor=BASH)
    found = asyncio.run(settle_for(place.slots, TWO, doubt))
    assert found is not None
    assert found.outputs == {"OUT": "kept"}
    assert (run(place, KnownHold(ONE))).ending is Ending.NOT_STARTED
    late = asyncio.run(settle_for(place.slots, ONE, doubt))
    assert late is not None
    assert late.ending is Ending.LOST


@pytest.mark.parametrize("answer", [None, Outcome(Ending.LOST), Outcome(Ending.SUCCEEDED)])
def test_what_ran_elsewhere_is_never_looked_for_here(place: Place, answer: Outcome | None) -> None:
    hold = KnownHold(ONE, answer, is_elsewhere=True)
    assert asyncio.run(executor_of(place, hold).settle(DOUBT)) is answer


def test_a_former_holder_settles_nothing_here(place: Place) -> None:
    EpochFile(place.slots.with_name("epoch")).enter(TWO)
    found = asyncio.run(executor_of(place, KnownHold(ONE)).settle(DOUBT))
    assert found is not None
    assert found.ending is Ending.LOST


def test_where_nobody_takes_over_nothing_is_compared(place: Place) -> None:
    assert carried_out(LocalExecutor(place.slots), place.invocation("#!/bin/bash\n")).outcome.succeeded
    assert not place.slots.with_name("epoch").exists()
