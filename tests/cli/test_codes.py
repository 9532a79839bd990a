"""Every finding that reading can produce has a page, whose examples give it and do not; so has every other error."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from ordito.app.plan import PlanRequest, plan
from ordito.app.requests import DeployRequest
from ordito.authoring.validate import ValidateRequest, validate
from ordito.base.diagnostics import Diagnostic, InvalidDocument, Severity
from ordito.planning.refused import PlanRefused
from ordito.results.pages import COMMAND, MAIN, Page, page_codes, read_page
from tests.cli.program import Run
from tools.diagnostics import DOCUMENT, document

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "ordito"
READING = (
    "source",
    "syntax",
    "model",
    "planning",
    "app/services/read.py",
    "app/inputs/bound.py",
    "authoring/validate.py",
    "app/inputs/user_part.py",
    "app/inputs/evaluate.py",
    "app/inputs/sources.py",
    "app/inputs/environments.py",
    "app/inputs/merge.py",
    "app/inputs/variables.py",
    "app/inputs/gathered.py",
)
REPORTERS = {"error", "warning", "note", "unknown", "objection", "report", "refuse", "_RefusedText", "Broken"}
REFUSING = {"Refused", "Failure", "fail_for_programs"}
FAILING = "session.fail"
"""What the rooms of commands refuse with; the code is what they hand over first."""
HANDED_ON = {"code", "error.code", "failure.code", "found.code", "problem.code", "refusal.code", "refused.code"}
"""Codes that come from such a call elsewhere."""
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
COMPUTED = re.compile(r"unknown-(property|attribute|field|artifact|interface|operation|notification)")
"""Codes that are put together where they are reported."""
EXPECTED = re.compile(r"(?m)^\s*#(?: *\^+|@ (?:\d+:\d+|-)) (?:(?:warning|note) )?([a-z]+(?:-[a-z]+)*)\b")
NOT_CODES = {"property", "attribute"}
HOW = "write src/ordito/results/codes/CODE.yaml as src/ordito/results/pages.py says, then: python -m tools.diagnostics"


@cache
def _calls(file: Path) -> tuple[tuple[ast.Call, ...], dict[str, ast.expr]]:
    """All calls in a file, and its constants; several tests look at every file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Call)), constants


def reported_codes(*places: str) -> Iterator[str]:
    """The codes that the sources report: texts and constants that are handed to what reports."""
    for place in places:
        path = SOURCES / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            calls, constants = _calls(file)
            for node in calls:
                if _name(node.func) in REPORTERS:
                    for position, argument in enumerate(node.args[:2]):
                        yield from (c for c in _codes(argument, constants) if position == 0 or "-" in c)


def refused_codes() -> Iterator[str]:
    """The codes with which commands refuse: of errors that are about no document."""
    for room in ("app", "authoring", "results", "client", "cli", "server"):
        for file in sorted((SOURCES / room).rglob("*.py")):
            for node in _calls(file)[0]:
                if not node.args:
                    continue
                if _name(node.func) == "ServerRefused":
                    # What keeps a server from starting: its code stands last, if it has one of its own.
                    yield from _codes(node.args[2], {}) if len(node.args) > 2 else ("server",)
                    continue
                is_problem = room == "server" and _name(node.func) == "ApiProblem"
                if not is_problem and _name(node.func) not in REFUSING and not _is_failing(node.func):
                    continue
                code = ast.unparse(node.args[0])
                if code == "f'unknown-{kind}'":
                    yield from ("unknown-operation", "unknown-notification")
                elif code not in HANDED_ON:
                    found = list(_codes(node.args[0], {}))
                    assert found, f"{file.name}:{node.lineno}: the code {code} cannot be told: write it out"
                    yield from found


