"""Processes: output, daemons, timeouts, cancel, many at a time."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from functools import partial
from pathlib import Path

import msgspec
import pytest

from ordito.executors.local import LocalExecutor
from ordito.executors.process_table import Marker, boot_id, look_up, machine
from ordito.executors.spawn import FILE_LOCKS
from ordito.work.invocation import SCRATCH, Ending, FilePlacement, Outcome, Printed, Started
from tests.executors.place import JOB, Place, Ran, auntil, is_gone, until


def pid_in(file: Path) -> int:
    return int(until(lambda: file.is_file() and file.read_text().strip(), f"a process id in {file}"))


# ------------------------------------------------------------------------------------------------------------ output


def test_both_streams_come_in_order_and_unchanged(place: Place) -> None:
    ran = place.run("printf 'one\\ntwo'; printf ' and \\377\\0\\n' >&2; printf 'no end of line'")
    assert ran.printed == b"one\ntwo and \xff\0\nno end of line"
    assert (ran.outcome.ending, ran.outcome.tail) == (Ending.SUCCEEDED, ())


def test_a_failure_has_its_last_twenty_lines(place: Place) -> None:
    outcome = place.run("seq 1000; printf '\\377 last\\r\\n'; exit 1").outcome
    assert outcome.tail == (*(str(n) for n in range(982, 1001)), "\ufffd last")


def test_endless_output_waits_for_who_reads_it(place: Place) -> None:
    """A slow consumer holds the operation back; memory stays bounded, nothing is lost."""
    size = 64 * 1024 * 1024
    invocation = place.invocation(f"head -c {size} /dev/zero")

    async def run() -> tuple[int, Outcome]:
        total = 0
        async for _, progress in place.executor.run([invocation]):
            if isinstance(progress, Printed):
                assert len(progress.data) <= 65_536
                total += len(progress.data)
            if isinstance(progress, Started):
                # Nobody takes anything until the operation stands still.
                await auntil(partial(waits_to_write, progress.pid), "an operation that waits for room")
        assert isinstance(progress, Outcome)
        return total, progress

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total, outcome = asyncio.run(run())
    assert (total, outcome.ending) == (size, Ending.SUCCEEDED)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 24 * 1024


def waits_to_write(parent: int) -> bool:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return any("pipe" in Path(f"/proc/{child}/wchan").read_text() for child in children)


def test_started_names_the_very_process(place: Place) -> None:
    """What the journal keeps to find it again: field 22 of stat, the boot, the machine, the slot."""
    ran = place.run("cut -d' ' -f22 /proc/$$/stat; echo $$; pwd; ps -o sid= -p $$ 2>/dev/null || echo $$")
    start_time, pid, folder, session = ran.text.split()
    assert ran.started == Started(int(pid), int(start_time), boot_id(), machine(), str(Path(folder).parent))
    assert session == pid, "it leads a session: a terminal's Ctrl-C does not reach it"


def test_start_times_are_those_of_the_process_table(place: Place) -> None:
    """They come from the clock where that is enough, and name the very process all the same."""
    rans = [place.run("cut -d' ' -f22 /proc/$$/stat") for _ in range(30)]
    started = [ran.started.start_time for ran in rans if ran.started is not None]
    assert started == [int(ran.text) for ran in rans]


def test_an_outcome_tells_the_running_time_and_the_signal(place: Place) -> None:
    outcome = place.run("kill -KILL $$").outcome
    assert (outcome.ending, outcome.exit_code) == (Ending.FAILED, 137)
    assert outcome.message == "killed by signal 9 (SIGKILL)"
    assert outcome.seconds > 0


# ----------------------------------------------------------------------------------------------------------- daemons


def test_a_daemon_that_holds_the_output_open_lives_on(place: Place) -> None:
    """Its output is read for a moment more and let go; what it prints later neither kills it nor makes it wait."""
    daemon, go, done = place.scrap / "pid", place.scrap / "go", place.scrap / "done"
    os.mkfifo(go)
    script = f"""
    ( read x <{go}; head -c 1000000 /dev/zero; echo printed >{done}; exec sleep 600 ) &
    echo $! >{daemon}; echo started
    """
    ran = place.run(script)
    assert (ran.outcome.ending, ran.text) == (Ending.SUCCEEDED, "started\n")
    pid = pid_in(daemon)
    try:
        assert not is_gone(pid)
        go.write_text("\n")
        until(done.exists, "a daemon that printed more than a pipe holds after the end of its operation")
        assert not is_gone(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
    place.executor.close()


def test_a_daemon_with_output_of_its_own_holds_nobody_up(place: Place) -> None:
    daemon = place.scrap / "pid"
    ran = place.run(f"setsid sleep 600 >/dev/null 2>&1 & echo $! >{daemon}; exit 3")
    pid = pid_in(daemon)
    assert (ran.outcome.exit_code, is_gone(pid)) == (3, False)
    os.kill(pid, signal.SIGKILL)


def test_what_a_daemon_prints_within_the_moment_is_kept(place: Place) -> None:
    go = place.scrap / "go"
    os.mkfifo(go)
    invocation = place.invocation(f"(read x <{go}; echo late) & echo early")

    async def run() -> Ran:
        ran = Ran()
        async for _, progress in place.executor.run([invocation]):
            ran.take(progress)
            if isinstance(progress, Started):
                await auntil(partial(is_gone, progress.pid), "the end of the operation")
                go.write_text("\n")
        return ran

    assert asyncio.run(run()).text == "early\nlate\n"


def test_a_folder_in_which_a_daemon_lives_is_not_used_again(place: Place) -> None:
    first = place.run("sleep 600 & pwd", step="first")
    second = place.run("pwd", step="second")
    assert first.text != second.text
    for process in place.processes("first"):
        os.kill(process.pid, signal.SIGKILL)


# ---------------------------------------------------------------------------------------------------- timeout, cancel


def test_a_timeout_fails_the_operation_and_ends_its_group(place: Place) -> None:
    """R-3.6.16-5."""
    ran = place.run("sleep 600 & sleep 600", timeout=0.5)
    assert (ran.outcome.ending, ran.outcome.message) == (Ending.TIMED_OUT, "timed out after 0.5 s")
    assert 0.5 <= ran.outcome.seconds < 60
    assert place.processes() == []


def test_everything_that_was_started_is_ended(place: Place) -> None:
    """R-3.6.16-5: children, their children, and those in sessions and environments of their own."""
    pids = [place.scrap / name for name in "abcd"]
    script = f"""
    sleep 600 & echo $! >{pids[0]}
    setsid sh -c 'echo $$ >{pids[1]}; sleep 600; :' &
    setsid setsid --fork sh -c 'echo $$ >{pids[2]}; exec sleep 600' &
    sh -c 'exec env -i setsid sh -c "echo \\$\\$ >{pids[3]}; exec sleep 600"' &
    until [ -s {pids[0]} ] && [ -s {pids[1]} ] && [ -s {pids[2]} ] && [ -s {pids[3]} ]; do sleep 0.01; done
    echo ready; sleep 600
    """
    ran = place.run_and_cancel(script, "ready")
    assert (ran.text, ran.outcome.ending) == ("ready\n", Ending.CANCELLED)
    assert [is_gone(pid_in(file)) for file in pids] == [True] * 4
    assert place.processes() == []
    assert place.left() == []


SLIPPERY = {
    "sh": """#!/bin/sh
