"""`ordito jobs events`: what happened in a job, read later, and followed while another command runs it."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from ordito.base.change_ids import encode
from ordito.ensemble.layout import Layout
from ordito.ensemble.logs import MOST_JOBS
from tests.cli.program import DATA, LIMIT, Run, command, environment, process, start, until
from tests.support.told_events import assert_told, events_of

SLOW = DATA / "slow"
TINY = DATA / "tiny"
LOG = ("-i", "log=log")

UNRECORDED = frozenset({"step.log", "version", "diagnostic", "note", "result", "next", "plan.change"})
"""What `--json` also writes, and the file of events does not hold."""


def told(text: str) -> list[dict[str, Any]]:
    """The lines of a stream without those that only a command itself writes, without what only one of the two has."""
    found = [json.loads(line) for line in text.splitlines()]
    return [
        {name: value for name, value in event.items() if name not in ("n", "inputs", "at")}
        for event in found
        if event["type"] not in UNRECORDED
    ]


def test_they_are_those_of_the_command(run: Run) -> None:
    """What `--json` has written of steps, instances and the end, other than the steps that do nothing, which pass
    through their states at once."""
    deployed = run("deploy", TINY, "--yes", *LOG, "--json")
    read = run("jobs", "events", "--json")
    assert read.code == 0
    assert json.loads(read.out.splitlines()[0])["format"] == "ordito.events/1"
    events = told(read.out)
    assert [e for e in events if e["type"] != "instance.state"] == [
        event
        for event in told(deployed.out)
        if event["type"] != "instance.state" and not (event["type"] == "step.started" and event.get("no_op"))
    ]
    states = {e["instance"]: (e["state"], e["local"]) for e in events if e["type"] == "instance.state"}
    assert states == {
        name: (one["state"], one["local"]) for name, one in run("status", "-o", "json").json["instances"].items()
    }


def test_for_people_they_are_lines(run: Run) -> None:
    """As a job is shown where nothing can be redrawn, and how it ended."""
    run("deploy", DATA / "failing", "--yes")
    read = run("jobs", "events")
    assert read.code == 0
    first, *_, last = read.out.splitlines()
    assert first.startswith("begin deploy, job ")
    assert "FAILED exit" in read.out
    assert " (deploy) failed: " in last


def test_one_result_for_programs(run: Run) -> None:
    """All events of the job that was asked for."""
    run("deploy", TINY, "--yes", *LOG)
    first = run("jobs", "list", "-o", "json").json["jobs"][-1]["id"]
    run("undeploy", "--yes")
    found = run("jobs", "events", first, "-o", "json").json
    assert found["format"] == "ordito.jobs-events/1"
    assert found["job"] == first
    assert found["events"] == events_of(Path(), first)
    refused = run("jobs", "events", "--follow", "-o", "json")
    assert refused.code == 64
    assert "use --json" in refused.err


def test_a_job_that_another_command_runs_is_followed_to_its_end(tmp_path: Path) -> None:
    """Each event once, as it happens."""
    running = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    following = start(tmp_path, "jobs", "events", "--follow", "--json")
    (tmp_path / "go").touch()
    out, err = following.communicate(timeout=LIMIT)
    running.communicate(timeout=LIMIT)
    assert following.wait() == 0, err
    ensemble = tmp_path
    (job,) = Layout(ensemble).job_ids()
    assert [json.loads(line) for line in out.splitlines()[1:]] == events_of(ensemble, job)
    assert_told(ensemble)


def test_of_a_job_that_was_killed_is_told_what_happened_and_how_it_goes_on(tmp_path: Path) -> None:
    """Following ends where nobody works on the job; when it is resumed the rest follows, and nothing comes twice."""
    running = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=LIMIT)
    followed = process(tmp_path, "jobs", "events", "--follow")
    assert followed.code == 0, followed.err
    assert "start" in followed.out
    assert "ordito jobs resume" in followed.err
    (tmp_path / "go").touch()
    assert process(tmp_path, "jobs", "resume").code == 0
    read = process(tmp_path, "jobs", "events")
    assert "continue deploy, job " in read.out
    assert " (deploy) ok: " in read.out
    assert_told(tmp_path)


def test_changes_of_records_are_jobs_too(run: Run) -> None:
    """What is recorded by hand has its events."""
    run("deploy", TINY, "--yes", *LOG)
    node = next(iter(run("status", "-o", "json").json["instances"].values()))["node"]
    assert run("state", "rm", node, "--yes").code == 0
    assert " ok: 1 succeeded" in run("jobs", "events").out
    assert_told(Path())


def test_what_is_not_kept_any_more_is_said(run: Run) -> None:
    """As in a clone: with the command that shows the record."""
    run("deploy", TINY, "--yes", *LOG)
    (job,) = Layout(Path()).job_ids()
    Layout(Path()).events(job).unlink()
    read = run("jobs", "events", job)
    assert read.code == 3
    assert "error[forgotten]" in read.err
    assert f"ordito jobs show {job}" in read.err
    assert run("jobs", "events", "A6XX").code == 3


def test_a_job_does_not_fail_because_of_its_events(run: Run) -> None:
    """The file cannot be written: the job runs, and says so."""
    private = Path(".ordito")
    private.mkdir(parents=True)
    (private / "events").write_text("in the way")
    deployed = run("deploy", TINY, "--yes", *LOG)
    assert deployed.code == 0, deployed.err
    assert "the events of this job are not all in its file" in deployed.err
    assert (private / "events").read_text() == "in the way"


def test_old_files_are_removed_and_the_newest_stay(run: Run, tmp_path: Path) -> None:
    """Logs and events of the newest jobs are kept; nothing else in the folders is touched."""
    assert run("deploy", TINY, "--yes", *LOG).code == 0
    layout = Layout(tmp_path)
    (own,) = layout.job_ids()
    layout.logs.mkdir(exist_ok=True)
    old = [encode(number) for number in range(MOST_JOBS + 5)]
    for job in old:
        layout.log(job).write_bytes(b"=2 a.b\nhi\n")
        layout.events(job).write_bytes(b"{}\n")
    elsewhere = tmp_path / "elsewhere.log"
    elsewhere.write_text("mine")
    layout.log(old[0]).unlink()
    layout.log(old[0]).symlink_to(elsewhere)
    (layout.logs / "notes.txt").write_text("mine")
    assert run("restart", "--all", "--yes").code == 0
    latest = max(layout.job_ids())
    assert {path.stem for path in layout.event_files.iterdir()} == {own, latest, *old[-(MOST_JOBS - 2) :]}
    assert {path.stem for path in layout.logs.glob("*.log")} >= {*old[-(MOST_JOBS - 2) :]}
    assert not layout.log(old[1]).exists()
    for path in (layout.log(own), layout.events(own)):
        path.unlink(missing_ok=True)
    forgotten = run("jobs", "logs", own)
    assert forgotten.code == 0
    assert f"what job {own} printed is not kept here" in forgotten.err
    assert "printed nothing" not in forgotten.err
    assert elsewhere.read_text() == "mine"
    assert (layout.logs / "notes.txt").exists()


def test_the_status_is_watched_while_a_job_runs(tmp_path: Path) -> None:
    """What the job does is seen as it happens, and at the end all is as recorded."""
    running = start(tmp_path, "deploy", SLOW, "-y", "-i", f"place={tmp_path}")
    until((tmp_path / "waiting").exists)
    seen = tmp_path / "seen"
    with seen.open("wb") as out:
        watching = subprocess.Popen(
            command("status", "--watch", "-o", "json"), cwd=tmp_path, env=environment(), stdout=out, stderr=out
        )
    until(lambda: b"\n" in seen.read_bytes())
    (tmp_path / "go").touch()
    running.communicate(timeout=LIMIT)
    recorded = process(tmp_path, "status", "-o", "json").json
    until(lambda: json.loads(seen.read_bytes().rpartition(b"\n")[0].splitlines()[-1]) == recorded)
    watching.send_signal(signal.SIGINT)
    assert watching.wait(LIMIT) == 0
    shown = [json.loads(line) for line in seen.read_bytes().splitlines()]
    assert shown[0]["job"]["outcome"] == "running"
    done = [one["job"]["done"] for one in shown if one["job"]]
    assert done == sorted(done)
