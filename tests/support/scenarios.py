"""Scenarios: tests of workflows as data files. `tests/scenarios/README.md` says how one is written."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from ordito.instances.records import Snapshot, note_of
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Action, Plan
from tests.support.commands import Commands, Ran, short_name
from tests.support.hands import FAILED
from tests.support.topology import SCRIPT, service_text
from tests.support.yaml_files import read_yaml

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
KEYS = {"says", "service", "steps"}
STEP_KEYS = {
    *("run", "fails", "answers", "exit", "runs", "order", "apart", "failed", "skipped"),
    *("state", "links", "counts", "prints", "prints_not", "writes", "reasons", "environment"),
}
LOOKS = ("plan", "status", "jobs", "graph", "validate", "workflow list", "workflow show")


class Scenario:
    """A data file that was read."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.data: Mapping[str, Any] = read_yaml(file.read_text(encoding="utf-8"))
        unknown = set(self.data) - KEYS
        assert not unknown, f"{file.name}: unknown keys {sorted(unknown)}"

    def play(self, directory: Path, *, real: bool = False) -> None:
        """Run all commands and see that everything is as the file says; with ``real`` operations are processes."""
        commands = Commands(directory, real=real)
        service = place_service(self.data["service"], directory)
        if commands.real is not None:
            (service.parent / SCRIPT).write_text(commands.real.script, encoding="utf-8")
        for number, step in enumerate(self.data["steps"], 1):
            where = f"{self.file.name}, step {number} ({step.get('run')})"
            unknown = set(step) - STEP_KEYS
            assert not unknown, f"{where}: unknown keys {sorted(unknown)}"
            for name, text in step.get("writes", {}).items():
                (service.parent / name).write_text(text, encoding="utf-8")
            _play(step, commands, service, where)


def place_service(given: str | Mapping[str, Any], directory: Path) -> Path:
    """Lay a service below a directory: the path of an example, the text of a template, a topology in a few words
    (`tests/support/topology.py`) or the path of a file that holds one. Gives its main file."""
    folder = directory / "service"
    if isinstance(given, str) and given.endswith(".yaml"):
        given = read_yaml((SCENARIOS / given).read_text(encoding="utf-8"))
    if isinstance(given, str) and "\n" not in given and (ROOT / given).is_dir():
        shutil.copytree(ROOT / given, folder)
        return folder / "service.yaml"
    folder.mkdir()
    (folder / SCRIPT).write_text("#!/bin/bash\n", encoding="utf-8")
    text = given if isinstance(given, str) else service_text(given)
    (folder / "service.yaml").write_text(text, encoding="utf-8")
    return folder / "service.yaml"


def _play(step: Mapping[str, Any], commands: Commands, service: Path, where: str) -> None:
    line = step["run"]
    words = [str(service) if w == "SERVICE" else w for w in shlex.split(line)]
    if not line.startswith(LOOKS):
        words.append("--yes")
    names: dict[str, str] = {}
    commands.hands.answer = _answers(step, commands, names)
    if commands.real is not None:
        fails = [f"{p}\n" for word in str(step.get("fails", "")).split() for p in expanded(word)]
        commands.real.failing.write_text("".join(fails), encoding="utf-8")
    ran = commands.run(*words)
    heard = f"{where}\n{ran.out}\n{ran.err}"
    assert ran.code == step.get("exit", 0), heard
    for text in _lines(step.get("prints", "")):
        assert text in ran.out + ran.err, f"{heard}\nit does not say: {text}"
    for text in _lines(step.get("prints_not", "")):
        assert text not in ran.out + ran.err, f"{heard}\nit says: {text}"
    check_run(step, ran, where)
    if ran.plan is not None:
        bare = [one.id for one in ran.plan.steps if not ran.plan.reasons[one.reason]]
        assert not bare, f"{where}: steps without a reason: {bare}"
    for pattern, wanted in step.get("environment", {}).items():
        check_environment(pattern, wanted, ran, where)
    if {"state", "links", "counts"} & set(step):
        check_records(step, commands, where)


def _answers(step: Mapping[str, Any], commands: Commands, names: dict[str, str]) -> Any:
    """How operations end: ``fails`` are patterns of those that fail, ``answers`` says more of others, by pattern."""
    fails = [p for word in str(step.get("fails", "")).split() for p in expanded(word)]
    answers: Mapping[str, Mapping[str, Any]] = step.get("answers", {})

    def answer(identity: str) -> Outcome | None:
        plan = commands.plan
        if plan is not None and len(names) < len(plan.steps):
            short = short_name(plan)
            names.update({s.id: short(s) for s in plan.steps})
        name = names.get(identity, identity)
        if any(matches(name, p) for p in fails):
            return FAILED
        for pattern, told in answers.items():
            if matches(name, pattern):
                ending = Ending.FAILED if told.get("exit", 0) else Ending.SUCCEEDED
                return Outcome(
                    ending,
                    exit_code=told.get("exit", 0),
                    outputs=told.get("outputs", {}),
                    status=told.get("status", ""),
                )
        return None

    return answer


