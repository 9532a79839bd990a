"""The promises of `tools/proofs/promises`: each names proofs that exist; and what comes of their results."""

import ast
import json
import re
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.run import BENCHMARKS
from tools.proofs import table
from tools.proofs.checks import door
from tools.proofs.promises import Part, Promise, Run, covers, needed, read_parts, read_runs, run_of
from tools.proofs.results import FINISHED, INTERRUPTED, Ended, Figure, Outcome, Result, read_diary
from tools.proofs.verdicts import HELD, NO_PROOF, NOT_HELD, NOT_RUN, SKIPPED, judge

ROOT = Path(__file__).resolve().parent.parent
PARTS, RUNS = read_parts(), read_runs()
PROMISES = [promise for part in PARTS for promise in part.promises]


@cache
def names_in(file: str) -> frozenset[str]:
    """The tests of a file, as selectors name them."""
    found = set()
    for item in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(item.name)
    return frozenset(found)


def is_there(selector: str) -> bool:
    """Whether a selector means any test."""
    file, _, test = selector.partition("::")
    return test.partition("[")[0] in names_in(file) if test else (ROOT / file).exists()


def test_every_promise_has_a_proof_that_exists() -> None:
    for promise in PROMISES:
        assert promise.is_proven, promise.name
        missing = [s for s in (*promise.tests, *promise.thorough) if not is_there(s)]
        assert not missing, f"{promise.name} names what is not there"
        assert all(run_of(s, RUNS, thorough=True) for s in promise.thorough), promise.name
        assert {f.partition(".")[0] for f in promise.figures} | {*promise.runs, *promise.seconds} <= {*RUNS}


