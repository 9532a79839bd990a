"""Schedules: when their turns are, what they ask for, who they act as, and what they remember of drift."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import insert, select, update

from ordito.cli.main import run
from ordito.server.database.database import Database
from ordito.server.database.tables import (
    AUDIT,
    BINDINGS,
    ENSEMBLES,
    EVENTS,
    PLANS,
    PROJECTS,
    SCHEDULES,
    USERS,
)
from ordito.server.plans.asked import ASKED
from ordito.server.plans.states import PlanState
from ordito.server.plans.store import PlanWanted, move
from ordito.server.problems import ApiProblem
from ordito.server.schedules.clock import LATE, check_clock, due_turn, next_turn
from ordito.server.schedules.turns import Schedules, outcome_of, sealed, to_heal
from tests.server.conftest import CANARY, deployed
from tests.support.serving import MANY_REQUESTS, Client, Served


def at(text: str, zone: str = "Europe/Berlin") -> float:
    """The moment of a time of the clock; ``*`` behind it is the second of two such times."""
    moment = datetime.fromisoformat(text.rstrip("*")).replace(fold=int(text.endswith("*")))
    return moment.replace(tzinfo=ZoneInfo(zone)).timestamp()


TURNS = [
    # What it is about, the schedule, the zone, after when, the next turns in UTC.
    ("every minute", "* * * * *", "UTC", "2026-01-01 00:00:30", ["01-01 00:01", "01-01 00:02"]),
    ("the turn itself is over", "0 0 * * *", "UTC", "2026-01-01 00:00", ["01-02 00:00"]),
    ("on working days", "30 3 * * mon-fri", "UTC", "2026-01-02 03:30", ["01-05 03:30", "01-06 03:30"]),
    ("winter and summer", "0 12 * * *", "Europe/Berlin", "2026-03-28 00:00", ["03-28 11:00", "03-29 10:00"]),
    ("in the hour that is left out", "30 2 * * *", "Europe/Berlin", "2026-03-28 12:00", ["03-29 01:00", "03-30 00:30"]),
    ("each quarter, over that hour", "*/15 * * * *", "Europe/Berlin", "2026-03-29 01:40",
     ["03-29 00:45", "03-29 01:00", "03-29 01:15"]),
    ("each hour, over that hour", "0 * * * *", "Europe/Berlin", "2026-03-29 00:30", ["03-29 00:00", "03-29 01:00"]),
    ("in the hour that comes twice: once", "30 2 * * *", "Europe/Berlin", "2026-10-24 12:00",
     ["10-25 00:30", "10-26 01:30"]),
    ("asked in the second of the two", "30 2 * * *", "Europe/Berlin", "2026-10-25 02:10*", ["10-26 01:30"]),
    ("each half hour, over both", "*/30 * * * *", "Europe/Berlin", "2026-10-25 01:40",
     ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 02:00"]),
    ("leap day", "0 0 29 2 *", "UTC", "2026-01-01 00:00", ["2028-02-29 00:00", "2032-02-29 00:00"]),
    ("day of the month or of the week", "0 0 13 * fri", "UTC", "2026-01-01 00:00",
     ["01-02 00:00", "01-09 00:00", "01-13 00:00"]),
    ("a zone of half an hour", "0 9 * * *", "Asia/Kolkata", "2026-01-01 00:00", ["01-01 03:30"]),
    ("a change of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00",
     ["10-03 15:30", "10-04 15:15"]),
]  # fmt: skip


@pytest.mark.parametrize(("cron", "zone", "after", "wanted"), [row[1:] for row in TURNS], ids=[row[0] for row in TURNS])
def test_the_next_turns(cron: str, zone: str, after: str, wanted: list[str]) -> None:
    moment, found = at(after, zone), []
    for _ in wanted:
        turn = next_turn(cron, zone, moment)
        assert turn is not None
        assert turn > moment
        text = datetime.fromtimestamp(turn, UTC).strftime("%Y-%m-%d %H:%M")
        found.append(text if text[:4] != "2026" else text[5:])
        moment = turn
    assert found == wanted


@pytest.mark.parametrize(
    ("cron", "now", "wanted"),
    [
        ("0 3 * * *", "2026-01-01 03:00", "2026-01-01 03:00"),
        ("0 3 * * *", "2026-01-01 03:59:59", "2026-01-01 03:00"),
        ("0 3 * * *", "2026-01-01 04:00", "2026-01-01 03:00"),
        ("0 3 * * *", "2026-01-01 04:00:01", None),
        ("0 3 * * *", "2026-01-01 02:59:59", None),
        ("*/10 * * * *", "2026-01-01 02:59:59", "2026-01-01 02:50"),
        # The clock was set back an hour in between: an hour is one of real time.
        ("30 2 * * *", "2026-10-25 02:20*", "2026-10-25 02:30"),
    ],
)
def test_a_missed_turn_is_late_by_an_hour_at_most(cron: str, now: str, wanted: str | None) -> None:
    assert due_turn(cron, "Europe/Berlin", at(now)) == (at(wanted) if wanted else None)
    assert LATE == 3600


@pytest.mark.parametrize(
    ("cron", "zone", "code", "hint"),
    [
        ("* * * *", "UTC", "bad-schedule", "30 3 * * mon-fri"),
        ("* * * * * *", "UTC", "bad-schedule", ""),
        ("@daily", "UTC", "bad-schedule", ""),
        ("61 * * * *", "UTC", "bad-schedule", ""),
        ("0 0 31 2 *", "UTC", "bad-schedule", ""),
        ("0 0 30 2 mon", "UTC", "", ""),
        ("*/0 * * * *", "UTC", "bad-schedule", ""),
        ("a b c d e", "UTC", "bad-schedule", ""),
        ("1/" * 90 + "1 * * * *", "UTC", "bad-schedule", ""),
        ("0 3 * * *", "Europe/Berln", "unknown-zone", "Europe/Berlin"),
        ("0 3 * * *", "../../etc/passwd", "unknown-zone", ""),
        ("0 3 * * *", "/etc/localtime", "unknown-zone", ""),
        ("0 3 * * *", "Europe/Berlin", "", ""),
    ],
)
def test_what_is_no_schedule_is_refused(cron: str, zone: str, code: str, hint: str) -> None:
    if not code:
        check_clock(cron, zone)
        return
    with pytest.raises(ApiProblem) as refused:
        check_clock(cron, zone)
    assert refused.value.code == code
    assert hint in refused.value.hint


# -------------------------------------------------------------------------------------------------------------- turns


class Answering:
    """Says how an ensemble is."""

    def __init__(self) -> None:
        self.unwell: list[str] = []

    async def ask(self, *_: object, **__: object) -> Any:
        instances = {name: {"local": "error", "node": name} for name in self.unwell}
        return Body(msgspec.json.encode({"instances": {"ok_1": {"local": "ok"}, **instances}}))


class Body(msgspec.Struct):
    body: bytes


class Turning:
    """A database with an ensemble and a user who may operate it, and the clock."""

    def __init__(self, place: Path) -> None:
        self.database = Database(place / "server.db")
        self.sealer = Fernet(Fernet.generate_key())
        self.now = at("2026-01-01 12:00", "UTC")
        self.answers = Answering()
        self.woken = 0

        def make(connection: Any) -> None:
            connection.execute(insert(PROJECTS).values(name="shop", description="", created=0.0))
            row = {"project": "shop", "name": "prod", "directory": "/nowhere", "created": 0.0}
            connection.execute(insert(ENSEMBLES).values(**row))
            row = {"password": "", "admin": False, "auditor": False, "disabled": False, "created": 0.0}
            connection.execute(insert(USERS).values(name="ann", **row))
            row = {"project": "shop", "ensemble": "", "kind": "user", "who": "ann", "role": "operator"}
            connection.execute(insert(BINDINGS).values(**row))

        self.write(make)

    def write(self, change: Any) -> Any:
        return self.database.write_now(change)

    def schedule(self, request: dict[str, Any], cron: str = "0 * * * *", apply: str = "auto") -> None:
        asked = msgspec.convert(request, ASKED)
        wanted = PlanWanted(request=asked, apply=apply)  # type: ignore[arg-type]
        row: dict[str, Any] = {"id": "sc_1", "project": "shop", "ensemble": "prod", "name": "nightly", "cron": cron}
        row |= {"zone": "UTC", "request": sealed(wanted, self.sealer), "apply": apply, "paused": False, "who": "ann"}
        following = next_turn(cron, "UTC", self.now)
        self.write(
            lambda c: c.execute(insert(SCHEDULES).values(**row, created=0.0, next=following, last=0.0, outcome=""))
        )

    def wake(self) -> None:
        self.woken += 1

    def round(self, later: float = 0.0) -> Any:
        """A round, and what came of the turn."""
        self.now += later
        made = Schedules(Path("/nowhere"), self.database, self.answers, self.sealer, self.wake, lambda: self.now)  # type: ignore[arg-type]
        asyncio.run(made.round())
        return outcome_of(self.row())

    def row(self) -> Any:
        return self.database.read_now(lambda c: c.execute(select(SCHEDULES)).one())

    def plans(self) -> list[Any]:
        return self.database.read_now(lambda c: list(c.execute(select(PLANS).order_by(PLANS.c.id)).all()))

    def to(self, plan: str, *states: PlanState) -> None:
        for state in states:
            assert self.write(lambda c, state=state: move(c, plan, state, self.now))

    def end(self, plan: str) -> None:
        """Let the job of a plan run, and end."""
        self.to(plan, PlanState.READY, PlanState.QUEUED, PlanState.STARTING, PlanState.RUNNING, PlanState.APPLIED)


@pytest.fixture
def turning(tmp_path: Path) -> Iterator[Turning]:
    made = Turning(tmp_path)
    yield made
    made.database.close()


def test_each_turn_asks_for_a_plan(turning: Turning) -> None:
    turning.schedule({"workflow": "check"})
    assert turning.round().plan == ""
    assert turning.plans() == []
    first = turning.round(3600)
    [plan] = turning.plans()
    assert (plan.id, plan.kind, plan.who) == (first.plan, "schedule", "shop/prod/nightly")
    assert (plan.workflow, plan.apply, plan.applied) == ("check", "auto", "schedule shop/prod/nightly")
    assert turning.woken
    # Not twice in one turn.
    turning.round()
    turning.round(10)
    assert len(turning.plans()) == 1
    assert turning.row().next == at("2026-01-01 14:00", "UTC")
    turning.end(plan.id)
    assert turning.round(3600).plan not in ("", plan.id)
    audit = turning.database.read_now(lambda c: c.execute(select(AUDIT)).all())
    assert [(row.principal, row.by, row.action, row.outcome) for row in audit] == [
        ("shop/prod/nightly", "schedule", "schedule.turn", "done")
    ] * 2


def test_what_was_missed_runs_once(turning: Turning) -> None:
    turning.schedule({"workflow": "check"}, "*/10 * * * *")
    turning.round(5 * 3600 + 60)
    assert len(turning.plans()) == 1
    assert turning.row().next == at("2026-01-01 17:10", "UTC")


def test_what_was_missed_by_more_than_an_hour_is_left_out(turning: Turning) -> None:
    turning.schedule({"workflow": "check"}, "0 13 * * *")
    outcome = turning.round(3 * 3600)
    assert outcome.said.startswith("missed")
    assert turning.plans() == []
    assert turning.row().next == at("2026-01-02 13:00", "UTC")


def test_a_turn_waits_for_the_one_before(turning: Turning) -> None:
    turning.schedule({"workflow": "check"})
    before = turning.round(3600).plan
    assert turning.round(3600).said == f"left out: the plan of the turn before, {before}, is planning"
    assert len(turning.plans()) == 1


def test_a_plan_that_nobody_has_applied_gives_way_to_the_next(turning: Turning) -> None:
    turning.schedule({"workflow": "check"}, apply="ask")
    before = turning.round(3600).plan
    turning.to(before, PlanState.READY)
    after = turning.round(3600).plan
    assert [(plan.id, plan.state) for plan in turning.plans()] == [(before, "discarded"), (after, "planning")]


@pytest.mark.parametrize("gone", ["role", "user", "disabled"])
def test_who_may_not_any_more_does_not_act(turning: Turning, gone: str) -> None:
    turning.schedule({"workflow": "check"})
    if gone == "role":
        turning.write(lambda c: c.execute(update(BINDINGS).values(role="planner")))
    elif gone == "user":
        turning.write(lambda c: c.execute(USERS.delete()))
    else:
        turning.write(lambda c: c.execute(update(USERS).values(disabled=True)))
    outcome = turning.round(3600)
    assert outcome.said == 'refused: ann, who made it, has no longer the permission "operate"'
    assert turning.plans() == []
    audit = turning.database.read_now(lambda c: c.execute(select(AUDIT)).one())
    assert (audit.outcome, audit.detail) == ("denied", outcome.said)
    told = select(EVENTS.c.type).where(EVENTS.c.project != "")
    types = turning.database.read_now(lambda c: c.execute(told).scalars().all())
    assert list(types) == ["schedule.refused", "schedule.changed"]


def test_an_account_acts_too(turning: Turning) -> None:
    turning.schedule({"workflow": "check"})
    turning.write(lambda c: c.execute(update(SCHEDULES).values(who="shop/robot")))
    turning.write(lambda c: c.execute(update(BINDINGS).values(kind="account", who="robot")))
    assert turning.round(3600).plan


def test_what_is_paused_does_nothing(turning: Turning) -> None:
    turning.schedule({"workflow": "check"})
    turning.write(lambda c: c.execute(update(SCHEDULES).values(paused=True)))
    turning.round(3600)
    assert turning.plans() == []


def test_too_many_open_plans_are_said(turning: Turning) -> None:
    turning.schedule({"workflow": "check"})
    turning.round(3600)
    [plan] = turning.plans()
    rows = [{**plan._mapping, "id": f"pl_{number}", "kind": "user"} for number in range(50)]
    turning.write(lambda c: c.execute(insert(PLANS), rows))
    turning.end(plan.id)
    assert turning.round(3600).said == "refused: this ensemble has 50 plans that have not ended"


def test_healing_takes_what_is_unwell_one_after_the_other(turning: Turning) -> None:
    """The next one only when the one before has ended: it may need that one."""
    turning.schedule({"workflow": "heal", "names": []})
    assert turning.round(3600).said == "nothing is to be healed"
    turning.answers.unwell = ["db_1", "web_1"]
    assert turning.round(3600).tried == ("db_1",)
    assert turning.round(10).tried == ("db_1",)
    first = turning.plans()[0]
    turning.end(first.id)
    assert turning.round(10).tried == ("db_1", "web_1")
    # What could not be healed is not tried again before the next turn.
    turning.end(turning.plans()[1].id)
    assert turning.round(10).tried == ()
    assert turning.round(10).tried == ()
    assert len(turning.plans()) == 2
    assert turning.round(3600).tried == ("db_1",)


def test_only_what_can_be_healed_is() -> None:
    instances = {
        "db_1": {"local": "error"},
        "gone_1": {"local": "absent", "status_reason": "found absent"},
        "on_gone_1": {"local": "absent", "status_reason": "found absent", "host": "gone_1"},
        "removed_1": {"local": "absent"},
        "unreachable_1": {"local": "unknown", "status_reason": "unreachable"},
        "ok_1": {"local": "ok"},
    }
    found = to_heal(msgspec.json.encode({"instances": instances}))
    assert found == ["db_1", "gone_1"]


# ------------------------------------------------------------------------------------------------------------- routes

HERE = "projects/default/ensembles/shop/schedules"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("schedules")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Served]:
    with Served(place / "home", deployed(place), settings=MANY_REQUESTS) as made:
        yield made


@pytest.fixture(scope="module")
def ann(server: Served) -> Client:
    return server.admin()


def test_a_schedule_is_made_changed_and_removed(server: Served, ann: Client) -> None:
    request = {"workflow": "run", "operation": "web.Standard.start", "inputs": {"pass": CANARY}}
    made = ann.do("POST", HERE, {"name": "often", "cron": "*/5 * * * *", "zone": "Europe/Berlin", "request": request})
    one = f"{HERE}/{made['id']}"
    assert (made["workflow"], made["inputs"], made["apply"], made["said"]) == ("run", ["pass"], "ask", "")
    assert "inputs" not in made["request"]
    assert made["next"] > made["created"]
    assert made == ann.get(one)
    assert made in ann.get(HERE)["items"]
    tag = {"If-Match": ann.ask("GET", one).headers["ETag"]}
    assert ann.ask("PATCH", one, {"paused": True}).data["code"] == "match-required"
    changed = ann.do("PATCH", one, {"paused": True, "cron": "0 3 * * *"}, tag)
    assert (changed["paused"], changed["next"], changed["cron"]) == (True, None, "0 3 * * *")
    assert changed["inputs"] == ["pass"]
    assert ann.ask("PATCH", one, {"paused": False}, tag).data["code"] == "changed"
    assert ann.ask("POST", HERE, {"name": "often", "cron": "0 3 * * *", "request": request}).data["code"] == "exists"
    assert ann.ask("DELETE", one).status == 204
    assert ann.ask("GET", one).data["code"] == "unknown-schedule"
    # What was given is nowhere to be seen.
    with sqlite3.connect(server.home / "server.db") as db:
        for table in ("schedule", "audit", "event"):
            assert not any(CANARY in str(row) for row in db.execute(f"SELECT * FROM {table}"))


@pytest.mark.parametrize(
    ("fields", "code", "hint"),
    [
        ({"cron": "0 3 * *"}, "malformed", ""),
        ({"cron": "99 3 * * *"}, "bad-schedule", "mon-fri"),
        ({"zone": "Europe/Berln"}, "unknown-zone", '"Europe/Berlin"?'),
        ({"request": {"workflow": "chek"}}, "malformed", ""),
        ({"request": {"workflow": "start", "names": []}}, "malformed", ""),
        ({"nam": "x"}, "malformed", '"name"?'),
        ({"apply": "always"}, "malformed", ""),
    ],
)
def test_what_cannot_be_is_refused(ann: Client, fields: dict[str, Any], code: str, hint: str) -> None:
    body = {"name": "x", "cron": "0 3 * * *", "request": {"workflow": "check"}, **fields}
    found = ann.ask("POST", HERE, body)
    assert (found.status // 100, found.data["code"]) == (4, code)
    assert hint in found.data["hint"]


def test_only_who_may_apply_may_have_the_clock_do_it(ann: Client) -> None:
    """A maintainer may configure, and has all workflows; but a token narrowed to what cannot remove has not."""
    ann.do("POST", "projects/default/accounts", {"name": "robot"})
    mine = [{"kind": "user", "who": ann.get("me")["name"], "role": "owner"}]
    bindings = [*mine, {"kind": "account", "who": "robot", "role": "operator"}]
    ann.do("PUT", "projects/default/bindings", {"bindings": bindings}, {"If-Match": "*"})
    token = ann.do("POST", "projects/default/accounts/robot/tokens", {"name": "t"})["token"]
    found = ann.with_token(token).ask(
        "POST", HERE, {"name": "y", "cron": "0 3 * * *", "request": {"workflow": "check"}}
    )
    assert found.data["code"] == "forbidden"


def following(client: Client, *types: str, what: str) -> Iterator[dict[str, Any]]:
    """The events of these types about an ensemble, as they come."""
    for event in client.stream("ensembles"):
        if event["type"] in types and event.get("ensemble") == what:
            yield event


MAINTAINED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
node_types:
  Kept:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard: { operations: { create: { implementation: make.sh } } }
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: check.sh, heal: heal.sh }
topology_template:
  node_templates: { thing: { type: Kept } }
"""