# ----------------------------------------------------------------------------------------------------- what has run


def check_run(step: Mapping[str, Any], ran: Ran, where: str) -> None:
    """That exactly what should have run, in an order that holds in every run of the plan."""
    plan = ran.plan
    names = _names(plan)
    did = [names.get(s, s) for s in (*ran.begun, *ran.delegated)]
    if "runs" in step:
        check_set(did, list(operations(step["runs"])), f"{where}: operations that ran")
    elif "exit" in step and step["exit"] in {3, 64}:
        assert not did, f"{where}: nothing should have run: {did}"
    if "failed" in step:
        check_set([names[s] for s in ran.failed], list(operations(step["failed"])), f"{where}: failed steps")
    elif step.get("exit", 0) == 0:
        assert not ran.failed, f"{where}: {ran.failed}"
    if "skipped" in step:
        check_set([names[s] for s in ran.skipped], list(operations(step["skipped"])), f"{where}: skipped steps")
    if not ({"order", "apart", "reasons"} & set(step)):
        return
    assert plan is not None, f"{where}: there was no job"
    reach = Reach(plan)
    for line in _lines(step.get("order", "")):
        check_order(line, reach, where)
    for line in _lines(step.get("apart", "")):
        check_apart(line, reach, where)
    for line in _lines(step.get("reasons", "")):
        assert any(line in r for r in plan.reasons), f"{where}: no step or edge says: {line}\n{plan.reasons}"


def check_environment(pattern: str, wanted: Mapping[str, str], ran: Ran, where: str) -> None:
    """That operations find values in their environment, None for no such variable."""
    names = _names(ran.plan)
    found = {names[s]: e for s, e in ran.environments.items() if any(matches(names[s], p) for p in expanded(pattern))}
    assert found, f"{where}: nothing ran that is called {pattern}"
    for name, environment in found.items():
        for variable, value in wanted.items():
            is_so = environment.get(variable) == value
            assert is_so, f"{where}: {name} has {variable}={environment.get(variable)}, not {value}\n{environment}"


class Reach:
    """What comes before what in every run of a plan."""

    def __init__(self, plan: Plan) -> None:
        names = short_name(plan)
        self.names = [names(step) for step in plan.steps]
        self.works = [step.action is not Action.JOIN for step in plan.steps]
        # A bit for each step: all that it comes before; edges lead forward.
        self.after = [0] * len(plan.steps)
        followers: list[list[int]] = [[] for _ in plan.steps]
        for before, after, *_ in plan.edges:
            followers[before].append(after)
        for number in reversed(range(len(plan.steps))):
            for other in followers[number]:
                self.after[number] |= self.after[other] | 1 << other

    def steps(self, pattern: str) -> list[int]:
        """The steps that a pattern means, by their places."""
        every = expanded(pattern)
        return [n for n, name in enumerate(self.names) if self.works[n] and any(matches(name, p) for p in every)]

    def is_before(self, first: int, second: int) -> bool:
        """Whether one step comes before another in every run."""
        return bool(self.after[first] >> second & 1)


def check_order(line: str, reach: Reach, where: str) -> None:
    """``a < b < c``: every step that is meant by one comes before every one of the next; ``#`` is the same number in
    all of them."""
    for chain in _numbered(line.split("<"), reach):
        for first, second in pairwise(chain):
            befores, afters = reach.steps(first), reach.steps(second)
            assert befores, f"{where}: no step is called {first}\n{_listing(reach)}"
            assert afters, f"{where}: no step is called {second}\n{_listing(reach)}"
            for a, b in product(befores, afters):
                assert reach.is_before(a, b), f"{where}: {reach.names[a]} does not come before {reach.names[b]}"


def check_apart(line: str, reach: Reach, where: str) -> None:
    """``a | b``: no order is laid down between the two."""
    first, second = (part.strip() for part in line.split("|"))
    pairs = [(a, b) for a, b in product(reach.steps(first), reach.steps(second)) if a != b]
    assert pairs, f"{where}: nothing is meant by {line}\n{_listing(reach)}"
    for a, b in pairs:
        said = f"{reach.names[a]} and {reach.names[b]}"
        assert not reach.is_before(a, b), f"{where}: {said} are ordered"
        assert not reach.is_before(b, a), f"{where}: {said} are ordered"


