"""After the orchestrator was killed: what its operations did, and that none of them runs any more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ordito.executors.local import LocalExecutor
from ordito.executors.process_table import Marker, Process, processes_of
from ordito.work.invocation import Ending, FilePlacement, InDoubt, Invocation, Outcome, Started
from tests.executors.place import JOB, Place, is_gone, until
from tests.support import forked

ORCHESTRATOR = """
import asyncio, os, sys
import msgspec
from ordito.executors.local import LocalExecutor
from ordito.work.invocation import Invocation

async def main():
    invocation = msgspec.json.decode(sys.argv[2], type=Invocation)
    async for step, progress in LocalExecutor(sys.argv[1]).run([invocation]):
        sys.stdout.buffer.write(msgspec.json.encode([type(progress).__name__, progress]) + b"\\n")
        sys.stdout.flush()

asyncio.run(main())
os._exit(0)
"""


class Orchestrator:
    """A process that runs one invocation, to be killed."""

    def __init__(self, place: Place, invocation: Invocation) -> None:
        words = [str(place.slots), msgspec.json.encode(invocation).decode()]
        self.process = forked.start(Path.cwd(), os.environ, words, ORCHESTRATOR)

    def started(self) -> Started:
        name, value = msgspec.json.decode(self.process.stdout.readline())
        assert name == "Started", value
        return msgspec.convert(value, Started)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def orchestrators() -> Iterator[list[Orchestrator]]:
    running: list[Orchestrator] = []
    yield running
    for orchestrator in running:
        orchestrator.kill()


def settler(place: Place) -> LocalExecutor:
    """Who settles what is in doubt, and does not wait long for what will not end."""
    return LocalExecutor(place.slots, grace=2.0, settling=0.3)


class Crash:
    """An operation whose orchestrator is killed while it waits at a gate."""

    def __init__(self, place: Place, orchestrators: list[Orchestrator]) -> None:
        self.place = place
        self.gate = place.scrap / "gate"
        self.ready = place.scrap / "ready"
        os.mkfifo(self.gate)
        self._orchestrators = orchestrators

    def at(self, script: str, name: str = "run.sh", **more: object) -> Started:
        """Start it, wait until it has written ``$READY``, kill its orchestrator."""
        environment = {"GATE": str(self.gate), "READY": str(self.ready)}
        orchestrator = Orchestrator(self.place, self.place.invocation(script, name, environment=environment, **more))
        self._orchestrators.append(orchestrator)
        started = orchestrator.started()
        until(self.ready.exists, "the operation")
        orchestrator.kill()
        return started

    def open_gate(self, started: Started) -> None:
        self.gate.write_text("\n")
        until(lambda: is_gone(started.pid), "the end of the operation")

    def settle(
        self, started: Started | None, step: str = "run.sh", outputs: tuple[str, ...] = ("X",), attempt: int = 1
    ) -> Outcome | None:
        doubt = InDoubt(JOB, step, attempt, started, outputs)
        return asyncio.run(settler(self.place).settle(doubt))


@pytest.fixture
def crash(place: Place, orchestrators: list[Orchestrator]) -> Crash:
    return Crash(place, orchestrators)


WAIT = 'touch "$READY"; read x <"$GATE"\n'


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("end", ["X=done", "X=done; exit 0", "X=done; exit 3", "X=1; trap 'X=done' EXIT"])
def test_an_operation_that_came_to_its_end_is_not_repeated(crash: Crash, shell: str, end: str, known: bool) -> None:
    """It outlived its orchestrator, and its end is known, also where the process was not written down any more."""
    started = crash.at(f"#!/bin/{shell}\n{WAIT}{end}\n", outputs=("X",))
    crash.open_gate(started)
    for _ in range(2):
        # The process that settles may die as well before it can write down what it found.
        outcome = crash.settle(started if known else None)
        assert outcome is not None
        assert outcome.outputs == {"X": "done"}
        assert (outcome.ending, outcome.exit_code, outcome.message) == (
            (Ending.FAILED, 3, "exit 3") if "exit 3" in end else (Ending.SUCCEEDED, 0, "")
        )


def test_a_python_operation_that_came_to_its_end(crash: Crash) -> None:
    script = "import os, pathlib\npathlib.Path(READY).touch()\nopen(GATE).read()\nX = [1]\n"
    script += "open(os.environ['ORDITO_OUTPUTS'], 'w').write('{\"ordito.changed\": false}')\n"
    started = crash.at(script, "run.py", outputs=("X",))
    crash.open_gate(started)
    outcome = crash.settle(started, "run.py")
    assert outcome is not None
    assert (outcome.ending, outcome.outputs, outcome.changed) == (Ending.SUCCEEDED, {"X": [1]}, False)


@pytest.mark.parametrize("known", [True, False])
def test_an_operation_that_still_runs_is_ended_and_not_known(crash: Crash, known: bool) -> None:
    """No two processes of one step are ever alive together: afterwards nothing of it runs, in whatever session."""
    child = crash.place.scrap / "child"
    started = crash.at(f"setsid sleep 600 & echo $! >{child}\ntrap 'X=1' EXIT\n{WAIT}", outputs=("X",))
    assert crash.settle(started if known else None) is None
    assert crash.place.processes() == []
    assert is_gone(started.pid)
    assert is_gone(int(child.read_text()))
    assert Path(started.slot).exists() is not known
    assert crash.settle(started) is None


def test_daemons_of_an_operation_that_came_to_its_end_live_on(crash: Crash) -> None:
    daemon = crash.place.scrap / "daemon"
    started = crash.at(f"setsid sleep 600 & echo $! >{daemon}\n{WAIT}X=1\n", outputs=("X",))
    crash.open_gate(started)
    outcome = crash.settle(started)
    assert outcome is not None
    assert outcome.succeeded
    assert not is_gone(int(daemon.read_text()))


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_an_operation_that_somebody_else_ended_is_not_taken_for_done(
    crash: Crash, shell: str, number: signal.Signals
) -> None:
    """A machine that is shut down ends all processes; bash runs its EXIT trap even then, with status 0."""
    started = crash.at(f"#!/bin/{shell}\nX=1\n:\n{WAIT}", outputs=("X",))
    os.kill(started.pid, number)
    until(lambda: is_gone(started.pid), "the end of the operation")
    assert crash.settle(started) is None


def test_an_operation_that_was_never_started(crash: Crash) -> None:
    assert crash.settle(None) is None
    assert crash.settle(Started(1, 0, "another boot", "another machine", "/nowhere")) is None


def test_a_process_id_that_belongs_to_somebody_else_now(crash: Crash) -> None:
    """Boot and machine agree, the start time does not: that process is not the operation's."""
    started = crash.at(f"{WAIT}exec true\n")
    crash.open_gate(started)
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        assert crash.settle(msgspec.structs.replace(started, pid=stranger.pid)) is None
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_another_step_s_result_is_not_taken(crash: Crash) -> None:
    started = crash.at(f"{WAIT}X=1\n", outputs=("X",))
    crash.open_gate(started)
    assert crash.settle(None, step="other") is None
    assert asyncio.run(settler(crash.place).settle(InDoubt("OTHERJOB", "run.sh", 1, started))) is None
    assert crash.settle(None) is not None


