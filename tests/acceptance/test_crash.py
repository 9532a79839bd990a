"""Killed at any moment, the program carries on: nothing is lost, nothing that is done is done again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.acceptance.program import (
    Shop,
    completed_twice,
    make_shop,
    overlaps,
    removed_after,
    start,
    status_of,
)

KILL_AFTER = """
import os, signal
from ordito.ensemble.journal import Journal
def dying(commit, count=[0]):
    def wrapper(self, *arguments, **options):
        result = commit(self, *arguments, **options)
        count[0] += 1
        if count[0] == {number}:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return wrapper
Journal.open = dying(Journal.open)
Journal.commit = dying(Journal.commit)
"""
INSTANCES = 2
THOROUGH = os.environ.get("ORDITO_THOROUGH") == "1"
MOMENTS = 30 if THOROUGH else 4
RECORDS = range(1, 31) if THOROUGH else (1, 2, 5, 9, 14, 20)


def settle(shop: Shop) -> None:
    """Bring an interrupted shop to its end as a user would: resume, and deploy what was never begun."""
    if (shop.ensemble / "ensemble.yaml").exists() or (shop.ensemble / ".ordito").exists():
        resumed = shop.run("jobs", "resume")
        assert resumed.code == 0, resumed.both
    deployed = shop.deploy(INSTANCES)
    assert deployed.code == 0, deployed.both


def check(shop: Shop, undisturbed: object) -> None:
    """The end is that of an undisturbed run, and the operations' own log is clean."""
    assert overlaps(shop.log) == []
    assert completed_twice(shop.log) == []
    assert comparable(shop) == undisturbed


def comparable(shop: Shop) -> object:
    """The instances of the status, without what depends on where and when it ran."""
    instances = status_of(shop.ensemble)["instances"]
    own = {"attributes", "relationships", "outputs"}
    found = {name: {part: v for part, v in record.items() if part not in own} for name, record in instances.items()}
    for record in found.values():
        record["applied"] = sorted(record["applied"])
    return found


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
        settle(shop)
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
        settle(shop)
        check(shop, undisturbed[0])
        assert shop.run("undeploy", "--yes").code == 0
        assert shop.leftovers() == []
