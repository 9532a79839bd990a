"""What of the specification is shown by which tests: ``./run conformance``.

``tests/conformance/requirements.tsv`` numbers everything the specification requires; each of ``LANGUAGES`` has such a
list of its own. A requirement is shown by the samples that carry its number (``tests/support/samples.py``) and by the
tests whose docstring begins with it. What nothing can show stands in ``none.yaml``, each with the reason. Of a language
that is not read in full yet, what nothing shows is "open", which is no fault.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import yaml

from tests.support.samples import Sample, numbers_at_start, read_sample
from tools.proofs.results import write_figures

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
DATA = TESTS / "conformance"
TABLE = ROOT / "docs" / "conformance.md"
RUNNER = "tests/conformance/test_conformance.py"
CASES = {
    TESTS / "acceptance/data/ctx": "tests/acceptance/test_ctx.py::test_ctx[{name}-{place}]",
    TESTS / "scenarios/cloudify": "tests/scenarios/test_scenarios.py::test_scenario[cloudify/{name}]",
}
"""Folders of cases that say themselves what they show, in words that begin with numbers below ``says:``; and the test
that runs each."""
RESULTS = ROOT / ".cache" / "conformance.xml"
MOST_UNSHOWN = 10
"""How many requirements that are not optional may have a reason in place of a test."""

LEAST_DISABLED = 100
"""So many checks at least are disabled, one at a time."""

CHAPTERS = {
    "1": "Introduction",
    "2": "TOSCA by example",
    "3": "Definitions",
    "4": "Functions",
    "5": "Normative types",
    "6": "Archives",
    "7": "Workflows",
    "8": "Networking",
    "9": "Non-normative types",
    "10": "Component modelling",
    "11": "Application modelling",
    "12": "Policies",
    "13": "Artifact processing",
    "14": "Conformance",
    "A": "Appendix A",
}


class Language(msgspec.Struct, frozen=True):
    """Another language that is read: what the numbers of its requirements begin with, its list, and the titles of its
    chapters."""

    begins: str
    file: str
    title: str
    words: str
    chapters: dict[str, str]


LANGUAGES = (
    Language(
        "R-CFY-",
        "cloudify.tsv",
        "Blueprints of Cloudify",
        "What blueprints of Cloudify (`cloudify_dsl_1_0` to `1_5`) require.",
        {
            "0": "The front end",
            "1": "Text, YAML, version",
            "2": "Imports",
            "3": "Merging",
            "4": "Inputs",
            "5": "Data types, definitions, labels",
            "6": "Types",
            "7": "Node templates",
            "8": "Operations",
            "9": "Groups and policies",
            "10": "Workflows",
            "11": "Functions",
            "12": "Outputs and capabilities",
            "13": "Bundled types",
            "14": "Scripts and ctx",
            "15": "The module for Python scripts",
            "16": "Plugins",
            "17": "Lifecycle and states",
            "18": "Services of services",
            "19": "Commands",
        },
    ),
    Language(
        "R-A4C-",
        "alien.tsv",
        "Archives of Alien4Cloud",
        "What archives and topologies of Alien4Cloud (`alien_dsl_1_2_0` to `3_0_0`) require.",
        {
            "0": "The front end",
            "1": "Leniency",
            "2": "Files, imports, repositories",
            "3": "The catalogue",
            "4": "Types",
            "5": "Interfaces and operations",
            "6": "Topologies, functions, workflows",
            "7": "Running",
            "8": "Bundled types",
        },
    ),
)


class Requirement(msgspec.Struct, frozen=True):
    """One line of the requirements. ``kinds`` are letters: valid or invalid sample, warning, behaviour."""

    number: str
    kinds: str
    strength: str
    words: str

    @property
    def chapter(self) -> str:
        """The chapter of the specification that it belongs to."""
        return self.number.removeprefix(self.begins or "R-").partition("-")[0].partition(".")[0]

    @property
    def begins(self) -> str:
        """What the numbers of its language begin with, "" for TOSCA."""
        return next((la.begins for la in LANGUAGES if self.number.startswith(la.begins)), "")


class State(msgspec.Struct, frozen=True):
    """What is known of the requirements without running anything: the proofs of each, by number, and the reasons of
    those that have none. A proof is a name for people and the test that must pass."""

    requirements: list[Requirement]
    samples: dict[str, list[Sample]]
    tests: dict[str, list[str]]
    none: dict[str, str]

    def proofs(self, number: str) -> list[str]:
        """What shows a requirement, as people are told."""
        return [f"`{s.name}`" for s in self.samples.get(number, [])] + [
            f"`{_short(t)}`" for t in self.tests.get(number, [])
        ]

    def status(self, number: str) -> str:
        """``passed``, ``none``, ``open`` or ``MISSING``."""
        if number in self.none:
            return "none"
        if number in self.samples or number in self.tests:
            return "passed"
        return "open" if any(number.startswith(la.begins) for la in LANGUAGES) else "MISSING"


def read_state() -> State:
    """Everything that files say; nothing is run."""
    samples: dict[str, list[Sample]] = {}
    for path in sorted([*DATA.glob("*/*.yaml"), *(p.parent for p in DATA.glob("*/*/main.yaml"))]):
        sample = read_sample(path)
        for number in sample.requirements:
            samples.setdefault(number, []).append(sample)
    tests: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for test, numbers in _numbered_tests(path):
            for number in numbers:
                tests.setdefault(number, []).append(test)
    for number, test in _numbered_cases():
        tests.setdefault(number, []).append(test)
    return State(read_requirements(), samples, tests, _reasons("none.yaml"))


def read_requirements() -> list[Requirement]:
    """All requirements, in the order of the specification, those of other languages last."""
    files = ["requirements.tsv", *(language.file for language in LANGUAGES)]
    lines = [line for file in files for line in (DATA / file).read_text(encoding="utf-8").splitlines()]
    return [Requirement(*line.split("\t")) for line in lines if line.startswith("R-")]


def _reasons(name: str) -> dict[str, str]:
    return {
        str(k): str(v)
        for k, v in (yaml.load((DATA / name).read_text(encoding="utf-8"), yaml.CSafeLoader) or {}).items()
    }


def _numbered_tests(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tests of a file whose docstrings begin with numbers, each as pytest calls it."""
    file = path.relative_to(ROOT).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = [
        (f"{file}::{c.name}::{f.name}", f) for c in tree.body if isinstance(c, ast.ClassDef) for f in _functions(c)
    ]
    for test, function in [*((f"{file}::{f.name}", f) for f in _functions(tree)), *inside]:
        numbers = numbers_at_start(ast.get_docstring(function) or "")
        if numbers:
            yield test, numbers