def test_names_are_used_once() -> None:
    names = [promise.name for promise in PROMISES] + [part.name for part in PARTS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", name) for name in (*names, *RUNS))


def test_whatever_tries_much_proves_something_once() -> None:
    selectors = [selector for promise in PROMISES for selector in promise.thorough]
    for file in door().tests_of_much():
        if file == "tests/test_run_script.py":  # it speaks of the word only
            continue
        holders = [n for n, r in RUNS.items() if r.thorough and any(covers(t, file) for t in r.tests)]
        assert len(holders) == 1, f"{file} is in the runs {holders}: name it in one, tools/proofs/runs.yaml"
        assert any(covers(file, s) or covers(s, file) for s in selectors), (
            f"{file} proves no promise of tools/proofs/promises: name it"
        )


def test_every_run_proves_something_and_can_be_started() -> None:
    used = needed(PROMISES, RUNS)
    assert set(used) == set(RUNS)
    for name, run in RUNS.items():
        assert sum(map(bool, (run.tests, run.bench, run.command))) == 1, name
        assert all(is_there(test) for test in run.tests), name
        assert not run.bench or run.bench in BENCHMARKS, name
        first, *others = run.command or [""]
        assert not first or (find_spec(others[0]) if first == "-m" else (ROOT / first).is_file()), name


def test_the_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    assert page == table.page(PARTS), "write it with: python -m tools.proofs --page"


# ------------------------------------------------------------------------------------------------------- verdicts

SUITE = "suite"
SOME = {
    SUITE: Run("all", 1, tests=["tests"], skips=["fewer records"]),
    "much": Run("much", 1, tests=["tests/a.py"], thorough=True),
    "speed": Run("speed", 1, bench="speed"),
}


def how(ended: str = FINISHED, code: int = 0, *asked: str, seconds: float = 10) -> Ended:
    return Ended("state", "abc", "", seconds, code, ended, list(asked or ["tests"]), 4)


def result(*outcomes: str, ended: str = FINISHED, asked: str = "tests") -> Result:
    """A result of tests, each ``ID OUTCOME [WHY]``."""
    made = [Outcome(*(line.split(" ", 2))) for line in outcomes]
    return Result(how(ended, 0, asked), {o.id: o for o in made}, [])


ONE = Promise("p", "it holds", tests=["tests/a.py::test_one"])


@pytest.mark.parametrize(
    ("outcomes", "verdict", "measured"),
    [
        (["tests/a.py::test_one[1] passed", "tests/a.py::test_one[2] passed"], HELD, "2 passed"),
        (["tests/a.py::test_one passed", "tests/a.py::test_one_more failed"], HELD, "1 passed"),
        (["tests/a.py::test_one[1] passed", "tests/a.py::test_one[2] failed"], NOT_HELD, "1 passed, 1 failed"),
        (["tests/a.py failed it cannot be imported"], NOT_HELD, "1 failed"),
        (["tests/a.py::test_one[1] passed", "tests/a.py::test_one[2] skipped no sshd"], SKIPPED, "1 passed, 1 skipped"),
        (
            ["tests/a.py::test_one[1] passed", "tests/a.py::test_one[2] skipped fewer records"],
            HELD,
            "1 passed, 1 skipped",
        ),
        (["tests/a.py::test_one[1] skipped fewer records"], SKIPPED, "1 skipped"),
        (["tests/a.py::test_two passed"], NO_PROOF, ""),
    ],
)
def test_what_tests_say(outcomes: list[str], verdict: str, measured: str) -> None:
    found = judge(ONE, SOME, {SUITE: result(*outcomes)})
    assert (found.verdict, found.measured) == (verdict, measured)


def test_what_was_not_run_is_not_held() -> None:
    assert judge(ONE, SOME, {}).verdict == NOT_RUN
    passed = "tests/a.py::test_one passed"
    assert judge(ONE, SOME, {SUITE: result(passed, ended=INTERRUPTED)}).verdict == NOT_RUN
    assert judge(ONE, SOME, {SUITE: result(passed, asked="tests/b.py")}).verdict == NOT_RUN
    assert judge(ONE, SOME, {SUITE: result(passed, asked="tests/a.py")}).verdict == HELD
    both = Promise("p", "it holds", tests=ONE.tests, thorough=["tests/a.py"])
    assert judge(both, SOME, {SUITE: result(passed)}).verdict == NOT_RUN


def test_what_figures_and_runs_say() -> None:
    fast, slow = Figure("speed.a", 1, True, 2, "s"), Figure("speed.b", 3, False, 2, "s")
    speed = {"speed": Result(how(), {}, [fast, slow])}
    assert judge(Promise("p", "", figures=["speed.a"]), SOME, speed).verdict == HELD
    found = judge(Promise("p", "", figures=["speed.*"]), SOME, speed)
    assert (found.verdict, found.measured, found.why) == (NOT_HELD, "a 1 s, b 3 s", "b 3 s, begun under a load of 4")
    assert judge(Promise("p", "", figures=["speed.c"]), SOME, speed).verdict == NOT_HELD
    assert judge(Promise("p", "", figures=["speed.a"]), SOME, {}).verdict == NOT_RUN
    failed = {"speed": Result(how(code=1), {}, [])}
    assert judge(Promise("p", "", runs=["speed"]), SOME, failed).verdict == NOT_HELD
    assert judge(Promise("p", "", runs=["speed"]), SOME, speed).verdict == HELD
    assert judge(Promise("p", "nothing shows it"), SOME, speed).verdict == NO_PROOF
    assert judge(Promise("p", "", seconds={SUITE: 10}), SOME, {SUITE: result()}).verdict == HELD
    assert judge(Promise("p", "", seconds={SUITE: 9}), SOME, {SUITE: result()}).verdict == NOT_HELD
    assert judge(Promise("p", "", seconds={SUITE: 10}), SOME, {SUITE: result(asked="tests/a.py")}).verdict == NOT_RUN


def test_the_table_says_what_is_not_held_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    promise = Promise("p", "all [is] well", bar="1 | 2", tests=ONE.tests)
    verdict = judge(promise, SOME, {SUITE: result("tests/a.py::test_one[x] failed")})
    rows = [(Part("q", "Some", [promise]), promise, verdict)]
    table.show(rows, "abc")
    shown = capsys.readouterr().out
    assert "q: Some" in shown
    assert "p: all [is] well" in shown
    assert "not held: tests/a.py::test_one[x]" in " ".join(shown.split())
    assert "1 promises: 1 not held" in shown
    assert "| all [is] well | 1 \\| 2 | 1 failed | not held: tests/a.py::test_one[x] (at abc) |" in table.markdown(
        rows, "d"
    )
    (data,) = json.loads(table.as_json(rows, "abc"))["promises"]
    assert (data["part"], data["verdict"], data["measured"]) == ("q", NOT_HELD, "1 failed")


PLUGGED = """
import pytest
def test_good(): pass
def test_bad(): assert False, "so bad"
def test_left_out(): pytest.skip("no such thing")
@pytest.fixture
def broken(): yield; raise ValueError("at the end")
def test_broken(broken): pass
"""


def test_what_tests_end_with_is_kept_as_they_end_and_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PLUGGED)
    diary, done = tmp_path / "diary", tmp_path / "done"
    done.write_text("")

    def run() -> dict[str, str]:
        environment = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        environment |= {"ORDITO_PROOFS_DIARY": str(diary), "ORDITO_PROOFS_DONE": str(done)}
        command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "tools.proofs.recorder", "test_it.py"]
        subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True)
        place = read_diary(diary)
        return {o.id.partition("::")[2]: o.outcome for o in place.values()}

    first = run()
    assert first == {"test_good": "passed", "test_bad": "failed", "test_left_out": "skipped", "test_broken": "failed"}
    done.write_text("".join(f"test_it.py::{name}\n" for name in first if name != "test_good"))
    diary.unlink()
    assert run() == {"test_good": "passed"}
