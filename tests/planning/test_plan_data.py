"""Plans are data: the same for the same arguments, and the same after they were written and read."""

import msgspec
import pytest

from ordito.instances.records import Delta, Instance, Link
from ordito.model.service import Service
from ordito.planning.preview import preview
from ordito.work.plan import Plan
from tests.support.runs import World
from tests.support.services import Requires, compute, node, on, operation, service


def shop(web: int = 3) -> Service:
    return service(
        compute("server"),
        node("db", on("server"), operations=["create"]),
        node("web", Requires("db", "add_target", operation("add_source", outputs={"o": ("SELF", "x")})), count=web),
    )


@pytest.mark.parametrize("codec", [msgspec.json, msgspec.msgpack])
def test_a_plan_survives_writing_and_reading(codec) -> None:  # type: ignore[no-untyped-def]
    made = World(shop()).plan()
    assert codec.decode(codec.encode(made), type=Plan) == made


@pytest.mark.parametrize("codec", [msgspec.json, msgspec.msgpack])
def test_a_delta_survives_writing_and_reading(codec) -> None:  # type: ignore[no-untyped-def]
    delta = Delta(
        instances=(Instance("a_1", "a", 0),),
        links=(Link("a_1.b.b_1", "a.b", "a_1", "b_1"),),
        unlinked=("a_1.c.c_1",),
        attributes={"a_1": {"port": 80}},
        outputs={"a_1": {"Standard.create": {"port": "80"}}},
    )
    assert codec.decode(codec.encode(delta), type=Delta) == delta


def test_the_same_arguments_give_the_same_plan() -> None:
    assert World(shop()).plan() == World(shop()).plan()


def test_steps_stand_in_an_order_that_satisfies_all_edges() -> None:
    made = World(shop()).plan()
    assert all(before < after for before, after, _ in made.edges)
    assert len({s.id for s in made.steps}) == len(made.steps)


@pytest.mark.parametrize("on_host", [1, 2, 9])
def test_the_steps_of_a_wave_can_run_at_the_same_time(on_host: int) -> None:
    """On one instance one operation, on a host as many as it may have; each wave waits for earlier ones."""
    made = World(
        service(
            compute("server"),
            compute("wide", metadata={"ordito.concurrency": "3"}),
            node("db", on("server"), operations=["create", "start"]),
            node("web", on("server"), Requires("db", "add_target", "add_source"), operations=["create"], count=5),
            node("job", on("wide"), "db", operations=["create", "configure", "start"], count=7),
        )
    ).plan()
    shown = preview(made, on_host=on_host)
    waves = {step.id: number for number, wave in enumerate(shown.waves) for step in wave}
    for before, after, _ in made.edges:
        first, then = made.steps[before].id, made.steps[after].id
        assert first not in waves or then not in waves or waves[first] < waves[then]
    places = {"server_1": on_host, "wide_1": 3}
    used: set[int] = set()
    for wave in shown.waves:
        running = [step for step in wave if not step.no_op]
        assert len({step.instance for step in running}) == len(running)
        at = [sum(step.runs_on == host for step in running) for host in places]
        assert all(count <= places[host] for host, count in zip(places, at, strict=True))
        used.add(at[1])
    assert max(used) == 3
    if on_host == 1:
        assert shown.held is not None
        assert shown.held.hosts == places
        assert shown.held.otherwise < shown.totals.waves


def test_preview() -> None:
    world = World(shop(2))
    shown = preview(world.plan())
    assert shown.totals.made == 4
    assert shown.totals.delegated == 1
    assert shown.totals.operations == 5
    assert shown.totals.no_op == 8
    assert len(shown.waves) == 10
    assert shown.totals.waves == sum(any(not s.no_op for s in wave) for wave in shown.waves) < 10
    assert [s.id for s in shown.waves[0]] == ["server_1.delegate.deploy"]
    # What runs on one instance runs one after the other.
    assert [s.id for s in shown.waves[-2]] == ["web_1.db.db_1.Configure.add_source"]
    assert [s.id for s in shown.waves[-1]] == ["web_2.db.db_1.Configure.add_source"]
    assert msgspec.json.decode(msgspec.json.encode(shown))["totals"]["made"] == 4


def test_preview_of_nothing() -> None:
    world = World(shop(2))
    world.run()
    shown = preview(world.plan())
    assert shown.waves == ()
    assert shown.changes == ()


def test_large_plans_have_linear_size() -> None:
    """100,000 pairs of instances that wait for each other are 800 edges."""
    made = World(service(node("t", count=316), node("s", "t", count=317))).plan()
    assert len(made.steps) == 3 * 633 + 1
    assert len(made.edges) == 2 * 633 + 633


def test_very_long_chains_of_nodes() -> None:
    """No recursion over what users can make as deep as they like."""
    nodes = [node("n0"), *(node(f"n{i}", f"n{i - 1}") for i in range(1, 5000))]
    made = World(service(*nodes)).plan()
    assert made.steps[0].chain == 14_999