env -i setsid --fork /bin/sh {child} </dev/null >/dev/null 2>&1
until [ -s {file} ]; do sleep 0.01; done
echo ready; [ {time} = 0 ] || sleep {time}
""",
    "python": """
import os, subprocess, time
subprocess.run(["setsid", "--fork", "/bin/sh", "{child}"], env={{}}, stdin=-3, stdout=-3, stderr=-3, check=True)
while not os.path.exists("{file}"):
    time.sleep(0.01)
print("ready", flush=True)
time.sleep({time})
""",
}
SLIPPERY["bash"] = SLIPPERY["sh"].replace("/bin/sh", "/bin/bash", 1)


def slippery(place: Place, kind: str, time: int, *, deaf: bool = False) -> tuple[str, str, Path]:
    """A script that runs so long, its name, and the file with the id of a process that it starts: in a session of its
    own, with an empty environment, and no longer anybody's child. Who is ``deaf`` ignores TERM."""
    child, file = place.scrap / "child.sh", place.scrap / "pid"
    ignore = "trap '' TERM\n" if deaf else ""
    child.write_text(f"{ignore}echo $$ >{file}.new\nmv {file}.new {file}\nexec /bin/sleep 600\n")
    text = SLIPPERY[kind].format(child=child, file=file, time=time)
    return text, "run.py" if kind == "python" else "run.sh", file


