"""What the server says of itself: its figures, its settings, and a message to all who use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.server.test_plans import SHOP, Shop, ask, reaches
from tests.support.serving import MANY_REQUESTS, Client, Served


def figures(client: Client) -> dict[str, float]:
    """The figures, by name and labels."""
    answer = client.ask("GET", "/metrics")
    assert answer.status == 200
    lines = [line for line in answer.body.decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def test_jobs_plans_and_looks_are_counted(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    with Served(tmp_path / "home", shop.directory) as server:
        client = server.admin()
        client.get(f"{SHOP}/status")
        before = figures(client)
        assert before['ordito_plans{state="applied"}'] == 0
        ask(client, {"workflow": "stop", "all": True})
        applied = ask(client, {"workflow": "restart", "all": True}, apply="auto")
        reaches(client, applied, "applied")
        found = figures(client)
        assert found['ordito_plans{state="applied"}'] == 1
        assert found['ordito_jobs_total{status="ok",workflow="restart"}'] == 1
        assert found['ordito_job_seconds_count{workflow="restart"}'] == 1
        assert found['ordito_query_seconds_count{look="status"}'] >= 1
        assert found['ordito_query_seconds_count{look="make plan"}'] == 2
        for name in ("ordito_queue_longest", "ordito_queue_seconds", "ordito_event_lag"):
            assert found[name] == 0
        assert found['ordito_deliveries{state="waiting"}'] == 0


def test_a_queue_has_a_length_and_an_age(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    with Served(tmp_path / "home", shop.directory) as server:
        client = server.admin()
        client.do("PUT", "freeze", {"reason": "holidays"})
        for _ in range(2):
            # Not as `ask` does: what is frozen would be waited for.
            body = {"request": {"workflow": "restart", "all": True}, "apply": "auto"}
            reaches(client, client.do("POST", f"{SHOP}/plans", body), "queued")
        found = figures(client)
        assert found["ordito_queue_longest"] == 2
        assert found["ordito_queue_seconds"] > 0
        assert found['ordito_plans{state="queued"}'] == 2


def test_settings_are_shown_without_what_is_secret(tmp_path: Path) -> None:
    settings = f"banner: back at nine\njobs: {{ parallel: 3 }}\n{MANY_REQUESTS}"
    with Served(tmp_path / "home", settings=settings) as server:
        found = server.admin().get("settings")
        assert (found["banner"], found["isolation"], found["jobs"]["parallel"]) == ("back at nine", "none", 3)
        assert found["warning"] == ""
        assert Client(server.url).get("/api/v1")["banner"] == "back at nine"
        assert Client(server.url).ask("GET", "settings").status == 401


def test_different_deployers_without_isolation_are_warned_of(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Served(tmp_path / "home") as server:
        admin = server.admin()
        for project, who in (("one", "ann"), ("two", "ben")):
            admin.do("POST", "projects", {"name": project})
            admin.do("POST", "users", {"name": who})
            bindings = [{"kind": "user", "who": who, "role": "deployer"}]
            owner = {"kind": "user", "who": admin.get("me")["name"], "role": "owner"}
            admin.do("PUT", f"projects/{project}/bindings", {"bindings": [owner, *bindings]}, {"If-Match": "*"})
        assert "different deployers" in admin.get("settings")["warning"]
    with Served(tmp_path / "home") as again:
        assert re.search("^warning: .*different deployers", again.log.read_text(), re.MULTILINE)
