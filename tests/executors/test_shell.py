"""Shell scripts: inputs, outputs, options, traps, and everything that may stand in a value."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.executors.environment import KEPT
from ordito.work.invocation import SCRATCH, Ending, Invocation, Outcome
from tests.executors.place import Place
from tests.support.thorough import examples

ODD = [
    "",
    " ",
    "two words",
    "line one\nline two\n",
    "\n\n",
    'it\'s "quoted" `here` $HOME $(id) \\n \\',
    "grüße 日本語 \U0001f9f5",
    "tab\there\r\n",
    "-n",
    "*",
    "\x01\x7f",
    '["a list", {"k": "v"}]',
]


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("value", ODD)
def test_values_survive_in_both_directions(place: Place, shell: str, value: str) -> None:
    """R-13.2.7-2, R-13.2.7-4, R-4.2-14: what goes in as a variable comes out of a variable as it was."""
    script = f'#!/bin/{shell}\nexport OUT="$IN"\nprintf %s "$IN"\n'
    ran = place.run(script, environment={"IN": value}, outputs=("OUT",))
    assert ran.outcome.outputs == {"OUT": value}
    assert ran.text == value


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from("ABCD"), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
)
def test_any_text_survives(place: Place, values: dict[str, str]) -> None:
    """R-13.2.7-4."""
    script = "".join(f'OUT_{name}="${name}"\n' for name in values)
    ran = place.run(script, environment=values, outputs=tuple(f"OUT_{name}" for name in values))
    assert ran.outcome.outputs == {f"OUT_{name}": value for name, value in values.items()}


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_value_longer_than_linux_takes_is_there_all_the_same(place: Place, shell: str) -> None:
    """R-13.2.7-4: 300 kB do not fit a variable of a process, but a variable of the script."""
    value = "ä'\n" * 100_000
    ran = place.run(f'#!/bin/{shell}\nOUT="$IN$S"', environment={"IN": value, "S": "small"}, outputs=("OUT",))
    assert ran.outcome.outputs == {"OUT": value + "small"}


def test_a_large_environment_is_in_a_file_to_be_sourced(place: Place) -> None:
    """Variables that did not fit: $ORDITO_ENVIRONMENT_FILE."""
    large = {f"node_{n}_I": value for n, value in enumerate(ODD)} | {"not-a-name": "x\ny"}
    script = '[ -z "${node_1_I+x}" ] || exit 9\n. "$ORDITO_ENVIRONMENT_FILE"\n' + "".join(
        f'OUT_{n}="$node_{n}_I"\n' for n in range(len(ODD))
    )
    ran = place.run(script, large=large, outputs=tuple(f"OUT_{n}" for n in range(len(ODD))))
    assert ran.outcome.outputs == {f"OUT_{n}": value for n, value in enumerate(ODD)}
    assert place.left() == []


SAYS_FILE = """. "$ORDITO_ENVIRONMENT_FILE"
FILE=$ORDITO_ENVIRONMENT_FILE MODE=$(stat -c %a "$FILE") INODE=$(stat -c %i "$FILE") OUT=$node_1_I"""
FILE_OUTPUTS = ("FILE", "MODE", "INODE", "OUT")


def test_steps_that_see_the_same_share_their_environment_file(place: Place) -> None:
    """One file per mapping, however many steps: n steps do not write n files of n entries. Others cannot read it."""
    large = {f"node_{n}_I": str(n) for n in range(1, 5)}
    steps = [
        place.invocation(SAYS_FILE, step=f"s{n}", environment={"N": str(n)}, large=large, outputs=FILE_OUTPUTS)
        for n in range(6)
    ]

    async def run(batch: list[Invocation]) -> list[dict[str, object]]:
        told = [progress async for _, progress in place.executor.run(batch)]
        return [progress.outputs for progress in told if isinstance(progress, Outcome)]

    # At the same time, and one after the other.
    found = asyncio.run(run(steps[:4])) + asyncio.run(run(steps[4:5])) + asyncio.run(run(steps[5:]))
    assert len(found) == 6
    assert all(outputs == found[0] for outputs in found)
    assert (found[0]["MODE"], found[0]["OUT"]) == ("400", "1")
    changed = place.invocation(SAYS_FILE, large={**large, "node_1_I": "new"}, outputs=FILE_OUTPUTS)
    assert asyncio.run(run([changed]))[0]["OUT"] == "new"
    place.executor.close()
    assert not place.slots.exists()


def test_environment_files_that_nobody_uses_do_not_pile_up(place: Place) -> None:
    """Each step sees other variables: only a few files stay for steps to come, and one that is used is not removed."""
    gate = place.scrap / "gate"
    os.mkfifo(gate)
    waiting = place.invocation(f"read x <{gate}\n{SAYS_FILE}", "wait.sh", large={"node_1_I": "w"}, outputs=("OUT",))

    async def run() -> Outcome:
        waiter = asyncio.create_task(place.arun(waiting))
        for n in range(20):
            outcome = (
                await place.arun(place.invocation(SAYS_FILE, large={"node_1_I": str(n)}, outputs=("OUT",)))
            ).outcome
            assert outcome.outputs == {"OUT": str(n)}
        with gate.open("w") as opened:
            opened.write("\n")
        return (await waiter).outcome

    assert asyncio.run(run()).outputs == {"OUT": "w"}
    assert len(list(place.slots.glob("*/environment-*"))) == KEPT


def test_an_environment_file_may_name_the_scratch_folder(place: Place) -> None:
    """Each step has a folder of its own, so it gets a file of its own too."""
    large = {"node_1_I": f"{SCRATCH}x", "other": "o"}
    for step in ("s1", "s2"):
        ran = place.run(f'{SAYS_FILE}\n[ "$OUT" = "$PWD/x" ] || exit 9', step=step, large=large, outputs=FILE_OUTPUTS)
        assert ran.outcome.succeeded, ran.text
        assert ran.outcome.outputs["MODE"] == "400"
    assert place.left() == []


def test_a_long_and_a_shared_variable_are_in_one_file(place: Place) -> None:
    """R-13.2.7-4."""
    long = "x" * 200_000
    ran = place.run(
        f"""{SAYS_FILE}\n[ "${{#LONG}}" = 200000 ] && [ "$(grep -c ^LONG= "$FILE")" = 1 ]""",
        environment={"LONG": long},
        large={"node_1_I": "1"},
        outputs=("OUT",),
    )
    assert ran.outcome.outputs == {"OUT": "1"}
    assert ran.outcome.succeeded
    assert place.left() == []


def test_the_environment_is_what_the_invocation_says(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the orchestrator's environment is added save the basic variables."""
    monkeypatch.setenv("SECRET_OF_THE_ORCHESTRATOR", "x")
    ran = place.run("env -0", environment={"A": "1", "HOME": "/nowhere"})
    names = {entry.partition("=")[0]: entry.partition("=")[2] for entry in ran.text.split("\0")}
    assert "SECRET_OF_THE_ORCHESTRATOR" not in names
    assert (names["A"], names["HOME"], names["ORDITO_STEP"]) == ("1", "/nowhere", "run.sh")
    assert {"PATH", "ORDITO_JOB", "ORDITO_OUTPUTS"} < set(names)
    assert "ORDITO_ENVIRONMENT_FILE" not in names