def test_the_result_of_an_attempt_is_not_taken_for_the_next_one_s(crash: Crash) -> None:
    place = crash.place
    assert place.run("exit 75").outcome.exit_code == 75
    started = crash.at(WAIT, attempt=2)
    assert crash.settle(started, attempt=2) is None


def test_the_result_of_an_attempt_is_not_that_of_one_that_never_began(crash: Crash) -> None:
    """The crash came after the next attempt was written down, and before it was begun."""
    assert crash.place.run("X=1; exit 3", outputs=("X",)).outcome.exit_code == 3
    first = crash.settle(None, attempt=1)
    assert first is not None
    assert first.exit_code == 3
    assert crash.settle(None, attempt=2) is None


def test_results_survive_until_their_outcome_can_have_been_written_down(place: Place) -> None:
    """A step that begins in the moment in which another one ends does not take the other's slot."""

    async def run() -> Outcome | None:
        first = place.executor.run([place.invocation("X=1", step="first", outputs=("X",))])
        async for _ in first:
            pass
        async for _, progress in place.executor.run([place.invocation("X=2", step="second", outputs=("X",))]):
            if isinstance(progress, Started):
                pass
        return await LocalExecutor(place.slots).settle(InDoubt(JOB, "first", 1, None, ("X",)))

    outcome = asyncio.run(run())
    assert outcome is not None
    assert outcome.outputs == {"X": "1"}