def _is_failing(function: ast.expr) -> bool:
    return FAILING.endswith(f".{_name(function)}") and ast.unparse(function) == FAILING


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _codes(node: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _codes(node.body, constants)
        yield from _codes(node.orelse, constants)
    elif isinstance(node, ast.Name) and node.id in constants:
        yield from _codes(constants[node.id], {})


def test_every_code_has_a_page() -> None:
    """R-14.3-4: what a processor reports is explained."""
    missing = sorted(set(reported_codes(*READING)) - set(page_codes()) - NOT_CODES)
    assert not missing, f"{missing} have no page: {HOW}"


def test_every_error_of_commands_has_a_page() -> None:
    """Whatever stands in error[...] can be explained, also where a finding has the same code."""
    refused = set(refused_codes())
    assert len(refused) > 80
    missing = sorted(refused - set(page_codes()))
    assert not missing, f"{missing} have no page: {HOW}"
    pages = {code: page for code in page_codes() if (page := read_page(code)) is not None}
    unsaid = sorted(code for code in refused if pages[code].by != COMMAND and not pages[code].command)
    assert not unsaid, f"the pages of {unsaid} do not say what an error of that code is: add the key `command`"
    idle = sorted(code for code, page in pages.items() if page.command and code not in refused)
    assert not idle, f"no command refuses with {idle}: remove the key `command`"


def test_every_code_of_any_room_has_a_page() -> None:
    missing = sorted(set(reported_codes(".")) - set(page_codes()) - NOT_CODES)
    assert not missing, f"{missing} have no page: {HOW}"


def test_every_code_that_tests_expect_has_a_page() -> None:
    files = [*ROOT.glob("tests/model/data/**/*.yaml"), *ROOT.glob("tests/conformance/**/*.yaml")]
    expected = {code for file in files for code in EXPECTED.findall(file.read_text(encoding="utf-8", errors="replace"))}
    missing = sorted(expected - set(page_codes()))
    assert not missing, f"{missing} have no page: {HOW}"


def test_every_page_is_of_a_code() -> None:
    known = {*reported_codes("."), *refused_codes()}
    stale = [code for code in page_codes() if code not in known and not COMPUTED.fullmatch(code)]
    assert not stale, f"nothing reports {stale} any more: remove the pages"


def test_a_page_without_example_has_a_severity_with_which_its_code_is_reported() -> None:
    reported: dict[str, set[str]] = {}
    for file in sorted(SOURCES.rglob("*.py")):
        calls, constants = _calls(file)
        for node in calls:
            if _name(node.func) in set(Severity) and node.args:
                for code in _codes(node.args[0], constants):
                    reported.setdefault(code, set()).add(_name(node.func))
    pages = [page for code in page_codes() if (page := read_page(code)) is not None and page.test]
    assert "warning" in reported["changed-files"]
    wrong = {p.code: p.severity for p in pages if p.severity not in reported.get(p.code, {p.severity})}
    assert not wrong, f"the code reports them otherwise: {wrong}"


@pytest.mark.parametrize("code", page_codes())
def test_page(code: str, tmp_path: Path) -> None:
    """The example of a page gives its code and no other error; repaired it gives no error and not that code."""
    page = read_page(code)
    assert page is not None
    assert page.title
    assert page.title[-1] not in ".:"
    assert page.severity in set(Severity)
    assert page.text.strip()
    assert page.mend.strip()
    assert all(re.fullmatch(r"\d+(\.\d+)*", section) for section in page.sections)
    if page.by == COMMAND:
        assert not page.example
        assert not page.mended
        assert not page.test
        assert not page.command
        return
    if page.test:
        file, _, name = page.test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{page.test} does not exist"
        assert not page.example
        assert not page.mended
        return
    assert page.by in {"validate", "plan"}
    found = findings(page.example, tmp_path / "example", page.by)
    of_code = [d for d in found if d.code == code]
    assert of_code, f"the example does not give {code}, but {[str(d) for d in found]}"
    assert {str(d.severity) for d in of_code} == {page.severity}
    other = [str(d) for d in found if d.code != code and d.severity is Severity.ERROR]
    assert not other, "the example has other errors"
    after = findings(page.mended, tmp_path / "mended", page.by)
    left = [str(d) for d in after if d.code == code or d.severity is Severity.ERROR]
    assert not left, "the repaired example has errors"


def findings(documents: Mapping[str, str], folder: Path, by: str) -> list[Diagnostic]:
    """What is found in the documents of a page."""
    assert documents
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    main = folder / MAIN if MAIN in documents else folder
    try:
        if by == "plan":
            proposal = plan(PlanRequest(str(folder / "ensemble"), DeployRequest(str(main)))).proposal
            return list(proposal.diagnostics) if proposal is not None else []
        if "ensemble.yaml" in documents:
            return list(validate(ValidateRequest(directory=str(folder))).diagnostics)
        return list(validate(ValidateRequest(str(main))).diagnostics)
    except (InvalidDocument, PlanRefused) as error:
        return list(error.diagnostics)


def test_the_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "make it again with: python -m tools.diagnostics"


def test_explain_a_code(run: Run) -> None:
    shown = run("explain", "bad-value")
    assert shown.code == 0
    assert "error[bad-value]: A value is not of its type" in shown.out
    assert "    topology_template:" in shown.out
    assert run("explain", "bad-value", "-o", "json").json["sections"] == ["3.6.11", "3.3"]


@pytest.mark.parametrize("code", ["changed", "locked", "no-ensemble", "undone-since"])
def test_explain_an_error_of_commands(run: Run, code: str) -> None:
    """What a command has printed as error[CODE] is explained, and shown as it was printed."""
    shown = run("explain", code)
    assert shown.code == 0
    assert shown.out.startswith(f"error[{code}]: ")
    assert "For example" not in shown.out


def test_explain_a_code_of_findings_and_commands(run: Run) -> None:
    shown = run("explain", "unknown-step")
    assert "Where a command refuses with this code: The job has no step of that name." in shown.out
    assert run("explain", "unknown-step", "-o", "json").json["command"].startswith("The job")


def test_explain_an_unknown_word(run: Run) -> None:
    refused = run("explain", "bad-valeu")
    assert refused.code == 3
    assert 'did you mean the finding "bad-value"' in refused.err
    assert run("explain", "../codes/bad-value").code == 3


def test_a_page_that_does_not_hold_together_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ordito.results.pages.FOLDER", tmp_path)
    (tmp_path / "odd.yaml").write_text("title: [ x")
    with pytest.raises(ValueError, match="odd"):
        read_page("odd")
    assert Page("a", "b", "c", "d").severity == "error"