def test_by_the_clock_drift_is_found_shown_and_healed(tmp_path: Path) -> None:
    """A check by the clock finds what is broken, the ensemble says so, and a healing by the clock repairs it."""
    (tmp_path / "service.yaml").write_text(MAINTAINED)
    broken = tmp_path / "broken"
    for name, text in (("make", ":"), ("check", f"[ ! -e {broken} ]"), ("heal", f"rm {broken}")):
        (tmp_path / f"{name}.sh").write_text(f"{text}\n")
        (tmp_path / f"{name}.sh").chmod(0o755)
    shop = tmp_path / "shop"
    assert run(["-e", str(shop), "-q", "deploy", str(tmp_path / "service.yaml"), "--yes"]) == 0
    broken.write_text("")
    with Served(tmp_path / "home", shop, settings=MANY_REQUESTS) as server:
        admin = server.admin()
        assert admin.get("projects/default/ensembles/shop")["drift"] is None
        for name, request in (("check", {"workflow": "check"}), ("heal", {"workflow": "heal", "names": []})):
            body = {"name": name, "cron": "0 * * * *", "request": request, "apply": "auto", "paused": True}
            admin.do("POST", HERE, body)
        schedules = {one["name"]: one for one in admin.get(HERE)["items"]}

        def turn(name: str) -> None:
            """Let the turn of a schedule have come."""
            with sqlite3.connect(server.home / "server.db") as db:
                db.execute("UPDATE schedule SET next = ?, paused = (name != ?)", (time.time() - 1, name))

        events = following(admin, "ensemble.drift", "job.ended", what="shop")
        turn("check")
        assert [next(events)["type"] for _ in range(2)] == ["job.ended", "ensemble.drift"]
        drift = admin.get("projects/default/ensembles/shop")["drift"]
        assert (drift["drift"], drift["workflow"], drift["unwell"]) == (True, "check", ["thing_1"])
        assert drift["job"]
        assert drift == admin.get("ensembles")["items"][0]["drift"]
        turn("heal")
        assert any(event["type"] == "job.ended" and not broken.exists() for event in events)
        assert admin.get(f"{HERE}/{schedules['heal']['id']}")["plan"]
        turn("check")
        events.close()  # type: ignore[attr-defined]
        events = following(admin, "drift.changed", what="shop")
        found = next(event for event in events if not event["drift"])
        assert found["workflow"] == "check"
        drift = admin.get("projects/default/ensembles/shop")["drift"]
        assert (drift["drift"], drift["unwell"]) == (False, [])
        plans = admin.get("projects/default/ensembles/shop/plans")["items"]
        assert {plan["by"]["kind"] for plan in plans} == {"schedule"}