def test_copies_go_with_an_operation_that_is_settled(crash: Crash) -> None:
    """R-4.8.1-6: copies that are to be removed, outside of the slot; those that are to stay stay."""
    place = crash.place
    place.write("f", "x")
    gone, stays = place.scrap / "new/gone", place.scrap / "stays"
    files = (FilePlacement("f", str(gone), remove=True), FilePlacement("f", str(stays)))
    started = crash.at(f"test -e {gone} && {WAIT}", files=files)
    assert gone.exists()
    assert crash.settle(started) is None
    assert (gone.parent.exists(), stays.exists()) == (False, True)


def test_the_step_runs_again_after_it_was_settled(crash: Crash) -> None:
    """With the same id and attempt."""
    started = crash.at(WAIT)
    assert crash.settle(started) is None
    ran = crash.place.run("X=again", outputs=("X",))
    assert ran.outcome.outputs == {"X": "again"}
    assert crash.settle(ran.started) == msgspec.structs.replace(ran.outcome, seconds=0.0)


def test_what_cannot_be_ended_fails_the_step(crash: Crash, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was started, so it is no step that never was; the job ends, so what helps is to deploy again."""
    place = crash.place
    place.write("f", "x")
    copy = place.scrap / "copy"
    started = crash.at(WAIT, files=(FilePlacement("f", str(copy), remove=True),))

    async def in_vain(marker: Marker, grace: float) -> list[Process]:
        return processes_of(marker)

    monkeypatch.setattr("ordito.executors.local.end_processes", in_vain)
    outcome = crash.settle(started)
    assert outcome is not None
    assert outcome.ending is Ending.FAILED
    assert f"{started.pid} (state S)" in outcome.message
    assert "end them, then deploy (or undeploy) again" in outcome.message
    assert not copy.exists()


def test_settling_many_steps_at_once(place: Place, orchestrators: list[Orchestrator]) -> None:
    ready = [place.scrap / f"ready{n}" for n in range(8)]
    for n, file in enumerate(ready):
        orchestrators.append(
            Orchestrator(
                place,
                place.invocation(f"touch {file.parent}/ready$N; sleep 600", step=f"s{n}", environment={"N": str(n)}),
            )
        )
        # One after the other: the folder of the slots belongs to one executor at a time.
        orchestrators[-1].started()
    for file in ready:
        until(file.exists, "the operations")
    for orchestrator in orchestrators:
        orchestrator.kill()

    async def settle() -> list[Outcome | None]:
        executor = settler(place)
        return await asyncio.gather(*[executor.settle(InDoubt(JOB, f"s{n}", 1)) for n in range(8)])

    assert asyncio.run(settle()) == [None] * 8
    assert [place.processes(f"s{n}") for n in range(8)] == [[]] * 8


def test_what_an_operation_writes_when_it_is_ended_is_not_its_result(crash: Crash) -> None:
    """It is asked to end, and says so in order; its process was not written down, and it is settled once more."""
    crash.at(f"trap 'exit 143' TERM; {WAIT}")
    assert crash.settle(None) is None
    assert crash.settle(None) is None


def test_what_an_operation_writes_when_its_job_cannot_go_on_is_not_its_result(place: Place) -> None:
    """The journal cannot be written, so what runs is ended by this very process; what it says then is not its end."""
    script = f"trap 'exit 143' TERM; {WAIT}"
    os.mkfifo(place.scrap / "gate")
    ready = place.scrap / "ready"
    invocation = place.invocation(script, environment={"GATE": str(place.scrap / "gate"), "READY": str(ready)})

    async def run() -> Outcome | None:
        executor = LocalExecutor(place.slots, grace=2.0)

        async def work() -> None:
            async for _ in executor.run([invocation]):
                pass

        task = asyncio.create_task(work())
        await asyncio.to_thread(until, ready.exists, "the operation")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await settler(place).settle(InDoubt(JOB, invocation.step, 1))

    assert asyncio.run(run()) is None
