"""What was configured with attributes of what is changed is configured again, if they are others than before."""

from __future__ import annotations

import pytest

from ordito.model.operation import Operation
from ordito.model.service import Service
from tests.support.forming import Forming
from tests.support.runs import World
from tests.support.services import Requires, definition, get_attribute, node, operation, service

ALL = ["create", "configure", "start", "stop"]


def tiers(script: str) -> Service:
    """Of three tiers each is configured with an address of the one before, which its own start gives."""

    def own(*more: Operation | str) -> list[Operation | str]:
        return ["create", operation("start", outputs={"at": ("SELF", "at")}), "stop", *more]

    def told(by: str) -> Operation:
        return operation("configure", inputs={"at": get_attribute(by, "at")})

    at = [definition("at")]
    return service(
        node("db", operations=own(operation("configure", script)), declares=at),
        node("api", Requires("db", "add_target", "remove_target"), operations=own(told("db")), declares=at),
        node("web", Requires("api", "add_target", "remove_target"), operations=own(told("api")), declares=at),
        node("other", operations=ALL),
    )


@pytest.mark.parametrize("moved", ["", "db", "db api"])
def test_what_is_configured_with_another_value_is_configured_again(moved: str) -> None:
    """As far as the values are others, and no further; what was left out is linked as before."""
    world = Forming(tiers("1.sh"))
    world.to(tiers("1.sh"), answers=lambda _, name: {"at": "one"} if name == "Standard.start" else None)
    others = {f"{name}_1" for name in moved.split()}
    world.to(
        tiers("2.sh"),
        answers=lambda step, name: (
            {"at": "two" if step.instance in others else "one"} if name == "Standard.start" else None
        ),
    )
    assert world.failed == []
    changed = ["db_1", *(["api_1"] if moved else []), *(["web_1"] if "api" in moved else [])]
    lifecycle = [s for s in world.done("stop", "configure", "start") if ".Standard." in s]
    assert lifecycle == [f"{name}.Standard.{o}" for name in changed for o in ("stop", "configure", "start")]
    assert {(i.state, i.local) for i in world.snapshot.instances.values()} == {("started", "ok")}
    assert {i.form for i in world.snapshot.instances.values()} == {""}
    for link in ("api_1.db.db_1", "web_1.api.api_1"):
        assert "Configure.add_target" in world.snapshot.links[link].applied
    assert world.differs(tiers("2.sh")).is_empty


def test_nothing_is_looked_at_where_nothing_that_is_read_changes() -> None:
    world = World(tiers("1.sh"))
    world.run()
    world.service = service(*(n for n in tiers("1.sh").nodes.values() if n.name != "other"), node("other"))
    assert not [s for s in world.plan().steps if s.id.endswith("whether")]
