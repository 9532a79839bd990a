"""Each operation of each workflow fails once, on topologies that have all of them (`services/every_*.yaml`): the
records tell the truth, what does not depend on it is finished, the same command (and `jobs retry`, where there is
something to retry) completes what was left, and undeploying removes everything. The quick form takes one topology and a
few operations of each workflow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.test_random_failures import FailsOnce, finished, true
from tests.scenarios.test_random_workflows import Play, essence
from tests.support.commands import Ran
from tests.support.hands import always_well
from tests.support.scenarios import SCENARIOS
from tests.support.thorough import THOROUGH
from tests.support.yaml_files import read_yaml

TOPOLOGIES = ("blueprint", "pairs", "hosts")
RETRIED = frozenset({"deploy", "undeploy", "scale out", "scale in", "workflow"})
"""Workflows that `jobs retry` goes on with; an own scale-out goes on where it was not taken back."""
CALLED = frozenset({"run", "workflow", "trigger"})
"""Workflows that call operations whatever is recorded, and of which nothing counts as carried out."""
ANEW = CALLED | {"restart", "heal"}
"""Workflows that do it all again when they are asked again."""
QUICK = 2

Line = list[str]


def lines(given: Mapping[str, Any], workflow: str) -> Iterator[tuple[list[Line], Line]]:
    """The commands that bring everything into the state in which a workflow has something to do, and its own."""
    every, deploy = given["every"], ["deploy"]
    node, count = every["scaled"]
    more, as_before = ["scale", f"{node}={count + 1}"], ["scale", f"{node}={count}"]
    match workflow:
        case "deploy":
            yield [], deploy
        case "undeploy":
            yield [deploy], ["undeploy"]
        case "start":
            yield [deploy, ["stop", *every["moved"]]], ["start", "--all"]
        case "scale out":
            yield [deploy], [*more, "--on-failure", "continue"]
            yield [deploy], more
        case "scale in":
            yield [deploy, more], as_before
        case "run":
            yield [deploy], ["run", "Standard.configure"]
        case "workflow":
            yield [deploy], ["workflow", "run", "anew"]
        case "trigger":
            yield [deploy], ["notify", every["told"], "trouble"]
        case _:
            whole = ["--scope", "host"] if workflow == "heal" else []
            yield from (([deploy], [workflow, moved, *whole]) for moved in every["moved"])


class Stage(Play):
    """A service in a state to which one can go back."""

    def __init__(self, given: Mapping[str, Any], directory: Path) -> None:
        super().__init__(given, directory, 0)
        self.kept = directory / "kept"

    def command(self, line: Line) -> Ran:
        words = [line[0], str(self.service), *line[1:]] if line[0] == "deploy" else line
        return self.commands.run(*words, *([] if line[0] == "notify" else ["--yes"]))

    def well(self, line: Line) -> Ran:
        ran = self.command(line)
        assert ran.code == 0, f"{line}\n{ran.out}{ran.err}"
        return ran

    def keep(self) -> None:
        """Go back to what is now, later."""
        shutil.rmtree(self.kept, ignore_errors=True)
        if self.commands.ensemble.exists():
            shutil.copytree(self.commands.ensemble, self.kept, symlinks=True)

    def back(self) -> None:
        shutil.rmtree(self.commands.ensemble, ignore_errors=True)
        if self.kept.exists():
            shutil.copytree(self.kept, self.commands.ensemble, symlinks=True)


WORKFLOWS = (
    "deploy",
    "undeploy",
    "stop",
    "start",
    "restart",
    "heal",
    "scale out",
    "scale in",
    "run",
    "workflow",
    "trigger",
)


def cases() -> Iterator[tuple[str, str]]:
    """Each workflow with each topology; in quick tests with one of them."""
    for workflow in WORKFLOWS:
        sample = TOPOLOGIES[len(workflow) % len(TOPOLOGIES)]
        yield from ((topology, workflow) for topology in TOPOLOGIES if THOROUGH or topology == sample)


@pytest.mark.parametrize(("topology", "workflow"), list(cases()))
def test_whichever_operation_fails_the_same_command_completes_it(topology: str, workflow: str, tmp_path: Path) -> None:
    given = read_yaml((SCENARIOS / "services" / f"every_{topology}.yaml").read_text(encoding="utf-8"))
    for number, (before, line) in enumerate(lines(given, workflow)):
        if number and not THOROUGH:
            return
        directory = tmp_path / str(number)
        directory.mkdir()
        stage = Stage(given, directory)
        for words in before:
            stage.well(words)
        stage.keep()
        start = essence(stage.snapshot())
        operations = stage.well(line).begun
        assert operations
        if workflow in CALLED:
            stage.well(["deploy"])
        well = essence(stage.snapshot())
        step = 1 if THOROUGH else max(1, len(operations) // QUICK)
        for place in range(step // 2 + 1, len(operations) + 1, step):
            for retries in (False, True) if workflow in RETRIED and THOROUGH else (place % 2 == 0,):
                stage.back()
                fails(stage, workflow, line, place, start, well, retries=retries)


def fails(
    stage: Stage,
    workflow: str,
    line: Line,
    place: int,
    before: Mapping[str, Any],
    well: Mapping[str, Any],
    *,
    retries: bool,
) -> None:
    """One operation of the workflow fails, and then no other."""
    stage.commands.hands.answer = failing = FailsOnce(place)
    ran = stage.command(line)
    stage.commands.hands.answer = always_well
    said = f"{line}: {failing.failed} has failed\n{ran.err}"
    assert ran.code == 1, said
    assert ran.failed == [failing.failed], said
    is_taken_back = workflow == "scale out" and "continue" not in line
    if workflow != "trigger":
        true(stage, ran, failing.failed, workflow)
        if not is_taken_back and workflow != "workflow":
            finished(ran, failing.failed)
    if is_taken_back:
        assert not differing(essence(stage.snapshot()), before), said
    retried = retries and workflow in RETRIED and not is_taken_back
    again = stage.command(["jobs", "retry"] if retried else line)
    assert again.code == 0, f"{said}\nagain: {again.err}"
    if workflow not in ANEW:
        assert stage.well(line).log == (), said
    if workflow in CALLED:
        stage.well(["deploy"])
    if not is_taken_back:
        assert not differing(essence(stage.snapshot()), well), said
    # What was called by hand has changed what there is.
    stage.well(["undeploy", "--allow-changed"])
    assert stage.existing() == [], said
    assert stage.snapshot().links == {}, said


def differing(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """What is not as it should be."""
    return [
        (name, found[part].get(name), wanted[part].get(name))
        for part in wanted
        for name in sorted({*found[part], *wanted[part]})
        if found[part].get(name) != wanted[part].get(name)
    ]
