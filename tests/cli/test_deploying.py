"""Deploying, looking at what exists, and undeploying, through the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import DATA, Finished, Run
from tests.support.yaml_files import read_yaml

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
    document = read_yaml((tmp_path / "ensemble.yaml").read_text())
    assert document["spec"]["inputs"] == {"log": str(tmp_path / "log"), "count": 2}
    assert (tmp_path / document["spec"]["service"]).resolve() == TINY
    assert {i["readyState"]["state"] for i in document["status"]["instances"].values()} == {"started"}


def test_progress_and_report_go_to_standard_error(run: Run) -> None:
    done = deployed(run)
    lines = [" ".join(line.split()) for line in done.err.splitlines()]
    assert "Plan: 2 to create, 0 to change, 0 to remove; 2 operations in 2 waves." in lines
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
    assert planned.out.splitlines()[-1].startswith("Plan: 3 to create, 0 to change, 0 to remove; 3 operations")
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
        data = shown.json if form == "json" else read_yaml(shown.out)
        assert isinstance(data, dict)


def test_every_result_for_programs_names_its_format(run: Run, tmp_path: Path) -> None:
    """Those of jobs, too, and in the stream of events; the outputs have no other names than those of the template."""
    assert deployed(run, "-o", "json").json["format"] == "ordito.deploy/1"
    (tmp_path / "hosts.yaml").write_text("hosts: { here: { connection: local } }\n")
    for words, name in (
        (["status"], "status"),
        (["jobs", "list"], "jobs-list"),
        (["validate"], "validate"),
        (["validate", TINY, FAILING], "validate"),
        (["revisions"], "revisions"),
        (["hosts", "list"], "hosts-list"),
        (["hosts", "check"], "hosts-check"),
        (["workflow", "list"], "workflow-list"),
        (["state", "show"], "state-show"),
        (["secrets", "list"], "secrets-list"),
        (["blocks", "list"], "blocks-list"),
        (["spec"], "spec"),
        (["explain", "locked"], "explain"),
        (["jobs", "logs"], "jobs-logs"),
        (["jobs", "replay"], "jobs-replay"),
        (["plan"], "plan"),
        (["diff"], "diff"),
        (["doctor"], "doctor"),
        (["check", "--yes"], "drift"),
        (["undeploy", "--yes"], "undeploy"),
    ):
        shown = run(*words, "-o", "json")
        assert shown.json["format"] == f"ordito.{name}/1", words
        assert next(iter(shown.json)) == "format"
        (told,) = [line for line in run(*words, "--json").events if line["type"] == "result"]
        assert told["result"]["format"] == f"ordito.{name}/1", words
    assert run("jobs", "show", "-o", "json").json["format"] == "ordito.job/4"
    assert "format" not in run("output", "-o", "json").json


def test_an_output_is_bare_by_name(run: Run) -> None:
    """R-3.9-4, R-2.1-5: outputs are there after the deployment."""
    deployed(run)
    assert run("output", "said").out == "hello from base_1\n"
    assert run("output", "said", "-o", "json").json == {"said": "hello from base_1"}
    unknown = run("output", "sad")
    assert unknown.code == 3
    assert 'did you mean "said"' in unknown.err


def test_an_output_of_what_was_never_deployed(run: Run) -> None:
    assert run("init").code == 0
    early = run("output", "greeting")
    assert early.code == 3
    assert "nothing is deployed" in early.err
    assert "ordito deploy" in early.err


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
    """R-5.8.5-12: exit code 1, the last lines, the place of the declaration, a recap, and commands that exist."""
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
    assert run("status", "-e", "first").out.startswith("first  ok")
    (tmp_path / "first" / "service.yaml").write_text("mine")
    again = run("init", "first")
    assert again.code == 3
    assert (tmp_path / "first" / "service.yaml").read_text() == "mine"
    for name in ("no", "1.0", 'a "b"', "läden 🧶"):
        assert run("init", name).code == 0
        assert run("compile", f"{name}/service.yaml").json["name"] == name
    assert run("init", "x", "--template", "helo").err.count('did you mean "hello"') == 1


# ----------------------------------------------------------------------------------------------------- nothing to do


def own_copy(tmp_path: Path) -> Path:
    """The service, to be changed by a test: the word is an output, and no operation takes it."""
    service = tmp_path / "service"
    (service / "scripts").mkdir(parents=True)
    (service / "scripts" / "log.sh").write_bytes((TINY / "scripts" / "log.sh").read_bytes())
    text = (TINY / "service.yaml").read_text().replace("said: { get_input: word }", "said: hello")
    (service / "service.yaml").write_text(text)
    return service


def test_inputs_on_which_no_operation_depends(run: Run, tmp_path: Path) -> None:
    """Given or written: it is said that they changed, and nothing is written. A new default stands in other files."""
    service = own_copy(tmp_path)
    assert run("deploy", service, "-y", "-e", "here", "-i", f"log={tmp_path / 'log'}").code == 0
    manifest = tmp_path / "here" / "ensemble.yaml"

    def said_and_kept(*words: str) -> None:
        before = files_of(tmp_path)
        again = run("deploy", "--yes", "-e", "here", *words)
        assert again.code == 0
        assert "Nothing to do" in again.err
        assert "these inputs changed, but no operation depends on them: word;" in again.err
        assert "outputs keep their values until something is deployed" in again.err
        assert "word = hello" in again.out
        assert "no operation depends on them: word" in run("plan", "-e", "here", *words).err
        assert run("deploy", "-y", "-e", "here", "-o", "json", *words).json["changed_inputs"] == ["word"]
        assert files_of(tmp_path) == before

    assert "these inputs" not in run("deploy", "--yes", "-e", "here").err
    said_and_kept("-i", "word=other")
    original = manifest.read_text()
    manifest.write_text(original.replace("  inputs:\n    log", "  inputs:\n    word: written\n    log", 1))
    said_and_kept()
    manifest.write_text(original)
    text = (service / "service.yaml").read_text()
    (service / "service.yaml").write_text(text.replace("default: hello", "default: good day"))
    renewed = run("deploy", "--yes", "-e", "here")
    assert ("taken-over" in renewed.err, "nothing was run" in renewed.err) == (True, True)
    assert "word = good day" in renewed.out
    assert "Nothing to do" in run("deploy", "--yes", "-e", "here").err


def row_of(ensemble: Path, last: str) -> str:
    """What the ensemble holds of its last instance."""
    return (ensemble / "ensemble.yaml").read_text().partition(f"    {last}:\n")[2]


def haunt(ensemble: Path, row: str) -> None:
    """Add an instance of a node that is in no service."""
    manifest = ensemble / "ensemble.yaml"
    text = manifest.read_text().replace("  records: 2\n", "  records: 3\n")
    manifest.write_text(text + "    ghost_1:\n" + row.replace("template: top", "template: ghost"))


def test_undeploying_names_what_it_keeps(run: Run, tmp_path: Path) -> None:
    """Instances of nodes that the deployed service does not have are not nothing."""
    deployed(run)
    row = row_of(tmp_path, "top_1")
    assert run("undeploy", "-y").code == 0
    haunt(tmp_path, row)
    kept = run("undeploy", "-y")
    assert kept.code == 0, kept.err
    assert "nothing is deployed" not in kept.err
    assert "kept, because their nodes are not in the deployed service: ghost_1" in kept.err
    assert "Next:  ordito deploy" in kept.err
    assert run("undeploy", "-y", "-o", "json").json["kept"] == ["ghost_1"]
    planned = run("plan", "undeploy")
    assert "the service that was deployed has no instances" in planned.out
    assert "ghost_1" in planned.err


def test_warnings_of_a_plan_say_once_that_they_are_warnings(run: Run, tmp_path: Path) -> None:
    deployed(run)
    haunt(tmp_path, row_of(tmp_path, "top_1"))
    planned = run("plan", "undeploy")
    (line,) = [line for line in planned.out.splitlines() if "ghost" in line]
    assert line.count("warning") == 1


def test_the_plan_of_nothing(run: Run) -> None:
    deployed(run)
    run("undeploy", "-y")
    assert run("plan", "undeploy").out == "Nothing to do: nothing is deployed.\n"


def test_waves_are_counted_as_they_are_shown(run: Run) -> None:
    """Waves in which nothing is run count only where they are shown."""
    planned = run("plan", TINY, "-i", "log=log").out
    assert "2 operations in 2 waves." in planned
    assert [line.split()[0] for line in planned.partition("Order\n")[2].splitlines()[:2]] == ["1", "2"]
    full = run("plan", TINY, "-i", "log=log", "--full").out
    assert "2 operations and 4 no-ops in 6 waves." in full
    assert "Wave 6" in full


def test_the_list_of_jobs_holds_numbers(run: Run) -> None:
    deployed(run)
    (job,) = run("jobs", "list", "-o", "json").json["jobs"]
    assert isinstance(job["seconds"], float)


@pytest.mark.parametrize("deletes", [True, False])
def test_after_a_failed_removal_it_is_offered_again_only_where_something_is_left(
    run: Run, tmp_path: Path, *, deletes: bool
) -> None:
    (tmp_path / "service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  node_templates:\n"
        "    a:\n"
        "      type: tosca.nodes.Root\n"
        "      interfaces: { Standard: { operations: { create: good.sh, stop: bad.sh, delete: delete.sh } } }\n"
    )
    for script, code in (("good", 0), ("bad", 1), ("delete", 0 if deletes else 1)):
        (tmp_path / f"{script}.sh").write_text(f"exit {code}\n")
    assert run("deploy", "service.yaml", "-y").code == 0
    failed = run("undeploy", "-y")
    assert failed.code == 1
    assert bool(run("status", "-o", "json").json["instances"]) is not deletes
    assert ("try again to remove what is left" in failed.err) is not deletes
    assert ("see that no instance is left" in failed.err) is deletes


def test_a_service_that_is_not_there_is_told_with_who_names_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ensemble.yaml").write_text("spec:\n  service: nowhere\n")
    for verb in ("plan", "deploy"):
        refused = run(verb)
        assert refused.code == 3
        assert "this ensemble deploys nowhere, but there is no such file or folder" in refused.err
        assert '"service" in ensemble.yaml names it' in refused.err


def test_a_section_of_a_plug_in_that_is_not_installed_says_what_may_be_missing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hosts.yaml").write_text("shelf: { folder: here }\n")
    refused = run("hosts", "check")
    assert refused.code == 3
    assert "is known when the plug-in is installed" in refused.err


HALF_MADE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    web:
      type: tosca.nodes.Root
      interfaces: { Standard: { operations: { start: start.sh } } }
  outputs: { url: { value: "http://web" } }
  workflows:
    again:
      inputs: { word: { type: string, required: false } }
      steps:
        say:
          target: web
          activities: [ call_operation: { operation: Standard.start, inputs: { WORD: { get_input: word } } } ]
"""


def test_outputs_of_what_is_not_all_there_are_marked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(HALF_MADE)
    (tmp_path / "start.sh").write_text("exit 1\n")
    failed = run("deploy", "service.yaml", "--yes")
    assert failed.code == 1
    assert failed.out == "Outputs, valid once everything is deployed:\nurl = http://web\n"
    (tmp_path / "start.sh").write_text(":\n")
    assert run("deploy", "service.yaml", "--yes").out == "url = http://web\n"
    ran = run("run", "start", "--yes")
    assert "Plan: runs on 1 instance; 1 operation in 1 wave." in ran.err
    unset = run("workflow", "run", "again", "--yes")
    assert 'input "word" of workflow "again" has no value' in unset.err
