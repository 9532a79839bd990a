"""Whatever an operation leaves where its outputs are looked for, and beside it: nobody waits for it or is hurt."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ordito.work.invocation import Ending
from tests.executors.place import PYTHON, Place
from tests.executors.test_settle import Crash, crash, orchestrators

__all__ = ["crash", "orchestrators"]


KINDS = {
    "a named pipe": 'mkfifo "$AT"',
    "a directory": 'mkdir "$AT"',
    "a symbolic link": 'ln -s "$SECRET" "$AT"',
    "a symbolic link to itself": 'ln -s "$AT" "$AT"',
    "a link to endless zeros": 'ln -s /dev/zero "$AT"',
    "a device where that may be made": 'mknod "$AT" c 1 5 2>/dev/null || mkfifo "$AT"',
}


@pytest.fixture
def secret(place: Place) -> Path:
    file = place.scrap / "secret.json"
    file.write_text('{"A": "of somebody else"}')
    return file


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_fails_the_operation(place: Place, secret: Path, kind: str) -> None:
    """Neither as a file without outputs nor with those of another file, and the next operation is as ever."""
    environment = {"SECRET": str(secret)}
    ran = place.run(f"AT=$ORDITO_OUTPUTS\n{KINDS[kind]}", environment=environment, step="first").outcome
    assert (ran.ending, ran.exit_code, ran.outputs) == (Ending.FAILED, 0, {})
    assert "outputs.json ($ORDITO_OUTPUTS) is a" in ran.message
    assert "outputs are written into a regular file, as one JSON object" in ran.message
    after = place.run('echo "{\\"B\\": 1}" >"$ORDITO_OUTPUTS"', step="second").outcome
    assert (after.ending, after.outputs) == (Ending.SUCCEEDED, {"B": 1})
    place.executor.close()
    assert not place.slots.exists()
    assert secret.read_text() == '{"A": "of somebody else"}'


def test_a_socket_is_no_file_either(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.scrap)
    text = "import os, socket; os.chdir('..'); socket.socket(socket.AF_UNIX).bind('outputs.json')\n"
    outcome = place.run(text, "run.py").outcome
    assert outcome.ending is Ending.FAILED
    assert "is a socket" in outcome.message


def test_more_than_is_accepted_is_not_read(place: Place) -> None:
    """A file that says to be larger than any memory."""
    outcome = place.run('truncate -s 1T "$ORDITO_OUTPUTS"').outcome
    assert outcome.ending is Ending.FAILED
    assert "is larger than 64 MiB" in outcome.message


def test_a_file_that_grows_is_read_no_longer_than_that(place: Place) -> None:
    """A daemon goes on writing: what is there is no JSON, and is judged at once."""
    script = '(trap "" HUP; exec >"$ORDITO_OUTPUTS" 2>&1; yes) & until [ -s "$ORDITO_OUTPUTS" ]; do :; done'
    outcome = place.run(script).outcome
    assert outcome.ending is Ending.FAILED
    assert "$ORDITO_OUTPUTS" in outcome.message


BESIDE = {
    "result is a named pipe": 'rm "$1/result"; mkfifo "$1/result"',
    "result is a directory": 'rm "$1/result"; mkdir "$1/result"',
    "result is a link": 'rm "$1/result"; ln -s "$SECRET" "$1/result"',
    "result may not be written": 'chmod 0 "$1/result"',
    "strangers beside it": 'mkfifo "$1/environment" "$1/copies.json" "$1/kept"; mkdir "$1/tree" "$1/unexported"',
    "work is a link": 'cd /; rmdir "$1/work"; ln -s "$(dirname "$SECRET")" "$1/work"',
    "work is a file": 'cd /; rmdir "$1/work"; : >"$1/work"',
    "work is gone": 'cd /; rmdir "$1/work"',
    "work is locked": "mkdir -p a/b; : >a/b/c; chmod 0 a/b a .",
    "all is gone": 'cd /; rm -r "$1"',
    "all is locked": 'chmod 0 "$1"',
    "all is another": 'cd /; mv "$1" "$1.old"; mkdir "$1" "$1/work"; mkfifo "$1/result"',
}


@pytest.mark.parametrize("timed_out", [False, True])
@pytest.mark.parametrize("what", BESIDE)
def test_what_is_done_to_the_slot_is_no_matter_to_others(
    place: Place, secret: Path, what: str, timed_out: bool
) -> None:
    """Neither to the next operation, which needs every file of its slot, nor to whoever a link leads to."""
    environment = {"SECRET": str(secret)}
    end = "exec sleep 1000" if timed_out else "exec true"
    script = f'set -- "$(dirname "$ORDITO_OUTPUTS")"\n{BESIDE[what]}\n{end}'
    timeout = 0.5 if timed_out else None
    ran = place.run(script, environment=environment, step="first", timeout=timeout).outcome
    assert ran.ending in ((Ending.TIMED_OUT,) if timed_out else (Ending.SUCCEEDED, Ending.FAILED))
    huge = {"HUGE": "x" * 200_000}
    for step in ("second", "third"):
        after = place.run("A=${#HUGE} B=$(ls | wc -l)", step=step, environment=huge, outputs=("A", "B")).outcome
        assert (after.ending, after.message, after.outputs) == (Ending.SUCCEEDED, "", {"A": "200000", "B": "0"})
    place.executor.close()
    assert secret.read_text() == '{"A": "of somebody else"}'


def test_outputs_that_were_taken_away_are_missed(place: Place) -> None:
    """What a variable says cannot be written where a named pipe is, and that is said."""
    outcome = place.run("A=1; cd ..; rm result; mkfifo result; exec 9<>result", outputs=("A",)).outcome
    assert outcome.ending is Ending.FAILED
    assert "the file that its variables are written into is a FIFO (named pipe)" in outcome.message


def test_a_folder_with_very_many_files_is_emptied(place: Place) -> None:
    """While it is, others run: it is not the loop that removes them."""
    script = "import os\nfor n in range(5_000): open(f'f{n}', 'w').close()\n"
    invocations = [
        place.invocation(script, "run.py", step="many", processor=PYTHON),
        *(place.invocation(":", "few.sh", step=f"few {n}") for n in range(3)),
    ]

    async def run() -> set[Ending]:
        ran = await asyncio.gather(*(place.arun(invocation) for invocation in invocations))
        return {one.outcome.ending for one in ran}

    assert asyncio.run(run()) == {Ending.SUCCEEDED}
    assert place.run("A=$(ls | wc -l)", outputs=("A",)).outcome.outputs == {"A": "0"}


@pytest.mark.parametrize("name", ["outputs.json", "result", "copies.json"])
def test_settling_waits_for_none_of_it(crash: Crash, name: str) -> None:
    """As after a crash, when a command resumes."""
    odd = f"cd ..; rm -f {name}; mkfifo {name}\n"
    started = crash.at(f'{odd}touch "$READY"; read x <"$GATE"\nexit 0\n')
    crash.open_gate(started)
    outcome = crash.settle(started)
    if name == "outputs.json":
        assert outcome is not None
        assert (outcome.ending, outcome.exit_code) == (Ending.FAILED, 0)
        assert "outputs.json ($ORDITO_OUTPUTS) is a FIFO (named pipe)" in outcome.message
    elif name == "result":
        assert outcome is None
    else:
        assert outcome is not None
        assert outcome.ending is Ending.SUCCEEDED


def test_cancelling_waits_for_none_of_it(place: Place) -> None:
    script = 'mkfifo "$ORDITO_OUTPUTS"; cd ..; rm result; mkfifo result; echo ready; exec sleep 1000'
    assert place.run_and_cancel(script, "ready").outcome.ending is Ending.CANCELLED
    assert place.run(":", step="second").outcome.ending is Ending.SUCCEEDED


def test_what_may_not_be_read_is_not_nothing(place: Place) -> None:
    script = 'echo "{}" >"$ORDITO_OUTPUTS"; chmod 0 "$ORDITO_OUTPUTS"'
    outcome = place.run(script).outcome
    if outcome.ending is Ending.SUCCEEDED:
        pytest.skip("root reads everything")
    assert "cannot be read: Permission denied" in outcome.message
