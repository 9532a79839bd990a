"""What really happened, found by checks and shown by the status: with real processes that end as files say."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import DATA, Finished, Run, start
from tests.support.yaml_files import read_yaml

SERVICE = DATA / "watched"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the operations look."""
    made = tmp_path / "said"
    made.mkdir()
    return made


def deployed(run: Run, folder: Path, *more: str) -> Finished:
    return run("deploy", SERVICE, "--yes", "-i", f"folder={folder}", *more)


def instances(run: Run, *more: str) -> dict[str, Any]:
    found = run("status", "-o", "json", *more)
    assert found.code == 0, found.err
    return dict(found.json["instances"])


def recorded(name: str) -> dict[str, Any]:
    document = read_yaml(Path("ensemble.yaml").read_text(encoding="utf-8"))
    return dict(document["status"]["instances"][name])


def changed(tmp_path: Path, before: str, after: str) -> Path:
    """A copy of the service in which something is written otherwise."""
    copy = tmp_path / "copy"
    shutil.copytree(SERVICE, copy)
    text = (copy / "service.yaml").read_text(encoding="utf-8")
    assert before in text
    (copy / "service.yaml").write_text(text.replace(before, after), encoding="utf-8")
    return copy


def log(folder: Path, *, clear: bool = True) -> list[str]:
    path = folder / "log"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if clear:
        path.unlink(missing_ok=True)
    return lines


# ------------------------------------------------------------------------------------- what failures come to


def test_a_chain_of_three_is_as_bad_as_its_beginning(run: Run, folder: Path) -> None:
    """The effective status of what depends on a failure, directly and in turn, is an error; its own stays ok."""
    assert deployed(run, folder).code == 0
    (folder / "base_1.look").write_text("1")
    assert run("check", "base").code == 0
    found = instances(run)
    assert {n: (found[n]["local"], found[n]["effective"]) for n in ("base_1", "middle_1", "top_1")} == {
        "base_1": ("error", "error"),
        "middle_1": ("ok", "error"),
        "top_1": ("ok", "error"),
    }
    assert run("status", "-o", "json").json["status"] == "error"


def test_one_of_five_failed_is_degraded(run: Run, folder: Path) -> None:
    assert deployed(run, folder, "-i", "count=5").code == 0
    (folder / "middle_3.look").write_text("1")
    assert run("check", "middle_3").code == 0
    found = instances(run)
    assert (found["middle_3"]["effective"], found["middle_2"]["effective"]) == ("error", "ok")
    assert found["top_1"]["effective"] == "degraded"
    assert run("status", "-o", "json").json["status"] == "degraded"


def test_what_is_optional_may_fail(run: Run, folder: Path) -> None:
    """The job is degraded, exits with 0 and a warning, and makes a revision; what requires it was made."""
    (folder / "extra_1.create").write_text("1")
    done = deployed(run, folder, "-i", "count=1")
    assert done.code == 0, done.err
    assert "warning: what failed is optional" in done.err
    assert "FAILED (optional) extra_1 create: exit 1" in done.err
    shown = run("status", "-o", "json").json
    assert (shown["revision"], shown["last_job"]["status"], shown["status"]) == (1, "degraded", "degraded")
    found = shown["instances"]
    assert (found["extra_1"]["local"], found["user_1"]["local"], found["user_1"]["effective"]) == (
        *("unknown", "ok", "degraded"),
    )
    assert "user_1 start" in log(folder)


def test_a_script_that_only_fails_leaves_something_unknown_that_undeploying_deletes(run: Run, folder: Path) -> None:
    """`exit 1` says nothing of what was done before it: unknown, in the state error, and it is stopped and deleted."""
    (folder / "user_1.create").write_text("1")
    assert deployed(run, folder).code == 1
    record = recorded("user_1")
    assert record["readyState"] == {"local": "unknown", "effective": "unknown", "state": "error"}
    assert record["created"]
    log(folder)
    undone = run("undeploy", "--yes")
    assert undone.code == 0, undone.err
    assert [line for line in log(folder) if line.startswith("user_1")] == ["user_1 stop", "user_1 delete"]
    assert instances(run) == {}


