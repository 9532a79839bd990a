"""Whether each check is tested: ``./run conformance --mutate`` disables one at a time, and some test must fail.

A check is a place in the reading rooms that reports a diagnostic, or that raises or returns what is reported. First all
samples and tests run once, and each place notes who came by. Then for each place a forked process replaces the
statement by nothing and runs those that came by, until one of them fails. A check that nothing notices is a survivor.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import json
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.checking import Checker
from tests.conformance import test_conformance
from tests.model import test_documents

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src" / "ordito"
ROOMS = ("source", "syntax", "model")
REPORTS = {"error", "warning", "note", "unknown", "objection"}
HELPER = re.compile("_?(report|refuse|wrong|missing|unknown|warn)(_[a-z_]+)?")
"""What functions are called through which many places report."""
RAISED = {"_RefusedText", "_too_deep", "FetchFailed", "NotAllowed", "ValueError", "Incomparable", "zipfile.BadZipFile"}
"""What is raised in order to be reported."""
REASONS = {"Wrong", "Broken"}
"""The structs that say what is wrong with a value; functions return them."""
ANSWER = re.compile("violation|_(bad|wrong|unequal|outside)[a-z_]*")
"""What functions are called that return what is wrong, "" where nothing is."""
CAME_BY = "__came_by__"
MOST_FRAMES = 8
SUITES = [
    "tests/source",
    "tests/syntax",
    "tests/model",
    "tests/conformance",
    "tests/app",
    "tests/cli",
    "tests/planning",
]
NOT_SUITES = [
    "tests/conformance/test_conformance.py",
    "tests/model/test_documents.py",
    "tests/model/test_any_document.py",
]
"""Data files are run without pytest; random documents prove nothing about one check."""
PYTEST = ["-q", "-p", "no:xdist"]
LOG = ROOT / ".cache" / "mutation.log"
MOST_SECONDS = 60
MOST_BYTES = 3 << 30
AT_ONCE = 2
NOT_DISABLED = 17
"""The exit code of a process that could not disable its check."""

Reach = dict[tuple[str, int], list[str]]
"""For each line that reported something: the samples or tests during which it did."""
Replacement = Callable[[ast.stmt, "Check"], ast.stmt]


class Check(msgspec.Struct, frozen=True):
    """A statement that reports a diagnostic. ``owner`` is the function that holds it, as its module reaches it."""

    file: str
    first: int
    last: int
    owner: str
    code: str
    kind: type[ast.stmt]

    def __str__(self) -> str:
        return f"{self.file}:{self.first}: {self.code}"


# --------------------------------------------------------------------------------------------------- finding checks


def checks() -> list[Check]:
    """All checks of the reading rooms."""
    found: list[Check] = []
    for room in ROOMS:
        for path in sorted((SOURCES / room).rglob("*.py")):
            file = path.relative_to(ROOT).as_posix()
            finder = _Finder(file)
            finder.visit(ast.parse(path.read_text(encoding="utf-8")))
            found += finder.found
    return found


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str) -> None:
        self.found: list[Check] = []
        self._file = file
        self._owners: list[str] = []

    def _inside(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        self._owners.append(node.name)
        self.generic_visit(node)
        self._owners.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
            if name in REPORTS or HELPER.fullmatch(name):
                self._add(node, call.args[0] if call.args else None)

    def visit_Raise(self, node: ast.Raise) -> None:
        if isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func) in RAISED:
            self._add(node, node.exc.args[0] if node.exc.args else None)

    def visit_Return(self, node: ast.Return) -> None:
        nothing = isinstance(node.value, ast.Constant) and node.value.value == ""
        if self._owners and ANSWER.fullmatch(self._owners[-1]) and not nothing:
            self._add(node, node.value)
        elif isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in REASONS:
            self._add(node, node.value.args[0] if node.value.args else None)

    def _add(self, node: ast.stmt, code: ast.expr | None) -> None:
        written = code.value if isinstance(code, ast.Constant) else ast.unparse(code) if code else ""
        assert node.end_lineno is not None
        owner = ".".join(self._owners)
        self.found.append(Check(self._file, node.lineno, node.end_lineno, owner, str(written), type(node)))


# ------------------------------------------------------------------------------------------------------- disabling


def disable(check: Check) -> None:
    """Replace a check by nothing, in this process."""
    _replace([check], lambda node, _: ast.Return(ast.Constant("")) if isinstance(node, ast.Return) else ast.Pass())


def mark(chosen: Iterable[Check]) -> None:
    """Have each check that does not report by itself call ``CAME_BY`` before it is done, in this process."""

    def marked(node: ast.stmt, check: Check) -> ast.stmt:
        place: list[ast.expr] = [ast.Constant(str(ROOT / check.file)), ast.Constant(check.first)]
        return ast.If(ast.Call(ast.Name(CAME_BY, ast.Load()), place, []), [node], [])

    by_file: dict[str, list[Check]] = {}
    for check in chosen:
        if check.kind is not ast.Expr:
            by_file.setdefault(check.file, []).append(check)
    for found in by_file.values():
        _replace(found, marked)


def _replace(chosen: Sequence[Check], replacement: Replacement) -> None:
    """Put other statements in place of checks of one file."""
    module, source = _module(chosen[0])
    tree = _Replaced(chosen, replacement).visit(ast.parse(source))
    code = compile(ast.fix_missing_locations(tree), inspect.getfile(module), "exec", dont_inherit=True)
    for owner in dict.fromkeys(check.owner for check in chosen):
        names = owner.split(".")
        function, used = _function(module, names)
        function.__code__ = _code_of(code, names[:used])


class _Replaced(ast.NodeTransformer):
    def __init__(self, chosen: Iterable[Check], replacement: Replacement) -> None:
        self._chosen = {(c.kind, c.first, c.last): c for c in chosen}
        self._replacement = replacement

    def _replaced(self, node: ast.stmt) -> ast.stmt:
        check = self._chosen.get((type(node), node.lineno, node.end_lineno or 0))
        return ast.copy_location(self._replacement(node, check), node) if check is not None else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return self._replaced(node)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return self._replaced(node)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        return self._replaced(node)


def _module(check: Check) -> tuple[ModuleType, str]:
    name = check.file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    return importlib.import_module(name), (ROOT / check.file).read_text(encoding="utf-8")


def _function(module: ModuleType, names: list[str]) -> tuple[FunctionType, int]:
    """The function that names lead to, without what is wrapped around it, and how many of them were used: a function
    inside a function is a part of the outer one."""
    found: Any = module
    for used, name in enumerate(names, start=1):
        found = inspect.getattr_static(found, name)
        found = (
            getattr(found, "fget", None) or getattr(found, "func", None) or getattr(found, "__func__", None) or found
        )
        found = inspect.unwrap(found)
        if isinstance(found, FunctionType):
            return found, used
    raise LookupError(".".join(names))


def _code_of(code: CodeType, names: Sequence[str]) -> CodeType:
    for name in names:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code


# ------------------------------------------------------------------------------------------------ who comes by where


class Recorder:
    """Notes which lines report something, for the one that is running."""

    def __init__(self) -> None:
        self.reach: Reach = {}
        self.running = ""
        self.failed: set[str] = set()
        for reports in (Diagnostics, Checker):
            for name in sorted(REPORTS & set(dir(reports))):
                setattr(reports, name, self._noting(getattr(reports, name)))
        setattr(builtins, CAME_BY, self._came_by)
        mark(checks())

    def _came_by(self, file: str, line: int) -> bool:
        names = self.reach.setdefault((file, line), [])
        if not names or names[-1] != self.running:
            names.append(self.running)
        return True

    def _noting(self, report: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
            frames = 0
            while frame is not None and frames < MOST_FRAMES:
                frames += 1
                self._came_by(frame.f_code.co_filename, frame.f_lineno)
                frame = frame.f_back
            return report(*arguments, **named)

        return noted

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.running = item.nodeid
        return (yield)


def _reached(check: Check, reach: Reach) -> list[str]:
    """Who came by a check, in the order of their running."""
    file = str(ROOT / check.file)
    lines = range(check.first, check.last + 1)
    return list(dict.fromkeys(name for line in lines for name in reach.get((file, line), ())))


def samples() -> dict[str, Callable[[], None]]:
    """All data files as functions that fail where they are not as they say."""
    found: dict[str, Callable[[], None]] = {}
    for name in test_conformance.CASES:
        found[name] = lambda name=name: test_conformance.test_sample(name)  # type: ignore[misc]
    for path in test_documents.CASES:
        found[str(path)] = lambda path=path: test_documents.test_document(path)  # type: ignore[misc]
    return found


def _reach_of_samples() -> Reach:
    recorder = Recorder()
    for name, run in samples().items():
        recorder.running = name
        run()
    return recorder.reach


def _reach_of_tests() -> Reach:
    recorder = Recorder()
    ignored = [f"--ignore={t}" for t in NOT_SUITES]
    with LOG.open("w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        code = pytest.main([*PYTEST, *ignored, *SUITES], plugins=[recorder])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"pytest ended with {code!r}, see {LOG}")
    for test in sorted(recorder.failed):
        print(f"{test} fails without anything being disabled, so it shows nothing", file=sys.stderr, flush=True)
    return {place: [n for n in names if n not in recorder.failed] for place, names in recorder.reach.items()}


def in_fork(work: Callable[[], Reach]) -> Reach:
    """What some work gives that is done in a process of its own, which it may spoil."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "reach.json"
        if os.fork() == 0:
            code = 1
            try:
                place.write_text(json.dumps([[*k, v] for k, v in work().items()]), encoding="utf-8")
                code = 0
            except Exception:  # noqa: BLE001  (a forked process must not go on as its parent)
                traceback.print_exc()
            os._exit(code)
        _, status = os.wait()
        if status != 0:
            raise SystemExit("the tests must pass before checks are disabled")
        return {(f, line): v for f, line, v in json.loads(place.read_text(encoding="utf-8"))}


