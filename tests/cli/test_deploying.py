"""Deploying, looking at what exists, and undeploying, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.program import DATA, Finished, Run

TINY = DATA / "tiny"
FAILING = DATA / "failing"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and ".ordito" not in p.parts}


def deployed(run: Run, *more: str) -> Finished:
    return run("deploy", TINY, "--yes", "-i", f"log={Path.cwd() / 'log'}", *more)


def test_the_first_deployment_makes_the_ensemble(run: Run, tmp_path: Path) -> None:
    done = deployed(run, "-i", "count=2")
    assert done.code == 0, done.err
    assert "said = hello from base_1" in done.out
    assert sorted((tmp_path / "log").read_text().split()) == ["base_1", "top_1", "top_2"]
    document = yaml.safe_load((tmp_path / "ensemble.yaml").read_text())
    assert document["spec"]["inputs"] == {"log": str(tmp_path / "log"), "count": 2}
    assert (tmp_path / document["spec"]["service"]).resolve() == TINY
    assert {i["readyState"]["state"] for i in document["status"]["instances"].values()} == {"started"}


def test_progress_and_report_go_to_standard_error(run: Run) -> None:
    done = deployed(run)
    lines = [" ".join(line.split()) for line in done.err.splitlines()]
    assert "Plan: 2 to make, 0 to change, 0 to remove; 2 operations in 6 waves." in lines
    assert any(line.endswith("base_1 create start") for line in lines)
    assert any(line.endswith("base_1 configure no-op") for line in lines)
    assert "base_1 ok=1 no-op=2" in lines
    assert any(line.startswith("Job ") and "done after" in line for line in lines)
    assert done.out.splitlines() == ["said = hello from base_1", "word = hello"]


def test_verbose_shows_what_operations_print(run: Run) -> None:
    assert "│ said hello from base_1" in deployed(run, "-v").err


def test_quiet_says_nothing_but_the_result(run: Run) -> None:
    done = deployed(run, "-q")
    assert done.err == ""
    assert "said = " in done.out


def test_a_second_deployment_does_nothing_and_says_so(run: Run, tmp_path: Path) -> None:
    deployed(run)
    before = files_of(tmp_path)
    again = run("deploy", "--yes")
    assert again.code == 0
    assert "Nothing to do" in again.err
    assert files_of(tmp_path) == before
    assert run("jobs", "list", "-o", "json").json["jobs"][0]["workflow"] == "deploy"
    assert len(run("jobs", "list", "-o", "json").json["jobs"]) == 1


def test_an_empty_plan_needs_no_answer(run: Run) -> None:
    deployed(run)
    assert run("deploy").code == 0


def test_inputs_given_later_are_remembered_and_win(run: Run, tmp_path: Path) -> None:
    """The user's part stays byte for byte, and wins again once it says something else."""
    deployed(run)
    user = (tmp_path / "ensemble.yaml").read_text().partition("# ====")[0]
    assert run("deploy", "--yes", "-i", "count=3").code == 0
    assert (tmp_path / "ensemble.yaml").read_text().startswith(user)
    assert set(run("status", "-o", "json").json["instances"]) == {"base_1", "top_1", "top_2", "top_3"}
    assert "Nothing to do" in run("deploy", "--yes").err

    manifest = (tmp_path / "ensemble.yaml").read_text()
    (tmp_path / "ensemble.yaml").write_text(manifest.replace("  inputs:\n    log", "  inputs:\n    count: 2\n    log"))
    assert run("deploy", "--yes").code == 0
    assert set(run("status", "-o", "json").json["instances"]) == {"base_1", "top_1", "top_2"}


def test_inputs_that_change_nothing_are_not_remembered_and_that_is_said(run: Run) -> None:
    deployed(run)
    again = run("deploy", "--yes", "-i", "count=1")
    assert "not remembered: count" in again.err


def test_undeploy_uses_what_was_deployed_whatever_became_of_it(run: Run, tmp_path: Path) -> None:
    service = tmp_path / "service"
    (service / "scripts").mkdir(parents=True)
    for file in ("service.yaml", "scripts/log.sh"):
        (service / file).write_bytes((TINY / file).read_bytes())
    assert run("deploy", "service", "-y", "-i", f"log={tmp_path / 'log'}").code == 0
    (service / "service.yaml").write_text("broken: [")
    (service / "scripts" / "log.sh").unlink()
    removed = run("undeploy", "--yes")
    assert removed.code == 0, removed.err
    assert (tmp_path / "log").read_text().split() == ["base_1", "top_1", "top_1", "base_1"]
    assert run("status", "-o", "json").json["instances"] == {}
    assert set(run("status", "--all", "-o", "json").json["instances"]) == {"base_1", "top_1"}
    assert "nothing is deployed" in run("undeploy", "--yes").err


def test_the_plan_names_changes_reasons_places_and_order(run: Run, tmp_path: Path) -> None:
    planned = run("plan", TINY, "-i", f"log={tmp_path / 'log'}", "-i", "count=2")
    assert planned.code == 0, planned.err
    assert "+ base_1" in planned.out
    assert f"{TINY / 'service.yaml'}:25:5" in planned.out
    assert "1  base_1 create" in planned.out
    assert "2  top_1 create | top_2 create" in planned.out
    assert planned.out.splitlines()[-1].startswith("Plan: 3 to make, 0 to change, 0 to remove; 3 operations")
    assert list(tmp_path.iterdir()) == []


