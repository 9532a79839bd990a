"""Inputs that are given for one call only: in the environment, sealed in what is written, and never shown."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ordito.app.saved_plan import Sealing, encoded
from ordito.base.sensitive import Sensitive
from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import use_vault
from ordito.instances.records import Delta
from ordito.operations.operations import PlanOperations
from ordito.work.plan import Plan
from tests.app.test_saved_plan import saved
from tests.support.runs import World
from tests.support.services import call, node, operation, service

SECRET = "canary-0815-word"


def world() -> World:
    ask = operation("create", inputs={"mode": "slow", "port": call("get_input", "port")}, required=["must"])
    return World(service(node("a", operations=[ask]), node("b", operations=["create"])), {"port": 80})


def given(plan: Plan, **values: object) -> Plan:
    calls = [msgspec.structs.replace(c, given=values if c.owner == "a" else {}) for c in plan.calls]
    return msgspec.structs.replace(plan, calls=tuple(calls))


def test_they_override_and_add() -> None:
    made = world()
    plan = given(made.plan(), mode="fast", must=[1, 2], more={"a": True}, key=Sensitive(SECRET))
    made.snapshot.apply(Delta(instances=plan.records.new))
    operations = PlanOperations(made.service, made.snapshot, plan, made.inputs, root="/pinned", job="job1")
    steps = {s.id: s for s in plan.steps}
    invocation = operations.prepare(steps["a_1.Standard.create"], 1).invocation
    assert invocation is not None
    wanted = {"mode": "fast", "port": "80", "must": "[1,2]", "more": '{"a":true}', "key": SECRET}
    assert wanted.items() <= invocation.environment.items()
    assert invocation.environment["a_1_mode"] == "fast"
    # What is printed loses the secret, although nothing but the call knows of it.
    assert SECRET not in operations.masking.text(f"the key is {SECRET}")
    other = operations.prepare(steps["b_1.Standard.create"], 1).invocation
    assert other is not None
    assert "mode" not in other.environment


def test_what_is_written_holds_no_secret_and_is_read_back(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    use_vault(layout)
    plan = given(world().plan(), key=Sensitive(SECRET), mode="fast", list=[Sensitive(SECRET), 2])
    journal = encode(plan)
    assert SECRET.encode() not in journal
    assert Decoder(Plan)(journal) == plan
    assert SECRET not in repr(plan)

    sealing = Sealing(layout)
    calls = tuple(msgspec.structs.replace(c, given=sealing.sealed(dict(c.given))) for c in plan.calls)
    assert SECRET.encode() not in encoded(saved(msgspec.structs.replace(plan, calls=calls)))
