"""Plans on a server: asked for, approved, applied, queued, carried out once, whatever is killed."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import urllib3

from ordito.app.requests import REQUESTS
from ordito.base.options import Argument, declared
from ordito.cli.main import run
from ordito.server.operating.inspecting import verify
from ordito.server.plans.asked import ASKED, WORKFLOWS, request_of
from ordito.server.plans.states import MOVES, OPEN, WORKFLOW_PERMISSIONS, PlanState
from tests.cli.program import until
from tests.server.test_permissions import token_of
from tests.support.killed_server import WHOM
from tests.support.serving import MANY_REQUESTS, Client, Served, children_of, is_gone
from tests.support.thorough import THOROUGH, examples, some

SHOP = "projects/default/ensembles/shop"
WAIT = {"Prefer": "wait=30"}

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Said:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { word: { type: string, metadata: { sensitive: "true" } } }
    interfaces:
      Standard: { operations: { create: say.sh, start: say.sh, stop: say.sh } }
topology_template:
  inputs:
    pass: { type: string, metadata: { sensitive: "true" }, default: nothing }
  node_templates:
    host: { type: tosca.nodes.Compute, occurrences: [ 1, 9 ] }
    web: { type: Said, properties: { word: { get_input: pass } }, requirements: [ host: host ] }
"""

SAY = """\
echo "$ORDITO_STEP" >>"{place}/ran"
if [ -e "{place}/closed" ]; then : >"{place}/waits"; read -r line <"{place}/gate"; fi
[ ! -e "{place}/failing" ]
"""