def test_output_variables_of_all_kinds(place: Place) -> None:
    """R-13.2.7-2: exported or not; an array comes back as a list, an associative one as a map, a missing one not."""
    script = """
    export EXPORTED=1; PLAIN=2; EMPTY=; unset GONE; declare -i NUMBER=3; readonly FIXED=4
    LIST=(a 'b c' $'d\\ne'); NONE=(); declare -A MAP=([k]='v 1' [' x]']=w); OTHER=unwanted
    f() { local LOCAL=1; }; f
    """
    wanted = ("EXPORTED", "PLAIN", "EMPTY", "GONE", "NUMBER", "FIXED", "LIST", "NONE", "MAP", "LOCAL", "not-a-name")
    assert place.run(script, outputs=wanted).outcome.outputs == {
        "EXPORTED": "1",
        "PLAIN": "2",
        "EMPTY": "",
        "NUMBER": "3",
        "FIXED": "4",
        "LIST": ["a", "b c", "d\ne"],
        "NONE": [],
        "MAP": {"k": "v 1", " x]": "w"},
    }


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize("code", [0, 1, 3, 75, 255])
def test_the_exit_status_passes_through(place: Place, shell: str, code: int) -> None:
    """R-13.2.7-3: other than 0 is a failure; outputs are told all the same, for the record."""
    outcome = place.run(f"#!/bin/{shell}\nX=1\nf() {{ exit {code}; }}\nf\necho never", outputs=("X",)).outcome
    assert outcome.exit_code == code
    assert outcome.ending is (Ending.FAILED if code else Ending.SUCCEEDED)
    assert outcome.message == (f"exit {code}" if code else "")
    assert outcome.outputs == {"X": "1"}


