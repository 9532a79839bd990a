"""lastConfigChange and lastStateChange: the last change that was applied, and the last that was noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordito.instances.records import Delta
from ordito.model.service import Service
from ordito.operations.operations import PlanOperations
from ordito.work.invocation import Ending, Outcome
from ordito.work.workflows import workflow_of
from tests.support.runs import World
from tests.support.services import Requires, maintain, node, service
from tests.support.yaml_files import read_yaml

CASES: list[dict[str, Any]] = read_yaml((Path(__file__).parent / "data" / "change_marks.yaml").read_text())
STANDARD = ["create", "configure", "start", "stop", "delete"]
PLANNED = {"deploy", "undeploy", "check"}


def service_of(case: dict[str, Any]) -> Service:
    web = node("web", operations=STANDARD)
    interfaces = {**web.interfaces, **maintain("check", "discover")}
    if "gives" in case:
        standard = interfaces["Standard"]
        create = msgspec.structs.replace(standard.operations["create"], outputs={"color": ("SELF", "color")})
        interfaces["Standard"] = msgspec.structs.replace(standard, operations={**standard.operations, "create": create})
    return service(msgspec.structs.replace(web, interfaces=interfaces))


@pytest.mark.parametrize("case", CASES, ids=[" ".join(map(str, c.values())) for c in CASES])
def test_marks(case: dict[str, Any]) -> None:
    world = World(service_of(case))
    workflow = case["workflow"] if case["workflow"] in PLANNED else "deploy"
    if workflow != "deploy":
        world.run()
    plan = msgspec.structs.replace(world.plan(workflow), workflow=case["workflow"])
    world.snapshot.apply(Delta(instances=plan.records.new))
    step = next(s for s in plan.steps if s.id.endswith(case["step"]))
    before = msgspec.structs.replace(
        world.snapshot.instances["web_1"],
        local=case.get("before", "unknown"),
        last_config_change="old",
        last_state_change="old",
    )
    world.snapshot.apply(Delta((before,), attributes={"web_1": {"color": "blue"}}))
    job, change = ("new", "new") if case.get("no_op") else ("job", "new")
    operations = PlanOperations(world.service, world.snapshot, plan, {}, root="/pinned", job=job)
    world.snapshot.apply(operations.on_start(step, change))
    outcome = Outcome(
        Ending(case.get("ending") or ("failed" if case["exit"] else "succeeded")),
        exit_code=case.get("exit"),
        changed=case.get("modified"),
        outputs={"color": case["gives"]} if "gives" in case else {},
    )
    world.snapshot.apply(operations.on_end(step, outcome, change)[1])
    after = world.snapshot.instances["web_1"]
    assert (after.last_config_change, after.last_state_change) == (case["config"], case["state"])
    if not workflow_of(case["workflow"]).applies:
        assert (after.applied, after.failed, after.created) == (before.applied, before.failed, before.created)


def test_an_attribute_of_another_instance_is_a_change_of_that_one() -> None:
    """A link's operation that writes an attribute of its target has changed the target, and on purpose."""
    link = Requires("db", "add_target")
    world = World(service(node("db", operations=["create"]), node("web", link, operations=["create"])))
    relationship = world.service.nodes["web"].requirements[0]
    (interface,) = relationship.interfaces.values()
    add = msgspec.structs.replace(interface.operations["add_target"], outputs={"users": ("TARGET", "users")})
    operations = {**interface.operations, "add_target": add}
    assert isinstance(relationship.interfaces, dict)
    relationship.interfaces[interface.name] = msgspec.structs.replace(interface, operations=operations)
    plan = world.plan()
    world.snapshot.apply(Delta(instances=plan.records.new))
    carried_out = PlanOperations(world.service, world.snapshot, plan, {}, root="/pinned", job="job")
    step = next(s for s in plan.steps if s.id.endswith("add_target"))
    world.snapshot.apply(carried_out.on_start(step, "new"))
    outcome = Outcome(Ending.SUCCEEDED, changed=False, outputs={"users": "3"})
    world.snapshot.apply(carried_out.on_end(step, outcome, "new")[1])
    target, source = world.snapshot.instances["db_1"], world.snapshot.instances["web_1"]
    assert (target.last_config_change, target.last_state_change) == ("new", "new")
    assert (source.last_config_change, source.last_state_change) == ("new", "")
