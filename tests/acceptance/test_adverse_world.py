"""A full disk, a directory that cannot be written, a clock that goes back, a journal whose last page is torn: nothing
is lost, and what is said helps."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.acceptance.busy import Busy, comparable, make_busy
from tests.acceptance.program import completed_twice, make_small, ordito, start
from tests.acceptance.test_crash_everywhere import KILL_AT_RECORD, Calm, assert_ends_alike, assert_replays
from tests.cli.program import until
from tests.support.thorough import THOROUGH

MODE = "continue"
CLOCK_GOES_BACK = """
from ordito.base.clock import SystemClock
def now(self, whole=SystemClock.now, count=[0]):
    count[0] += 1
    return whole(self) - 86400 * {days} - 3600 * count[0]
SystemClock.now = now
"""


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """An undisturbed run."""
    return Calm(tmp_path_factory.mktemp("calm"), (MODE,))


@contextmanager
def disk(place: Path, options: str) -> Iterator[None]:
    """A file system of its own at a place; skips where this process may not make one."""
    place.mkdir()
    if os.geteuid() != 0 or mount("-t", "tmpfs", "-o", options, "tmpfs", str(place)):
        pytest.skip("this process may not mount file systems")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def mount(*arguments: str) -> bool:
    """Mount; gives whether that failed."""
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("kilobytes", [24, 96, 160, 224, 288, 352] if THOROUGH else [24, 224])
def test_a_full_disk(tmp_path: Path, calm: Calm, kilobytes: int) -> None:
    """It fills at one moment or another of the job; with more room, the job goes on where it stood."""
    busy = make_busy(tmp_path / "busy", MODE)
    with disk(busy.ensemble, f"size={kilobytes}k"):
        failed = busy.deploy()
        assert "Traceback" not in failed.both, failed.both
        said = failed.both.lower()
        # The largest has room for all of it.
        assert "no space left" in said or "disk is full" in said or failed.code == 1, failed.both
        assert not mount("-o", "remount,size=64m", str(busy.ensemble))
        assert_ends_alike(busy, calm)


@contextmanager
def failing_disk(place: Path, backing: Path, kilobytes: int) -> Iterator[None]:
    """A file system on a device that reports errors once so much is written to it; skips where there can be none."""
    with disk(backing, f"size={kilobytes}k"):
        image = backing / "image"
        with image.open("wb") as file:
            file.truncate(64 << 20)
        made = ["mkfs.ext4", "-q", "-J", "size=1", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(image)]
        place.mkdir()
        if subprocess.run(made, check=False).returncode or mount("-o", "loop,commit=1", str(image), str(place)):
            pytest.skip("this process may not mount images of file systems")
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(place)], check=True)


def looped(image: Path) -> bool:
    """Whether an image is the backing of a loop device."""
    done = subprocess.run(["losetup", "-j", str(image)], capture_output=True, check=True)
    return bool(done.stdout)


@pytest.mark.parametrize("kilobytes", range(400, 1400, 100) if THOROUGH else [700, 1000])
def test_a_disk_that_reports_errors(tmp_path: Path, calm: Calm, kilobytes: int) -> None:
    """What was said to be written comes back with errors, and the file system turns read-only; once the disk works
    again, the job goes on where it stood."""
    busy = make_busy(tmp_path / "busy", MODE)
    backing = tmp_path / "backing"
    with failing_disk(busy.ensemble, backing, kilobytes):
        failed = busy.deploy()
        assert "Traceback" not in failed.both, failed.both
        assert failed.code in {1, 3}, failed.both
        assert not mount("-o", "remount,size=64m", str(backing))
        subprocess.run(["umount", "-l", str(busy.ensemble)], check=True)
        # As long as a process of the job still ends on it, mounting the image again gives the same broken file system.
        until(lambda: not looped(backing / "image"))
        subprocess.run(["e2fsck", "-y", str(backing / "image")], check=False, capture_output=True)
        assert not mount("-o", "loop", str(backing / "image"), str(busy.ensemble))
        assert_ends_alike(busy, calm, disk_forgets=True)


def test_a_damaged_journal_says_whether_a_job_was_running(tmp_path: Path) -> None:
    small = make_small(tmp_path)
    assert ordito(small.home, *small.deploying()).code == 0
    journal = small.ensemble / ".ordito" / "journal.db"
    journal.write_bytes(journal.read_bytes()[:4096] + b"x" * 8192)
    for verb in (["status"], ["deploy", "--yes"]):
        refused = small.run(*verb)
        assert refused.code == 3, refused.both
        assert "No job was running" in refused.both
    moved = re.search(r"`(mkdir .*?)`", refused.both)
    assert moved, refused.both
    subprocess.run(["bash", "-c", moved[1]], check=True, cwd=small.home)
    assert small.run("status").code == 0
    assert small.run("undeploy", "--yes").code == 0


def test_a_directory_that_cannot_be_written(tmp_path: Path, calm: Calm) -> None:
    """It is refused before anything runs, reading goes on, and afterwards everything is as it was."""
    busy = make_busy(tmp_path / "busy", MODE)
    with disk(busy.ensemble, "size=64m"):
        assert busy.deploy().code == 1
        before = comparable(busy)
        log = busy.log.read_bytes()
        assert not mount("-o", "remount,ro", str(busy.ensemble))
        for verb in (["deploy", "--yes"], ["undeploy", "--yes"], ["check", "--yes"]):
            refused = busy.run(*verb)
            assert refused.code in {3, 5}, refused.both
            assert "Traceback" not in refused.both
            assert "read-only" in refused.both.lower(), refused.both
        assert busy.run("status").code == 0
        assert json.loads(busy.run("status", "-o", "json").out)["instances"]["store_1"]["local"] == "ok"
        assert busy.log.read_bytes() == log
        assert not mount("-o", "remount,rw", str(busy.ensemble))
        assert comparable(busy) == before == calm.ends[MODE]


def test_a_clock_that_goes_back(tmp_path: Path) -> None:
    """Ids go on from the highest there is, whatever the clock says, also within a job."""
    small = make_small(tmp_path)
    assert small.deploy().code == 0
    undeployed = ordito(small.home, "undeploy", "--yes", "-e", small.ensemble, code=CLOCK_GOES_BACK.format(days=400))
    assert undeployed.code == 0, undeployed.both
    again = small.deploy(code=CLOCK_GOES_BACK.format(days=4000))
    assert again.code == 0, again.both
    lines = (small.ensemble / "jobs.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    jobs = [row[0] for row in rows if row[1] == "job"]
    assert len(jobs) == 3
    assert jobs == sorted(set(jobs))
    ids = [row[0] for row in rows]
    assert len(ids) == len(set(ids))
    for earlier, later in pairwise(jobs):
        assert all(row[0] < later for row in rows if row[2] == earlier)
    assert small.run("jobs", "replay").code == 0
    assert small.run("status").code == 0


@pytest.mark.parametrize("number", [3, 21, 40] if THOROUGH else [21])
@pytest.mark.parametrize("damage", ["cut", "scrambled"])
def test_a_torn_last_page(tmp_path: Path, calm: Calm, damage: str, number: int) -> None:
    """What was being written when the power went is half there: it counts as not written, and the rest is whole."""
    busy = make_busy(tmp_path / "busy", MODE)
    killed = busy.deploy(code=KILL_AT_RECORD.format(number=number))
    assert killed.code == -signal.SIGKILL, killed.both
    log = busy.ensemble / ".ordito" / "journal.db-wal"
    content = bytearray(log.read_bytes())
    if damage == "cut":
        del content[-1000:]
    else:
        content[-1000:-500] = b"\xa5" * 500
    log.write_bytes(bytes(content))
    assert_ends_alike(busy, calm)


def test_two_at_once_in_one_ensemble(tmp_path: Path, calm: Calm) -> None:
    """R-7-1: many deployments begin at the same time; one of them runs, the others are told which, or find all done."""
    busy = make_busy(tmp_path / "busy", MODE)
    command = ["deploy", str(busy.service), "-e", str(busy.ensemble), "--yes", "--on-failure", MODE]
    assert_one_runs(busy, command)
    assert completed_twice(busy.log) == []
    assert_replays(busy)


def assert_one_runs(busy: Busy, command: list[str]) -> None:
    """Start a command several times at once."""
    processes = [start(busy.home, *command) for _ in range(4)]
    ends = [(*process.communicate(), process.returncode) for process in processes]
    assert all("Traceback" not in out + err for out, err, _ in ends)
    # The broken operation fails for whoever tries it.
    assert {code for _, _, code in ends} <= {1, 3, 5}, ends
    assert any(code == 1 for _, _, code in ends), ends