@pytest.mark.parametrize(
    ("first_line", "fails"),
    [
        ("#!/bin/bash -e", True),
        ("#!/bin/bash", False),
        ("#!/usr/bin/env bash", False),
        ("#!/usr/bin/env -S bash -eu", True),
        ("#! /bin/bash -e -u", True),
        ("#!/bin/bash -e --", True),
        ("#!/bin/sh -e", True),
        ("#!/bin/sh", False),
        ("# no shebang", False),
        ("#!/nowhere/bin/bash -e", True),
        ("#!/usr/bin/env -S A=7 bash -e", True),
    ],
)
def test_the_options_of_the_first_line_are_honoured(place: Place, first_line: str, fails: bool) -> None:
    """The middle command fails: whether the script goes on is for its first line to say."""
    ran = place.run(f"{first_line}\nX=1\nfalse\nX=2\n", outputs=("X",))
    assert (ran.outcome.ending, ran.outcome.outputs) == (
        (Ending.FAILED, {"X": "1"}) if fails else (Ending.SUCCEEDED, {"X": "2"})
    )


def test_the_shell_is_the_one_of_the_first_line(place: Place) -> None:
    assert place.run("#!/bin/sh\necho ${BASH_VERSION+bash}$(echo x >/dev/null)").text.strip() in ("", "bash")
    assert place.run("#!/bin/bash\necho ${BASH_VERSION+bash}").text == "bash\n"
    assert place.run("#!/usr/bin/env -S VAR=set bash\necho $VAR").text == "set\n"


def test_another_interpreter_runs_the_script_as_it_is(place: Place) -> None:
    script = '#!/usr/bin/awk -f\nBEGIN { print "{\\"x\\": 1}" > ENVIRON["ORDITO_OUTPUTS"]; print "said" }\n'
    if shutil.which("awk") is None:
        pytest.skip("no awk here")
    ran = place.run(script, outputs=("x",))
    assert (ran.outcome.ending, ran.outcome.outputs, ran.text) == (Ending.SUCCEEDED, {"x": 1}, "said\n")


# How a script sets traps, how it ends, and what X is at its very end (None: the shells differ).
TRAPS = [
    ("trap 'echo bye $?; X=t' EXIT", "exit 3", "t"),
    ("trap 'echo bye $?; X=t' EXIT", ":", "t"),
    ("trap 'echo bye $?; X=t' 0", "exit 4", "t"),
    ("trap 'echo bye $?; X=t' EXIT TERM", "set -e; false", "t"),
    ("trap -- 'echo bye $?; X=t' EXIT", "(exit 9)", "t"),
    ("cleanup() { rc=$?; X=c; echo clean $rc; exit $rc; }; trap cleanup EXIT", "exit 5", "c"),
    ("trap 'X=t; exit 6' EXIT", "exit 5", "t"),
    ("trap 'X=t' EXIT; trap - EXIT", "exit 7", "1"),
    ("trap 'X=t' EXIT; trap '' EXIT", ":", "1"),
    ("trap 'X=t' EXIT; trap EXIT", ":", "1"),
    ("trap 'echo a' EXIT; trap 'echo b' EXIT", ":", "1"),
    ("(trap 'X=sub; echo sub $?' EXIT; X=sub; exit 4)", "exit 2", "1"),
    ("trap 'echo usr' USR1", "kill -USR1 $$", "1"),
    ("trap 'echo usr' USR1; trap - USR1", "kill -USR1 $$; exit 0", None),
    ('old=$(trap); trap "echo no" EXIT; trap - EXIT; eval "$old"', "exit 1", "1"),
    # A trap that does not come to its end: X is what it was before the trap.
    ("set -e; trap 'X=t; false; X=never' EXIT", "exit 8", "1"),
    ("set -eu; trap 'echo $UNSET_VARIABLE' EXIT", "X=2", "2"),
]


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize(("setup", "end", "value"), TRAPS)
def test_traps_of_the_script_and_ours_both_run(
    place: Place, shell: str, setup: str, end: str, value: str | None
) -> None:
    """R-13.2.7-2: the script does what it does alone, and its outputs are those at its very end."""
    ran = place.run(f"#!/bin/{shell}\nX=1\n{setup}\n{end}\n", outputs=("X",))
    alone = subprocess.run([f"/bin/{shell}", place.root / "run.sh"], capture_output=True, check=False)
    code = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    assert ran.outcome.exit_code == code
    assert [line for line in ran.printed.splitlines() if b"UNSET" not in line] == alone.stdout.splitlines()
    if value is not None:
        assert ran.outcome.outputs == {"X": value}


def test_options_that_a_script_sets_do_not_disturb(place: Place) -> None:
    script = "set -euxCfo pipefail\nIFS=0\nX='a 0 b'\nunalias -a\n"
    ran = place.run(script, outputs=("X", "Y"))
    assert (ran.outcome.ending, ran.outcome.outputs) == (Ending.SUCCEEDED, {"X": "a 0 b"})
    assert "__ordito_write" not in ran.text