@pytest.mark.parametrize("kind", ["sh", "bash", "python"])
@pytest.mark.parametrize("deaf", [False, True])
def test_nobody_slips_away_from_a_timeout(place: Place, kind: str, deaf: bool) -> None:
    """R-3.6.16-5: neither its session nor its environment nor its parent tell of such a process."""
    place.executor = LocalExecutor(place.slots, grace=0.2)
    script, name, file = slippery(place, kind, 600, deaf=deaf)
    ran = place.run(script, name, timeout=1.5)
    assert (ran.text, ran.outcome.ending) == ("ready\n", Ending.TIMED_OUT)
    assert is_gone(pid_in(file))


@pytest.mark.parametrize("kind", ["sh", "python"])
def test_nobody_slips_away_from_cancelling(place: Place, kind: str) -> None:
    script, name, file = slippery(place, kind, 600)
    ran = place.run_and_cancel(script, "ready", name=name)
    assert ran.outcome.ending is Ending.CANCELLED
    assert is_gone(pid_in(file))


@pytest.mark.parametrize("kind", ["sh", "bash", "python"])
def test_a_later_timeout_does_not_touch_an_earlier_daemon(place: Place, kind: str) -> None:
    """The daemon that a successful step has left lives on, whatever becomes of the steps after it."""
    script, name, file = slippery(place, kind, 0)
    assert place.run(script, name, step="start").outcome.succeeded
    plain = place.run("sleep 600 >/dev/null & echo $!", name="plain.sh", step="plain")
    late = place.run("setsid sleep 600 & sleep 600", name="late.sh", step="late", timeout=0.1)
    assert late.outcome.ending is Ending.TIMED_OUT
    daemons = [pid_in(file), int(plain.text)]
    try:
        assert [is_gone(pid) for pid in daemons] == [False, False]
    finally:
        for pid in daemons:
            os.kill(pid, signal.SIGKILL)


def test_a_daemon_bears_the_number_of_its_step_and_we_do_not(place: Place) -> None:
    """Nothing that this process starts for itself belongs to a step."""
    before = resource.getrlimit(FILE_LOCKS)
    place.run("exec 3>&-; sleep 600 >/dev/null & echo $!")
    assert resource.getrlimit(FILE_LOCKS) == before
    marker = Marker(JOB, "run.sh", str(place.slots))
    (daemon,) = place.processes()
    limits = Path(f"/proc/{daemon.pid}/limits").read_text()
    os.kill(daemon.pid, signal.SIGKILL)
    assert str(marker.number) in limits.split()


def test_who_does_not_heed_term_is_killed(place: Place) -> None:
    place.executor = LocalExecutor(place.slots, grace=0.1)
    script = "trap '' TERM; setsid sleep 600 & echo ready; while :; do sleep 600; done"
    ran = place.run_and_cancel(script, "ready")
    assert (ran.outcome.ending, ran.outcome.exit_code) == (Ending.CANCELLED, 128 + signal.SIGKILL)
    assert place.processes() == []


def test_who_heeds_term_can_clean_up(place: Place) -> None:
    ran = place.run_and_cancel("trap 'echo cleaned; exit 0' TERM; sleep 600 & echo ready; wait", "ready")
    assert (ran.outcome.ending, ran.text) == (Ending.CANCELLED, "ready\ncleaned\n")


def test_the_time_of_a_daemon_is_not_the_operation_s(place: Place) -> None:
    """The operation ended in time; that its output is still held open is no reason to end the daemon."""
    place.executor = LocalExecutor(place.slots, linger=1.2)
    ran = place.run("sleep 600 & :", timeout=1.0)
    assert ran.outcome.ending is Ending.SUCCEEDED
    assert [look_up(p.pid) is not None for p in place.processes()] == [True]