def test_a_pending_dependency_never_makes_create_run_twice(run: Run, folder: Path) -> None:
    """What is ok itself is skipped, whatever its dependencies have come to."""
    assert deployed(run, folder).code == 0
    (folder / "base_1.look").write_text("2")
    assert run("check", "base_1").code == 0
    assert instances(run)["middle_1"]["effective"] == "unknown"
    (folder / "base_1.look").write_text("0")
    log(folder)
    again = run("deploy", "--yes")
    assert again.code == 0, again.err
    assert log(folder) == ["base_1 look"]
    assert instances(run)["base_1"]["local"] == "ok"


def test_an_unknown_instance_is_checked_first(run: Run, folder: Path) -> None:
    """The steps that turn out to be done are skipped, and the reason is said."""
    (folder / "base_1.start").write_text("1")
    assert deployed(run, folder).code == 1
    log(folder)
    again = run("deploy", "--yes")
    assert again.code == 0, again.err
    done = log(folder)
    assert done[0] == "base_1 look"
    assert "base_1 start" not in done
    assert "check says ok" in again.err
    assert recorded("base_1")["readyState"]["local"] == "ok"
    # Nobody has looked: it is said what would.
    for said in (run("deploy", "--yes"), run("upgrade", "--yes"), run("plan"), run("plan", "upgrade")):
        assert "according to the records watched is as described." in said.out + said.err
        assert "ordito check             check what runs" in said.err
        assert "ordito deploy --check    check, and repair what is not ok" in said.err


def test_what_a_check_found_in_error_is_not_taken_for_mended(run: Run, folder: Path, tmp_path: Path) -> None:
    """It is repaired, and only its check, asked again, can say that it is well."""
    service = changed(tmp_path, "    base:\n", "    base:\n      metadata: { ordito.ready: 1 s }\n")
    assert run("deploy", service, "--yes", "-i", f"folder={folder}").code == 0
    (folder / "base_1.look").write_text("1")
    assert run("check", "base").code == 0
    log(folder)
    again = run("deploy", "--yes")
    assert again.code == 1
    done = log(folder)
    assert done[0] == "base_1 look"
    assert done.count("base_1 look") > 1
    assert "base_1" in again.err.partition("FAILED")[2], again.err
    assert recorded("base_1")["readyState"]["local"] == "error"
    (folder / "base_1.look").unlink()
    assert run("deploy", "--yes").code == 0
    assert recorded("base_1")["readyState"]["local"] == "ok"


def test_a_node_without_instances_is_absent(run: Run, folder: Path) -> None:
    assert deployed(run, folder).code == 0
    assert run("undeploy", "--yes", "--include-protected").code == 0
    described = run("describe", "middle")
    assert described.out.splitlines()[0] == "middle  absent"
    assert "ordito check" not in described.err


# ------------------------------------------------------------------------------------------- check and discover


def test_checks_are_recorded_and_make_no_revision(run: Run, folder: Path) -> None:
    assert deployed(run, folder).code == 0
    before = recorded("base_1")
    (folder / "base_1.look").write_text("3")
    checked = run("check", "-o", "json", "--detailed-exitcode")
    assert checked.code == 2
    result = checked.json
    assert result["not_checkable"] == ["extra_1", "user_1"]
    assert result["instances"]["base_1"] == {
        "node": "base",
        "local": "absent",
        "state": "deleted",
        "drift": True,
        "before": {"local": "ok", "state": "started"},
        "reason": "exit 3",
    }
    assert result["instances"]["top_1"]["drift"] is False
    shown = run("status", "-o", "json").json
    assert (shown["revision"], shown["last_job"]["id"]) == (1, result["job"])
    assert run("jobs", "show", result["job"]).code == 0
    after = recorded("base_1")
    assert {k: after[k] for k in ("applied", "created", "lastConfigChange")} == {
        k: before[k] for k in ("applied", "created", "lastConfigChange")
    }
    assert after["lastStateChange"] > after["lastConfigChange"]
    assert "found to be absent" in run("status").out


