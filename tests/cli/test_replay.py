"""`ordito jobs replay`: what the records of jobs say, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

FAILING = DATA / "failing"


def deployed(run: Run, *more: str) -> None:
    assert run("deploy", DATA / "tiny", "--yes", "-i", f"log={Path.cwd() / 'log'}", *more).code == 0


def test_real_jobs_are_rebuilt_exactly(run: Run, tmp_path: Path) -> None:
    deployed(run, "-i", "count=3")
    deployed(run, "-i", "count=1")
    assert run("undeploy", "--yes").code == 0
    deployed(run)
    done = run("jobs", "replay")
    assert done.code == 0, done.out
    assert done.out == "The records of 4 jobs give exactly what ensemble.yaml says.\n"
    before = (tmp_path / "ensemble.yaml").read_bytes()
    assert "written from the records of 4 jobs" in run("jobs", "replay", "--write").out
    assert (tmp_path / "ensemble.yaml").read_bytes() == before
    (first, *_) = reversed(run("jobs", "list", "-o", "json").json["jobs"])
    then = run("jobs", "replay", "--until", first["id"], "-o", "json").json["state"]
    assert {name for name in then["instances"] if name.startswith("top")} == {"top_1", "top_2", "top_3"}
    assert then["revision"] == 1
    assert "top_3:" in run("jobs", "replay", "--first", "1").out
    assert run("jobs", "replay", "--first", "0").out == "status:\n  format: ordito.status/4\n"


def test_a_failed_job_is_rebuilt_as_well(run: Run) -> None:
    assert run("deploy", FAILING, "--yes").code == 1
    assert run("jobs", "replay").code == 0
    run("undeploy", "--yes")
    assert run("jobs", "replay").code == 0


def test_what_differs_is_shown_with_the_way_on(run: Run, tmp_path: Path) -> None:
    deployed(run)
    file = tmp_path / "ensemble.yaml"
    text = file.read_text()
    file.write_text(text.replace("effective: ok", "effective: error", 1))
    shown = run("jobs", "replay")
    assert shown.code == 3
    assert shown.out == "status.instances.base_1.readyState.effective: recorded ok, found error\n"
    assert "jobs replay --write" in shown.err
    assert run("jobs", "replay", "--write").code == 0
    assert file.read_text() == text
    (record,) = (tmp_path / "jobs").glob("*.yaml")
    record.unlink()
    shown = run("jobs", "replay")
    assert shown.code == 3
    assert f"the record of job {record.stem} is missing" in shown.out
    assert run("jobs", "replay", "-o", "json").json["problems"][0]["change"] == record.stem


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (b"# ==== The status ends here. ====", b""),
        (b"\nstatus:", b"\nstatsu:"),
        (b"\nstatus:", b"\nstatus: ["),
        (b"records: ", b"records: 7"),
    ],
)
def test_a_damaged_status_names_the_command_that_mends_it(run: Run, tmp_path: Path, was: bytes, becomes: bytes) -> None:
    deployed(run)
    file = tmp_path / "ensemble.yaml"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(was, becomes, 1))
    refused = run("status")
    assert refused.code == 3
    assert "`ordito jobs replay --write`" in refused.err
    assert run("jobs", "replay", "--write").code == 0
    assert file.read_bytes() == whole


@pytest.mark.parametrize("words", ["--write --until A", "--write --first 1", "--until A --first 1"])
def test_what_makes_no_sense_is_refused(run: Run, words: str) -> None:
    deployed(run)
    assert run("jobs", "replay", *words.split()).code == 64


def test_jobs_are_listed_whatever_became_of_their_lines(run: Run, tmp_path: Path) -> None:
    """Deleted, damaged or merged: it is said, the list is complete, and the way to repair it is named."""
    deployed(run)
    deployed(run, "-i", "count=2")
    whole = run("jobs", "list", "-o", "json").json
    assert whole["problems"] == []
    file = tmp_path / "jobs.tsv"
    lines = file.read_bytes()
    file.write_bytes(b"<<<<<<< ours\n" + lines[: len(lines) // 3])
    shown = run("jobs", "list", "-o", "json")
    assert shown.json["jobs"] == whole["jobs"]
    assert "lines that describe neither a job nor a task: 2" in shown.json["problems"][-1]
    file.unlink()
    shown = run("jobs", "list")
    assert shown.code == 0
    assert all(job["id"] in shown.out for job in whole["jobs"])
    assert "jobs.tsv is missing" in shown.err
    assert "jobs replay --write" in shown.err
    assert run("jobs", "replay", "--write").code == 0
    assert file.read_bytes() == lines


def test_a_job_that_was_taken_back_is_rebuilt_and_says_so(run: Run, tmp_path: Path) -> None:
    assert run("deploy", FAILING, "--yes", "--on-failure", "rollback").code == 7
    assert run("jobs", "replay").code == 0
    shown = run("jobs", "show", "-o", "json").json["job"]
    assert shown["rollback"] == "complete"
    assert "rollback    complete" in run("jobs", "show").out


def test_what_existed_then_is_shown_without_secrets(run: Run, tmp_path: Path) -> None:
    service = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { word: { type: string, metadata: { sensitive: true } } }
  node_templates: { one: { type: tosca.nodes.Root } }
  outputs: { word: { value: { get_input: word } } }
"""
    (tmp_path / "service.yaml").write_text(service)
    assert run("deploy", "service.yaml", "--yes", "-i", "word=hunter2").code == 0
    for more in (("--first", "1"), ("--first", "1", "-o", "json"), ("--until", "A")):
        shown = run("jobs", "replay", *more)
        assert shown.code == 0, shown.err
        assert "hunter2" not in shown.out
        assert shown.out.count("(sensitive)") >= 2


def test_a_deployment_keeps_the_id_that_its_first_job_has_drawn(run: Run, tmp_path: Path) -> None:
    def drawn(text: str) -> list[str]:
        return [line.split()[-1] for line in text.splitlines() if line.startswith("  ensemble: ")]

    deployed(run)
    file = tmp_path / "ensemble.yaml"
    (first,) = drawn(file.read_text())
    assert run("undeploy", "--yes").code == 0
    deployed(run)
    assert drawn(file.read_text()) == [first]
    assert drawn(run("jobs", "replay", "--first", "1").out) == [first]