def _numbered(parts: list[str], reach: Reach) -> Iterator[list[str]]:
    patterns = [p.strip() for p in parts]
    marked = [p for p in patterns if "#" in p]
    if not marked:
        yield patterns
        return
    escaped = re.escape(marked[0]).replace(r"\#", "#").replace(r"\*", ".*")
    form = re.compile(escaped.replace("#", r"(\d+)", 1).replace("#", r"\d+"))
    found = {m[1] for name in reach.names if (m := form.fullmatch(name))}
    assert found, f"no step is called {marked[0]}\n{_listing(reach)}"
    for number in sorted(found):
        yield [p.replace("#", number) for p in patterns]


def _listing(reach: Reach) -> str:
    return "\n".join(name for name, works in zip(reach.names, reach.works, strict=True) if works)


def _names(plan: Plan | None) -> dict[str, str]:
    if plan is None:
        return {}
    short = short_name(plan)
    return {step.id: short(step) for step in plan.steps}


# ----------------------------------------------------------------------------------------------------- what is recorded


def check_records(step: Mapping[str, Any], commands: Commands, where: str) -> None:
    """That exactly these instances and links are recorded, as they should be."""
    snapshot, status = commands.recorded()
    if "state" in step:
        check_state(step["state"], snapshot, where)
    if "links" in step:
        check_set([*snapshot.links], [p for w in str(step["links"]).split() for p in expanded(w)], f"{where}: links")
    for node, count in step.get("counts", {}).items():
        assert status.counts.get(node) == count, f"{where}: {status.counts}"


def check_state(given: str, snapshot: Snapshot, where: str) -> None:
    """``pattern: state local``: all instances that exist, and those deleted ones that are named."""
    wanted: list[tuple[str, str]] = []
    for line in _lines(given):
        name, _, rest = line.partition(":")
        wanted += [(pattern, rest.strip()) for word in name.split() for pattern in expanded(word)]
    met: set[str] = set()
    for record in snapshot.instances.values():
        said = next(((p, s) for p, s in wanted if matches(record.id, p)), None)
        assert said or not record.exists, f"{where}: {record.id} exists ({record.state} {record.local})"
        if said:
            met.add(said[0])
            shown = [record.state, record.local, *([note] if (note := note_of(record)) else [])]
            found = " ".join(shown[: max(2, len(said[1].split()))])
            assert found.startswith(said[1].removesuffix(" *")), (
                f"{where}: {record.id} is {found}, and should be {said[1]}"
            )
    missing = [p for p, _ in wanted if p not in met]
    assert not missing, f"{where}: there is no {', '.join(missing)}"


def check_set(found: list[str], wanted: list[str], what: str) -> None:
    """That what was found is all that is wanted, each once, and nothing else."""
    twice = {f for f in found if found.count(f) > 1}
    assert not twice, f"{what}: more than once {sorted(twice)}"
    extra = [f for f in found if not any(matches(f, p) for p in wanted)]
    missing = [p for p in wanted if not any(matches(f, p) for f in found)]
    assert not extra, f"{what}: unexpected {extra}" + (f"; missing {missing}" if missing else "")
    assert not missing, f"{what}: missing {missing}; there are {found}"


# ----------------------------------------------------------------------------------------------------- patterns


def operations(text: str) -> Iterator[str]:
    """The patterns of lines ``web_{1,2}: create start``, or of single names."""
    for line in _lines(text):
        prefix, colon, words = line.partition(": ")
        if not colon:
            yield from (p for word in line.split() for p in expanded(word))
            continue
        for one in prefix.split():
            yield from (f"{p}.{w}" for p in expanded(one) for word in words.split() for w in expanded(word))


def matches(name: str, pattern: str) -> bool:
    """Whether a pattern without braces means a name; ``*`` stands for anything."""
    return fnmatchcase(name, pattern)


def expanded(pattern: str) -> list[str]:
    """The patterns that one with braces stands for: ``a_{1,2}`` and ``a_{1..3}``."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    return [p for part in _parts(found[1]) for p in expanded(pattern[: found.start()] + part + pattern[found.end() :])]


def _parts(text: str) -> Iterable[str]:
    if numbers := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        return [str(n) for n in range(int(numbers[1]), int(numbers[2]) + 1)]
    return text.split(",")


def _lines(given: str | list[str]) -> Iterator[str]:
    lines = given if isinstance(given, list) else str(given).splitlines()
    for line in lines:
        text = line.partition(" // ")[0].strip()
        if text:
            yield text
