"""Files that are brought to an operation: get_artifact copies, and dependencies beside the script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ordito.work.invocation import SCRATCH, Ending, FilePlacement
from tests.executors.place import Place


@pytest.mark.parametrize("end", [":", "exit 3", "kill -9 $$", "sleep 600"])
def test_a_local_file_is_there_during_the_operation_only(place: Place, end: str) -> None:
    """R-4.8.1-3, R-4.8.1-6: LOCAL_FILE; removed also when the operation fails or is ended."""
    place.write("data/app.zip", "content")
    script, files = f"echo $FILE; cat $FILE; echo .; {end}", (FilePlacement("data/app.zip", remove=True),)
    environment = {"FILE": f"{SCRATCH}data/app.zip"}
    if end == "sleep 600":
        ran = place.run_and_cancel(script, "content.\n", environment=environment, files=files)
    else:
        ran = place.run(script, environment=environment, files=files)
    path, content = ran.text.split()
    assert (content, Path(path).is_absolute(), Path(path).exists()) == ("content.", True, False)
    assert place.left() == []


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("scratch", [True, False])
def test_whether_a_copy_stays_is_said_by_remove_alone(place: Place, scratch: bool, remove: bool) -> None:
    """R-4.8.1-4, R-4.8.1-5: the four cases; folders are made, and go with what they were made for."""
    place.write("app.zip", "content")
    path = f"{SCRATCH}new/folder/app.zip" if scratch else str(place.scrap / "new/folder/app.zip")
    ran = place.run(
        "echo $FILE; cat $FILE", environment={"FILE": path}, files=(FilePlacement("app.zip", path, remove),)
    )
    copy = Path(ran.text.splitlines()[0])
    assert ran.text.endswith("content")
    assert copy.exists() is not remove
    assert copy.parent.parent.exists() is not remove
    place.executor.close()
    assert copy.exists() is not remove, "what is to stay stays when the executor tidies up"


def test_a_folder_is_copied_with_everything_in_it(place: Place) -> None:
    """R-4.8.1-9; what others have put into the same place is theirs."""
    place.write("conf/a", "a")
    place.write("conf/deep/er/b", "b")
    (place.root / "conf/run").symlink_to("deep/er/b")
    (place.root / "conf/a").chmod(0o755)
    target = place.scrap / "conf"
    target.mkdir()
    (target / "theirs").write_text("t")
    script = f"cd {target}; find . -type f -o -type l | sort; cat run; test -x a"
    ran = place.run(script, files=(FilePlacement("conf", str(target), remove=True),))
    assert (ran.text, ran.outcome.ending) == ("./a\n./deep/er/b\n./run\n./theirs\nb", Ending.SUCCEEDED)
    assert [p.name for p in target.iterdir()] == ["theirs"]


def test_two_instances_do_not_take_each_other_s_copy(place: Place) -> None:
    """R-4.8.1-9: at the same time, from the same artifact."""
    place.write("f", "original\n")
    ready = place.scrap / "ready"
    script = f"""
    echo mine-$N >>$FILE; touch {ready}$N; until [ -e {ready}1 ] && [ -e {ready}2 ]; do sleep 0.01; done
    cat $FILE
    """

    async def run() -> list[str]:
        invocations = [
            place.invocation(
                script,
                step=f"s{n}",
                environment={"N": str(n), "FILE": f"{SCRATCH}f"},
                files=(FilePlacement("f", remove=True),),
            )
            for n in (1, 2)
        ]
        return [ran.text for ran in await asyncio.gather(*[place.arun(i) for i in invocations])]

    assert asyncio.run(run()) == ["original\nmine-1\n", "original\nmine-2\n"]
    assert (place.root / "f").read_text() == "original\n"


@pytest.mark.parametrize(
    ("placement", "says"),
    [
        (FilePlacement("nowhere.zip"), "the artifact nowhere.zip is not there"),
        (FilePlacement("../secret"), "is outside of the service"),
        (FilePlacement("run.sh", "relative/path"), "the path must be absolute"),
        (FilePlacement("https://example.org/x.zip"), "is at an address, not in the service"),
        (FilePlacement("run.sh", "/proc/nowhere/x"), "cannot be copied to /proc/nowhere/x"),
    ],
)
def test_what_cannot_be_copied_is_said_and_nothing_is_left(place: Place, placement: FilePlacement, says: str) -> None:
    place.write("first", "1")
    (place.scrap / "secret").write_text("x")
    first = FilePlacement("first", str(place.scrap / "made/first"), remove=True)
    outcome = place.run("echo never", files=(first, placement)).outcome
    assert outcome.ending is Ending.NOT_STARTED
    assert says in outcome.message
    assert sorted(p.name for p in place.scrap.iterdir()) == ["secret"]
    assert place.left() == []


def test_cancel_while_files_are_copied(place: Place) -> None:
    place.write("f", "x")

    async def run() -> Ending:
        invocation = place.invocation("echo never", files=(FilePlacement("f", remove=True),))
        running = asyncio.create_task(place.arun(invocation))
        await asyncio.sleep(0)
        await place.executor.cancel("run.sh")
        return (await running).outcome.ending

    assert asyncio.run(run()) is Ending.CANCELLED
    assert place.left() == []


def test_dependencies_in_the_script_s_folder_need_no_copy(place: Place) -> None:
    """R-3.6.16-4."""
    place.write("scripts/lib.sh", "echo from lib")
    place.write("conf/x", "conf")
    ran = place.run(
        'echo $0; . "$(dirname $0)/lib.sh"; cat "$(dirname $0)/../conf/x"',
        "scripts/run.sh",
        dependencies=("scripts/lib.sh",),
    )
    assert ran.text == f"{place.root}/scripts/run.sh\nfrom lib\nconf"


def test_dependencies_elsewhere_are_found_beside_the_script_and_at_their_place(place: Place) -> None:
    """R-3.6.16-4, R-13.2.5-1: ``ls $(dirname $0)`` shows them, ``../lib/x`` holds as well.

    So does everything that is no declared dependency. The first of two with the same name is beside the script.
    """
    place.write("lib/x", "lib x\n")
    place.write("other/x", "other x\n")
    place.write("lib/tree/leaf", "leaf\n")
    place.write("scripts/app/undeclared", "undeclared\n")
    place.write("scripts/top", "top\n")
    script = """
    d=$(dirname "$0"); ls "$d"
    cat "$d/x" "$d/../../lib/x" "$d/../../other/x" "$d/tree/leaf" "$d/undeclared" "$d/../top"
    cd "$(dirname "$(readlink -f "$0")")"; cat x; pwd -P
    """
    dependencies = ("lib/x", "other/x", "lib/tree")
    ran = place.run(script, "scripts/app/run.sh", dependencies=dependencies)
    lines = ran.text.splitlines()
    assert lines[:4] == ["run.sh", "tree", "undeclared", "x"]
    assert lines[4:-1] == ["lib x", "lib x", "other x", "leaf", "undeclared", "top", "lib x"]
    assert lines[-1].startswith(str(place.slots))
    assert place.left() == []
    assert sorted(p.name for p in (place.root / "scripts/app").iterdir()) == ["run.sh", "undeclared"]


def test_scripts_call_whatever_they_like(place: Place) -> None:
    """R-13.2.1-3: other scripts beside them, in other languages, and programs of the machine."""
    place.write("tools/count.py", "import sys; print(len(sys.stdin.read().split()))\n")
    ran = place.run(
        'printf "b\\na\\n" | sort; echo one two | python3 "$(dirname "$0")/../tools/count.py"', "scripts/run.sh"
    )
    assert ran.text == "a\nb\n2\n"
    place.write("tools/hello.sh", "echo hello from bash\n")
    wrapper = (
        "import subprocess\nprint(subprocess.check_output(['bash', 'tools/hello.sh'], cwd=ROOT, text=True), end='')"
    )
    ran = place.run(wrapper.replace("ROOT", repr(str(place.root))), "code/wrap.py")
    assert ran.text == "hello from bash\n"


def test_a_python_script_imports_its_dependencies(place: Place) -> None:
    place.write("lib/helper.py", "WORD = 'helped'\n")
    ran = place.run("import helper; print(helper.WORD)", "code/run.py", dependencies=("lib/helper.py",))
    assert ran.text == "helped\n"