def test_a_saved_check_is_carried_out_and_says_where_to_look(run: Run, folder: Path) -> None:
    assert deployed(run, folder).code == 0
    assert run("plan", "check", "base", "--out", "check.plan").code == 0
    (folder / "base_1.look").write_text("1")
    done = run("deploy", "check.plan", "--yes")
    assert done.code == 0, done.err
    assert "ordito status    see the status of everything" in done.err
    assert recorded("base_1")["readyState"]["local"] == "error"


def test_nothing_to_check(run: Run, folder: Path) -> None:
    """Each case says what is the matter, and what to do."""
    missing = run("check")
    assert missing.code == 3
    assert "nothing was ever deployed" in missing.err
    assert deployed(run, folder).code == 0
    other = run("check", "user")
    assert other.code == 0
    assert "Not checkable, because their nodes implement no check: user_1." in other.out
    assert "ordito.interfaces.Maintain" in other.out
    unknown = run("check", "bse")
    assert unknown.code == 3
    assert "did you mean base?" in unknown.err
    assert run("undeploy", "--yes").code == 0
    assert "Nothing to check: nothing is deployed." in run("check").out


def test_what_is_discovered_becomes_attributes_and_outputs_follow(run: Run, folder: Path) -> None:
    """R-3.9-4: outputs are evaluated from what exists when they are asked for."""
    assert deployed(run, folder).code == 0
    assert run("output", "port").code == 3
    (folder / "base_1.port").write_text("8080")
    found = run("discover", "base")
    assert found.code == 0
    assert "attribute port: (no value) -> 8080" in found.out
    assert run("output", "port").out == "8080\n"
    assert run("discover", "base", "--detailed-exitcode").code == 0
    (folder / "base_1.port").write_text("none")
    wrong = run("discover", "base")
    assert wrong.code == 1
    assert 'output "port" does not fit an attribute of base_1' in wrong.err
    assert run("output", "port").out == "8080\n"


def test_a_secret_that_is_discovered_is_shown_nowhere(run: Run, folder: Path, tmp_path: Path) -> None:
    """It has the name of a sensitive attribute, and nothing else says what it is."""
    pytest.importorskip("cryptography", reason="what is sensitive cannot be sealed without it")
    assert deployed(run, folder).code == 0
    (folder / "base_1.token").write_text("canary-8472")
    printed = [run(*words) for words in (("discover", "base", "-v"), ("status", "-o", "json"), ("describe", "base_1"))]
    assert all(done.code == 0 and "canary-8472" not in done.out + done.err for done in printed)
    assert "attribute token: (no value) -> (sensitive)" in printed[0].out
    files = [p for p in tmp_path.rglob("*") if p.is_file() and folder not in p.parents]
    assert [p for p in files if b"canary-8472" in p.read_bytes()] == []
    assert run("discover", "base", "--detailed-exitcode").code == 0


# ----------------------------------------------------------------------------------------------- what is kept


