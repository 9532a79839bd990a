"""Killed at any moment, the program carries on: nothing is lost, nothing that is done is done again."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from difflib import unified_diff
from pathlib import Path
from pprint import pformat

import pytest

from tests.acceptance.program import (
    CHANGE_ID,
    Project,
    Shop,
    completed_twice,
    make_shop,
    make_small,
    ordito,
    overlaps,
    removed_after,
    start,
)
from tests.support.thorough import THOROUGH
from tests.support.yaml_files import read_yaml

KILL_AFTER = """
import os, signal
from ordito.ensemble.journal import EnsembleJournal
def dying(commit, count=[0]):
    def wrapper(self, *arguments, **options):
        result = commit(self, *arguments, **options)
        count[0] += 1
        if count[0] == {number}:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapper
EnsembleJournal.open = dying(EnsembleJournal.open)
EnsembleJournal.commit = dying(EnsembleJournal.commit)
"""
KILL_CLOSING = """
import os, signal
from ordito.ensemble import close
from ordito.ensemble.journal import EnsembleJournal
def dying(part):
    def wrapper(*arguments, **options):
        part(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)
    return wrapper
{part} = dying({part})
"""
PARTS = ("close.write_job_record", "close.append_lines", "close.write_manifest", "EnsembleJournal.finish")
INSTANCES = 2
DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
MOMENTS = 30 if THOROUGH else 1
RECORDS = range(1, 31) if THOROUGH else (2, 9)


def settle(project: Project, deployment: list[str]) -> None:
    """Bring an interrupted project to its end as a user would: resume, and deploy what was never begun.

    A job that was begun is whole after resuming: the deployment then finds nothing to do.
    """
    was_begun = False
    if (project.ensemble / "ensemble.yaml").exists() or (project.ensemble / ".ordito").exists():
        resumed = project.run("jobs", "resume")
        assert resumed.code == 0, resumed.both
        was_begun = "Nothing to resume" not in resumed.both
    was_begun |= (project.ensemble / "jobs.tsv").exists()
    deployed = ordito(project.home, *deployment)
    assert deployed.code == 0, deployed.both
    assert not was_begun or "Nothing to do" in deployed.both, deployed.both


def check(project: Project, undisturbed: object) -> None:
    """The end is that of an undisturbed run, and the operations' own log is clean."""
    assert overlaps(project.log) == []
    assert completed_twice(project.log) == []
    found = comparable(project)
    wanted, got = (pformat(one, width=100).splitlines() for one in (undisturbed, found))
    assert found == undisturbed, "\n".join(unified_diff(wanted, got, "undisturbed", "found", lineterm=""))


def comparable(project: Project) -> object:
    """All of `ensemble.yaml`, and the jobs and tasks of `jobs.tsv`, without ids and times.

    Each project has a directory and ports of its own, and logs to a file of its own; placeholders stand for the first
    two, and for the digests of what holds any of them.
    """
    text = (project.ensemble / "ensemble.yaml").read_text(encoding="utf-8").replace(str(project.home), "HOME")
    if isinstance(project, Shop):
        for n in range(22):
            text = re.sub(rf"\b{project.port + n}\b", f"PORT_{n}", text)
    document = read_yaml(DIGEST.sub("DIGEST", CHANGE_ID.sub("ID", text)))
    lines = (project.ensemble / "jobs.tsv").read_text(encoding="utf-8").splitlines()
    # Kind, operation, target, outcome: the order of tasks that run at the same time is left to chance.
    tasks = sorted((row[1], row[3], row[4], row[5]) for row in (line.split("\t") for line in lines))
    return document, tasks


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, float]:
    """The end of a run that nothing disturbed, and how long it took."""
    with removed_after(make_shop(tmp_path_factory.mktemp("undisturbed"))) as shop:
        began = time.monotonic()
        deployed = shop.deploy(INSTANCES)
        assert deployed.code == 0, deployed.both
        return comparable(shop), time.monotonic() - began


@pytest.mark.parametrize("number", RECORDS)
def test_killed_after_a_record_of_the_journal(tmp_path: Path, undisturbed: tuple[object, float], number: int) -> None:
    """SIGKILL right after the commit of one turn's records."""
    with removed_after(make_shop(tmp_path)) as shop:
        killed = shop.deploy(INSTANCES, code=KILL_AFTER.format(number=number))
        if killed.code == 0:
            pytest.skip("the job has fewer turns than that")
        assert killed.code == -signal.SIGKILL
        settle(shop, shop.deployment(INSTANCES))
        check(shop, undisturbed[0])
        assert shop.run("undeploy", "--yes").code == 0
        assert shop.leftovers() == []


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_a_moment(tmp_path: Path, undisturbed: tuple[object, float], moment: int) -> None:
    """SIGKILL at evenly spaced moments from the start of the program to after its end."""
    with removed_after(make_shop(tmp_path)) as shop:
        after = undisturbed[1] * 1.05 * (moment + 1) / MOMENTS
        process = start(tmp_path, *shop.deployment(INSTANCES))
        try:
            process.wait(timeout=after)
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        settle(shop, shop.deployment(INSTANCES))
        check(shop, undisturbed[0])
        assert shop.run("undeploy", "--yes").code == 0
        assert shop.leftovers() == []


@pytest.mark.parametrize("part", PARTS)
def test_killed_between_the_parts_of_closing(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, part: str
) -> None:
    """SIGKILL right after one of the files is written, or the journal has forgotten the job: closing is done again,
    no operation is."""
    calm = make_small(tmp_path_factory.mktemp("calm"))
    assert calm.deploy().code == 0
    small = make_small(tmp_path)
    killed = small.deploy(code=KILL_CLOSING.format(part=part))
    assert killed.code == -signal.SIGKILL, killed.both
    operations = small.log.read_bytes()
    settle(small, small.deploying())
    check(small, comparable(calm))
    assert small.log.read_bytes() == operations
    assert small.run("undeploy", "--yes").code == 0
    assert small.things() == []
