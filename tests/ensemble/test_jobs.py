"""Whole jobs: what is written, that nothing is written twice, and that a crash anywhere is repaired."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from ordito.ensemble import close, journal
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_record import JobRecord, write_changes, write_job_record
from ordito.ensemble.logs import read_log
from ordito.ensemble.store import open_ensemble, read_ensemble
from ordito.instances.records import Delta
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Action
from ordito.work.records import JobClosingRecord, JobHeader, Record, StepFinishedRecord, StepSkippedRecord
from tests.engine.fakes import FakeExecutor, World, essence, make_plan
from tests.ensemble.jobs import NOW, carry_out, closing_job, deploy, effective, files
from tests.support.yaml_files import read_yaml

PLAN = make_plan(
    7, [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (2, 5)], no_ops=[3], delegated=[6], hosts={1: "h_1", 4: "h_1"}
)


class Killed(BaseException):
    """Stands for the death of the process."""


def killing(target: object, name: str, monkeypatch: pytest.MonkeyPatch, *, after: bool, at: int = 1) -> None:
    """Let the process die before or after a function does its work, at one of its calls."""
    original = getattr(target, name)
    calls = 0

    def dying(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at and not after:
            raise Killed
        result = original(*arguments, **named)
        if calls == at:
            raise Killed
        return result

    monkeypatch.setattr(target, name, dying)


def finish(root: Path, executor: FakeExecutor | None = None) -> None:
    """Continue the unfinished job and close it."""
    with open_ensemble(root, command="resume") as ensemble:
        carry_out(ensemble, PLAN, executor)
        ensemble.close_job(effective)


def test_a_job_leaves_its_record_its_lines_and_the_status(tmp_path: Path) -> None:
    result = deploy(tmp_path, PLAN, FakeExecutor(World(PLAN), ["s4"], prints={"s0": [b"hello\n"]}))
    assert result.status == "failed"
    with read_ensemble(tmp_path) as ensemble:
        assert ensemble.unfinished is None
        assert ensemble.status.revision == 0
        assert ensemble.status.inputs == {"port": 80}
        assert ensemble.status.last_job is not None
        job = ensemble.status.last_job.id
        assert ensemble.snapshot.instances["node_1"].state == "created"
        assert list(read_log(ensemble.layout.log(job))) == [("s0", b"hello\n")]
        record = read_yaml(ensemble.layout.job_record(job).read_text())
    assert record["job"]["status"] == "failed"
    assert record["skipped"] == {"s5": "s4"}
    first = record["changes"][0]
    assert (first["changeId"], first["target"], first["operation"]) == (f"{job[:-1]}1", "node_1", "Standard.create")
    assert first["changes"]["node_1"]["state"] == "created"
    lines = [line.split("\t") for line in (tmp_path / "jobs.tsv").read_text().splitlines()]
    assert [line[0] for line in lines] == [job, *(c["changeId"] for c in record["changes"] if "changeId" in c)]
    assert {len(line) for line in lines} == {10}
    assert (tmp_path / ".gitattributes").read_text() == "jobs.tsv merge=union\nartifacts/** -text\n"
    assert (tmp_path / ".gitignore").read_text() == "/.ordito/\n"


def test_looking_again_changes_no_file(tmp_path: Path) -> None:
    """A second deploy with nothing to do opens and closes the ensemble, and leaves every file byte for byte."""
    deploy(tmp_path, PLAN)
    before = files(tmp_path, private=True)
    for _ in range(2):
        with open_ensemble(tmp_path, command="deploy") as ensemble:
            assert ensemble.unfinished is None
    with read_ensemble(tmp_path):
        pass
    assert files(tmp_path, private=True) == before


def test_the_next_job_names_the_changes_before_it(tmp_path: Path) -> None:
    deploy(tmp_path, PLAN)
    with read_ensemble(tmp_path) as ensemble:
        first = ensemble.status.last_job
        applied = ensemble.snapshot.instances["node_1"].applied["Standard.s0"].change
    deploy(tmp_path, PLAN)
    with read_ensemble(tmp_path) as ensemble:
        second = ensemble.status.last_job
        assert first is not None
        assert second is not None
        assert second.id > first.id
        record = read_yaml(ensemble.layout.job_record(second.id).read_text())
    assert record["job"]["previousId"] == first.id
    assert next(c for c in record["changes"] if c["target"] == "node_1")["previousId"] == applied


@pytest.mark.parametrize("after", [False, True])
def test_death_at_every_commit_is_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    """Cut before or after each commit and resumed, the job ends as an undisturbed one, and no completed step runs
    again."""
    deploy(tmp_path / "whole", PLAN)
    expected = read_ensemble(tmp_path / "whole")
    at = 0
    while True:
        at += 1
        root = tmp_path / str(at)
        world = World(PLAN)
        with monkeypatch.context() as patch:
            killing(journal.EnsembleJournal, "commit", patch, after=after, at=at)
            try:
                deploy(root, PLAN, FakeExecutor(world))
            except Killed:
                pass
            else:
                break
        with read_ensemble(root) as cut:
            assert cut.unfinished is not None
            known = {r.step for r in cut.unfinished.records if isinstance(r, StepFinishedRecord)}
        again = World(PLAN)
        finish(root, FakeExecutor(again))
        assert not {PLAN.steps[index].id for index in known} & set(again.begun)
        with read_ensemble(root) as found:
            assert essence(found.snapshot) == essence(expected.snapshot)
            assert found.status.outputs == expected.status.outputs
            assert found.unfinished is None
    assert at > 5
    expected.__exit__(None, None, None)


PARTS = ["ensure_git_files", "write_job_record", "append_lines", "write_manifest"]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("after", [False, True])
def test_death_between_the_files_of_closing_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, after: bool
) -> None:
    """Closing killed before and after every file: closed once more, all files are as if nothing had happened."""
    deploy(tmp_path / "whole", PLAN)
    with monkeypatch.context() as patch:
        killing(close, part, patch, after=after)
        with pytest.raises(Killed):
            deploy(tmp_path / "cut", PLAN)
    with read_ensemble(tmp_path / "cut") as cut:
        assert cut.unfinished is not None
        assert isinstance(cut.unfinished.records[-1], JobClosingRecord)
        assert set(cut.snapshot.instances) == {f"node_{n}" for n in range(1, 8)}
    finish(tmp_path / "cut")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


def test_death_before_the_journal_forgets_is_repaired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(tmp_path / "whole", PLAN)
    with monkeypatch.context() as patch:
        killing(journal.EnsembleJournal, "finish", patch, after=False)
        with pytest.raises(Killed):
            deploy(tmp_path / "cut", PLAN)
    finish(tmp_path / "cut")
    assert files(tmp_path / "cut") == files(tmp_path / "whole")


CHILD = """
import os, sys
from pathlib import Path
from ordito.ensemble import journal
from tests.ensemble.jobs import deploy
from tests.ensemble.test_jobs import PLAN

