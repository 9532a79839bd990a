"""Reading back what was written about jobs, damaged or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_history import job_lines, read_job
from ordito.ensemble.layout import Layout

JOB = "A6BLBud50000"


def test_the_lines_of_jobs_are_read_past_those_that_say_nothing(tmp_path: Path) -> None:
    columns = [JOB, "job", "", "deploy", "", "failed", "", "2026-11-21T11:56:39Z", "0.5", "a\\tb\\\\c"]
    task = ["A6BLBud50001", "task", JOB, "Standard.create", "a_1", "succeeded", "", "", "", ""]
    lines = ["\t".join(columns), "\t".join(task), "<<<<<<< ours", "A6BLBud5"]
    (tmp_path / "jobs.tsv").write_text("\n".join(lines))
    (line,) = job_lines(Layout(tmp_path))
    assert (line.id, line.workflow, line.outcome, line.summary) == (JOB, "deploy", "failed", "a\tb\\c")


def test_no_jobs(tmp_path: Path) -> None:
    assert list(job_lines(Layout(tmp_path))) == []
    assert read_job(Layout(tmp_path), JOB) is None


HEAD = f"format: ordito.job/2\njob:\n  changeId: {JOB}\n"


def test_a_record_in_parts_is_put_together(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    (jobs / JOB).mkdir(parents=True)
    (jobs / f"{JOB}.yaml").write_text(f"{HEAD}parts:\n- {JOB}/0001.yaml\n- {JOB}/0002.yaml\n")
    (jobs / JOB / "0001.yaml").write_text('- {"target": "a_1"}\n- {"target": "b_1"}\n')
    (jobs / JOB / "0002.yaml").write_text("- {target: c_1}\n")
    record = read_job(Layout(tmp_path), JOB)
    assert record is not None
    assert [change.target for change in record.changes()] == ["a_1", "b_1", "c_1"]
    (jobs / JOB / "0002.yaml").unlink()
    with pytest.raises(EnsembleError, match="missing"):
        list(record.changes())


def test_a_record_with_a_change_on_each_line_is_read_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / f"{JOB}.yaml").write_text(f'{HEAD}changes:\n- {{"target":"a_1"}}\n- {{"target":"b_1"}}\n')
    record = read_job(Layout(tmp_path), JOB)
    assert record is not None
    assert [change.target for change in record.changes()] == ["a_1", "b_1"]


@pytest.mark.parametrize(
    "text",
    ["job: [", "[]", "a: b", f"job:\n  changeId: {JOB}\n", f"{HEAD}status: 3\n", HEAD.replace(JOB, "A6BLBud60000")],
)
def test_what_is_no_record_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / f"{JOB}.yaml").write_text(text)
    with pytest.raises(EnsembleError, match=JOB):
        read_job(Layout(tmp_path), JOB)
