"""What the API answers about ensembles is what the command answers."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ordito.cli.main import run
from tests.server.conftest import CANARY, deployed
from tests.support.serving import Client, Served

ENSEMBLE = "projects/default/ensembles/shop"
LOOKS = {
    "status": ["status"],
    "nodes/web": ["describe", "web"],
    "nodes/db_1": ["describe", "db_1"],
    "jobs": ["jobs", "list"],
    "revisions": ["revisions"],
    "workflows": ["workflow", "list"],
    "policies": ["policy", "list"],
    "spec/evaluated": ["spec"],
}


@pytest.mark.parametrize("path", LOOKS)
def test_results_are_those_of_the_command(
    admin: Client, shop: Path, path: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    assert run(["-o", "json", *LOOKS[path]]) == 0
    assert admin.get(f"{ENSEMBLE}/{path}") == json.loads(capsys.readouterr().out)


def test_a_job_by_the_beginning_of_its_id(admin: Client) -> None:
    [job] = admin.get(f"{ENSEMBLE}/jobs")["jobs"]
    assert admin.get(f"{ENSEMBLE}/jobs/{job['id'][:3]}")["job"]["changeId"] == job["id"]


@pytest.mark.parametrize("words", [["describe", "wep"], ["jobs", "show", "ZZ"], ["workflow", "show", "none"]])
def test_refusals_are_those_of_the_command(
    admin: Client, shop: Path, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop)
    assert run(["-o", "json", *words]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    place = {"describe": "nodes", "jobs": "jobs", "workflow": "workflows"}[words[0]]
    found = admin.ask("GET", f"{ENSEMBLE}/{place}/{words[-1]}")
    assert found.headers["Content-Type"] == "application/problem+json"
    problem = found.data
    assert (problem["code"], problem["detail"], problem["hint"]) == (error["code"], error["message"], error["hint"])
    assert found.status == problem["status"] == 404
    page = admin.ask("GET", problem["type"])
    assert page.status == 200
    assert problem["title"] in page.body.decode()


def test_an_answer_is_not_sent_again_as_long_as_nothing_changes(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    with Served(tmp_path / "home", shop) as server:
        client = server.admin()
        first = client.ask("GET", f"{ENSEMBLE}/status")
        tag = {"If-None-Match": first.headers["ETag"]}
        assert client.ask("GET", f"{ENSEMBLE}/status", headers=tag).status == 304
        assert run(["-e", str(shop), "-q", "stop", "web", "--yes"]) == 0
        after = client.ask("GET", f"{ENSEMBLE}/status", headers=tag)
        assert after.status == 200
        assert after.data["instances"]["web_1"]["state"] == "configured"


def test_the_log_of_a_job_is_read_in_parts(admin: Client) -> None:
    [job] = admin.get(f"{ENSEMBLE}/jobs")["jobs"]
    at, texts = 0, []
    while True:
        part = admin.get(f"{ENSEMBLE}/jobs/{job['id']}/log", after=at, limit=1)
        texts += [piece["text"] for piece in part["pieces"]]
        at = part["next"]
        if part["complete"]:
            break
    lines = "".join(texts).splitlines()
    assert len(lines) == 4
    assert all(line.endswith(" says hello") for line in lines)


def test_unknown_fields_are_refused_with_the_nearest_name(admin: Client) -> None:
    found = admin.ask("GET", f"{ENSEMBLE}/status", al="1")
    assert (found.status, found.data["code"], found.data["hint"]) == (400, "malformed", 'did you mean "all"?')
    found = admin.ask("POST", "projects", {"name": "x", "descriptio": "y"})
    assert (found.status, found.data["hint"]) == (400, 'did you mean "description"?')


def test_paths_and_methods_that_are_not_there(admin: Client) -> None:
    assert admin.ask("GET", "projekts").data["hint"] == "did you mean /api/v1/projects?"
    wrong = admin.ask("DELETE", "projects")
    assert (wrong.status, wrong.data["code"], wrong.headers["Allow"]) == (405, "no-such-method", "GET, HEAD, POST")


def test_a_damaged_ensemble_is_a_problem_and_no_fault(tmp_path: Path) -> None:
    shop = deployed(tmp_path)
    with Served(tmp_path / "home", shop) as server:
        client = server.admin()
        (shop / "ensemble.yaml").write_text("status: [")
        (shop / ".ordito" / "journal.db").write_bytes(b"no database" * 1_000)
        found = client.ask("GET", f"{ENSEMBLE}/status")
        assert found.status == 422, found
        assert found.data["detail"]
        assert "Traceback" not in server.log.read_text()


def test_no_answer_and_no_file_of_the_server_holds_a_secret(admin: Client, served: Served, shop: Path) -> None:
    [job] = admin.get(f"{ENSEMBLE}/jobs")["jobs"]
    paths = [*LOOKS, "status?all=true", f"jobs/{job['id']}", f"jobs/{job['id']}/log"]
    bodies = [admin.ask("GET", f"{ENSEMBLE}/{path}") for path in paths]
    bodies += [admin.ask("GET", "events", topic=f"{kind}:default/shop/{job['id']}") for kind in ("job", "log")]
    bodies += [admin.ask("GET", "audit/export"), admin.ask("GET", "/metrics")]
    assert {answer.status for answer in bodies} == {200}
    files = [path.read_bytes() for path in served.home.iterdir() if path.is_file()]
    assert not [text for text in (*(answer.body for answer in bodies), *files) if CANARY.encode() in text]


def test_a_page_of_a_code_is_no_path(admin: Client) -> None:
    for name in ("x" * 300, "..%2Fpages", "locked%00", "Locked"):
        found = admin.ask("GET", f"/problems/{name}")
        assert (found.status, found.data["code"]) == (404, "unknown-page"), name


@pytest.mark.parametrize("key", ["-1", "1e400", "9" * 40, '"abc"', "[1]", "{}", "\xff"])
@pytest.mark.parametrize("where", ["audit?after=", "users?after=", "events?topic=job:default/shop/{job}&after="])
def test_cursors_that_nobody_gave_are_refused(admin: Client, where: str, key: str) -> None:
    [job] = admin.get(f"{ENSEMBLE}/jobs")["jobs"]
    text = f"[{key}]" if "events" in where else key
    cursor = base64.urlsafe_b64encode(text.encode("latin-1")).decode().rstrip("=")
    found = admin.ask("GET", where.format(job=job["id"]) + cursor)
    is_name = "users" in where and key == '"abc"'
    assert found.status == (200 if is_name else 400), found


def test_a_log_is_read_only_from_where_it_can_be(admin: Client) -> None:
    [job] = admin.get(f"{ENSEMBLE}/jobs")["jobs"]
    for after in ("-1", "9" * 40):
        assert admin.ask("GET", f"{ENSEMBLE}/jobs/{job['id']}/log", after=after).status == 400
    beyond = admin.get(f"{ENSEMBLE}/jobs/{job['id']}/log", after=1 << 40)
    assert (beyond["pieces"], beyond["complete"]) == ([], True)
