"""What holds for every route: how deep bodies are, which fields lists have, what is written down and forgotten."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import urllib3

from ordito.server.limits import DeniedRows
from tests.server.test_permissions import token_of
from tests.support.serving import API, Client, Served, until

SHOP = "projects/default/ensembles/shop"


def test_bodies_are_nested_only_so_deep(served: Served, admin: Client) -> None:
    """Brackets in texts do not count."""
    for depth, code in ((60, "unknown-field"), (5_000, "nested"), (100_000, "nested")):
        deep = "[" * depth + "]" * depth
        body = f'{{"request": {{"workflow": "deploy", "inputs": {{"a": {deep}}}}}, "strange": 1}}'
        found = _post(admin, f"{SHOP}/plans", body)
        assert (found.status, json.loads(found.data)["code"]) == (400, "malformed")
        assert (b"nested more than 64 deep" in found.data) is (code == "nested"), (depth, found.data)
    flat = json.dumps({"name": "a-name", "strange": "[" * 500 + '\\"{'})
    assert b"nested" not in _post(admin, "me/tokens", flat).data


def _post(client: Client, path: str, body: str) -> urllib3.BaseHTTPResponse:
    headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
    return urllib3.PoolManager(retries=False).request(
        "POST", f"{client.url}{API}/{path}", body=body.encode(), headers=headers
    )


def test_lists_have_the_fields_that_are_asked_for(admin: Client) -> None:
    found = admin.get("audit", fields="number,action", limit=1)
    assert [sorted(item) for item in found["items"]] == [["action", "number"]]
    assert found["next"]
    wrong = admin.ask("GET", "audit", fields="number,actoin")
    assert (wrong.status, wrong.data["code"]) == (400, "malformed")
    assert wrong.data["hint"] == 'did you mean "action"?'


def test_what_was_meant_is_said_wherever_it_stands(admin: Client) -> None:
    """Fields and values deep in a body, tags, and values of a query."""
    plans, more = f"{SHOP}/plans", {"If-Match": "*"}
    for method, path, body, hint in (
        ("POST", plans, {"request": {"workflow": "deploy", "allw": []}}, 'did you mean "allow"?'),
        ("POST", plans, {"request": {"workflow": "deploj"}}, 'did you mean "deploy"?'),
        ("POST", plans, {"request": {"workflow": "deploy"}, "apply": "auot"}, 'did you mean "auto"?'),
        ("POST", plans, {"request": {"workflow": "deploy"}, "aply": "auto"}, 'did you mean "apply"?'),
        ("PUT", "projects/default/bindings", {"bindings": [{"kind": "usr"}]}, 'did you mean "user"?'),
        ("PUT", "projects/default/bindings", {"bindings": [{"kind": "user", "rolle": "x"}]}, 'did you mean "role"?'),
        ("POST", plans, {"request": {"workflow": "scale", "zzz": 1}}, "it may have: workflow, names"),
        ("POST", plans, {"request": {"workflow": "deploy"}, "bind": "q"}, "it may be: exact, latest"),
    ):
        found = admin.ask(method, path, body, more)
        assert (found.status, found.data["code"]) == (400, "malformed"), found
        assert found.data["hint"].startswith(hint), found
    assert admin.ask("GET", "ensembles", sort="nmae").data["hint"] == 'did you mean "name"?'


def test_a_filter_for_what_nothing_can_be_is_refused(admin: Client) -> None:
    """An empty list would look as if there was nothing."""
    for path, name, value, hint in (
        (f"{SHOP}/plans", "state", "redy", 'did you mean "ready"?'),
        ("ensembles", "status", "eror", 'did you mean "error"?'),
        ("jobs", "status", "failled", 'did you mean "failed"?'),
        ("jobs", "status", "x", "it may be: running, interrupted, failed, degraded, cancelled, ok"),
    ):
        found = admin.ask("GET", path, None, None, **{name: value})
        assert (found.status, found.data["code"], found.data["hint"]) == (400, "malformed", hint)
    assert admin.get(f"{SHOP}/plans", state="open")["items"] == []
    assert len(admin.get("ensembles", status="ok")["items"]) == len(admin.get("jobs", status="ok")["items"]) == 1


def test_lists_say_where_their_stream_goes_on(admin: Client) -> None:
    """What happens behind a list is told once by a stream that begins with its cursor, and nothing of before."""
    admin.do("PUT", "freeze", {"reason": "before"})
    cursors = {path: admin.ask("GET", path).headers["Ordito-Cursor"] for path in ("ensembles", "jobs", "projects")}
    one = admin.ask("GET", SHOP).headers["Ordito-Cursor"]
    assert admin.get("events", topic="ensemble:default/shop", after=one)["items"] == []
    admin.do("DELETE", "freeze")
    for path, cursor in cursors.items():
        found = admin.get("events", topic="ensembles", after=cursor, wait=20)["items"]
        assert [item["type"] for item in found] == ["freeze.changed"], path
    assert admin.ask("GET", "projects/default").headers["Ordito-Cursor"]


def test_what_is_replaced_was_seen(admin: Client) -> None:
    """Users, groups and projects are changed by who says which version they have seen."""
    admin.do("POST", "users", {"name": "seen"})
    admin.do("PUT", "groups/seers", {"members": ["seen"]})
    for path, method, body in (
        ("users/seen", "PATCH", {"auditor": True}),
        ("groups/seers", "PUT", {"members": ["seen", admin.get("me")["name"]]}),
        ("projects/default", "PATCH", {"description": "as seen"}),
    ):
        assert admin.ask(method, path, body).data["code"] == "match-required", path
        tag = {"If-Match": admin.ask("GET", path).headers["ETag"]}
        changed = admin.ask(method, path, body, tag)
        assert changed.status == 200, changed
        assert changed.headers["ETag"] == admin.ask("GET", path).headers["ETag"], path
        late = admin.ask(method, path, body, tag)
        assert (late.status, late.data["code"]) == (412, "changed"), path
    admin.do("DELETE", "users/seen")
    admin.do("DELETE", "groups/seers")


def test_a_path_with_a_line_break_is_refused_as_all_others(admin: Client) -> None:
    for path in ("projects/default/packages/0/files/a%0Ab", "%0A"):
        found = admin.ask("GET", path)
        assert (found.status, found.headers["Content-Type"]) == (404, "application/problem+json")


def test_groups_have_names_and_members(admin: Client) -> None:
    for name, members, says in (
        ("-x", ["a"], "no group can be called"),
        ("a%20b", ["a"], "no group can be called"),
        ("n" * 64, ["a"], "no group can be called"),
        ("empty", [], "a group has at least one member"),
    ):
        found = admin.ask("PUT", f"groups/{name}", {"members": members})
        assert (found.status, found.data["code"]) == (400, "malformed"), found
        assert found.data["detail"].startswith(says)
        assert found.data["hint"]
    assert admin.ask("GET", "groups/empty").data["code"] == "unknown-group"


def test_a_refusal_says_what_to_do_next(admin: Client) -> None:
    """With the nearest name of those that may be seen, the command, and the request that does the same."""
    for path, hint, listed in (
        ("projects/defalt", 'did you mean "default"?', "projects"),
        ("projects/defalt/ensembles/shop", 'did you mean "default"?', "projects"),
        ("projects/default/ensembles/shpo/status", 'did you mean "shop"?', "ensembles"),
        ("projects/default/ensembles/zzz", "the list has those that you may see", "ensembles"),
    ):
        found = admin.ask("GET", path).data
        assert found["hint"] == hint
        [step] = found["next"]
        assert step["words"] == [listed, "list"]
        assert admin.ask(step["method"], step["path"]).status == 200
    admin.do("POST", "users", {"name": "blind"})
    stranger = admin.with_token(token_of(admin, "blind"))
    assert stranger.ask("GET", "projects/defalt").data["hint"] == "the list has those that you may see"
    assert admin.ask("DELETE", "freeze", {}).data["hint"] == "leave it out"
    assert admin.ask("GET", "audit?limit=1&limit=2").data["hint"] == "give it once"
    [step] = admin.ask("PATCH", "projects/default", {"description": "x"}).data["next"]
    assert (step["method"], step["path"]) == ("GET", "/api/v1/projects/default")


def test_a_single_result_comes_as_yaml(admin: Client) -> None:
    found = admin.ask("GET", f"{SHOP}/status", headers={"Accept": "application/yaml"})
    assert found.headers["Content-Type"] == "application/yaml"
    assert b"format: ordito.status/" in found.body


def test_the_audit_log_is_exported_whole_and_row_by_row(tmp_path: Path) -> None:
    """However long it is: it is never in memory as a whole."""
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "projects", {"name": "first"})
        with sqlite3.connect(server.home / "server.db") as database:
            [last] = database.execute("SELECT max(number) FROM audit").fetchone()
            names = [row[1] for row in database.execute("PRAGMA table_info(audit)")]
            row = dict(
                zip(names, database.execute("SELECT * FROM audit WHERE number = ?", (last,)).fetchone(), strict=True)
            )
            marks = ", ".join("?" * len(names))
            rows = (
                [*({**row, "number": last + more, "detail": "x" * 1_000}[name] for name in names)]
                for more in range(1, 60_001)
            )
            database.executemany(f"INSERT INTO audit VALUES ({marks})", rows)
        before = _memory(server)
        found = admin.ask("GET", "audit/export")
        numbers = [json.loads(line)["number"] for line in found.body.splitlines()]
        assert numbers == list(range(1, last + 60_001))
        assert _memory(server) - before < 40 << 20, "of 80 MB"
        assert json.loads(found.body.splitlines()[0])["action"]


def _memory(server: Served) -> int:
    """The most memory in bytes that the server has had."""
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(text.partition("VmHWM:")[2].split()[0]) * 1024


def test_the_audit_log_is_filtered_by_time(tmp_path: Path) -> None:
    with Served(tmp_path) as server:
        admin = server.admin()
        admin.do("POST", "projects", {"name": "first"})
        [made] = admin.get("audit", action="project.make")["items"]
        assert [row["number"] for row in admin.get("audit", since=made["time"])["items"]] == [made["number"]]
        assert made["number"] not in [row["number"] for row in admin.get("audit", until=made["time"])["items"]]
        for wrong in ("yesterday", "2026-11-22T21:58:18"):
            assert admin.ask("GET", "audit", since=wrong).data["code"] == "malformed"


def test_what_is_read_and_refused_is_written_down(served: Served, admin: Client) -> None:
    """Logs, also those that are followed, once in a while; and what somebody may not do. No cursor and no offset makes
    the first reading look like a later one."""
    job = admin.get(f"{SHOP}/jobs")["jobs"][0]["id"]
    where = f"default/shop/{job}"
    first = admin.get(f"{SHOP}/jobs/latest/log")
    admin.get(f"{SHOP}/jobs/latest/log", after=first["next"])
    page = admin.get("events", topic=f"log:{where}")
    admin.get("events", topic=f"log:{where}", after=page["next"])
    rows = admin.get("audit", action="logs.read")["items"]
    assert [row["object"] for row in rows] == [where, job]
    admin.do("POST", "users", {"name": "eve"})
    eve = admin.with_token(token_of(admin, "eve"))
    assert eve.ask("GET", "users").status == 403
    bindings = admin.get("projects/default/bindings")["bindings"]
    eves = {"kind": "user", "who": "eve", "role": "planner"}
    owner = {"kind": "user", "who": admin.get("me")["name"], "role": "owner"}
    admin.do("PUT", "projects/default/bindings", {"bindings": [*bindings, eves, owner]}, {"If-Match": "*"})
    assert eve.get(f"{SHOP}/jobs/{job}/log", after=1)["begin"] == 1
    assert eve.get("events", topic=f"log:{where}", after=page["next"])["items"] == []
    rows = admin.get("audit", action="logs.read", actor="eve")["items"]
    assert [row["object"] for row in rows] == [where, job]
    admin.do("PUT", "projects/default/bindings", {"bindings": [*bindings, owner]}, {"If-Match": "*"})
    [denied] = admin.get("audit", actor="eve", outcome="denied")["items"]
    assert (denied["action"], denied["detail"]) == ("get_users", "needs administer")


def test_who_is_refused_again_and_again_does_not_fill_the_audit_log(served: Served, admin: Client) -> None:
    admin.do("POST", "users", {"name": "knocks"})
    knocks = admin.with_token(token_of(admin, "knocks"))
    for _ in range(50):
        assert knocks.ask("GET", "users").status == 403
    assert knocks.ask("GET", "groups").status == 403
    rows = admin.get("audit", actor="knocks", outcome="denied", limit=500)["items"]
    assert [row["action"] for row in rows] == ["get_groups", *["get_users"] * 10]
    now = time.monotonic()
    counts = DeniedRows(lambda: now)
    assert [counts.take("x", "look") is not None for _ in range(15)] == [True] * 10 + [False] * 5
    assert counts.take("y", "look") == ""
    assert sum(counts.take("x", f"look {number}") == "" for number in range(500)) == 300 - 15
    now += 61
    assert counts.take("x", "look") == "; 5 more were refused before, and have no row"
    assert counts.take("x", "look") == ""


def test_what_is_over_is_forgotten(tmp_path: Path) -> None:
    """Sessions, links, tokens, sign-ins, answers, events, freezes: without anybody asking for it."""
    with Served(tmp_path) as server:
        token = server.admin().token
        stop = server.stop()
    assert stop == 0
    past = time.time() - 30 * 24 * 3600
    rows = {
        "session": {"id": "s", "hash": b"s", "user": "u", "address": "", "agent": "", "created": past, "seen": past},
        "link": {"hash": b"l", "user": "u", "expires": past},
        "login": {"id": "g", "code": "c", "hash": b"g", "name": "", "address": "", "user": "", "expires": past},
        "idempotency": {"principal": "p", "key": "k", "digest": b"", "answer": b"a", "expires": past},
        "event": {"topic": "t", "type": "old", "project": "", "ensemble": "", "body": "{}", "created": past},
        "freeze": {"project": "", "ensemble": "", "reason": "", "who": "", "until": past, "created": past},
    }
    with sqlite3.connect(tmp_path / "server.db") as database:
        for table, row in rows.items():
            marks = ", ".join("?" * len(row))
            database.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    with Served(tmp_path) as server:
        assert Client(server.url, token).get("freeze")["items"] == []

        def left() -> list[str]:
            with sqlite3.connect(tmp_path / "server.db") as database:
                old = {
                    "session": "id = 's'", "link": "hash = x'6c'", "login": "id = 'g'", "idempotency": "key = 'k'",
                    "event": "type = 'old'", "freeze": "until > 0",
                }  # fmt: skip
                return [
                    name
                    for name, which in old.items()
                    if database.execute(f"SELECT 1 FROM {name} WHERE {which}").fetchone()
                ]

        until(left, lambda found: not found)


def test_settings_are_changed_while_it_runs_and_kept(tmp_path: Path) -> None:
    """From the next request on, also by the next server; by who has seen what they replace."""
    with Served(
        tmp_path, settings="banner: from the file\negress: [ 'file:///srv/shop.git', old.example ]\n"
    ) as server:
        admin = server.admin()
        first = admin.ask("GET", "settings")
        assert first.data["changed"] == {"banner": None, "jobs": None, "limits": None, "egress": None}
        wanted = {"banner": "closed on Friday", "egress": ["new.example:8443"], "limits": {"body": 300}}
        assert admin.ask("PUT", "settings", wanted).data["code"] == "match-required"
        done = admin.ask("PUT", "settings", wanted, {"If-Match": first.headers["ETag"]})
        assert done.status == 200, done
        assert done.data["egress"] == ["file:///srv/shop.git", "new.example:8443"]
        assert Client(server.url).get("/api/v1")["banner"] == "closed on Friday"
        assert admin.ask("POST", "projects", {"name": "a", "description": "x" * 400}).data["code"] == "too-large"
        late = admin.ask("PUT", "settings", {}, {"If-Match": first.headers["ETag"]})
        assert (late.status, late.data["code"]) == (412, "changed")
        for wrong in ({"egress": ["file:///etc"]}, {"limits": {"body": 0}}, {"bannner": ""}, {"isolation": "none"}):
            assert admin.ask("PUT", "settings", wrong, {"If-Match": "*"}).data["code"] == "malformed", wrong
        [row] = admin.get("audit", action="settings.set")["items"]
        assert row["detail"] == "banner limits egress"
        token = admin.token
    with Served(tmp_path, settings="") as again:
        admin = Client(again.url, token)
        assert admin.get("settings")["banner"] == "closed on Friday"
        assert admin.do("PUT", "settings", {}, {"If-Match": "*"})["banner"] == "from the file"