def test_undeploying_keeps_what_is_protected_and_what_it_needs(run: Run, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in SERVICE.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    text = (
        (copy / "service.yaml")
        .read_text()
        .replace("    middle:\n", "    middle:\n      metadata: { ordito.protected: yes }\n")
    )
    (copy / "service.yaml").write_text(text.replace("protected: yes", "protected: true"))
    assert run("deploy", copy, "--yes", "-i", f"folder={folder}").code == 0
    undone = run("undeploy", "--yes")
    assert undone.code == 0, undone.err
    kept = [" ".join(line.split()) for line in undone.err.splitlines()]
    assert kept[kept.index("Kept") :][:3] == ["Kept", "= middle_1 protected", "= base_1 middle_1 needs it and is kept"]
    assert set(instances(run)) == {"base_1", "middle_1"}
    assert "everything that exists is kept" in run("undeploy", "--yes").err
    assert run("deploy", "--yes").code == 0
    assert run("undeploy", "--yes", "--include-protected").code == 0
    assert instances(run) == {}


def test_what_has_changed_is_not_removed_unseen(run: Run, folder: Path) -> None:
    assert deployed(run, folder).code == 0
    (folder / "top_1.look").write_text("1")
    assert run("check").code == 0
    refused = run("undeploy", "--yes")
    assert refused.code == 3
    assert "changed since they were created: top_1" in refused.err
    assert "--allow-changed" in refused.err
    assert set(instances(run)) == {"base_1", "middle_1", "top_1", "extra_1", "user_1"}
    assert run("undeploy", "--yes", "--allow-changed").code == 0


# --------------------------------------------------------------------------------------------------- looking on


def test_instances_that_agree_are_one_row(run: Run, folder: Path) -> None:
    assert deployed(run, folder, "-i", "count=4").code == 0
    rows = [" ".join(line.split()) for line in run("status").out.splitlines()]
    assert "middle_1 .. middle_4 (4) started ok" in rows
    (folder / "middle_2.look").write_text("1")
    assert run("check").code == 0
    rows = [" ".join(line.split()) for line in run("status").out.splitlines()]
    assert "middle_1, middle_3, middle_4 started ok" in rows
    assert "middle_2 error error changed since it was created" in rows
    assert "middle_3 started ok" in [" ".join(line.split()) for line in run("status", "-v").out.splitlines()]


def test_an_instance_is_described_with_what_its_status_comes_from(run: Run, folder: Path) -> None:
    assert deployed(run, folder).code == 0
    (folder / "base_1.look").write_text("1")
    assert run("check").code == 0
    shown = run("describe", "middle_1")
    assert shown.code == 0
    assert shown.out.splitlines()[0] == "middle_1  error (itself ok; because of base)"
    assert "base: base_1 error; contributes error" in shown.out
    data = run("describe", "middle_1", "-o", "json").json
    assert data["format"] == "ordito.describe/1"
    assert data["properties"]["folder"] == str(folder)
    assert data["requirements"][0]["instances"] == {"base_1": "error"}
    assert [o["operation"] for o in data["operations"]] == [f"Standard.{o}" for o in ("create", "configure", "start")]
    assert data["events"][0]["operation"] == "Maintain.check"
    node = run("describe", "middle", "-o", "json").json
    assert (node["kind"], list(node["instances"]), node["status"]) == ("node", ["middle_1"], "error")
    assert "ordito heal base_1" in run("describe", "base_1").err


def test_a_name_that_means_two_things_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in SERVICE.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    text = (copy / "service.yaml").read_text()
    (copy / "service.yaml").write_text(
        text.replace("    extra:\n", "    base_1:\n").replace("dependency: extra", "dependency: base_1")
    )
    assert run("deploy", copy, "--yes", "-i", f"folder={folder}").code == 0
    both = run("describe", "base_1")
    assert both.code == 3
    assert "node:base_1" in both.err
    assert "instance:base_1" in both.err
    assert run("describe", "instance:base_1", "-o", "json").json["instance"] == "base_1"
    assert run("describe", "node:base_1", "-o", "json").json["node"] == "base_1"


def test_the_status_is_followed_until_somebody_interrupts(run: Run, folder: Path, tmp_path: Path) -> None:
    """A line for each change that another process makes; Ctrl-C ends it as its usual end."""
    assert deployed(run, folder).code == 0
    watching = start(tmp_path, "status", "--watch")
    try:
        assert watching.stdout is not None
        assert watching.stdout.readline().startswith("watched  ok")
        assert watching.stdout.readline().startswith("last job: ")
        (folder / "base_1.look").write_text("1")
        assert run("check", "base").code == 0
        seen: list[str] = []
        while "watched  ok -> error" not in seen:
            seen.append(watching.stdout.readline().rstrip("\n"))
            assert seen[-1] or len(seen) < 50
        assert "base_1  started -> error  ok -> error" in seen
    finally:
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate()
    assert (watching.returncode, err) == (0, "")


def test_each_change_is_an_object_for_programs(run: Run, folder: Path, tmp_path: Path) -> None:
    assert deployed(run, folder).code == 0
    watching = start(tmp_path, "status", "--watch", "-o", "json")
    try:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        assert first["format"] == "ordito.status/1"
        assert run("undeploy", "--yes").code == 0
        last = first
        while last["instances"]:
            last = json.loads(watching.stdout.readline())
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate()
    assert last["instances"] == {}