class Shop:
    """An ensemble whose operations write down that they ran, and wait at a gate while that is closed."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        (place / "service.yaml").write_text(SERVICE)
        (place / "say.sh").write_text(SAY.format(place=place))
        (place / "say.sh").chmod(0o755)
        os.mkfifo(place / "gate")
        self.directory = place / "shop"
        command = ["-e", str(self.directory), "-q", "deploy", str(place / "service.yaml"), "--yes"]
        assert run(command) == 0
        self.forget()

    def forget(self) -> None:
        (self.place / "ran").write_text("")

    @property
    def ran(self) -> list[str]:
        """The steps that have run, in their order."""
        return (self.place / "ran").read_text().split()

    def close(self) -> None:
        (self.place / "waits").unlink(missing_ok=True)
        (self.place / "closed").touch()

    def waits(self) -> bool:
        """Whether an operation waits at the gate."""
        return (self.place / "waits").exists()

    def open(self) -> None:
        """Open the gate, also for who waits at it."""
        (self.place / "closed").unlink()
        handle = os.open(self.place / "gate", os.O_RDWR)
        os.write(handle, b"go\n" * 8)
        # Whoever waits has it open too: what was written stays until it is read.
        until(lambda: not self.waits() or self._is_empty(handle))
        os.close(handle)

    def _is_empty(self, handle: int) -> bool:
        (self.place / "waits").unlink(missing_ok=True)
        return True

    @property
    def jobs(self) -> list[list[str]]:
        lines = [line.split("\t") for line in (self.directory / "jobs.tsv").read_text().splitlines()]
        return [line for line in lines if line[1] == "job"]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "place")


@pytest.fixture
def server(tmp_path: Path, shop: Shop) -> Iterator[Served]:
    with Served(tmp_path / "home", shop.directory) as made:
        yield made


def ask(client: Client, request: dict[str, Any], **more: Any) -> Any:
    """A plan, in the state in which it waits for somebody, or has ended."""
    return client.do("POST", f"{SHOP}/plans", {"request": request, **more}, WAIT)


def apply(client: Client, plan: Any) -> Any:
    return client.do("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": plan["digest"]}, WAIT)


def state(client: Client, plan: Any) -> str:
    return str(client.get(f"{SHOP}/plans/{plan['id']}")["state"])


def reaches(client: Client, plan: Any, *states: str) -> Any:
    """The plan, once it is in one of these states. One that has ended otherwise does not come there any more."""
    until(lambda: state(client, plan) in states or state(client, plan) not in OPEN)
    found = client.get(f"{SHOP}/plans/{plan['id']}")
    assert found["state"] in states, found
    return found


RESTART = {"workflow": "restart", "all": True}


# ------------------------------------------------------------------------------------------------------------- the way


def test_a_plan_is_asked_for_looked_at_and_applied(server: Served, shop: Shop) -> None:
    """What was seen is what runs: another digest is refused; the record names who asked, and the plan."""
    admin = server.admin()
    plan = ask(admin, {"workflow": "scale", "counts": {"host": 3}}, comment="more room")
    assert (plan["state"], plan["fresh"], plan["totals"]["made"]) == ("ready", "fresh", 4)
    assert not shop.ran
    shown = admin.get(f"{SHOP}/plans/{plan['id']}/plan")
    assert {change["symbol"] for change in shown["changes"]} == {"+"}
    part = admin.get(f"{SHOP}/plans/{plan['id']}/plan", part="steps", limit=2)
    assert part["items"] == shown["steps"][:2]
    rest = admin.get(f"{SHOP}/plans/{plan['id']}/plan", part="steps", limit=500, after=part["next"])
    for name in ("changes", "edges"):
        assert admin.get(f"{SHOP}/plans/{plan['id']}/plan", part=name)["items"] == shown[name]
    picture = admin.get(f"{SHOP}/plans/{plan['id']}/topology")
    assert picture["changes"]["id"] == [change["instance"] for change in shown["changes"]]
    assert set(picture["changes"]["change"]) <= set("+~r-=?")
    assert all(0 <= box < len(picture["boxes"]) for box in picture["changes"]["box"])
    assert rest["items"] == shown["steps"][2:]
    wrong = admin.ask("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": "0" * 32})
    assert (wrong.status, wrong.data["code"]) == (412, "changed")
    done = apply(admin, plan)
    assert (done["state"], done["job_status"], done["applied_by"]) == ("applied", "ok", done["by"]["name"])
    head = admin.get(f"{SHOP}/jobs/{done['job']}")["job"]
    assert (head["by"], head["origin"]) == (plan["by"]["name"], plan["id"])
    report = admin.get(f"{SHOP}/plans/{plan['id']}/report")
    assert report["report"]["status"] == "ok"
    again = admin.ask("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": plan["digest"]})
    assert (again.status, again.data["code"]) == (409, "not-ready")
    assert [row["action"] for row in admin.get("audit", action="plan.apply")["items"]] == ["plan.apply"]


def test_a_plan_file_is_the_one_of_the_command(server: Served, shop: Shop, tmp_path: Path) -> None:
    admin = server.admin()
    plan = ask(admin, {"workflow": "scale", "counts": {"host": 2}})
    found = admin.ask("GET", f"{SHOP}/plans/{plan['id']}/file")
    (tmp_path / "scale.plan").write_bytes(found.body)
    assert run(["-e", str(shop.directory), "-q", "deploy", str(tmp_path / "scale.plan"), "--yes"]) == 0
    assert state(admin, plan) == "ready"
    stale = apply(admin, plan)
    assert (stale["state"], stale["problem"]["failure"]["code"]) == ("stale", "stale-plan")
    assert len(shop.jobs) == 2


def test_nothing_to_do_is_empty(server: Served, shop: Shop) -> None:
    admin = server.admin()
    assert ask(admin, {"workflow": "start", "all": True}, apply="auto")["state"] == "empty"
    assert len(shop.jobs) == 1


def test_what_cannot_be_planned_is_refused_with_its_findings(server: Served) -> None:
    """With the code, text, place and hint of the command."""
    plan = ask(server.admin(), {"workflow": "scale", "counts": {"web": 12}}, apply="auto")
    assert (plan["state"], plan["problem"]["failure"]["code"]) == ("refused", "plan-refused")
    [found] = plan["problem"]["diagnostics"]
    assert (found["code"], found["line"] > 0) == ("count-out-of-bounds", True)
    upgrade = next(step for step in plan["problem"]["failure"]["next"] if step.get("words") == ["upgrade"])
    assert (upgrade["method"], upgrade["path"]) == ("POST", f"/api/v1/{SHOP}/plans"), "and the request that helps"


def test_what_somebody_else_did_meanwhile(server: Served, shop: Shop) -> None:
    """A check moves what is recorded on, and the plan stays good; a change of what the user gives makes it stale."""
    admin = server.admin()
    plan, other = ask(admin, RESTART), ask(admin, {"workflow": "stop", "all": True})
    assert run(["-e", str(shop.directory), "-q", "run", "start", "--yes"]) == 0
    assert admin.get(f"{SHOP}/plans/{plan['id']}")["fresh"] == "moved"
    assert apply(admin, plan)["state"] == "applied"
    manifest = shop.directory / "ensemble.yaml"
    manifest.write_text(manifest.read_text().replace("service:", "inputs: { pass: other }\nservice:", 1))
    assert admin.get(f"{SHOP}/plans/{other['id']}")["fresh"] == "stale"
    refused = admin.ask("POST", f"{SHOP}/plans/{other['id']}/apply", {"digest": other["digest"]})
    assert (refused.status, refused.data["code"]) == (409, "stale-plan")
    again = {"method": "POST", "path": f"/api/v1/{SHOP}/plans", "words": ["plan", "stop"]}
    assert refused.data["next"] == [{**again, "purpose": "make it anew, and look at it"}]
    assert state(admin, other) == "stale"


def test_latest_plans_anew(server: Served, shop: Shop) -> None:
    admin = server.admin()
    plan = ask(admin, {"workflow": "scale", "names": ["host"], "delta": 1}, bind="latest")
    assert run(["-e", str(shop.directory), "-q", "scale", "host=2", "--yes"]) == 0
    assert apply(admin, plan)["job_status"] == "ok"
    assert len([name for name in admin.get(f"{SHOP}/status")["instances"] if name.startswith("host_")]) == 3


REQUESTS_AGAIN: list[dict[str, Any]] = [
    {"workflow": "deploy", "force": True, "prune": "no", "inputs": {"pass": {"secret": "word"}}, "input_texts": {}},
    {"workflow": "restart", "names": ["web", "host_1"]},
    {"workflow": "scale", "counts": {"host": 2}},
    {"workflow": "upgrade", "max_unavailable": "25%"},
    {"workflow": "rollback", "revision": 3},
    {"workflow": "skip", "job": "A", "step": "web_1.Standard.start"},
    {"workflow": "retry", "job": "A", "allow_data_loss": ["web"]},
    {"workflow": "run", "operation": "Standard.start"},
]


def test_what_was_asked_for_is_told_for_asking_again(server: Served) -> None:
    admin = server.admin()
    for request in REQUESTS_AGAIN:
        plan = admin.do(
            "POST", f"{SHOP}/plans", {"request": request, "options": {"parallel": 5}, "comment": "for a while"}
        )
        again = admin.get(f"{SHOP}/plans/{plan['id']}/request")
        assert again["request"] == request
        assert (again["options"]["parallel"], again["comment"], again["withheld"]) == (5, "for a while", [])


@pytest.mark.parametrize(
    "request_",
    [
        {"workflow": "deploy", "inputs": {"pass": "canary-41"}, "input_texts": {"other": "canary-41"}},
        {"workflow": "run", "operation": "Standard.start", "inputs": {"word": "canary-41"}},
    ],
    ids=lambda one: str(one["workflow"]),
)
def test_values_that_may_be_secret_are_not_told_for_asking_again(server: Served, request_: dict[str, Any]) -> None:
    admin = server.admin()
    plan = ask(admin, request_)
    answer = admin.ask("GET", f"{SHOP}/plans/{plan['id']}/request")
    assert answer.status == 200
    assert b"canary" not in answer.body
    assert answer.data["withheld"] == sorted({*request_["inputs"], *request_.get("input_texts", {})})


def test_the_same_key_asks_once(server: Served) -> None:
    admin, key = server.admin(), {"Idempotency-Key": "k1"}
    body = {"request": RESTART}
    first, second = (admin.do("POST", f"{SHOP}/plans", body, key) for _ in range(2))
    assert first["id"] == second["id"]
    assert len(admin.get(f"{SHOP}/plans")["items"]) == 1


def test_a_plan_is_discarded_by_its_author_or_who_controls(server: Served) -> None:
    admin = server.admin()
    people = users(admin, ada="planner", ben="operator", cy="planner")
    plan = ask(people["ada"], RESTART)
    refused = people["cy"].ask("POST", f"{SHOP}/plans/{plan['id']}/discard", {})
    assert refused.status in (400, 403)
    assert people["cy"].ask("POST", f"{SHOP}/plans/{plan['id']}/discard").data["code"] == "forbidden"
    assert people["ben"].do("POST", f"{SHOP}/plans/{plan['id']}/discard")["state"] == "discarded"
    assert people["ada"].ask("POST", f"{SHOP}/plans/{plan['id']}/discard").data["code"] == "not-ready"


# ------------------------------------------------------------------------------------------------------ rules and roles


def users(admin: Client, **roles: str) -> dict[str, Client]:
    bindings = []
    for name, role in roles.items():
        admin.do("POST", "users", {"name": name})
        bindings.append({"kind": "user", "who": name, "role": role})
    bindings.append({"kind": "user", "who": admin.get("me")["name"], "role": "owner"})
    admin.do("PUT", "projects/default/bindings", {"bindings": bindings}, {"If-Match": "*"})
    return {name: admin.with_token(token_of(admin, name)) for name in roles}


def test_only_those_apply_who_may_apply_the_workflow(server: Served) -> None:
    people = users(server.admin(), ada="planner", ben="operator", cy="deployer")
    for workflow, who, status in (
        (RESTART, "ada", 403),
        (RESTART, "ben", 202),
        ({"workflow": "run", "operation": "start"}, "ben", 403),
        ({"workflow": "run", "operation": "start"}, "cy", 202),
        ({"workflow": "undeploy"}, "cy", 403),
    ):
        found = people[who].ask("POST", f"{SHOP}/plans", {"request": workflow, "apply": "auto"})
        assert found.status == status, (workflow, who, found.data)
    plan = ask(people["ada"], RESTART)
    found = people["ada"].ask("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": plan["digest"]})
    assert (found.status, found.data["code"]) == (403, "forbidden")


def test_a_rule_asks_for_the_look_of_somebody_else(server: Served, shop: Shop) -> None:
    """By risk; nobody approves their own; an approval holds for one digest; a no ends it."""
    admin = server.admin()
    people = users(admin, ada="maintainer", ben="approver", cy="approver")
    rule = {"when": {"risks": ["removes"]}, "count": 2}
    admin.do("PUT", "projects/default/rules", {"rules": [rule]}, {"If-Match": "*"})
    assert ask(people["ada"], RESTART, apply="auto")["state"] == "applied"
    plan = ask(people["ada"], {"workflow": "undeploy"}, apply="auto")
    assert (plan["state"], plan["risks"][0]) == ("waiting", "removes")
    where = f"{SHOP}/plans/{plan['id']}/approvals"
    yes = {"decision": "approve", "digest": plan["digest"]}
    own = people["ada"].ask("POST", where, yes)
    assert (own.status, own.data["code"]) == (403, "own-plan")
    wrong = people["ben"].ask("POST", where, {**yes, "digest": "0"})
    assert (wrong.status, wrong.data["code"]) == (412, "changed")
    assert [one["id"] for one in people["ben"].get("inbox")["items"]] == [plan["id"]]
    assert people["ben"].do("POST", where, yes)["approvals"]["wanted"][0]["given"] == 1
    assert people["ben"].do("POST", where, yes)["state"] == "waiting"
    assert people["ben"].get("inbox")["items"] == []
    people["cy"].do("POST", where, {**yes, "comment": "seen"})
    done = reaches(admin, plan, "applied")
    head = admin.get(f"{SHOP}/jobs/{done['job']}")["job"]
    assert (head["by"], sorted(head["approvedBy"])) == ("ada", ["ben", "cy"])


def test_who_made_the_token_of_an_account_does_not_approve_what_it_asks_for(server: Served, shop: Shop) -> None:
    """Who holds a token of an account could ask with it, and say yes as oneself; also by a schedule, and also once the
    token is gone. Somebody else may say yes. With a token of an account nobody does."""
    admin = server.admin()
    people = users(admin, ada="owner", ben="approver")
    bindings = admin.get("projects/default/bindings")["bindings"]
    account = {"kind": "account", "who": "robot", "role": "owner"}
    admin.do("POST", "projects/default/accounts", {"name": "robot"})
    admin.do("PUT", "projects/default/bindings", {"bindings": [*bindings, account]}, {"If-Match": "*"})
    made = people["ada"].do("POST", "projects/default/accounts/robot/tokens", {"name": "first"})
    first = admin.with_token(made["token"])
    # A token that is made with a token is of who made that one.
    second = admin.with_token(first.do("POST", "projects/default/accounts/robot/tokens", {"name": "t"})["token"])
    rules = {"rules": [{"when": {"workflows": ["restart"]}}]}
    admin.do("PUT", f"{SHOP}/rules", rules, {"If-Match": "*"})
    turn = {"name": "nightly", "cron": "*/30 * * * *", "request": RESTART, "apply": "auto"}
    schedule = first.do("POST", f"{SHOP}/schedules", turn)
    plans = [ask(one, RESTART, apply="auto") for one in (first, second)]
    people["ada"].do("DELETE", f"projects/default/accounts/robot/tokens/{made['id']}")
    with sqlite3.connect(server.home / "server.db") as database:
        database.execute("UPDATE schedule SET next = ?", (time.time() - 1,))
    until(lambda: admin.get(f"{SHOP}/schedules/{schedule['id']}")["plan"])
    planned = admin.get(f"{SHOP}/schedules/{schedule['id']}")["plan"]
    plans.append(reaches(admin, {"id": planned}, "waiting"))
    for plan in plans:
        where, yes = f"{SHOP}/plans/{plan['id']}/approvals", {"decision": "approve", "digest": plan["digest"]}
        refused = people["ada"].ask("POST", where, yes)
        assert (refused.status, refused.data["code"]) == (403, "own-plan")
        assert "approve" not in people["ada"].get(f"{SHOP}/plans/{plan['id']}")["allowed"]
        assert "approve" in people["ben"].get(f"{SHOP}/plans/{plan['id']}")["allowed"]
        people["ben"].do("POST", where, yes)
        assert reaches(admin, plan, "applied")["job_status"] == "ok"
    own = ask(people["ada"], RESTART, apply="auto")
    where, yes = f"{SHOP}/plans/{own['id']}/approvals", {"decision": "approve", "digest": own["digest"]}
    assert second.ask("POST", where, yes).data["code"] == "own-plan"
    made = admin.do("POST", "projects/default/accounts/robot/tokens", {"name": "third"})
    assert admin.with_token(made["token"]).ask("POST", where, yes).data["code"] == "forbidden"


def test_nobody_approves_what_was_asked_for_with_a_token_of_which_nobody_knows_the_maker(
    server: Served, shop: Shop
) -> None:
    """As tokens were before it was written down who makes them; nor with a token that is made with such a one."""
    admin = server.admin()
    people = users(admin, ada="owner", ben="approver")
    bindings = admin.get("projects/default/bindings")["bindings"]
    account = {"kind": "account", "who": "robot", "role": "owner"}
    admin.do("POST", "projects/default/accounts", {"name": "robot"})
    admin.do("PUT", "projects/default/bindings", {"bindings": [*bindings, account]}, {"If-Match": "*"})
    made = people["ada"].do("POST", "projects/default/accounts/robot/tokens", {"name": "old"})
    with contextlib.closing(sqlite3.connect(server.home / "server.db")) as database, database:
        database.execute("UPDATE token SET made_by = '' WHERE id = ?", (made["id"],))
    old = admin.with_token(made["token"])
    later = admin.with_token(old.do("POST", "projects/default/accounts/robot/tokens", {"name": "later"})["token"])
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{"when": {"workflows": ["restart"]}}]}, {"If-Match": "*"})
    for robot in (old, later):
        plan = ask(robot, RESTART, apply="auto")
        where, yes = f"{SHOP}/plans/{plan['id']}/approvals", {"decision": "approve", "digest": plan["digest"]}
        for who in ("ada", "ben"):
            refused = people[who].ask("POST", where, yes)
            assert (refused.status, refused.data["code"]) == (403, "own-plan")
            assert "make a new token" in refused.data["hint"]
            assert "approve" not in people[who].get(f"{SHOP}/plans/{plan['id']}")["allowed"]
        admin.do("POST", f"{SHOP}/plans/{plan['id']}/discard")
    new = people["ada"].do("POST", "projects/default/accounts/robot/tokens", {"name": "new"})
    plan = ask(admin.with_token(new["token"]), RESTART, apply="auto")
    yes = {"decision": "approve", "digest": plan["digest"]}
    people["ben"].do("POST", f"{SHOP}/plans/{plan['id']}/approvals", yes)
    assert reaches(admin, plan, "applied")["job_status"] == "ok"


def test_a_no_ends_a_plan(server: Served, shop: Shop) -> None:
    admin = server.admin()
    people = users(admin, ada="maintainer", ben="approver")
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{}]}, {"If-Match": "*"})
    plan = ask(people["ada"], RESTART, apply="auto")
    assert plan["state"] == "waiting"
    no = {"decision": "reject", "digest": plan["digest"], "comment": "not today"}
    assert people["ben"].do("POST", f"{SHOP}/plans/{plan['id']}/approvals", no)["state"] == "rejected"
    assert not shop.ran
    latest = ask(people["ada"], RESTART, apply="auto", bind="latest")
    assert (latest["state"], latest["problem"]["failure"]["code"]) == ("refused", "needs-exact")


def test_who_may_not_approve_any_more_does_not_count(server: Served) -> None:
    admin = server.admin()
    people = users(admin, ada="maintainer", ben="approver", cy="approver")
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{"count": 2}]}, {"If-Match": "*"})
    plan = ask(people["ada"], RESTART, apply="auto")
    yes = {"decision": "approve", "digest": plan["digest"]}
    people["ben"].do("POST", f"{SHOP}/plans/{plan['id']}/approvals", yes)
    admin.do("PATCH", "users/ben", {"disabled": True}, {"If-Match": "*"})
    assert people["cy"].do("POST", f"{SHOP}/plans/{plan['id']}/approvals", yes)["state"] == "waiting"


def test_what_waits_in_the_queue_needs_what_the_rules_of_now_say(server: Served, shop: Shop) -> None:
    """A rule that comes while a plan waits for its turn is heeded; one who may not approve any more does not count."""
    admin = server.admin()
    people = users(admin, ada="maintainer", ben="approver")
    admin.do("PUT", f"{SHOP}/freeze", {"reason": "not now"})
    plan = ask_now(people["ada"], RESTART)
    reaches(admin, plan, "queued")
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{}]}, {"If-Match": "*"})
    admin.do("DELETE", f"{SHOP}/freeze")
    found = reaches(admin, plan, "waiting")
    assert not shop.ran
    yes = {"decision": "approve", "digest": found["digest"]}
    people["ben"].do("POST", f"{SHOP}/plans/{plan['id']}/approvals", yes)
    assert reaches(admin, plan, "applied")["job_status"] == "ok"
    admin.do("PUT", f"{SHOP}/rules", {"rules": []}, {"If-Match": "*"})
    admin.do("PUT", f"{SHOP}/freeze", {"reason": "not now"})
    body = {"request": RESTART, "apply": "auto", "bind": "latest"}
    latest = people["ada"].do("POST", f"{SHOP}/plans", body)
    reaches(admin, latest, "queued")
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{}]}, {"If-Match": "*"})
    admin.do("DELETE", f"{SHOP}/freeze")
    assert reaches(admin, latest, "refused")["problem"]["failure"]["code"] == "needs-exact"


def test_who_asks_for_a_plan_does_not_free_it_from_the_rules(server: Served, shop: Shop) -> None:
    """Taking rules away frees the plans of others; one's own need what they needed, until somebody else has seen to the
    rules."""
    admin = server.admin()
    people = users(admin, ada="maintainer", ben="approver", cy="maintainer")
    at, anything = f"{SHOP}/rules", {"If-Match": "*"}
    two = {"rules": [{"count": 2}]}
    admin.do("PUT", at, two, anything)
    plans = {name: ask(people[name], RESTART, apply="auto") for name in ("ada", "cy")}
    people["ada"].do("PUT", at, {"rules": []}, anything)
    reaches(admin, plans["cy"], "applied")
    [wanted] = admin.get(f"{SHOP}/plans/{plans['ada']['id']}")["approvals"]["wanted"]
    assert (wanted["count"], wanted["kept"]) == (2, True)
    people["ada"].do("PUT", at, {"rules": [{"count": 1}]}, anything)
    where = f"{SHOP}/plans/{plans['ada']['id']}"
    found = admin.get(where)
    assert (found["state"], [one["count"] for one in found["approvals"]["wanted"]]) == ("waiting", [1, 2])
    yes = {"decision": "approve", "digest": found["digest"]}
    assert people["ben"].do("POST", f"{where}/approvals", yes)["state"] == "waiting"
    people["cy"].do("PUT", at, {"rules": [{"count": 1}]}, anything)
    reaches(admin, plans["ada"], "applied")


def test_a_damaged_ensemble_is_no_plan(server: Served, shop: Shop) -> None:
    """What cannot be read is said, and the server does not try it over and over."""
    (shop.directory / "ensemble.yaml").write_bytes(b"\xff\xfe{{{")
    plan = ask(server.admin(), RESTART)
    assert plan["state"] == "refused"
    assert plan["problem"]["failure"]["message"]


def test_a_rule_that_can_never_apply_is_refused(server: Served) -> None:
    admin = server.admin()
    for rule in ({"when": {"workflows": ["deploi"]}}, {"by": {"roles": ["viewer"]}}):
        found = admin.ask("PUT", f"{SHOP}/rules", {"rules": [rule]}, {"If-Match": "*"})
        assert found.status in (404, 422), found.data
        assert found.data["hint"]


# ---------------------------------------------------------------------------------------------------- queue and freeze


def test_plans_of_an_ensemble_wait_for_each_other(server: Served, shop: Shop) -> None:
    admin = server.admin()
    shop.close()
    first = ask_now(admin, RESTART)
    until(shop.waits)
    second, third = ask_now(admin, {"workflow": "run", "operation": "start"}), ask_now(admin, {"workflow": "check"})
    reaches(admin, second, "queued")
    until(lambda: state(admin, third) in ("queued", "empty"))
    queue = admin.get(f"{SHOP}/plans/{second['id']}")["queue"]
    assert queue["place"] == 1
    assert "restart" in queue["holder"]
    shop.open()
    assert reaches(admin, first, "applied")["job_status"] == "ok"
    assert reaches(admin, second, "applied")["job_status"] == "ok"


def ask_now(client: Client, request: dict[str, Any]) -> Any:
    return client.do("POST", f"{SHOP}/plans", {"request": request, "apply": "auto"})


def test_a_freeze_holds_what_has_not_begun(server: Served, shop: Shop) -> None:
    admin = server.admin()
    for where in ("freeze", "projects/default/freeze", f"{SHOP}/freeze"):
        admin.do("PUT", where, {"reason": "the shop is full"})
        plan = ask_now(admin, RESTART)
        found = reaches(admin, plan, "queued")
        assert "the shop is full" in found["queue"]["frozen"]
        assert [one["reason"] for one in admin.get("freeze")["items"]] == ["the shop is full"]
        assert not shop.ran
        admin.do("DELETE", where)
        assert reaches(admin, plan, "applied")["job_status"] == "ok"
        shop.forget()


def test_a_command_in_a_terminal_is_waited_for(server: Served, shop: Shop) -> None:
    admin = server.admin()
    shop.close()
    command = forked(["-e", str(shop.directory), "-q", "restart", "--all", "--yes"])
    until(shop.waits)
    plan = ask_now(admin, RESTART)
    found = reaches(admin, plan, "queued")
    assert "restart" in found["queue"]["holder"]
    shop.open()
    assert os.waitstatus_to_exitcode(os.waitpid(command, 0)[1]) == 0
    assert reaches(admin, plan, "applied")["job_status"] == "ok"
    assert len(shop.jobs) == 3


def forked(words: list[str]) -> int:
    """The process of a command."""
    process = os.fork()
    if not process:
        code = 70
        try:
            code = int(run(words))
        finally:
            os._exit(code)
    return process


def test_a_job_is_cancelled(server: Served, shop: Shop) -> None:
    admin = server.admin()
    shop.close()
    plan = ask_now(admin, RESTART)
    until(shop.waits)
    job = reaches(admin, plan, "running")["job"]
    assert admin.do("POST", f"{SHOP}/jobs/{job}/cancel", {"now": True})["asked"] == "cancel"
    assert reaches(admin, plan, "applied")["job_status"] == "cancelled"
    again = admin.ask("POST", f"{SHOP}/jobs/{job}/cancel", {})
    assert (again.status, again.data["code"]) == (409, "job-ended")


# --------------------------------------------------------------------------------------------------------------- killed


def runner_of(server: Served) -> int:
    """The process that carries out a job: a grandchild of the server that leads a session of its own."""
    found = [
        runner
        for fork_server in children_of(server.process.pid)
        for runner in children_of(fork_server)
        if os.getsid(runner) == runner
    ]
    assert len(found) == 1, found
    return found[0]


def test_who_has_cancelled_a_job_is_told_to_who_follows_it(server: Served, shop: Shop) -> None:
    admin = server.admin()
    people = users(admin, ada="operator")
    shop.close()
    plan = ask_now(admin, RESTART)
    until(shop.waits)
    job = f"{SHOP}/jobs/{reaches(admin, plan, 'running')['job']}"
    topic = f"job:default/shop/{job.rpartition('/')[2]}"
    cursor = admin.ask("GET", f"{job}/timeline").headers["Ordito-Cursor"]
    people["ada"].do("POST", f"{job}/cancel", {})
    until(lambda: bool(told(admin, topic, cursor, "job.cancelling")))
    found = admin.get(f"{job}/timeline")["cancelled"]
    assert (found["by"], found["now"], found["because"]) == ("ada", False, "")
    admin.do("POST", f"{job}/cancel", {"now": True})
    assert reaches(admin, plan, "applied")["job_status"] == "cancelled"
    first, second = told(admin, topic, cursor, "job.cancelling")
    assert (first["by"], "now" in first) == ("ada", False)
    assert (second["by"] != "ada", second["now"]) == (True, True)
    lines = admin.ask("GET", f"{job}/events.ndjson").body.splitlines()
    types = [msgspec.json.decode(line, type=dict[str, Any])["type"] for line in lines]
    assert types.count("job.cancelling") == 2
    assert types.index("job.cancelling") < types.index("job.finished")


def told(client: Client, topic: str, cursor: str, kind: str) -> list[dict[str, Any]]:
    """The events of a kind behind a cursor."""
    return [one for one in client.get("events", topic=topic, after=cursor)["items"] if one["type"] == kind]


def test_a_job_goes_on_while_the_server_is_away(tmp_path: Path, shop: Shop) -> None:
    with Served(tmp_path / "home", shop.directory) as server:
        admin = server.admin()
        shop.close()
        plan = ask_now(admin, RESTART)
        until(shop.waits)
        runner = runner_of(server)
        server.stop(signal.SIGKILL)
    os.kill(runner, 0)
    with Served(tmp_path / "home", shop.directory) as again:
        client = Client(again.url, admin.token)
        assert reaches(client, plan, "running")["job"]
        shop.open()
        assert reaches(client, plan, "applied")["job_status"] == "ok"
    assert len(shop.jobs) == 2
    assert len(shop.ran) == len(set(shop.ran))


def test_a_server_that_is_stopped_leaves_its_jobs(tmp_path: Path, shop: Shop) -> None:
    with Served(tmp_path / "home", shop.directory) as server:
        admin = server.admin()
        shop.close()
        plan = ask_now(admin, RESTART)
        until(shop.waits)
        runner = runner_of(server)
        assert server.stop() == 0
    os.kill(runner, 0)
    shop.open()
    until(lambda: len(shop.jobs) == 2)
    with Served(tmp_path / "home", shop.directory) as again:
        assert reaches(Client(again.url, admin.token), plan, "applied")["job_status"] == "ok"


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_runner_that_is_ended_is_resumed(server: Served, shop: Shop, sign: signal.Signals) -> None:
    """Killed, or asked to leave its job unfinished: another one goes on, and what was completed does not run again."""
    admin = server.admin()
    shop.close()
    plan = ask_now(admin, RESTART)
    until(shop.waits)
    job = reaches(admin, plan, "running")["job"]
    os.kill(runner_of(server), sign)
    shop.open()
    done = reaches(admin, plan, "applied")
    assert (done["job"], done["job_status"]) == (job, "ok")
    assert len(shop.jobs) == 2
    if sign == signal.SIGTERM:
        assert len(shop.ran) == len(set(shop.ran))


def test_what_was_interrupted_waits_for_the_end_of_a_freeze(server: Served, shop: Shop) -> None:
    """Neither the server nor somebody resumes it; it may be closed. Afterwards it goes on by itself."""
    admin = server.admin()
    shop.close()
    plan = ask_now(admin, RESTART)
    until(shop.waits)
    job = reaches(admin, plan, "running")["job"]
    admin.do("PUT", "projects/default/freeze", {"reason": "the database moves"})
    runner = runner_of(server)
    os.kill(runner, signal.SIGKILL)
    until(lambda: is_gone(runner))
    shop.open()
    refused = admin.ask("POST", f"{SHOP}/jobs/{job}/resume", {})
    assert (refused.status, refused.data["code"]) == (409, "frozen")
    assert "the database moves" in refused.data["detail"]
    # Another plan of it is looked at after this one, so the keeper has had its turn.
    second = ask_now(admin, RESTART)
    reaches(admin, second, "queued", "refused")
    assert state(admin, plan) == "running"
    admin.do("DELETE", "projects/default/freeze")
    assert reaches(admin, plan, "applied")["job_status"] == "ok"
    assert admin.get(f"{SHOP}/plans/{plan['id']}")["job"] == job


def test_each_accepted_plan_has_one_job_whatever_is_killed(tmp_path: Path, shop: Shop) -> None:
    """Server, fork server and runner are killed at any moment, over and over."""
    chance, token, accepted = random.Random(11), "", []
    for _ in range(examples(4)):
        with Served(tmp_path / "home", shop.directory) as server:
            admin = Client(server.url, token) if token else server.admin()
            token = admin.token
            accepted += [ask_now(admin, {"workflow": "run", "operation": "start"}) for _ in range(2)]
            moves = chance.randint(1, 6)
            until(lambda: events_of(server) >= moves + 6 * (len(accepted) - 2))  # noqa: B023
            victims = children_of(server.process.pid)
            victims += [grandchild for child in victims for grandchild in children_of(child)]
            for victim in chance.sample(victims, min(len(victims), chance.randint(0, 2))):
                try:
                    os.kill(victim, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            server.stop(signal.SIGKILL)
    with Served(tmp_path / "home", shop.directory) as server:
        admin = Client(server.url, token)
        ended = [reaches(admin, plan, "applied") for plan in accepted]
        heads = [admin.get(f"{SHOP}/jobs/{plan['job']}")["job"] for plan in ended]
        assert [head["origin"] for head in heads] == [plan["id"] for plan in accepted]
        for plan in ended:
            assert not_completed_twice(events_in(admin, plan["job"])), plan
        assert verify(tmp_path / "home", admin.get("audit/head")["head"]).broken == 0
    assert len(shop.jobs) == 1 + len(accepted)


KILLED = some([(moment, whom) for whom in WHOM for moment in ("before", "after")], 2)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("moment", "whom"), KILLED)
def test_a_plan_has_one_job_whoever_is_killed_at_any_change(tmp_path: Path, shop: Shop, moment: str, whom: str) -> None:
    """Before and after each change of the server's database, from the request to the end of the job, or of the journal
    by its runner; who got no answer asks again. What was completed does not run again."""
    with Served(tmp_path / "home", shop.directory) as server:
        token = server.admin().token
    jobs, begin = len(shop.jobs), tmp_path / "begin"
    for number in itertools.count(1, 1 if THOROUGH else 4):
        program = ("tests.support.killed_server", str(number), moment, whom, str(begin))
        accepted = ""
        with (
            Served(tmp_path / "home", shop.directory, program=program) as server,
            contextlib.suppress(urllib3.exceptions.HTTPError),
        ):
            # Not before it has started.
            begin.touch()
            accepted = carried_out(Client(server.url, token), f"{moment} {number}")["id"]
        # Not asked before: its connections end a moment before it does.
        is_killed = not begin.exists()
        begin.unlink(missing_ok=True)
        with Served(tmp_path / "home", shop.directory) as server:
            client = Client(server.url, token)
            done = carried_out(client, f"{moment} {number}")
            assert accepted in ("", done["id"])
            assert done["job_status"] == "ok"
            assert not verify(server.home, client.get("audit/head")["head"]).broken
            events = events_in(client, done["job"])
        jobs += 1
        assert len(shop.jobs) == jobs, (number, moment, whom)
        assert not_completed_twice(events), (number, moment, whom)
        assert [one["type"] for one in events].count("job.finished") == 1
        if not is_killed:
            # There are no further changes.
            break
    assert number > 4


def carried_out(client: Client, key: str) -> Any:
    """A plan that was asked for, looked at and applied, each request with a key of its own."""
    wanted = {"request": {"workflow": "run", "operation": "start"}}
    plan = client.do("POST", f"{SHOP}/plans", wanted, {"Idempotency-Key": f"{key} ask"})
    until(lambda: state(client, plan) != "planning")
    digest = client.get(f"{SHOP}/plans/{plan['id']}")["digest"]
    client.do("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": digest}, {"Idempotency-Key": f"{key} apply"})
    return reaches(client, plan, "applied")


def events_in(client: Client, job: str) -> list[dict[str, Any]]:
    """All events of a job."""
    lines = client.ask("GET", f"{SHOP}/jobs/{job}/events.ndjson").body.splitlines()
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]


def not_completed_twice(events: list[dict[str, Any]]) -> bool:
    """Whether no step of a job has begun again after it had ended well."""
    ended: set[str] = set()
    for one in events:
        if one["type"] == "step.started" and one["step"] in ended:
            return False
        if one["type"] == "step.succeeded":
            ended.add(one["step"])
    return bool(ended)


def events_of(server: Served) -> int:
    with contextlib.closing(sqlite3.connect(server.home / "server.db")) as db:
        return int(db.execute("SELECT count(*) FROM event WHERE type = 'plan.changed'").fetchone()[0])


# ------------------------------------------------------------------------------------------------------- live, secrets


def test_a_plan_is_followed(server: Served) -> None:
    """From its beginning on, without gap or repetition, over a cursor."""
    admin = server.admin()
    plan = ask(admin, RESTART, apply="auto")
    topic = f"plan:default/shop/{plan['id']}"
    page = admin.get("events", topic=topic)
    states = [event["state"] for event in page["items"]]
    assert states == ["planning", "ready", "queued", "starting", "running", "applied"]
    assert admin.get("events", topic=topic, after=page["next"])["items"] == []
    stream = admin.stream(topic)
    assert [next(stream)["state"] for _ in range(6)] == states


def test_values_of_inputs_are_in_no_file_of_the_server(server: Served, shop: Shop) -> None:
    admin = server.admin()
    inputs = {"pass": "canary-5521"}
    plan = ask(admin, {"workflow": "deploy", "inputs": inputs})
    assert plan["state"] == "ready"
    assert apply(admin, plan)["job_status"] == "ok"
    for path in server.home.rglob("*"):
        if path.is_file():
            assert b"canary-5521" not in path.read_bytes(), path
    assert b"canary-5521" not in admin.ask("GET", f"{SHOP}/plans/{plan['id']}/plan").body


def test_a_secret_is_named(server: Served, shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "value").write_text("canary-8812")
    command = ["-e", str(shop.directory), "-q", "secrets", "set", "door", "--file", str(tmp_path / "value")]
    assert run(command) == 0
    admin = server.admin()
    plan = ask(admin, {"workflow": "deploy", "inputs": {"pass": {"secret": "door"}}}, apply="auto")
    assert plan["job_status"] == "ok"
    missing = ask(admin, {"workflow": "deploy", "inputs": {"pass": {"secret": "dor"}}})
    assert (missing["state"], missing["problem"]["failure"]["code"]) == ("refused", "unknown-secret")
    assert "door" in missing["problem"]["failure"]["hint"]


# ------------------------------------------------------------------------------------------------------ from the table


def test_the_table_of_states_is_whole() -> None:
    for to in MOVES.values():
        assert to <= set(PlanState)
    reached = {PlanState.PLANNING}
    while more := {to for state in reached & OPEN for to in MOVES[state]} - reached:
        reached |= more
    assert reached == set(PlanState)
    assert WORKFLOW_PERMISSIONS.keys() == set(WORKFLOWS)


def test_every_option_of_a_workflow_can_be_asked_for() -> None:
    """Save those that name files, and those that fetch."""
    decode = msgspec.json.Decoder(ASKED).decode
    for name, kind in REQUESTS.items():
        needed: dict[str, Any] = {}
        needed |= {"names": ["a"]} if name == "heal" else {}
        needed |= {"operation": "a"} if name == "run" else {}
        needed |= {"name": "a"} if name == "workflow" else {}
        needed |= {"all": True} if name in ("start", "stop", "restart") else {}
        needed |= {"counts": {"web": 2}} if name == "scale" else {}
        asked = decode(msgspec.json.encode({"workflow": name, **needed}))
        assert request_of(asked, None).kind == name
        flat = {field.name for field in declared(kind) if isinstance(field.by, Argument) and not field.by.is_path}
        assert flat - {"node_id"} <= set(asked.__struct_fields__)


# ---------------------------------------------------------------------------------------------- who may, when it begins


def test_who_may_not_any_more_begins_nothing(server: Served, shop: Shop) -> None:
    """A plan waits while its author loses the role: it is refused when its turn comes."""
    admin = server.admin()
    people = users(admin, ada="operator")
    admin.do("PUT", f"{SHOP}/freeze", {"reason": "not now"})
    plan = ask_now(people["ada"], RESTART)
    reaches(admin, plan, "queued")
    users_again = [{"kind": "user", "who": admin.get("me")["name"], "role": "owner"}]
    admin.do("PUT", "projects/default/bindings", {"bindings": users_again}, {"If-Match": "*"})
    admin.do("DELETE", f"{SHOP}/freeze")
    found = reaches(admin, plan, "refused")
    assert found["problem"]["failure"]["code"] == "forbidden"
    assert not shop.ran


def test_what_is_planned_anew_has_no_more_risks_than_the_rules_saw(server: Served, shop: Shop) -> None:
    admin = server.admin()
    admin.do("PUT", f"{SHOP}/rules", {"rules": [{"when": {"risks": ["removes"]}}]}, {"If-Match": "*"})
    admin.do("PUT", f"{SHOP}/freeze", {"reason": "not now"})
    scale = {"request": {"workflow": "scale", "counts": {"host": 2}}, "apply": "auto", "bind": "latest"}
    plan = admin.do("POST", f"{SHOP}/plans", scale)
    reaches(admin, plan, "queued")
    assert run(["-e", str(shop.directory), "-q", "scale", "host=3", "--yes"]) == 0
    shop.forget()
    admin.do("DELETE", f"{SHOP}/freeze")
    found = reaches(admin, plan, "refused")
    assert found["problem"]["failure"]["code"] == "needs-exact"
    assert not shop.ran


def test_the_rest_of_a_removal_is_a_removal(server: Served, shop: Shop) -> None:
    """Who may deploy, and not remove, does not go on with what somebody else has begun to remove."""
    admin = server.admin()
    people = users(admin, ada="deployer")
    (shop.place / "failing").touch()
    assert run(["-e", str(shop.directory), "-q", "undeploy", "--yes", "--on-failure", "abort"]) != 0
    plan = ask(people["ada"], {"workflow": "retry"})
    assert plan["state"] == "ready", plan["problem"]
    found = people["ada"].ask("POST", f"{SHOP}/plans/{plan['id']}/apply", {"digest": plan["digest"]})
    assert (found.status, found.data["code"]) == (403, "forbidden")
    by_itself = reaches(
        admin, people["ada"].do("POST", f"{SHOP}/plans", {"request": {"workflow": "retry"}, "apply": "auto"}), "refused"
    )
    assert by_itself["problem"]["failure"]["code"] == "forbidden"


def test_a_link_out_of_the_ensemble_is_not_followed(server: Served, shop: Shop, tmp_path: Path) -> None:
    """What an operation puts where the server reads events is read with the rights of the server."""
    admin = server.admin()
    (tmp_path / "secret").write_text('{"type":"job.started","canary":"canary-9911"}\n')
    job = admin.get(f"{SHOP}/jobs")["jobs"][0]["id"]
    for folder, kind in (("events", "ndjson"), ("logs", "log")):
        place = shop.directory / ".ordito" / folder / f"{job}.{kind}"
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(tmp_path / "secret")
    topic = f"job:default/shop/{job}"
    for found in (admin.ask("GET", "events", topic=topic), admin.ask("GET", f"{SHOP}/jobs/{job}/log")):
        assert b"canary-9911" not in found.body
        assert found.status == 422, found


# ------------------------------------------------------------------------------------------------------------ retention


def test_logs_and_events_are_kept_of_so_many_jobs_as_the_settings_say(tmp_path: Path, shop: Shop) -> None:
    """From the next job on, however many the server keeps by itself; what a job did is told of all of them."""
    with Served(tmp_path / "home", shop.directory, settings=f"jobs: {{ keep: 2 }}\n{MANY_REQUESTS}") as made:
        admin = made.admin()
        assert admin.get("settings")["jobs"]["keep_bytes"] == 1 << 30
        jobs = [ask(admin, RESTART, apply="auto")["job"] for _ in range(3)]
        kept = admin.ask("GET", f"{SHOP}/jobs/{jobs[0]}/log")
        assert (kept.status, kept.data["code"]) == (410, "forgotten")
        assert admin.get(f"{SHOP}/jobs/{jobs[1]}/log")["complete"]
        admin.do("PUT", "settings", {"jobs": {"keep": 5, "keep_bytes": 1}}, {"If-Match": "*"})
        newest = ask(admin, RESTART, apply="auto")["job"]
        assert admin.ask("GET", f"{SHOP}/jobs/{jobs[2]}/log").status == 410
        assert admin.get(f"{SHOP}/jobs/{newest}/log")["complete"]
        assert all(admin.get(f"{SHOP}/jobs/{job}")["job"]["workflow"] == "restart" for job in (*jobs, newest))


def test_what_is_frozen_is_told_to_who_follows_ensembles(server: Served) -> None:
    """At once, whether the server, a project or an ensemble is frozen, and that it is over."""
    admin, topics = server.admin(), ["ensembles", "ensemble:default/shop"]
    admin.do("POST", "projects", {"name": "other"})
    cursor = admin.get("events", topic=topics)["next"]
    for where in ("freeze", "projects/default/freeze", f"{SHOP}/freeze"):
        for reason in ("full", None):
            admin.do("PUT" if reason else "DELETE", where, {"reason": reason} if reason else None)
            told: list[Any] = []
            # Once for each of the topics.
            while len(told) < 2:
                found = admin.get("events", topic=topics, after=cursor, wait=20)
                assert found["items"], (where, reason, told)
                cursor = found["next"]
                told += [one for one in found["items"] if one["type"] == "freeze.changed"]
            assert [one["reason"] for one in told] == [reason] * 2
            assert topics[1] in [one["topic"] for one in told]
    admin.do("PUT", "projects/other/freeze", {"reason": "not here"})
    admin.do("PUT", "freeze", {"reason": "everywhere"})
    items: list[Any] = []
    while not items:
        found = admin.get("events", topic=topics[1], after=cursor, wait=20)
        cursor, items = found["next"], [one for one in found["items"] if one["type"] == "freeze.changed"]
    assert [one["reason"] for one in items] == ["everywhere"]


def test_jobs_of_all_ensembles_are_found_by_author_and_time(server: Served, shop: Shop) -> None:
    admin = server.admin()
    job = ask(admin, RESTART, apply="auto")["job"]
    found = admin.get("jobs")["items"]
    assert [(one["workflow"], bool(one["by"])) for one in found] == [("restart", True), ("deploy", False)]
    assert found[0]["id"] == job
    assert [one["id"] for one in admin.get("jobs", by=found[0]["by"])["items"]] == [job]
    assert admin.get("jobs", by="nobody")["items"] == []
    assert [one["id"] for one in admin.get("jobs", since=found[0]["start"])["items"]] == [job]
    assert [one["id"] for one in admin.get("jobs", until=found[0]["start"])["items"]] == [found[1]["id"]]
    assert [one["id"] for one in admin.get("jobs", sort="oldest", limit=1)["items"]] == [found[1]["id"]]
    assert admin.get("jobs", fields="id,by", limit=1)["items"] == [{"id": job, "by": found[0]["by"]}]
    wrong = admin.ask("GET", "jobs", fields="worklfow")
    assert (wrong.status, wrong.data["hint"]) == (400, 'did you mean "workflow"?')
    plan = ask(admin, RESTART)
    [listed] = admin.get("ensembles", fields="name,last_job,plans")["items"]
    last = {"id": job, "workflow": "restart", "status": "ok", "by": found[0]["by"]}
    assert last.items() <= listed["last_job"].items()
    assert found[0]["start"].startswith(listed["last_job"]["start"].rstrip("Z")[:16])
    assert (listed["plans"], listed["name"]) == ({"ready": 1}, "shop")
    admin.do("POST", f"{SHOP}/plans/{plan['id']}/discard")
    assert admin.get(SHOP)["plans"] == {}


def test_ensembles_are_sorted_by_what_needs_somebody(server: Served, shop: Shop, tmp_path: Path) -> None:
    """Page by page, too."""
    admin = server.admin()
    for name in ("bad", "good"):
        directory = tmp_path / name
        shutil.copytree(shop.directory, directory)
        made = {"name": name, "path": str(directory)}
        admin.do("POST", "projects/default/ensembles", made)
    (tmp_path / "bad" / "ensemble.yaml").unlink()
    for sort, expected in (("name", ["bad", "good", "shop"]), ("attention", ["bad", "good", "shop"]),
                           ("status", ["good", "shop", "bad"])):  # fmt: skip
        part = admin.get("ensembles", sort=sort, limit=1)
        names = [one["name"] for one in part["items"]]
        while part["next"]:
            part = admin.get("ensembles", sort=sort, limit=1, after=part["next"])
            names += [one["name"] for one in part["items"]]
        assert names == expected, sort


def test_an_ensemble_that_was_removed_on_the_disk(server: Served, shop: Shop) -> None:
    """Each page of it says that it is gone, and what to do; the list and its plans are still there."""
    admin = server.admin()
    plan = ask(admin, RESTART)
    job = shop.jobs[0][0]
    shop.directory.rename(shop.place / "away")
    paths = ("status", "topology", "nodes", "instances", "revisions", "jobs", f"jobs/{job}", f"jobs/{job}/log",
             f"jobs/{job}/timeline", f"jobs/{job}/report.html", "spec", "service", "outputs")  # fmt: skip
    for path in paths:
        found = admin.ask("GET", f"{SHOP}/{path}")
        assert (found.status, found.data["code"]) == (404, "no-ensemble"), (path, found)
        assert "put it back" in found.data["hint"], path
        assert str(shop.place) not in found.body.decode()
    assert admin.get(SHOP)["exists"] is False
    assert admin.get(f"{SHOP}/plans")["items"][0]["id"] == plan["id"]
    refused = ask(admin, RESTART)
    assert (refused["state"], refused["problem"]["failure"]["code"]) == ("refused", "no-ensemble")
    assert "put it back" in refused["problem"]["failure"]["hint"]
    assert not shop.directory.exists()
    (shop.place / "away").rename(shop.directory)
    assert admin.get(f"{SHOP}/status")["revision"] == 1