def _numbered_cases() -> Iterator[tuple[str, str]]:
    """Each number that a case begins with, and the test of it."""
    for folder, test in CASES.items():
        for path in sorted(folder.glob("*.yaml")):
            case = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
            for number in numbers_at_start(case["says"]):
                yield number, test.format(name=path.stem, place=case.get("only", "here"))


def _functions(owner: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for item in owner.body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name.startswith("test_"):
            yield item


def _short(test: str) -> str:
    """A test as the table shows it."""
    file, _, name = test.partition("::")
    return f"{Path(file).stem}::{name}"


# ------------------------------------------------------------------------------------------------------- findings


def faults(state: State) -> list[str]:
    """What is not as it should be: requirements that nothing shows, numbers that do not exist, and the like."""
    known = {r.number for r in state.requirements}
    optional = {r.number for r in state.requirements if r.strength == "O"}
    found = [
        f"{r.number} is shown by nothing: {r.words}" for r in state.requirements if state.status(r.number) == "MISSING"
    ]
    places = {"a sample": [*state.samples], "a docstring": [*state.tests], "none.yaml": [*state.none]}
    for place, numbers in places.items():
        found += [f"{n} in {place} is the number of no requirement" for n in numbers if n not in known]
    found += [f"{n} is in none.yaml, but something shows it" for n in state.none if state.proofs(n)]
    owed = [n for n in state.none if n not in optional]
    if len(owed) > MOST_UNSHOWN:
        found.append(f"{len(owed)} requirements in none.yaml are not optional; at most {MOST_UNSHOWN} may be")
    return found


def weak_proofs(state: State) -> list[str]:
    """Samples that do not show what their requirement asks for: no part of the model, no variant, no warning."""
    found = []
    for requirement in state.requirements:
        samples = state.samples.get(requirement.number, [])
        if not samples or requirement.number in state.tests:
            continue
        if "V" in requirement.kinds and not any(s.parts for s in samples):
            found.append(f"{requirement.number}: no part of the model is stated (#=)")
        if "I" in requirement.kinds and not any(s.variants for s in samples):
            found.append(f"{requirement.number}: no variant")
        expected = [e for s in samples for e in [*s.expected, *(e for v in s.variants for e in v.expected)]]
        if "W" in requirement.kinds and not any(e.severity in {"warning", "note"} for e in expected):
            found.append(f"{requirement.number}: no warning")
    return found


# ------------------------------------------------------------------------------------------------------ the table


def render(state: State) -> str:
    """The table for people."""
    lines = [
        "# Conformance",
        "",
        "Everything that the TOSCA Simple Profile in YAML 1.3 requires, in a few words each, and what shows that",
        "Ordito does it: samples (`tests/conformance/`) and tests. `./run conformance` runs them and writes this page.",
        "",
        "| chapter | requirements | passed | none |",
        "|---|---|---|---|",
    ]
    lines += _counts(state, CHAPTERS, "")
    for language in LANGUAGES:
        lines += ["", f"{language.title}: {language.words[0].lower()}{language.words[1:]}", ""]
        lines += ["| chapter | requirements | passed | open |", "|---|---|---|---|"]
        lines += _counts(state, language.chapters, language.begins, ("passed", "open"))
    lines += _chapters(state, CHAPTERS, "", "##")
    for language in LANGUAGES:
        lines += ["", f"## {language.title}", "", language.words]
        lines += _chapters(state, language.chapters, language.begins, "###")
    return "\n".join(lines) + "\n"


def _counts(
    state: State, chapters: dict[str, str], begins: str, statuses: tuple[str, ...] = ("passed", "none")
) -> list[str]:
    """How many requirements of each chapter of a language have which status."""
    all_of = [r for r in state.requirements if r.begins == begins]
    lines = []
    for chapter, title in [*chapters.items(), ("", "all")]:
        members = [r for r in all_of if chapter in ("", r.chapter)]
        counts = " | ".join(str(sum(state.status(r.number) == s for r in members)) for s in statuses)
        lines.append(f"| {chapter} {title} | {len(members)} | {counts} |".replace("|  all", "| all"))
    return lines


def _chapters(state: State, chapters: dict[str, str], begins: str, heading: str) -> list[str]:
    """The requirements of a language, chapter by chapter."""
    lines = []
    for chapter, title in chapters.items():
        members = [r for r in state.requirements if r.begins == begins and r.chapter == chapter]
        lines += [
            "",
            f"{heading} {chapter} {title}",
            "",
            "| number | requirement | status | shown by |",
            "|---|---|---|---|",
        ]
        lines += [_row(state, r) for r in members]
    return lines


def _row(state: State, requirement: Requirement) -> str:
    number = requirement.number
    reason = state.none.get(number)
    shown = ", ".join([*([reason] if reason else []), *state.proofs(number)])
    return f"| {number} | {requirement.words} | {state.status(number)} | {shown} |"


# -------------------------------------------------------------------------------------------------------- running


def run_tests(state: State, extra: Sequence[str]) -> list[str]:
    """Run all tests that count; gives the numbers of the requirements that are not shown, with the test."""
    tests = sorted({t for found in state.tests.values() for t in found})
    RESULTS.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--junitxml={RESULTS}", *extra, RUNNER, *tests]
    code = subprocess.run(command, cwd=ROOT, check=False).returncode
    if code not in (0, 1):
        raise SystemExit(code)
    outcomes = list(_outcomes(RESULTS))
    bad = {name for name, well in outcomes if not well}
    seen = {name for name, _ in outcomes}
    found = []
    for number, samples in state.samples.items():
        for sample in samples:
            cases = {
                f"{RUNNER}::test_sample[{c}]"
                for c in [sample.name, *(f"{sample.name}[{i + 1}]" for i in range(len(sample.variants)))]
            }
            found += [f"{number}: {c} did not pass" for c in sorted((cases & bad) | (cases - seen))]
    for number, named in state.tests.items():
        for test in named:
            mine = {name for name in seen if name == test or name.startswith(f"{test}[")}
            found += [f"{number}: {c} did not pass" for c in sorted(mine & bad)] or (
                [] if mine else [f"{number}: {test} did not run"]
            )
    return found


def _outcomes(path: Path) -> Iterator[tuple[str, bool]]:
    """Each test that ran, as pytest calls it, and whether it passed."""
    for case in ET.parse(path).iter("testcase"):
        module = case.get("classname", "")
        file = module.replace(".", "/")
        while not (ROOT / f"{file}.py").is_file() and "/" in file:
            file = file.rpartition("/")[0]
        inner = module[len(file) + 1 :].replace(".", "::")
        name = "::".join(p for p in (f"{file}.py", inner, case.get("name", "")) if p)
        yield name, not any(case.find(f) is not None for f in ("failure", "error", "skipped"))


def main(arguments: list[str]) -> int:
    """Run what counts and write the table; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="./run conformance", description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument(
        "--check", action="store_true", help="fail if docs/conformance.md is out of date; write nothing"
    )
    parser.add_argument("--dry", action="store_true", help="run no tests")
    parser.add_argument(
        "--mutate", nargs="?", const="", metavar="PART", help="disable one check at a time; some test must fail"
    )
    parser.add_argument("--json", metavar="FILE", help="write how much is shown and how much is not, too")
    given, rest = parser.parse_known_args(arguments)
    if given.mutate is not None:
        from tools import mutation

        disabled, unnoticed = mutation.main(given.mutate)
        if given.json:
            bars = {"disabled": (disabled, LEAST_DISABLED, True), "unnoticed": (unnoticed, 0, False)}
            write_figures(Path(given.json), "mutation", bars)
        return 1 if unnoticed else 0
    state = read_state()
    problems = faults(state)
    if not given.dry:
        problems += run_tests(state, rest)
    text = render(state)
    for weak in weak_proofs(state):
        print(f"weak: {weak}")
    for problem in problems:
        print(f"MISSING: {problem}" if "shown by nothing" in problem else problem)
    old = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    if given.check:
        problems += ["docs/conformance.md is out of date; write it with: ./run conformance"] if old != text else []
    else:
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(text, encoding="utf-8")
    print(summary(state))
    if given.json:
        write_figures(Path(given.json), "conformance", figures(state, problems))
    return 1 if problems else 0


def figures(state: State, problems: Sequence[str]) -> dict[str, tuple[float, float, bool]]:
    """How many requirements have which status, each with its bar."""
    statuses = [state.status(r.number) for r in state.requirements if not r.begins]
    owed = [n for n in state.none if any(r.number == n and r.strength != "O" for r in state.requirements)]
    return {
        "passed": (statuses.count("passed"), 1, True),
        "without-proof": (len(owed), MOST_UNSHOWN, False),
        "problems": (len(problems), 0, False),
    }


def summary(state: State) -> str:
    """How many requirements have which status."""
    lines = []
    for begins, title in (("", "TOSCA"), *((language.begins, language.title) for language in LANGUAGES)):
        statuses = [state.status(r.number) for r in state.requirements if r.begins == begins]
        counts = ", ".join(f"{statuses.count(s)} {s}" for s in dict.fromkeys(sorted(statuses)))
        lines.append(f"{title}: {len(statuses)} requirements: {counts}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