def test_a_bystander_is_not_touched(place: Place) -> None:
    """Another step of the same job, and one of the same name in another ensemble, go on."""
    other = Place(place.scrap)
    ready = place.scrap / "ready"

    async def run() -> list[Outcome]:
        go = place.scrap / "go"
        os.mkfifo(go)
        wait = f"read x <>{go}; echo done"
        same_job = place.invocation(wait, name="other.sh")
        same_step = other.invocation(f"echo >{ready}; {wait}")
        bystanders = [asyncio.create_task(place.arun(same_job)), asyncio.create_task(other.arun(same_step))]
        await auntil(ready.exists, "the bystanders")
        ended = await place.arun(place.invocation("sleep 600", timeout=0.1))
        go.write_text("\n\n")
        return [ended.outcome, *[(await bystander).outcome for bystander in bystanders]]

    assert [o.ending for o in asyncio.run(run())] == [Ending.TIMED_OUT, Ending.SUCCEEDED, Ending.SUCCEEDED]


def test_cancel_ends_a_step_and_says_so(place: Place) -> None:
    invocation = place.invocation("setsid sleep 600 & echo ready; sleep 600")

    async def run() -> Ran:
        ran = Ran()
        async for _, progress in place.executor.run([invocation]):
            ran.take(progress)
            if isinstance(progress, Printed):
                await place.executor.cancel("run.sh")
                assert place.processes() == [], "when cancel returns, nothing runs any more"
        await place.executor.cancel("run.sh")
        return ran

    ran = asyncio.run(run())
    assert (ran.outcome.ending, ran.outcome.message) == (
        Ending.CANCELLED,
        "in doubt: it was ended while it was running",
    )


@pytest.mark.parametrize("script", ["sleep 600", "sleep 600 & :"])
def test_giving_up_the_iteration_ends_the_step(place: Place, script: str) -> None:
    invocation = place.invocation(f"echo $$; {script}")

    async def run() -> None:
        task = asyncio.create_task(place.arun(invocation))
        await auntil(place.processes, "the operation")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    if script == "sleep 600":
        assert place.processes() == []


# ---------------------------------------------------------------------------------------------------------- many, slots


def test_two_hundred_at_a_time(place: Place) -> None:
    """All run at once, each in a folder of its own, none takes another's output."""
    count = 200
    gate = place.scrap / "gate"
    os.mkfifo(gate)
    script = "echo here; read x <$GATE; echo $N >mine; cat mine; OUT=$N"

    async def run() -> list[Ran]:
        rans = [Ran() for _ in range(count)]

        async def one(number: int) -> None:
            environment = {"N": str(number), "GATE": str(gate)}
            invocation = place.invocation(script, step=f"s{number}", environment=environment, outputs=("OUT",))
            async for _, progress in place.executor.run([invocation]):
                rans[number].take(progress)

        tasks = [asyncio.create_task(one(number)) for number in range(count)]
        opened = os.open(gate, os.O_RDWR)
        await auntil(lambda: all(ran.printed for ran in rans), "all to run at once", seconds=60)
        os.write(opened, b"\n" * count)
        await asyncio.gather(*tasks)
        os.close(opened)
        return rans

    rans = asyncio.run(run())
    assert [r.text for r in rans] == [f"here\n{n}\n" for n in range(count)]
    assert [r.outcome.outputs for r in rans] == [{"OUT": str(n)} for n in range(count)]
    assert place.left() == []


def test_a_batch_is_run_together(place: Place) -> None:
    batch = [place.invocation("echo $N; exit $N", step=f"s{n}", environment={"N": str(n)}) for n in range(3)]
    batch.append(place.invocation("#!/nowhere/zzz", name="bad.sh"))

    async def run() -> dict[str, Ran]:
        rans = {invocation.step: Ran() for invocation in batch}
        async for step, progress in place.executor.run(batch):
            rans[step].take(progress)
        return rans

    rans = asyncio.run(run())
    assert [rans[f"s{n}"].outcome.exit_code for n in range(3)] == [0, 1, 2]
    assert [rans[f"s{n}"].text for n in range(3)] == ["0\n", "1\n", "2\n"]
    assert rans["bad.sh"].outcome.ending is Ending.NOT_STARTED


