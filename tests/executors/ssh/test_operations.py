"""Operations on another host mean what they mean on this machine."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ordito.executors.remote.tree import KEPT as KEPT_FILES
from ordito.executors.remote.upload import KEPT
from ordito.work.invocation import SCRATCH, Ending, FilePlacement, Outcome, Started
from ordito.work.needs import ImplementationNeeds
from tests.executors.ssh.far import Far, good

DIFFICULT = 'it\'s "q" $HOME `id` \\ ü\nsecond\tline '


async def test_scripts_see_their_inputs_and_give_outputs(far: Far) -> None:
    """R-13.2.7-1, R-13.2.7-2, R-13.2.7-4, R-13.2.5-1, R-13.2.2-1: environment, `#!` options, tree and outputs."""
    far.write("lib/x.sh", 'lib() { echo "lib of $1"; }\n')
    script = """#!/bin/bash -u
. "$(dirname "$0")/../lib/x.sh"
lib "$(hostname)"
BACK=$GIVEN LIST=(a 'b c'); declare -A MAP=([k]=v); export BACK
case $- in *u*) OPTIONS=u;; esac
HERE=$PWD SCRIPT=${BASH_SOURCE[0]} SAME=$0
printf '{"count": 3, "ordito.changed": true, "ordito.status": "ok"}' >"$ORDITO_OUTPUTS"
echo x >left-behind
"""
    outputs = ("BACK", "LIST", "MAP", "OPTIONS", "HERE", "SCRIPT", "SAME", "PLACE", "MISSING")
    environment = {
        "GIVEN": DIFFICULT,
        "PLACE": f"{far.root}/scripts/a.sh",
        "name": "lower",
        "a-b": "no name of a shell",
        "SCR": f"{SCRATCH}f",
    }
    ran = await far.run(script, "scripts/a.sh", outputs=outputs, environment=environment)
    found = dict(good(ran))
    assert ran.text == f"lib of {far.host.hostname}\n"
    assert ran.started is not None
    assert ran.started.machine == far.host.hostname
    assert found.pop("BACK") == DIFFICULT
    assert found.pop("SCRIPT") == found.pop("SAME") == found.pop("PLACE")
    assert str(found.pop("HERE")).startswith(ran.started.slot)
    assert found == {"LIST": ["a", "b c"], "MAP": {"k": "v"}, "OPTIONS": "u", "count": 3}
    assert (ran.outcome.changed, ran.outcome.status) == (True, "ok")
    assert not [name for name in far.files("jobs/") if "left-behind" in name]


async def test_scripts_in_other_languages(far: Far) -> None:
    """R-13.2.1-3: Python gives its globals back, sh its variables, and any other interpreter just runs."""
    python = 'import sys\nprint("got", GIVEN)\nR = {"a": [GIVEN]}\nNAMES = [n for n in globals() if n == "HOME"]\n'
    sh = 'R="$GIVEN"; case $0 in */run.sh) K=good;; esac\nexit 0\n'
    both: dict[str, Any] = {"environment": {"GIVEN": DIFFICULT}}
    ran = await far.run(python, "run.py", outputs=("R", "NAMES"), **both)
    assert good(ran) == {"R": {"a": [DIFFICULT]}, "NAMES": []}
    assert good(await far.run("#!/bin/sh -e\n" + sh, outputs=("R", "K"), **both)) == {"R": DIFFICULT, "K": "good"}
    ran = await far.run('#!/usr/bin/env -S FROM=line perl -w\nprint "$ENV{GIVEN}$ENV{FROM}";', "x.pl", **both)
    assert (good(ran), ran.text) == ({}, f"{DIFFICULT}line")


async def test_failures_say_how_they_failed(far: Far) -> None:
    """R-13.2.7-3, R-13.2.4-1."""
    ran = await far.run("echo one\necho two >&2\nexit 3\n")
    assert (ran.outcome.ending, ran.outcome.exit_code, ran.outcome.tail) == (Ending.FAILED, 3, ("one", "two"))
    assert (await far.run("kill -KILL $$\n")).outcome.exit_code == 137
    outcome = (await far.run("#!/usr/bin/env fortran77\n:\n")).outcome
    assert outcome.ending is Ending.NOT_STARTED
    assert 'run.sh needs the interpreter "fortran77", which is not installed on shared' in outcome.message
    outcome = (await far.run("x\n", needs=ImplementationNeeds(version="99"))).outcome
    assert (outcome.ending, "Bash 99" in outcome.message) == (Ending.NOT_STARTED, True)
    outcome = (await far.run("x\n", "run.py", needs=ImplementationNeeds(version="3.99"))).outcome
    assert (outcome.ending, "Python 3.99" in outcome.message) == (Ending.NOT_STARTED, True)
    outcome = (await far.run(":", environment={"A": "a\0b"})).outcome
    assert (outcome.ending, "NUL byte" in outcome.message) == (Ending.NOT_STARTED, True)
    outcome = (await far.arun(msgspec.structs.replace(far.invocation(""), artifact="none.sh"))).outcome
    assert (outcome.ending, "none.sh is not there" in outcome.message) == (Ending.NOT_STARTED, True)


async def test_what_does_not_fit_the_environment(far: Far) -> None:
    long = "x" * 140_000
    large = {f"peer_{n}": f"{far.root}/run.sh" for n in range(500)}
    script = '. "$ORDITO_ENVIRONMENT_FILE"\necho ${#LONG} $peer_499\n[ $(env | wc -c) -lt 20000 ] && echo small'
    ran = await far.run(script, environment={"LONG": long}, large=large)
    good(ran)
    size, path, small = ran.text.split()
    assert (size, small) == ("140000", "small")
    assert path.endswith("/run.sh")
    assert path != f"{far.root}/run.sh"
    ran = await far.run("print(len(LONG))\n", "run.py", environment={"LONG": long})
    assert ran.text == "140000\n"
    ran = await far.run('cat "$ORDITO_ENVIRONMENT_FILE" | wc -l\n', large=large)
    assert ran.text == "501\n"


async def test_files_of_variables_that_nobody_uses_do_not_pile_up(far: Far) -> None:
    """Each operation sees other variables: only a few files stay for those to come, and one in use is not removed."""
    gate, held = (f"{far.host.home}/{far.area}.{name}" for name in ("gate", "held"))
    script = 'cat "$ORDITO_ENVIRONMENT_FILE" | wc -l; ls "${ORDITO_ENVIRONMENT_FILE%/*}" | grep -c environment-'
    waits = f"mkfifo {gate}; : >{held}; read -r _ <{gate}; rm {gate} {held}\n{script}"
    waiting = asyncio.create_task(far.run(waits, "wait.sh", large={"own": "w"}))
    await far.run(f"until [ -e {held} ]; do sleep 0.01; done", "until.sh")
    for n in range(20):
        ran = await far.run(script, large={f"peer_{n}": "x", "other": "y"})
        count, files = map(int, ran.text.split())
        assert count == 3
        # Those that are kept, the one that is used, and the last one to be dropped, which goes with the next.
        assert files <= KEPT_FILES + 3
    await far.run(f"echo >{gate}")
    assert (await waiting).text.split()[0] == "2"


async def test_copies_are_there_while_an_operation_runs(far: Far) -> None:
    """R-3.6.7-5, R-13.2.8-1: files at their places on the host, and gone afterwards where that is wanted."""
    far.write("conf/app.conf", "one\n")
    far.write("conf/sub/more.conf", "two\n")
    outside = "" if far.host.isolated else str(far.host.home)
    top = f"{outside}/tmp/{far.area}"
    files = (
        FilePlacement("conf", f"{top}/a/conf", remove=True),
        FilePlacement("conf/app.conf", f"{top}/kept/app.conf"),
        FilePlacement("conf/app.conf", remove=True),
    )
    script = f"cat {top}/a/conf/sub/more.conf {top}/kept/app.conf conf/app.conf; touch {top}/a/own; exit 4\n"
    ran = await far.run(script, files=files)
    assert (ran.outcome.exit_code, ran.text) == (4, "two\none\none\n")
    there = {f"{outside}{f}" for f in far.host.files()}
    assert {f for f in there if f.startswith(top)} == {f"{top}/a/own", f"{top}/kept/app.conf"}
    far.write("file", "")
    outcome = (await far.run(":", files=(FilePlacement("file", "/proc/none/file"),))).outcome
    assert (outcome.ending, "/proc/none" in outcome.message) == (Ending.NOT_STARTED, True)


async def test_dependencies_and_filled_templates_lie_beside_the_script(far: Far) -> None:
    """R-13.2.5-1: also those from elsewhere in the service; what is filled is seen by this operation alone."""
    far.write("shared/tool.sh", "echo tool\n")
    far.write("shared/page.txt.j2", "{{ WHO }} at {{ PLACE }}\n")
    script = 'cd "$(dirname "$(readlink -f "$0")")"; . ./tool.sh; cat page.txt; ls ../shared | wc -l\n'
    ran = await far.run(
        script,
        "scripts/a.sh",
        dependencies=("shared/tool.sh", "shared/page.txt.j2"),
        environment={"WHO": "me", "PLACE": f"{far.root}/shared"},
        needs=ImplementationNeeds(templates=("shared/page.txt.j2",)),
    )
    good(ran)
    tool, page, count = ran.text.splitlines()
    assert (tool, count) == ("tool", "2")
    assert page.startswith(f"me at {far.host.home}/.ordito/{far.area}/trees/")
    assert not [name for name in far.files("trees/") if name.endswith("/page.txt")]


async def test_each_content_comes_once(far: Far) -> None:
    """R-13.1-2: files of an earlier revision are linked; large ones come when an operation names them."""
    far.write("data/one", "a" * 1000)
    far.write("data/large", "b" * 1_500_000)
    ran = await far.run('stat -c %i "$(dirname "$0")/data/one"; ls "$(dirname "$0")/data"\n')
    inode, *names = ran.text.split()
    assert names == ["one"]
    far.executor = far.another()
    script = 'stat -c %i "$(dirname "$0")/data/one"; wc -c <"$LARGE"\n'
    ran = await far.run(script, environment={"LARGE": f"{far.root}/data/large"})
    assert ran.text.split() == [inode, "1500000"]
    await far.executor.leave()
    assert not far.files("jobs/")
    assert far.files("trees/")


async def test_an_earlier_tree_is_there_while_a_job_works_in_it_and_comes_again(far: Far) -> None:
    """A host keeps a number of trees. A job may need older ones than these, for instances in other forms."""
    script = 'cat "$(dirname "$0")/lib/number"; cat "$(dirname "$0")/lib/same"\n'
    first = far.root

    async def run(number: int) -> str:
        far.root = first.with_name(f"service{number}")
        far.root.mkdir(exist_ok=True)
        far.write("lib/number", f"{number} ")
        far.write("lib/same", "same\n" * 3)
        ran = await far.run(script)
        return f"{ran.outcome.ending.value} {ran.text.splitlines()[0]}"

    for number in range(KEPT):
        far.executor = far.another()
        assert await run(number) == f"succeeded {number} same"
    # All in one job: what is new takes the place of the oldest, which are known to be there, but of none in use.
    far.executor = far.another()
    assert await run(0) == "succeeded 0 same"
    for number in (KEPT, KEPT + 1, 0, 1, 2, KEPT, 0):
        assert await run(number) == f"succeeded {number} same"
    assert len({name.split("/")[1] for name in far.files("trees/") if name.endswith("/number")}) < KEPT + 2


async def test_hosts_that_are_one_machine_are_made_ready_at_one_time(far: Far) -> None:
    """All send the same tools and files to the same folders."""
    far.write("data/one", "a" * 1000)
    far.write("data/large", "b" * 1_500_000)
    made = far.invocation(
        'cat "$(dirname "$0")/data/one" "$LARGE" | wc -c\n', environment={"LARGE": f"{far.root}/data/large"}
    )
    targets = [msgspec.structs.replace(far.target, name=f"host {n}") for n in range(8)]
    all_ran = await asyncio.gather(
        *(far.arun(msgspec.structs.replace(made, target=one, step=one.name.replace(" ", "-"))) for one in targets)
    )
    assert [ran.text.strip() for ran in all_ran] == ["1501000"] * 8
    await far.executor.leave()
    assert not [name for name in far.files("trees/") if name.endswith(".part")]


async def test_a_host_without_tar_is_served_as_well(far: Far) -> None:
    far.write("lib/with space/x", "found\n")
    host = far.executor._host(far.target, far.job)
    facts = await host.ready()
    assert facts.packs
    host._uploads._packs = False  # type: ignore[union-attr]
    ran = await far.run('cat "$(dirname "$0")/lib/with space/x"\n')
    assert (good(ran), ran.text) == ({}, "found\n")


async def test_time_and_people_end_operations_with_all_that_they_started(far: Far) -> None:
    """Processes with a session and an environment of their own among them."""
    script = """#!/bin/bash
