"""Outputs of the topology: one value, or one for each instance."""

from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.instances.topology_outputs import topology_outputs
from ordito.model.service import Service
from ordito.syntax.expressions import Value
from tests.support.services import call, definition, get_attribute, node, service

IP = get_attribute("web", "ip")


def made(count: int, outputs: dict[str, Value], types: dict[str, str] | None = None, db: int = 1) -> Evaluator:
    given: Service = service(
        node("web", declares=[definition("ip")], occurrences=(1, 1), properties={"name": "w"}),
        node("db", declares=[definition("ip")]),
        outputs=outputs,
        output_types=types,
    )
    snapshot = Snapshot()
    for name, number in (("web", count), ("db", db)):
        records = tuple(Instance(f"{name}_{i + 1}", name, i, local="ok") for i in range(number))
        snapshot.apply(Delta(instances=records))
        snapshot.apply(Delta(attributes={r.id: {"ip": f"{r.id}.local"} for r in records}))
    return Evaluator(given, snapshot, {})


def test_one_instance_gives_the_value() -> None:
    """R-4.5.1-6."""
    outputs: dict[str, Value] = {"ip": IP, "url": call("concat", "http://", IP), "text": "x", "deep": {"a": [IP]}}
    values, problems = topology_outputs(made(1, outputs), {})
    assert values == {
        "ip": "web_1.local",
        "url": "http://web_1.local",
        "text": "x",
        "deep": {"a": ["web_1.local"]},
    }
    assert problems == {}


def test_several_instances_give_a_map_or_a_list() -> None:
    """R-4.5.1-6: what several instances answer is a map by instance, or a list where one is declared."""
    values, problems = topology_outputs(
        made(2, {"ip": IP, "urls": call("concat", "http://", IP), "all": IP}, {"all": "list"}), {}
    )
    assert values == {
        "ip": {"web_1": "web_1.local", "web_2": "web_2.local"},
        "urls": {"web_1": "http://web_1.local", "web_2": "http://web_2.local"},
        "all": ["web_1.local", "web_2.local"],
    }
    assert problems == {}


def test_the_wanted_count_decides_too() -> None:
    assert topology_outputs(made(1, {"ip": IP}), {"web": 3})[0] == {"ip": {"web_1": "web_1.local"}}


def test_nodes_of_equal_numbers_are_put_together_by_slot() -> None:
    both = call("concat", IP, "-", get_attribute("db", "ip"))
    assert topology_outputs(made(2, {"x": both}, db=2), {})[0] == {
        "x": {"web_1": "web_1.local-db_1.local", "web_2": "web_2.local-db_2.local"}
    }
    values, problems = topology_outputs(made(2, {"x": both}, db=3), {})
    assert values == {"x": None}
    assert "different numbers" in problems["x"]


def test_one_output_that_fails_does_not_hold_up_the_others() -> None:
    """What has no value, after a failed deployment for example, is null."""
    values, problems = topology_outputs(made(0, {"ip": IP, "bad": get_attribute("web", "x"), "text": "x"}), {})
    assert values == {"ip": None, "bad": None, "text": "x"}
    assert problems == {}
    assert topology_outputs(made(1, {"bad": get_attribute("web", "x")}), {})[1]
