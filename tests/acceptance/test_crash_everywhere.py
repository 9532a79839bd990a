"""A job with failures, retries, several instances and, on demand, a rollback: cut anywhere, it ends as if nothing had
been, no completed step runs twice, and its records give what is recorded."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.replay import rebuild
from ordito.ensemble.store import read_ensemble
from tests.acceptance.busy import Busy, comparable, make_busy
from tests.acceptance.program import completed_twice, overlaps, start
from tests.support.thorough import THOROUGH
from tests.support.told_events import assert_told

KILL_AT_RECORD = """
import os, signal
from ordito.ensemble import journal
from ordito.ensemble.job_rows import record_decoder
count = [0]
def commit(self, whole=journal.EnsembleJournal.commit):
    left = {number} - count[0]
    if len(self._records) < left:
        count[0] += len(self._records)
        return whole(self)
    if left < len(self._records):
        # The rows of what exists are behind the records then, as they are in the middle of any job.
        self._records, self._rows, self._behind = self._records[:left], journal.PendingRows(), 0
        self._turn = self._turn[:left]
        decode = record_decoder()
        if not any(isinstance(decode(body), journal.RollbackRecord) for body in self._records):
            self._longer = None
    whole(self)
    os.kill(os.getpid(), signal.SIGKILL)
journal.EnsembleJournal.commit = commit
"""
"""Lets the journal have the first so many records of the job, even if that is only a part of a turn, and dies."""

KILL_WHILE_TELLING = """
import os, signal
from ordito.ensemble import events_file
count = [0]
def append(self, lines, whole=events_file.EventsFile._append):
    count[0] += 1
    if count[0] < {number}:
        return whole(self, lines)
    text = b"".join(lines)
    os.write(self._handle, text[: len(text) * {percent} // 100])
    os.kill(os.getpid(), signal.SIGKILL)
events_file.EventsFile._append = append
"""
"""Writes a part of a turn's events, and dies."""

MODES = ("continue", "rollback")
CODES = {"continue": 1, "rollback": 7}
RECORDS = range(140) if THOROUGH else (0, 33)
TELLINGS = range(1, 40) if THOROUGH else (1, 5)
MOMENTS = 150 if THOROUGH else 2
"""For each of the two modes."""


class Calm:
    """How a run ends that nothing disturbs, for each mode, and how long it takes."""

    def __init__(self, home: Path, modes: Sequence[str] = MODES) -> None:
        self.ends: dict[str, object] = {}
        self.seconds: dict[str, float] = {}
        for mode in modes:
            busy = make_busy(home / mode, mode)
            began = time.monotonic()
            deployed = busy.deploy()
            self.seconds[mode] = time.monotonic() - began
            assert deployed.code == CODES[mode], deployed.both
            assert completed_twice(busy.log) == []
            self.ends[mode] = comparable(busy)
            assert_replays(busy)
            assert_told(busy.ensemble)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """Undisturbed runs."""
    return Calm(tmp_path_factory.mktemp("calm"))


def assert_replays(busy: Busy) -> None:
    """The records of all jobs give what is recorded."""
    rebuilt = rebuild(Layout(busy.ensemble))
    assert rebuilt.problems == ()
    with read_ensemble(busy.ensemble) as ensemble:
        assert ensemble.unfinished is None
        assert rebuilt.snapshot.instances == ensemble.snapshot.instances
        assert rebuilt.snapshot.links == ensemble.snapshot.links
        assert rebuilt.snapshot.attributes == ensemble.snapshot.attributes
        assert rebuilt.status == ensemble.status


def assert_ends_alike(busy: Busy, calm: Calm, *, disk_forgets: bool = False) -> None:
    """An interrupted job is resumed, one that was never begun is deployed: then all is as if nothing had been.

    Where the ``disk_forgets`` what it was given, nobody can know what had ended then."""
    code = CODES[busy.on_failure]
    resumed = busy.run("jobs", "resume")
    if "Nothing to resume" in resumed.both or "is not an ensemble" in resumed.both:
        if not (busy.ensemble / "jobs.tsv").exists():
            deployed = busy.deploy()
            assert deployed.code == code, deployed.both
    else:
        assert resumed.code == code, resumed.both
    assert "Traceback" not in resumed.both
    assert overlaps(busy.log) == []
    assert disk_forgets or completed_twice(busy.log) == []
    assert comparable(busy) == calm.ends[busy.on_failure]
    assert_replays(busy)
    assert_told(busy.ensemble)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", RECORDS)
def test_cut_after_a_record(tmp_path: Path, calm: Calm, number: int, mode: str) -> None:
    """The journal ends with any of its records, also in the middle of a turn."""
    busy = make_busy(tmp_path / "busy", mode)
    killed = busy.deploy(code=KILL_AT_RECORD.format(number=number))
    if killed.code == CODES[mode]:
        pytest.skip("the job has fewer records than that")
    assert killed.code == -signal.SIGKILL, killed.both
    assert_ends_alike(busy, calm)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("percent", [0, 30, 90, 100] if THOROUGH else [70])
@pytest.mark.parametrize("number", TELLINGS)
def test_cut_while_events_are_told(tmp_path: Path, calm: Calm, number: int, percent: int, mode: str) -> None:
    """The file of events lags behind the journal, or ends within a line: resuming writes what is missing, once."""
    busy = make_busy(tmp_path / "busy", mode)
    killed = busy.deploy(code=KILL_WHILE_TELLING.format(number=number, percent=percent))
    if killed.code == CODES[mode]:
        pytest.skip("the job has fewer turns than that")
    assert killed.code == -signal.SIGKILL, killed.both
    assert_ends_alike(busy, calm)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_a_moment(tmp_path: Path, calm: Calm, moment: int, mode: str) -> None:
    """SIGKILL at evenly spaced moments of starting, running and closing."""
    busy = make_busy(tmp_path / "busy", mode)
    process = start(busy.home, *busy.deploying("--on-failure", mode))
    try:
        process.wait(timeout=calm.seconds[mode] * 1.05 * (moment + 1) / MOMENTS)
    except subprocess.TimeoutExpired:
        process.kill()
    process.communicate()
    assert_ends_alike(busy, calm)
