"""What pages about a job show: its timeline, its steps, what it changed, and what its operations printed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordito.cli.main import run
from tests.cli.program import until
from tests.server.conftest import deployed
from tests.support.serving import Answer, Client, Served

SHOP = "projects/default/ensembles/shop"
FAILING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Said:
    derived_from: tosca.nodes.Root
    interfaces: { Standard: { operations: { create: first.sh, start: second.sh } } }
topology_template:
  node_templates:
    db: { type: Said }
    web: { type: Said, requirements: [ dependency: db ] }
"""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server of an ensemble whose only job has failed: `db` could not be started, in two attempts."""
    place = tmp_path_factory.mktemp("failed")
    (place / "service.yaml").write_text(FAILING)
    (place / "first.sh").write_text('echo "made $ORDITO_STEP"\n')
    (place / "second.sh").write_text("echo no room left; exit 3\n")
    shop = place / "shop"
    words = ["deploy", str(place / "service.yaml"), "--yes", "--attempts", "2"]
    assert run(["-e", str(shop), "-q", *words]) != 0
    with Served(place / "home", shop) as server:
        yield server.admin()


def steps_in(timeline: dict[str, Any]) -> list[tuple[str, str, int]]:
    """The steps of a timeline with their letters and the numbers of their attempts, in their order."""
    found, columns = [], timeline["steps"]
    for number, (row, operation) in enumerate(zip(columns["row"], columns["operation"], strict=True)):
        name = f"{timeline['rows'][row]}.{timeline['operations'][operation]}"
        name = columns["step"].get(str(number), name)
        found.append((name, columns["state"][number], columns["attempt"][number]))
    return found


def test_a_timeline_has_every_attempt_in_the_order_of_its_begin(failed: Client) -> None:
    found = failed.get(f"{SHOP}/jobs/latest/timeline")
    assert (found["format"], found["workflow"], found["status"]) == ("ordito.jobs-timeline/1", "deploy", "failed")
    assert steps_in(found) == [
        *[("db_1.Standard.create", "s", 1), ("db_1.Standard.configure", "n", 0)],
        *[("db_1.Standard.start", "a", 1), ("db_1.Standard.start", "f", 2)],
        *[(f"web_1.Standard.{operation}", "k", 0) for operation in ("create", "configure", "start")],
    ]
    columns = found["steps"]
    assert all(start >= 0 for start in columns["start"])
    assert all(took >= 0 for took in columns["milliseconds"])
    assert sum(columns["start"]) <= found["end"]
    assert found["critical"] == [0, 2, 3]
    without = failed.get(f"{SHOP}/jobs/latest/timeline", no_ops="false")
    assert len(without["steps"]["row"]) == 3


def test_steps_say_what_was_tried_and_why(failed: Client) -> None:
    found = failed.get(f"{SHOP}/jobs/latest/steps")
    assert found["counts"] == {"succeeded": 1, "no-op": 1, "failed": 1, "skipped": 3}
    steps = {step["id"]: step for step in found["items"]}
    start = steps["db_1.Standard.start"]
    assert [(one["state"], one["exit_code"]) for one in start["attempts"]] == [("failed", 3), ("failed", 3)]
    assert (start["state"], start["most"], start["exit_code"], start["tail"]) == ("failed", 2, 3, ["no room left"])
    assert start["declared"].endswith("service.yaml:5:63")
    assert start["reason"]
    assert steps["web_1.Standard.create"]["because"] == "db_1.Standard.start"


def test_steps_are_found_by_state_instance_and_text_and_read_by_page(failed: Client) -> None:
    path = f"{SHOP}/jobs/latest/steps"
    assert [one["id"] for one in failed.get(path, state="failed,skipped", instance="db_1")["items"]] == [
        "db_1.Standard.start"
    ]
    assert len(failed.get(path, q="CREATE")["items"]) == 2
    assert failed.get(path, q="nothing")["items"] == []
    names: list[str] = []
    after: int | None = 0
    while after is not None:
        page = failed.get(path, limit=1, after=after)
        names += [one["id"] for one in page["items"]]
        after = page["next"]
    assert len(names) == len(set(names)) == 6


def test_changes_are_read_by_page(failed: Client) -> None:
    job = failed.get(f"{SHOP}/jobs")["jobs"][0]["id"]
    whole = failed.get(f"{SHOP}/jobs/{job}")["changes"]
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = failed.get(f"{SHOP}/jobs/{job}/changes", limit=1, after=after)
        found += page["items"]
        after = page["next"]
    assert found == whole
    assert failed.ask("GET", f"{SHOP}/jobs/ZZ/changes").data["code"] == "unknown-job"
    assert failed.ask("GET", f"{SHOP}/jobs/{job}/timeline", job=job).status == 400


def test_who_may_not_read_what_is_printed_gets_the_rest(failed: Client) -> None:
    token = failed.do("POST", "me/tokens", {"name": "viewing", "role": "viewer"})["token"]
    viewer = failed.with_token(token)
    steps = viewer.get(f"{SHOP}/jobs/latest/steps")["items"]
    assert all("tail" not in step for step in steps)
    changes = viewer.get(f"{SHOP}/jobs/latest/changes")["items"]
    assert not any("output" in change for change in changes)
    assert viewer.ask("GET", f"{SHOP}/jobs/latest/log").status == 403


def test_a_timeline_goes_on_where_its_stream_begins(failed: Client) -> None:
    found = failed.ask("GET", f"{SHOP}/jobs/latest/timeline")
    topic = f"job:default/shop/{found.data['job']}"
    assert failed.get("events", topic=topic, after=found.headers["Ordito-Cursor"])["items"] == []


def test_a_job_without_its_events_is_shown_by_its_record(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    with Served(tmp_path / "home", shop) as server:
        client = server.admin()
        kept = client.get(f"{SHOP}/jobs/latest/timeline")
        for path in (shop / ".ordito" / "events").iterdir():
            path.unlink()
        found = client.get(f"{SHOP}/jobs/{kept['job']}/timeline")
        assert sorted(steps_in(found)) == sorted(steps_in(kept))
        steps = client.get(f"{SHOP}/jobs/{kept['job']}/steps")
        assert steps["counts"] == {"succeeded": 4, "no-op": 2}
        assert all(step["ended"] and step["reason"] for step in steps["items"])
        assert [step["began"] != "" for step in steps["items"]].count(True) == 4


def test_a_job_that_runs_says_what_runs_what_waits_and_what_is_to_come(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    (tmp_path / "service.yaml").write_text(FAILING)
    (tmp_path / "first.sh").write_text(f"[ -e {gate}-tried ] || {{ touch {gate}-tried; echo not yet; exit 75; }}\n")
    (tmp_path / "second.sh").write_text(f"while [ ! -e {gate} ]; do sleep 0.02; done\n")
    shop = tmp_path / "shop"
    words = ["deploy", str(tmp_path / "service.yaml"), "--yes", "--attempts", "3"]
    running = subprocess.Popen([sys.executable, "-m", "ordito", "-e", str(shop), "-q", *words])
    try:
        until((shop / ".ordito" / "begun").exists)
        with Served(tmp_path / "home", shop) as server:
            client = server.admin()
            path = f"{SHOP}/jobs/latest"
            until(lambda: "running" in client.get(f"{path}/steps", q="start")["counts"])
            steps = {step["id"]: step for step in client.get(f"{path}/steps")["items"]}
            assert [one["state"] for one in steps["db_1.Standard.create"]["attempts"]] == ["failed", "succeeded"]
            assert steps["db_1.Standard.start"]["state"] == "running"
            last = steps["web_1.Standard.start"]
            assert (last["state"], last["began"], last["waits_for"]) == ("pending", "", ["web_1.Standard.configure"])
            assert last["reason"]
            assert last["declared"].endswith("service.yaml:5:63")
            found = client.get(f"{path}/timeline")
            assert found["status"] == "running"
            assert (found["end"], found["steps"]["milliseconds"][-1], found["steps"]["state"]) == (-1, -1, "asnr")
    finally:
        gate.touch()
        running.wait(60)


def test_what_a_running_job_has_done_so_far_is_the_begin_of_what_it_does(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    (tmp_path / "service.yaml").write_text(FAILING)
    (tmp_path / "first.sh").write_text("echo made\n")
    (tmp_path / "second.sh").write_text(f"while [ ! -e {gate} ]; do sleep 0.02; done\n")
    shop = tmp_path / "shop"
    assert run(["-e", str(shop), "-q", "deploy", str(tmp_path / "service.yaml"), "--yes"]) == 0
    gate.unlink()
    running = subprocess.Popen([sys.executable, "-m", "ordito", "-e", str(shop), "-q", "restart", "--all", "--yes"])
    try:
        until((shop / ".ordito" / "begun").exists)
        with Served(tmp_path / "home", shop) as server:
            client = server.admin()
            path = f"{SHOP}/jobs/latest"
            until(lambda: "running" in client.get(f"{path}/steps", q="start")["counts"])
            so_far = client.get(f"{path}/changes")
            assert (so_far["complete"], so_far["next"], so_far["last"]) == (False, None, len(so_far["items"]))
            stopped = {one["target"]: one["changes"] for one in so_far["items"] if one["operation"] == "Standard.stop"}
            # Only what is other than before.
            assert {name: changes[name]["local"] for name, changes in stopped.items()} == {
                "db_1": "pending",
                "web_1": "pending",
            }
            assert "node" not in stopped["db_1"]["db_1"]
            assert client.get(f"{path}/changes", after=so_far["last"])["items"] == []
            events = client.ask("GET", f"{path}/events.ndjson")
            assert b'"job.finished"' not in events.body
            gate.touch()
            assert running.wait(60) == 0
            whole = client.get(f"{path}/changes")
            assert (whole["complete"], whole["next"], whole["last"]) == (True, None, len(whole["items"]))
            rest = client.get(f"{path}/changes", after=so_far["last"])["items"]
            assert [*so_far["items"], *rest] == whole["items"]
            _go_on(client, f"{path}/events.ndjson", f"job:default/shop/{whole['job']}", events)
    finally:
        gate.touch()
        running.wait(60)


def _go_on(client: Client, path: str, topic: str, before: Answer) -> None:
    """Check that events go on without gap or repetition behind those that were read while the job ran."""
    end = before.headers["Ordito-Next"]
    more = client.ask("GET", path, after=end).body
    assert before.body + more == client.ask("GET", path).body
    assert b'"job.finished"' in more
    streamed = client.get("events", topic=topic, after=before.headers["Ordito-Cursor"])["items"]
    assert [one["type"] for one in streamed] == [json.loads(line)["type"] for line in more.splitlines()]
    refused = client.ask("GET", path, after=int(end) - 1)
    assert (refused.status, refused.data["code"]) == (400, "bad-cursor")


def test_a_log_is_read_backwards_and_narrowed(failed: Client) -> None:
    path = f"{SHOP}/jobs/latest/log"
    whole = failed.get(path)
    texts = [(piece["step"], piece["text"]) for piece in whole["pieces"]]
    printed: dict[str, str] = {}
    for step, text in texts:
        # What one program prints may come in several pieces.
        printed[step] = printed.get(step, "") + text
    assert printed == {
        "db_1.Standard.create": "made db_1.Standard.create\n",
        "db_1.Standard.start": "no room left\nno room left\n",
    }
    assert (whole["begin"], whole["next"]) == (0, whole["size"])
    last = failed.get(path, before=-1, limit=1)
    assert [(piece["step"], piece["text"]) for piece in last["pieces"]] == texts[-1:]
    earlier = failed.get(path, before=last["begin"])
    assert [(piece["step"], piece["text"]) for piece in earlier["pieces"]] == texts[:-1]
    assert (earlier["begin"], earlier["next"]) == (0, last["begin"])
    found = failed.get(path, operation="Standard.create", instance="db_1")
    assert {piece["step"] for piece in found["pieces"]} == {"db_1.Standard.create"}
    assert found["next"] == whole["size"]
    assert failed.ask("GET", path, before=5, after=5).status == 400


def test_a_text_is_found_in_a_log(failed: Client) -> None:
    path = f"{SHOP}/jobs/latest/log/search"
    found = failed.get(path, q="NO room")
    assert [(one["step"], one["line"]) for one in found["items"]] == [("db_1.Standard.start", 0)] * 2
    # What one program prints may come in several pieces, and a text is that of its piece.
    assert all("no room left".startswith(one["text"]) for one in found["items"])
    assert found["next"] is None
    there = failed.get(f"{SHOP}/jobs/latest/log", after=found["items"][1]["offset"])
    assert "".join(piece["text"] for piece in there["pieces"]) == "no room left\n"
    first = failed.get(path, q="room", limit=1)
    assert len(first["items"]) == 1
    assert failed.get(path, q="room", after=first["next"])["items"] == found["items"][1:]
    assert failed.get(path, q="room", step="db_1.Standard.create")["items"] == []
    assert failed.ask("GET", path, q="").status == 400


def test_what_a_log_can_be_narrowed_by(failed: Client) -> None:
    found = failed.get(f"{SHOP}/jobs/latest/log/facets")
    # What one program prints may come in several pieces.
    printed = {one["name"]: one["pieces"] for one in found["steps"]}
    assert [*printed] == ["db_1.Standard.create", "db_1.Standard.start"]
    assert printed["db_1.Standard.create"] >= 1
    assert printed["db_1.Standard.start"] >= 2
    assert [one["name"] for one in found["instances"]] == ["db_1"]
    assert [one["name"] for one in found["operations"]] == ["Standard.create", "Standard.start"]
    assert (found["steps"][0]["first"], found["more"]) == (0, 0)


def test_a_log_is_waited_for(failed: Client) -> None:
    end = failed.get(f"{SHOP}/jobs/latest/log")["next"]
    found = failed.ask("GET", f"{SHOP}/jobs/latest/log", after=end, wait=1)
    assert (found.data["pieces"], found.data["complete"]) == ([], True)
    assert (found.headers["Ordito-Next"], found.headers["Ordito-Complete"]) == (str(end), "true")


def test_the_report_of_a_job_is_a_page_without_rights(failed: Client) -> None:
    found = failed.ask("GET", f"{SHOP}/jobs/latest/report.html")
    assert found.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"no room left" in found.body
    policy = found.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith("sandbox")
    assert failed.ask("GET", f"{SHOP}/jobs/latest/steps").headers["Content-Security-Policy"] != policy
    assert any(one["action"] == "report.read" for one in failed.get("audit")["items"])


def test_events_and_what_was_printed_are_files(failed: Client) -> None:
    job = failed.get(f"{SHOP}/jobs")["jobs"][0]["id"]
    log = failed.ask("GET", f"{SHOP}/jobs/latest/log.txt")
    assert log.headers["Content-Disposition"] == f'attachment; filename="{job}.log.txt"'
    assert log.body.decode() == (
        "db_1.Standard.create: made db_1.Standard.create\n" + "db_1.Standard.start: no room left\n" * 2
    )
    events = failed.ask("GET", f"{SHOP}/jobs/{job}/events.ndjson").body.decode().splitlines()
    kinds = [json.loads(line)["type"] for line in events if '"type"' in line]
    assert (kinds.count("step.failed"), kinds[-1]) == (1, "job.finished")
    assert any("no room left" in line for line in events)
    viewer = failed.with_token(failed.do("POST", "me/tokens", {"name": "files", "role": "viewer"})["token"])
    assert b"no room left" not in viewer.ask("GET", f"{SHOP}/jobs/{job}/events.ndjson").body
    assert viewer.ask("GET", f"{SHOP}/jobs/{job}/log.txt").status == 403


def test_all_jobs_are_found_by_words_and_read_by_page(failed: Client) -> None:
    whole = failed.get("jobs")
    assert (len(whole["items"]), whole["next"]) == (1, None)
    assert len(failed.get("jobs", q="DEPLOY", ensemble="default/shop", status="failed")["items"]) == 1
    assert failed.get("jobs", q="nothing")["items"] == []
    assert failed.get("jobs", ensemble="default/other")["items"] == []
    assert failed.ask("GET", "jobs", after="?").data["code"] == "bad-cursor"


def test_answers_and_streams_name_the_same_places(failed: Client) -> None:
    job = failed.get(f"{SHOP}/jobs")["jobs"][0]["id"]
    for route, topic in (("", "job"), ("/timeline", "job"), ("/log", "log")):
        cursor = failed.ask("GET", f"{SHOP}/jobs/{job}{route}").headers["Ordito-Cursor"]
        told = failed.get("events", topic=f"{topic}:default/shop/{job}", after=cursor)
        assert told["items"] == []