# ------------------------------------------------------------------------------------------------------ the mutants


def is_noticed(by_samples: list[str], by_tests: list[str]) -> bool:
    """Whether anything fails in this process, where a check is disabled. Spoils it."""
    known = samples()
    for name in by_samples:
        try:
            known[name]()
        except Exception:  # noqa: BLE001  (whatever goes wrong shows that the check was missed)
            return True
    if not by_tests:
        return False
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        return pytest.main([*PYTEST, "-x", *by_tests]) != 0


def _start(check: Check, by_samples: list[str], by_tests: list[str]) -> int:
    """Fork a process that ends well only where a disabled check is not noticed."""
    process = os.fork()
    if process != 0:
        return process
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(MOST_SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        code = NOT_DISABLED
        disable(check)
        code = 1
        code = int(is_noticed(by_samples, by_tests))
    finally:
        os._exit(code)


def survivors(chosen: Sequence[Check], by_samples: Reach, by_tests: Reach) -> list[Check]:
    """The checks that can be disabled without anything failing."""
    running: dict[int, Check] = {}
    found: list[Check] = []

    def wait() -> None:
        process, status = os.wait()
        check = running.pop(process)
        if os.waitstatus_to_exitcode(status) == NOT_DISABLED:
            raise SystemExit(f"{check} could not be disabled")
        if status == 0:
            found.append(check)

    for check in chosen:
        names, tests = _reached(check, by_samples), _reached(check, by_tests)
        if not names and not tests:
            found.append(check)
            continue
        while len(running) >= AT_ONCE:
            wait()
        running[_start(check, names, tests)] = check
    while running:
        wait()
    return found


def main(part: str) -> tuple[int, int]:
    """Disable the checks whose place or code holds ``part``, one at a time; gives how many, and how many of them nobody
    noticed."""
    chosen = [c for c in checks() if part in str(c)]
    os.chdir(ROOT)
    LOG.parent.mkdir(exist_ok=True)
    by_samples = in_fork(_reach_of_samples)
    by_tests = in_fork(_reach_of_tests)
    unnoticed = survivors(chosen, by_samples, by_tests)
    for check in sorted(unnoticed, key=str):
        reached = _reached(check, by_samples) + _reached(check, by_tests)
        print(f"{check} | {'reached by ' + ', '.join(reached[:3]) if reached else 'nothing reaches it'}")
    rooms = Counter(c.file.rpartition("/")[0] for c in chosen)
    places = ", ".join(f"{n} in {r}" for r, n in rooms.items())
    print(f"{len(chosen)} checks disabled ({places}): {len(unnoticed)} unnoticed")
    return len(chosen), len(unnoticed)
