"""Python scripts: inputs and outputs as globals, and a script that cannot tell that it is not alone."""

from __future__ import annotations

import pytest

from ordito.work.invocation import Ending
from tests.executors.place import Place


def test_inputs_and_outputs_are_globals(place: Place) -> None:
    """R-13.2.7-1, R-4.2-14: inputs are texts, as in the environment; outputs are whatever JSON can say."""
    script = (
        "import os\n"
        "assert IN == os.environ['IN'] and 'PATH' not in globals() and 'ORDITO_JOB' not in globals()\n"
        "TEXT = IN\nNUMBER = 3\nYES = True\nNOTHING = None\nMANY = {'a': [1, 2.5, 'ß']}\nPAIR = (1, 2)\nOTHER = 1\n"
    )
    value = "line one\n'two' \"ü\"\n"
    wanted = ("TEXT", "NUMBER", "YES", "NOTHING", "MANY", "PAIR", "MISSING")
    ran = place.run(script, "run.py", environment={"IN": value, "not-a-name": "", "class": ""}, outputs=wanted)
    assert (ran.outcome.ending, ran.text) == (Ending.SUCCEEDED, "")
    assert ran.outcome.outputs == {
        "TEXT": value,
        "NUMBER": 3,
        "YES": True,
        "NOTHING": None,
        "MANY": {"a": [1, 2.5, "ß"]},
        "PAIR": [1, 2],
    }


def test_a_value_longer_than_linux_takes(place: Place) -> None:
    value = "ä'\n" * 100_000
    assert place.run("OUT = IN", "run.py", environment={"IN": value}, outputs=("OUT",)).outcome.outputs == {
        "OUT": value
    }


def test_the_script_is_main_at_its_place(place: Place) -> None:
    place.write("code/helper.py", "WORD = 'helped'")
    script = (
        "import sys, os, helper\n"
        "print(__name__, __file__ == sys.argv[0] == sys.modules['__main__'].__file__, len(sys.argv), helper.WORD)\n"
        "print(sys.path[0] == os.path.dirname(__file__), os.listdir())\n"
    )
    ran = place.run(script, "code/run.py")
    assert ran.text == "__main__ True 1 helped\nTrue []\n"
    assert not (place.root / "code/__pycache__").exists(), "the service's tree stays as it is"


def test_a_traceback_is_the_script_s_own(place: Place) -> None:
    ran = place.run("def f():\n    1 / 0\n\nf()\n", "run.py", outputs=("X",))
    lines = ran.text.splitlines()
    assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "ZeroDivisionError: division by zero")
    assert [line.strip() for line in lines if line.startswith("  File")] == [
        f'File "{place.root}/run.py", line 4, in <module>',
        f'File "{place.root}/run.py", line 2, in f',
    ]
    assert (ran.outcome.ending, ran.outcome.exit_code, ran.outcome.tail) == (Ending.FAILED, 1, tuple(lines))


def test_a_syntax_error_names_the_line(place: Place) -> None:
    ran = place.run("x = 1\nif:\n", "run.py")
    assert ran.outcome.exit_code == 1
    assert f'File "{place.root}/run.py", line 2' in ran.text
    assert "python_runner" not in ran.text


@pytest.mark.parametrize(
    ("end", "code", "text"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(75)", 75, ""),
        ("sys.exit('because')", 1, "because\n"),
        ("raise SystemExit(True)", 1, ""),
        ("sys.exit(256)", 0, ""),
    ],
)
def test_exit_codes(place: Place, end: str, code: int, text: str) -> None:
    """R-13.2.7-3."""
    ran = place.run(f"import sys\nX = 1\n{end}\n", "run.py", outputs=("X",))
    assert (ran.outcome.exit_code, ran.text, ran.outcome.outputs) == (code, text, {"X": 1})


@pytest.mark.parametrize(
    ("value", "says"), [("{1, 2}", "type set"), ("float('nan')", "JSON"), ("'\\ud800'", "surrogate")]
)
def test_an_output_that_is_no_json_is_a_failure(place: Place, value: str, says: str) -> None:
    outcome = place.run(f"X = {value}\nY = 2", "run.py", outputs=("X", "Y")).outcome
    assert (outcome.ending, outcome.outputs) == (Ending.FAILED, {"Y": 2})
    assert "the output X cannot be written as JSON" in outcome.message
    assert says in outcome.message


def test_threads_and_exit_handlers_come_first(place: Place) -> None:
    script = (
        "import atexit, os, threading\n"
        "go = threading.Event()\n"
        "def late():\n    global X\n    go.wait(); X = 'late'\n"
        "threading.Thread(target=late).start()\n"
        "atexit.register(print, 'handler')\n"
        "go.set()\n"
    )
    ran = place.run(script, "run.py", outputs=("X",))
    assert (ran.outcome.outputs, ran.text) == ({"X": "late"}, "handler\n")


def test_a_child_that_the_script_forks_does_not_report(place: Place) -> None:
    script = "import os\nX = 'parent'\nif os.fork() == 0:\n    X = 'child'\nelse:\n    os.wait()\n"
    assert place.run(script, "run.py", outputs=("X",)).outcome.outputs == {"X": "parent"}


def test_output_comes_in_order(place: Place) -> None:
    script = "import sys, os\nprint('one')\nprint('two', file=sys.stderr)\nprint('three')\nos._exit(3)"
    ran = place.run(script, "run.py")
    assert (ran.text, ran.outcome.exit_code) == ("one\ntwo\nthree\n", 3)


def test_ordito_s_own_interpreter_where_there_is_no_other(place: Place) -> None:
    ran = place.run("print('ran')", "run.py", environment={"PATH": "/nowhere"})
    assert ran.text == "ran\n"