commits, original = 0, journal.EnsembleJournal.commit
def commit(self):
    global commits
    original(self)
    commits += 1
    if commits == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
journal.EnsembleJournal.commit = commit
deploy(Path(sys.argv[1]), PLAN)
"""


@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_killed_process_loses_nothing(tmp_path: Path, at: int) -> None:
    """SIGKILL, for real: the lock is free, what was committed is there, and the job is continued."""
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path), str(at)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", os.environ.get("PYTHONPATH", "")])},
        check=False,
    )
    assert child.returncode == -signal.SIGKILL
    finish(tmp_path)
    deploy(tmp_path / "whole", PLAN)
    with read_ensemble(tmp_path) as found, read_ensemble(tmp_path / "whole") as expected:
        assert found.unfinished is None
        assert essence(found.snapshot) == essence(expected.snapshot)


def test_a_running_job_can_be_looked_at(tmp_path: Path) -> None:
    """Reading takes no lock, and sees what was committed last."""
    seen: list[tuple[int, str]] = []

    class Watching(World):
        def begin(self, step: str) -> None:
            super().begin(step)
            with read_ensemble(tmp_path) as ensemble:
                assert ensemble.unfinished is not None
                index = PLAN.steps[self.index[step]].instance
                seen.append((len(ensemble.unfinished.records), ensemble.snapshot.instances[index].state))

    deploy(tmp_path, PLAN, FakeExecutor(Watching(PLAN)))
    assert [state for _, state in seen] == ["creating"] * 5
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)


@pytest.mark.parametrize("after", [False, True])
def test_it_shows_nowhere_how_far_the_rows_are_behind_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """A second job, cut at any commit: readers, who resumes it, and its record see the same, whether what exists was
    written with every turn, now and then, or never."""
    for at in (2, 5):
        found = []
        for behind in (1, 3, 10_000):
            root = tmp_path / f"{at}-{behind}"
            deploy(root, PLAN)
            with monkeypatch.context() as patch:
                patch.setattr(journal, "MOST_BEHIND", behind)
                killing(journal.EnsembleJournal, "commit", patch, after=after, at=at)
                with pytest.raises(Killed):
                    deploy(root, PLAN, FakeExecutor(World(PLAN), ["s4"]))
            with read_ensemble(root) as cut:
                seen = (cut.snapshot.instances, cut.snapshot.attributes, cut.snapshot.outputs)
            with open_ensemble(root, command="resume") as ensemble:
                assert (ensemble.snapshot.instances, ensemble.snapshot.attributes, ensemble.snapshot.outputs) == seen
                carry_out(ensemble, PLAN)
                before = ensemble.journal.previous()
                ensemble.close_job(effective)
            with read_ensemble(root) as closed:
                found.append((seen, before, closed.snapshot.instances, closed.snapshot.attributes))
        assert before
        assert found[0] == found[1] == found[2]


def test_no_job_begins_while_another_is_unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        killing(journal.EnsembleJournal, "commit", patch, after=True)
        with pytest.raises(Killed):
            deploy(tmp_path, PLAN)
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        assert ensemble.unfinished is not None
        with pytest.raises(EnsembleError, match="is unfinished") as error:
            ensemble.journal.open(msgspec.structs.replace(ensemble.unfinished.header, id="A6BKKQCN0000"), PLAN, Delta())
        assert "ordito jobs resume" in error.value.hint


def test_a_large_job_has_its_tasks_in_files_of_their_own(tmp_path: Path) -> None:
    """`jobs/<changeId>/<nnnn>.yaml`, one ConfigChange a line."""
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        carry_out(ensemble, PLAN)
        for largest in (100, 3):
            record = JobRecord(closing_job(ensemble))
            write_changes(ensemble.layout, record, largest=largest)
            write_job_record(ensemble.layout, record)
            read = read_yaml(ensemble.layout.job_record(record.job.header.id).read_text())
            if largest == 100:
                whole = read["changes"]
        parts = [read_yaml((ensemble.layout.jobs / part).read_text()) for part in read["parts"]]
        assert [len(part) for part in parts] == [3, 3, 1]
        assert [task for part in parts for task in part] == whole
        lines = (ensemble.layout.jobs / read["parts"][0]).read_text().splitlines()
        assert len(lines) == 3


def test_a_record_says_only_what_is_new(tmp_path: Path) -> None:
    deploy(tmp_path, make_plan(1))
    with read_ensemble(tmp_path) as ensemble:
        assert ensemble.status.last_job is not None
        job = ensemble.status.last_job.id
        record = read_yaml(ensemble.layout.job_record(job).read_text())
    (task,) = record["changes"]
    assert task["changes"] == {
        "node_1": {
            "template": "node",
            "index": 0,
            "state": "created",
            "local": "ok",
            "created": f"{job[:-1]}1",
            "applied": {"Standard.s0": {"changeId": f"{job[:-1]}1", "digest": "d"}},
            "attributes": {"port": "s0"},
        }
    }


def test_ten_thousand_steps(tmp_path: Path) -> None:
    """The plan goes into rows of a thousand steps, and comes back whole."""
    count = 10_000
    plan = make_plan(count, [(i, i + 500) for i in range(count - 500)], no_ops=range(0, count, 2))
    result = deploy(tmp_path, plan)
    assert result.counts.succeeded == count
    with read_ensemble(tmp_path) as ensemble:
        assert len(ensemble.snapshot.instances) == count
        assert ensemble.unfinished is None


def test_every_record_survives_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_ensemble(tmp_path, command="deploy") as ensemble:
        kept: list[Record] = []
        original = ensemble.journal.append

        def append(record: Record) -> None:
            kept.append(record)
            original(record)

        monkeypatch.setattr(ensemble.journal, "append", append)
        carry_out(ensemble, PLAN, FakeExecutor(World(PLAN), ["s4"]))
        found = ensemble.journal.unfinished()
        assert found is not None
        assert found.plan == PLAN
        assert list(found.records) == kept


def test_of_an_unfinished_job_no_more_is_read_than_is_asked_for(tmp_path: Path) -> None:
    """So that looking at a large job that runs is quick: rows that nobody asks for may even be damaged."""
    with open_ensemble(tmp_path, command="test") as ensemble:
        ids = ensemble.change_ids(NOW, 3)
        done = StepFinishedRecord(0, NOW, Outcome(Ending.SUCCEEDED), ids.next())
        header = JobHeader(id=ids.job, workflow="deploy", service="", main="", began=NOW, inputs={})
        ensemble.journal.open(header, PLAN, Delta(), [done, StepSkippedRecord(1, NOW, "not now")])
    with read_ensemble(tmp_path) as ensemble:
        assert ensemble.unfinished is not None
        assert ensemble.unfinished.progress == (2, sum(step.action is not Action.JOIN for step in PLAN.steps))
        assert ensemble.unfinished.plan == PLAN
        assert [type(record) for record in ensemble.unfinished.records] == [StepFinishedRecord, StepSkippedRecord]
    with sqlite3.connect(tmp_path / ".ordito" / "journal.db") as db:
        db.execute("UPDATE steps SET body = x'c1'")
        db.execute("UPDATE record SET body = x'c1'")
    with read_ensemble(tmp_path) as ensemble:
        assert ensemble.unfinished is not None
        assert (ensemble.unfinished.header, ensemble.unfinished.counts) == (header, PLAN.counts.wanted)
        with pytest.raises(EnsembleError, match="damaged"):
            _ = ensemble.unfinished.plan
        with pytest.raises(EnsembleError, match="damaged"):
            _ = ensemble.unfinished.records