def test_the_full_plan_names_every_step_with_its_reason(run: Run, tmp_path: Path) -> None:
    planned = run("plan", TINY, "--full", "-i", f"log={tmp_path / 'log'}")
    assert "base_1 configure  no-op" in planned.out
    assert "scripts/log.sh" in planned.out


def test_a_plan_of_undeploying(run: Run) -> None:
    deployed(run)
    planned = run("plan", "undeploy", "-o", "json")
    assert [change["symbol"] for change in planned.json["changes"]] == ["-", "-"]
    assert planned.json["workflow"] == "undeploy"
    assert run("plan", "undeploy", "-i", "count=2").code == 64


def test_status_shows_instances_with_state_and_status(run: Run) -> None:
    deployed(run)
    shown = run("status")
    assert shown.out.splitlines()[0] == "tiny  ok  (2 instances, revision 1)"
    assert [line.split() for line in shown.out.splitlines()[1:3]] == [
        ["base_1", "started", "ok"],
        ["top_1", "started", "ok"],
    ]


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_every_reading_verb_has_forms_for_programs(run: Run, form: str) -> None:
    deployed(run)
    for words in (["status"], ["output"], ["jobs", "list"], ["jobs", "show"], ["plan"], ["validate"], ["jobs", "logs"]):
        shown = run(*words, "-o", form)
        assert shown.code == 0, shown.err
        data = shown.json if form == "json" else yaml.safe_load(shown.out)
        assert isinstance(data, dict)


def test_an_output_is_bare_by_name(run: Run) -> None:
    deployed(run)
    assert run("output", "said").out == "hello from base_1\n"
    assert run("output", "said", "-o", "json").json == {"said": "hello from base_1"}
    unknown = run("output", "sad")
    assert unknown.code == 3
    assert 'did you mean "said"' in unknown.err


def test_jobs_are_listed_shown_and_their_logs_read(run: Run) -> None:
    deployed(run)
    (job,) = run("jobs", "list", "-o", "json").json["jobs"]
    shown = run("jobs", "show", job["id"][:9])
    assert f"Job {job['id']}" in shown.out
    assert "Standard.create" in shown.out
    assert "base_1.Standard.create │ said hello from base_1" in run("jobs", "logs").out
    assert run("jobs", "logs", "--step", "base_1.Standard.create").out == "said hello from base_1\n"
    unknown = run("jobs", "show", "ABCDEFGH0000")
    assert unknown.code == 3
    assert "ordito jobs list" in unknown.err


def test_a_failure_is_reported_with_all_that_helps(run: Run) -> None:
    """Exit code 1, the last lines, the place of the declaration, a recap, and commands that exist."""
    failed = run("deploy", FAILING, "-y", "-e", "here")
    assert failed.code == 1
    for said in (
        "FAILED bad_1 create: exit 3 after",
        "(scripts/bad.sh)",
        "│ it broke",
        f"operation declared at {FAILING / 'service.yaml'}:16:",
        "FAILED=1",
        "ordito -e here jobs logs",
        "ordito -e here deploy",
        "ordito -e here undeploy",
    ):
        assert said in failed.err
    instances = run("status", "-e", "here", "-o", "json").json["instances"]
    assert instances["good_1"]["effective"] == "ok"
    assert "Traceback" not in failed.err
    assert run("-e", "here", "undeploy", "--yes").code == 0


def test_the_stream_of_events_tells_the_whole_job(run: Run) -> None:
    done = deployed(run, "--json")
    events = done.events
    assert events[0]["type"] == "version"
    kinds = [event["type"] for event in events]
    assert kinds.index("plan.change") < kinds.index("job.started") < kinds.index("step.started")
    assert kinds[-2:] == ["job.finished", "result"]
    assert events[-1]["result"]["status"] == "ok"
    assert done.err == ""


def test_another_service_does_not_take_over_an_ensemble(run: Run) -> None:
    deployed(run)
    other = run("deploy", FAILING, "-y")
    assert other.code == 3
    assert "other-service" in other.err


def test_a_service_may_be_named_again_by_file_or_folder(run: Run) -> None:
    deployed(run)
    assert run("deploy", TINY / "service.yaml", "-y").code == 0
    assert run("deploy", TINY, "-y").code == 0


def test_a_new_project_deploys_at_once_and_is_never_overwritten(run: Run, tmp_path: Path) -> None:
    assert run("init", "first").code == 0
    assert run("deploy", "first/service.yaml", "-e", "first", "-y").code == 0
    assert run("output", "greeting", "-e", "first").out == "Hello, world!\n"
    (tmp_path / "first" / "service.yaml").write_text("mine")
    again = run("init", "first")
    assert again.code == 3
    assert (tmp_path / "first" / "service.yaml").read_text() == "mine"
    assert run("init", "x", "--template", "helo").err.count('did you mean "hello"') == 1