def test_a_slot_is_used_again_and_is_empty_then(place: Place) -> None:
    """Whatever an operation leaves in its working directory, locked folders and deep trees included."""
    mess = "d=x; for i in 1 2 3 4 5 6 7 8 9; do d=$d/$d; done 2>/dev/null; mkdir -p a/b; touch a/b/c .hidden; "
    mess += "ln -s / link; mkdir locked; touch locked/f; chmod 000 locked; mkfifo pipe; pwd"
    first = place.run(mess)
    second = place.run("ls -A; pwd", step="second")
    assert second.text == first.text
    assert Path("/usr").exists()


def test_the_slots_of_earlier_jobs_go_when_a_job_begins(place: Place) -> None:
    """A program that was killed could not tidy up; copies that are to stay stay all the same."""
    place.run("X=1", outputs=("X",))
    place.write("f", "x")
    kept = place.run("echo $F", environment={"F": f"{SCRATCH}f"}, files=(FilePlacement("f"),)).text.strip()
    later = LocalExecutor(place.slots)

    async def run() -> None:
        invocation = msgspec.structs.replace(place.invocation("true"), job="A0AP4P9D0000")
        async for _ in later.run([invocation]):
            pass

    asyncio.run(run())
    assert sorted(p.name for p in place.slots.iterdir()) == [JOB, "A0AP4P9D0000"]
    assert [p.name for p in (place.slots / JOB).iterdir()] == [Path(kept).parents[1].name]
    assert Path(kept).read_text() == "x"


def test_close_leaves_nothing(place: Place) -> None:
    place.run("X=1", outputs=("X",))
    assert [p.name for p in place.slots.iterdir()] == [JOB]
    place.executor.close()
    assert not place.slots.exists()


def descriptors() -> list[str]:
    return sorted(path.name for path in Path("/proc/self/fd").iterdir())


def test_no_descriptor_is_left_open(place: Place) -> None:
    place.run("echo warm")
    before = descriptors()
    for script in ("echo x", "exit 3", "#!/nowhere/zzz", "sleep 600"):
        place.run(script, timeout=0.05)
    assert descriptors() == before


def test_an_operation_inherits_no_descriptor(place: Place) -> None:
    """It has its three streams, and nothing that keeps something of ours open."""
    script = "import os\nfor n in range(256):\n    try:\n        print(n, os.readlink(f'/proc/self/fd/{n}'))\n"
    script += "    except OSError:\n        pass\n"
    ran = place.run(script, "run.py", environment={"PATH": "/nowhere"})
    streams = [line.split()[:2] for line in ran.text.splitlines()]
    assert [number for number, _ in streams] == ["0", "1", "2"]
    assert streams[0][1] == "/dev/null"
    assert streams[1][1] == streams[2][1]


def test_accepts_shell_and_python_and_what_derives_from_them(place: Place) -> None:
    kind = "tosca.artifacts.Implementation"
    assert place.executor.accepts([f"{kind}.Bash", kind, "tosca.artifacts.Root"])
    assert place.executor.accepts(["my.artifacts.Script", f"{kind}.Python", kind])
    assert not place.executor.accepts([kind, "tosca.artifacts.Root"])


def test_only_what_is_prepared_slowly_is_handed_over_alone(place: Place) -> None:
    keys = [place.executor.batch_key(place.invocation("", step=step)) for step in ("a", "b")]
    assert keys[0] == keys[1]
    slow = [
        place.invocation("", step="c", dependencies=("x",)),
        place.invocation("", step="d", files=(FilePlacement("x"),)),
    ]
    assert len({*keys, *map(place.executor.batch_key, slow)}) == 3


def test_an_untidy_member_of_a_batch_is_cleaned_up(place: Place) -> None:
    """What one leaves in its working directory is removed while the others go on; each has one outcome."""
    batch = [place.invocation("mkdir -p a/b; touch a/b/c; pwd", step=f"s{n}", name=f"{n}.sh") for n in range(4)]

    async def run() -> list[Ran]:
        rans = {invocation.step: Ran() for invocation in batch}
        async for step, progress in place.executor.run(batch):
            rans[step].take(progress)
        return list(rans.values())

    rans = asyncio.run(run())
    assert all(ran.outcome.succeeded for ran in rans)
    assert len({ran.text for ran in rans}) == 4
    assert place.left() == []