trap 'echo asked' TERM
setsid -f sleep 4711
env -i sleep 4712 &
echo begun
while :; do sleep 0.1; done
"""
    ran = await far.run(script, timeout=0.7)
    assert (ran.outcome.ending, ran.outcome.message) == (Ending.TIMED_OUT, "timed out after 0.7 s")
    assert ran.text.startswith("begun\n")
    assert "asked" in ran.text
    assert "sleep 471" not in far.host.run("ps", "-e", "-o", "args")

    invocation = far.invocation("echo begun\nexec sleep 4713\n")
    outcome: Outcome | None = None
    async for _, progress in far.executor.run([invocation]):
        if isinstance(progress, Outcome):
            outcome = progress
        elif not isinstance(progress, Started):
            await far.executor.cancel("run.sh")
    assert outcome is not None
    assert outcome.ending is Ending.CANCELLED
    assert "sleep 4713" not in far.host.run("ps", "-e", "-o", "args")
    # The shell beside it goes on.
    assert good(await far.run(":")) == {}


async def test_daemons_live_on(far: Far) -> None:
    """One that holds the output is listened to for a moment, and is not stopped by an output that nobody reads."""
    quiet = "setsid -f sleep 4721 >/dev/null 2>&1; sleep 4722 >/dev/null 2>&1 & echo done\n"
    ran = await far.run(quiet)
    assert (good(ran), ran.text) == ({}, "done\n")
    loud = f"""(echo late; touch ~/{far.area}-1; sleep 0.1; head -c 300000 /dev/zero; touch ~/{far.area}
exec sleep 4723) &
while [ ! -e ~/{far.area}-1 ]; do sleep 0.02; done
echo done
"""
    ran = await far.run(loud)
    assert good(ran) == {}
    assert set(ran.text.split("\0")[0].split()) == {"late", "done"}
    await far.until(lambda: far.host.home_outside.joinpath(far.area).exists())
    ran = await far.run("echo next\n")
    assert ran.text == "next\n"
    running = far.host.run("ps", "-e", "-o", "args")
    assert all(f"sleep 472{n}" in running for n in (1, 2, 3))
    far.host.run("pkill", "-f", "sleep 472")


async def test_no_secret_is_seen_by_others(far: Far) -> None:
    """Not in the arguments of any process on the host, the shells included."""
    script = 'echo "${#PASSWORD}"; for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <$f; done 2>/dev/null\n'
    ran = await far.run(script, environment={"PASSWORD": "hunter-" + "2" * 9}, outputs=("X",))
    assert ran.text.startswith("16\n")
    assert "hunter" not in ran.text


async def test_operations_of_several_steps_run_side_by_side(far: Far) -> None:
    """More than a host takes over one connection, and each with its own output."""
    batch = [far.invocation(f"echo {n}; sleep 0.3\n", f"s{n}.sh") for n in range(24)]

    async def run(n: int) -> str:
        ran = await far.arun(batch[n])
        good(ran)
        return ran.text

    assert await asyncio.gather(*(run(n) for n in range(24))) == [f"{n}\n" for n in range(24)]


UNFIT = {
    "is a FIFO (named pipe)": 'mkfifo "$ORDITO_OUTPUTS"',
    "is a folder": 'mkdir "$ORDITO_OUTPUTS"',
    "is a link": 'echo "{\\"A\\": 1}" >../secret; ln -s ../secret "$ORDITO_OUTPUTS"',
    "is larger than 64 MiB": 'truncate -s 1T "$ORDITO_OUTPUTS"',
}


async def test_whatever_is_left_where_outputs_are_looked_for_is_not_waited_for(far: Far) -> None:
    """It fails the operation, and the next one in the same shell is as ever."""
    for says, script in UNFIT.items():
        ran = await far.run(script, step=says)
        assert (ran.outcome.ending, ran.outcome.exit_code, ran.outcome.outputs) == (Ending.FAILED, 0, {}), says
        assert f"($ORDITO_OUTPUTS) {says}" in ran.outcome.message
        after = 'A=$(ls | wc -l); printf \'{"B": 1}\' >"$ORDITO_OUTPUTS"'
        assert good(await far.run(after, step=f"after {says}", outputs=("A",))) == {"A": "0", "B": 1}


async def test_a_working_directory_that_was_changed_is_replaced(far: Far) -> None:
    """What it was made to lead to stays, and very many files are no command line that is too long."""
    kept = "mkdir -p ../mine; : >../mine/kept; cd ..; "
    for script in (
        "i=0; while [ $i -lt 6000 ]; do : >a-file-with-a-name-that-is-long-enough-for-this-$i; i=$((i+1)); done",
        f"{kept}rmdir work; ln -s mine work",
        f"{kept}rmdir work; : >work",
        f"{kept}rmdir work",
        f"{kept}mkdir -p work/a/b; : >work/a/b/c; chmod 0 work/a/b work/a work",
    ):
        assert (await far.run(script)).outcome.ending is Ending.SUCCEEDED
        found = good(await far.run("A=$(ls | wc -l) B=$(ls ../mine 2>/dev/null); :", outputs=("A", "B")))
        assert found == {"A": "0", "B": "kept" if script.startswith(kept) else ""}


async def test_an_end_that_is_looked_for_later_is_not_waited_for(far: Far) -> None:
    """When the connection was lost, and when a job is resumed: the host is asked, and does not hang."""
    script = 'mkfifo "$ORDITO_OUTPUTS"; cd ..; rm -f *.result; mkfifo other.result; exit 3'
    ran = await far.run(script, step="lost")
    assert (ran.outcome.ending, ran.outcome.exit_code) == (Ending.FAILED, 3)
    assert ran.started is not None
    outcome = await far.another().settle(far.doubt(ran.started, "lost"))
    assert outcome is not None
    assert (outcome.ending, outcome.exit_code) == (Ending.FAILED, 3)
    assert "is a FIFO (named pipe)" in outcome.message