def test_a_script_that_replaces_itself(place: Place) -> None:
    """exec: the status is the new program's; its outputs are those of $ORDITO_OUTPUTS."""
    ran = place.run("X=1\necho '{\"Y\": 2}' >$ORDITO_OUTPUTS\nexec sh -c 'echo from sh; exit 4'", outputs=("X", "Y"))
    assert (ran.outcome.exit_code, ran.outcome.outputs, ran.text) == (4, {"Y": 2}, "from sh\n")


def test_background_jobs_and_subshells_write_no_result(place: Place) -> None:
    script = "X=main\n( X=sub; exit 5 )\n{ X=job; exit 6; } &\nwait\necho $(X=cs; exit 7)\nexit 0"
    outcome = place.run(script, outputs=("X",)).outcome
    assert (outcome.exit_code, outcome.outputs) == (0, {"X": "main"})


def test_a_syntax_error_is_a_failure_that_names_the_script(place: Place) -> None:
    ran = place.run("echo one\nif then\n")
    assert ran.outcome.exit_code == 2
    assert "run.sh: line 2: syntax error" in ran.text


def test_the_script_sees_itself_at_its_place(place: Place) -> None:
    """$0 is the script's path in the tree, the working directory is a scratch one."""
    ran = place.run(
        'echo "$0|${BASH_SOURCE[0]}|$#"\npwd\n[[ ${BASH_SOURCE[0]} == "$0" ]] && echo main', name="a/b/run.sh"
    )
    script = str(place.root / "a/b/run.sh")
    first, folder, is_main = ran.text.splitlines()
    assert (first, is_main) == (f"{script}|{script}|0", "main")
    assert folder.startswith(str(place.slots))


def test_standard_input_is_empty(place: Place) -> None:
    assert place.run("cat; read x; echo $?").text == "1\n"


@pytest.mark.parametrize(
    ("script", "more", "says"),
    [
        ("#!/opt/nowhere/zzzsh\n", {}, 'needs the interpreter "/opt/nowhere/zzzsh", which is not installed'),
        ("#!/usr/bin/env -i bash\n", {}, "gives env the option -i, which is not supported"),
        ("#!/usr/bin/env\n", {}, "names env but no interpreter"),
        ("", {"environment": {"A": "x\0y"}}, 'the variable "A" holds a NUL byte'),
        ("", {"large": {"B": "x\0y"}}, 'the variable "B" holds a NUL byte'),
        ("", {"environment": {"A=B": ""}}, 'no environment can carry a variable named "A=B"'),
        ("", {"environment": {"A": "\ud800"}}, 'the variable "A" holds half a surrogate pair'),
        ("", {"dependencies": ("lib/nowhere",)}, "the artifact lib/nowhere is not there"),
        ("", {"dependencies": ("../outside",)}, "is outside of the service"),
        ("", {"environment": {f"V{n}": "x" * 100_000 for n in range(40)}}, "Argument list too long"),
    ],
)
def test_what_cannot_be_started_is_not_started(place: Place, script: str, more: dict[str, Any], says: str) -> None:
    """A clear outcome, nothing left, and the next operation runs."""
    ran = place.run(script, **more)
    assert (ran.outcome.ending, ran.started) == (Ending.NOT_STARTED, None)
    assert says in ran.outcome.message
    assert place.left() == []
    assert place.run("echo next").text == "next\n"


def test_a_missing_script_or_a_folder_is_not_started(place: Place) -> None:
    invocation = place.invocation("", name="folder/run.sh")
    (place.root / "folder/run.sh").unlink()
    (place.root / "folder/run.sh").mkdir()
    assert asyncio.run(place.arun(invocation)).outcome.message == "folder/run.sh is a folder, not a script"
    (place.root / "folder/run.sh").rmdir()
    outcome = asyncio.run(place.arun(invocation)).outcome
    assert (outcome.ending, "folder/run.sh is not there" in outcome.message) == (Ending.NOT_STARTED, True)


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_folders_may_have_any_name(tmp_path: Path, shell: str) -> None:
    folder = tmp_path / 'it\'s "a" $(folder) \\ ü'
    folder.mkdir()
    place = Place(folder)
    script = f"#!/bin/{shell}\ntrap 'X=t' EXIT\necho \"$0\"\necho '{{}}' >\"$ORDITO_OUTPUTS\"; exit 0\n"
    ran = place.run(script, name="a b/run me.sh", outputs=("X",))
    assert (ran.text, ran.outcome.outputs) == (f"{folder}/service/a b/run me.sh\n", {"X": "t"})
