"""Ids of new jobs: higher than all that the ensemble's files know, whatever the clock says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.base.change_ids import TASKS_PER_TICK, decode, encode, last_reserved
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import open_ensemble
from tests.engine.fakes import make_plan
from tests.ensemble.jobs import NOW, deploy

PLAN = make_plan(2)
HOUR = 3_600.0


def next_id(root: Path, *, now: float = NOW, tasks: int = 1) -> str:
    with open_ensemble(root, command="look") as ensemble:
        return ensemble.change_ids(now, tasks).job


def other_job(root: Path, job: str, *, ticks: int = 1) -> None:
    """The record of a job that another clone ran."""
    jobs = Layout(root).jobs
    jobs.mkdir(exist_ok=True)
    text = f"format: ordito.job/2\njob:\n  changeId: {job}\n  workflow: deploy\n  status: ok\n  ticks: {ticks}\n"
    (jobs / f"{job}.yaml").write_text(text)


def test_a_clock_that_jumps_back_changes_nothing(tmp_path: Path) -> None:
    """Each job is after the one before it, in the ids of its tasks too, though the clock says otherwise."""
    ids = [deploy(tmp_path, PLAN, now=now).job for now in (NOW, NOW - HOUR, NOW - 2 * HOUR, 0.0, NOW + HOUR, NOW)]
    assert ids == sorted(set(ids))
    rebuilt = rebuild(Layout(tmp_path))
    assert rebuilt.problems == ()
    assert rebuilt.jobs == tuple(ids)
    tasks = [line.split("\t")[0] for line in (tmp_path / "jobs.tsv").read_text().splitlines()]
    assert tasks == sorted(set(tasks))


def test_two_jobs_in_one_tick_take_two(tmp_path: Path) -> None:
    first, second = deploy(tmp_path, PLAN).job, deploy(tmp_path, PLAN).job
    assert decode(second).tick == decode(first).tick + 1


def test_a_record_of_another_clone_counts(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    later = encode(decode(next_id(tmp_path)).tick + 1_000)
    other_job(tmp_path, later)
    assert next_id(tmp_path) > last_reserved(later, 1)
    other_job(tmp_path, later, ticks=3)
    assert next_id(tmp_path) > last_reserved(later, 3)
    (tmp_path / "jobs" / f"{later}.yaml").write_text("<<<<<<< ours\n")
    assert next_id(tmp_path) > last_reserved(later, 1)


def test_lines_of_another_clone_count(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    later = encode(decode(next_id(tmp_path)).tick + 1_000, 17)
    with (tmp_path / "jobs.tsv").open("a") as file:
        file.write(f"{later}\ttask\t{later[:-4]}0000\tStandard.create\tweb_1\tsucceeded\t\t\t0.1\t\n")
        file.write("zzzzzzzzffff\tno id at all\nAzzzzzzzffff")
    assert decode(next_id(tmp_path)).tick == decode(later).tick + 1


def test_what_was_changed_by_hand_counts(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    later = encode(decode(next_id(tmp_path)).tick + 1_000, 3)
    file = tmp_path / "ensemble.yaml"
    created = next(line for line in file.read_text().splitlines() if "created: A" in line)
    file.write_text(file.read_text().replace(created, f"      created: {later}", 1))
    assert decode(next_id(tmp_path)).tick == decode(later).tick + 1


def test_an_id_that_differs_in_case_only_is_not_taken(tmp_path: Path) -> None:
    """Not every file system tells `Q` and `q` apart, so the record of one would take the place of the other's."""
    deploy(tmp_path, PLAN, now=NOW - HOUR)
    moments = (NOW + ticks / 62 for ticks in range(62))
    now = next(now for now in moments if next_id(tmp_path, now=now)[7].isalpha())
    wanted = next_id(tmp_path, now=now)
    other_job(tmp_path, other := f"{wanted[:7]}{wanted[7].swapcase()}{wanted[8:]}")
    found = next_id(tmp_path, now=now)
    assert found > wanted
    assert found.casefold() != other.casefold()


def test_a_large_job_reserves_the_ticks_it_needs(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    with open_ensemble(tmp_path, command="look") as ensemble:
        ids = ensemble.change_ids(NOW, 2 * TASKS_PER_TICK + 1)
    assert ids.ticks == 3
    first = ids.next()
    assert first == f"{ids.job[:-1]}1"


def test_a_journal_that_cannot_be_asked_gives_no_id(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    (tmp_path / "jobs.tsv").unlink()
    (tmp_path / "jobs.tsv").mkdir()
    with pytest.raises(EnsembleError, match=r"jobs\.tsv"):
        next_id(tmp_path)
