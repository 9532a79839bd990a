"""The table of local statuses and node states, event by event, through what the engine asks of operations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.instances.records import Delta
from ordito.operations.operations import PlanOperations
from ordito.work.invocation import Ending, Outcome
from tests.support.runs import World
from tests.support.services import Requires, maintain, node, service
from tests.support.yaml_files import read_yaml

CASES: list[dict[str, Any]] = read_yaml((Path(__file__).parent / "data" / "local_status.yaml").read_text())
STANDARD = ["create", "configure", "start", "stop", "delete"]


def world_of(case: dict[str, Any]) -> World:
    """A service of a consumer and what it is linked with, undisturbed so far as the workflow supposes."""
    name = case.get("failed") or (case["step"] if case.get("optional") else "")
    metadata = {f"ordito.{name}.priority": "optional"} if name else {}
    link = Requires("db", "pre_configure_source", "add_target")
    requires = () if case.get("alone") else (link,)
    web = node("web", *requires, operations=STANDARD, metadata=metadata)
    web = msgspec.structs.replace(web, interfaces={**web.interfaces, **maintain("check", "discover")})
    world = World(service(node("db"), web))
    if case.get("workflow", "deploy") != "deploy":
        world.run()
    return world


@pytest.mark.parametrize("case", CASES, ids=[f"{c['step']}: {c['event']}" for c in CASES])
def test_event(case: dict[str, Any]) -> None:
    world = world_of(case)
    made = world.plan(case.get("workflow", "deploy"))
    world.snapshot.apply(Delta(instances=made.records.new))
    operations = PlanOperations(world.service, world.snapshot, made, {}, root="/pinned", job="job")
    step = next(s for s in made.steps if s.instance == "web_1" and s.id.endswith(case["step"]))
    target = world.snapshot.instances["db_1"]
    before = msgspec.structs.replace(
        world.snapshot.instances["web_1"],
        local=case["before"],
        state=case.get("from", "started" if step.link or "Maintain" in step.id else "initial"),
        created=case.get("created", world.snapshot.instances["web_1"].created),
        failed={case["failed"]: "earlier"} if "failed" in case else {},
    )
    world.snapshot.apply(Delta(instances=(before,)))
    world.snapshot.apply(operations.on_start(step, "change"))
    if not case.get("begins"):
        outcome = Outcome(
            Ending(case.get("ending") or ("failed" if case["exit"] else "succeeded")),
            exit_code=case.get("exit"),
            changed=case.get("modified"),
            status=case.get("reported", ""),
        )
        world.snapshot.apply(operations.on_end(step, outcome, "change")[1])
    after = world.snapshot.instances["web_1"]
    assert (after.local, after.state) == (case["after"], case["state"])
    assert world.snapshot.instances["db_1"] == target
    if case.get("begins"):
        assert after.created == case.get("created", "change")


def test_the_table_has_every_event_of_the_status() -> None:
    """Each ending is there for an operation, and each local status is the result of some event."""
    assert {c.get("ending") for c in CASES} >= {*Ending} - {None}
    assert {c["after"] for c in CASES} == {"ok", "degraded", "pending", "unknown", "error", "absent"}
