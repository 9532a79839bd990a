"""Properties of plans of random topologies."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.instances.records import Delta
from ordito.instances.states import TRANSITIONS
from ordito.model.service import Service
from ordito.planning.options import Goal, PlanOptions, RolledBack, Scaling
from ordito.planning.workflows import ROLLBACK_OF_JOB
from ordito.work.invocation import Ending
from ordito.work.plan import Action, Plan
from tests.support.runs import OPTIONS, World, is_before, steps_of
from tests.support.services import STANDARD_OPERATIONS, Requires, compute, node, service
from tests.support.thorough import examples

CONFIGURE = [
    *("pre_configure_source", "pre_configure_target", "post_configure_source", "post_configure_target"),
    *("add_target", "add_source", "remove_target", "remove_source"),
]
PAIRS = {"add_target", "add_source", "remove_target", "remove_source"}


@st.composite
def topologies(draw: st.DrawFn, counts: dict[str, int] | None = None) -> Service:
    """Up to six nodes that require earlier ones; some hosted, some with several instances or operations."""
    nodes = [compute("c", count=draw(st.integers(1, 3)))]
    for index in range(draw(st.integers(1, 5))):
        names = [n.name for n in nodes]
        hosted = draw(st.booleans())
        requires = []
        if hosted:
            host = draw(st.sampled_from(names))
            own = [o for o in CONFIGURE if draw(st.booleans()) and (host != "c" or not o.endswith("configure_target"))]
            requires.append(Requires(host, *own, hosting=True))
        for target in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
            own = [
                o for o in CONFIGURE if draw(st.booleans()) and (target != "c" or not o.endswith("configure_target"))
            ]
            requires.append(Requires(target, *own, name=f"r_{target}"))
        count = draw(st.one_of(st.none(), st.integers(1, 3)))
        operations = [o for o in STANDARD_OPERATIONS if draw(st.booleans())]
        nodes.append(node(f"n{index}", *requires, count=count, operations=operations))
    return service(*nodes)


QUICK = settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(topologies(), st.integers(0, 2**32))
def test_every_order_respects_the_table(given_service: Service, seed: int) -> None:
    """R-7.2-1: in every topology, each operation comes after what the lifecycle table says it comes after."""
    world = World(given_service)
    made = world.run(random=Random(seed))
    assert world.failed == []
    assert world.skipped == []
    place = {s: i for i, s in enumerate(world.ran)}
    end = {i: max(p for s, p in place.items() if s.startswith(f"{i}.")) for i in world.existing}
    for record in world.snapshot.instances.values():
        chain = [p for s, p in sorted(place.items(), key=lambda kv: kv[1]) if s.startswith(f"{record.id}.Standard")]
        assert chain == sorted(chain)
        for relationship in given_service.nodes[record.node].requirements:
            hosting = relationship.is_hosting
            targets = [record.host] if hosting else world.snapshot.ids_of(relationship.target)
            first = min(p for s, p in place.items() if s.startswith((f"{record.id}.Standard", f"{record.id}.delegate")))
            for target in targets:
                assert end[target] < first or _only_links_after(target, first, world.ran)
    _states_are_legal(world)
    assert world.plan().is_empty
    _exactly_once(made, given_service, world)


def _only_links_after(target: str, first: int, ran: list[str]) -> bool:
    """Links at the target's side belong to the chains of its sources."""
    return all(s.rpartition(".")[2] in PAIRS for s in ran[first:] if s.startswith(f"{target}."))


def _states_are_legal(world: World) -> None:
    for instance in {i for i, _ in world.states}:
        states = world.states_of(instance)
        for before, after in pairwise(states):
            assert after in TRANSITIONS[before], f"{instance}: {before} -> {after}"


def _exactly_once(made: Plan, given_service: Service, world: World) -> None:
    """Each implemented pair operation once per pair, each near operation once per near instance."""
    for source in given_service.nodes.values():
        for relationship in source.requirements:
            implemented = set(relationship.interfaces["Configure"].operations)
            sources = world.snapshot.of_node(source.name)
            targets = world.snapshot.ids_of(relationship.target)
            pairs = len(sources) if relationship.is_hosting else len(sources) * len(targets)
            called: dict[str, int] = {}
            for step in made.steps:
                if step.action is not Action.JOIN and made.calls[step.call].owner == relationship.key:
                    name = made.calls[step.call].operation
                    called[name] = called.get(name, 0) + 1
            wanted = {
                "pre_configure_source": len(sources),
                "post_configure_source": len(sources),
                "pre_configure_target": len(targets),
                "post_configure_target": len(targets),
                "add_target": pairs,
                "add_source": pairs,
            }
            assert called == {n: c for n, c in wanted.items() if n in implemented and c}


@QUICK
@given(topologies(), st.integers(0, 2**32))
def test_deploy_and_undeploy_leave_nothing(given_service: Service, seed: int) -> None:
    world = World(given_service)
    random = Random(seed)
    world.run(random=random)
    world.run("undeploy", random=random)
    assert world.failed == []
    assert world.existing == []
    assert world.snapshot.links == {}
    assert world.snapshot.attributes == {}
    assert world.plan("undeploy").is_empty
    _states_are_legal(world)


@QUICK
@given(topologies(), st.integers(0, 2**32), st.integers(0, 40))
def test_whatever_fails_a_second_deploy_completes_and_undeploy_removes_everything(
    given_service: Service, seed: int, broken: int
) -> None:
    random = Random(seed)
    world = World(given_service)
    called = [s.id for s in world.plan().steps if s.action is Action.CALL]
    unlucky = called[broken % len(called)] if called else ""
    world.run(random=random, answers=lambda step, _: None if step.id != unlucky else Ending.FAILED)
    done = set(world.ran)
    other = _copy(world)
    world.run(random=random)
    assert not done & set(world.ran)
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}
    assert world.plan().is_empty
    other.run("undeploy", random=random)
    assert other.existing == []
    assert other.snapshot.links == {}


def _copy(world: World) -> World:
    other = World(world.service, world.inputs)
    other.jobs = world.jobs
    s = world.snapshot
    other.snapshot.apply(
        Delta(
            tuple(s.instances.values()),
            tuple(s.links.values()),
            (),
            {k: dict(v) for k, v in s.attributes.items()},
            {k: dict(v) for k, v in s.outputs.items()},
        )
    )
    return other


@QUICK
@given(topologies(), st.integers(0, 2**32), st.data())
def test_growing_and_shrinking_ends_as_it_began(given_service: Service, seed: int, data: st.DataObject) -> None:
    random = Random(seed)
    world = World(given_service)
    world.run(random=random)
    counted = [n for n in given_service.nodes.values() if n.instance_count is not None]
    name = data.draw(st.sampled_from([n.name for n in counted]))
    before = {i.id: (i.state, i.local, i.host) for i in world.snapshot.instances.values()}
    links = set(world.snapshot.links)
    grown = _recount(given_service, name, data.draw(st.integers(1, 2)))
    world.service = grown
    world.run(random=random)
    assert world.failed == []
    assert world.skipped == []
    assert world.plan().is_empty
    world.service = given_service
    world.run(random=random)
    assert world.failed == []
    assert world.plan().is_empty
    after = {i.id: (i.state, i.local, i.host) for i in world.snapshot.instances.values() if i.exists}
    explicit_below = any(
        n.instance_count is not None and n.host is not None and n.name != name for n in given_service.nodes.values()
    )
    if not explicit_below:
        assert after == before
        assert set(world.snapshot.links) == links


@QUICK
@given(topologies(), st.integers(0, 2**32), st.data())
def test_scaling_out_and_in_ends_as_it_began(given_service: Service, seed: int, data: st.DataObject) -> None:
    """R-7.1-4: nothing but links runs on what stays, and what was added is what leaves."""
    random = Random(seed)
    world = World(given_service)
    world.run(random=random)
    counted = [n.name for n in given_service.nodes.values() if n.instance_count is not None]
    name, more = data.draw(st.sampled_from(counted)), data.draw(st.integers(1, 2))
    before = {i.id: (i.state, i.local, i.host, i.index, i.applied) for i in world.snapshot.instances.values()}
    links = dict(world.snapshot.links)
    out = world.run("scale", options=scaled(name, more), random=random)
    assert (world.failed, world.skipped) == ([], [])
    made = {i.id for i in out.records.new}
    assert all(s.split(".")[0] in made or s.rpartition(".")[2] in PAIRS for s in world.ran)
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}
    kept = replace(OPTIONS, kept=out.counts.kept or {})
    assert world.plan(options=kept).is_empty
    back = world.run("scale", options=replace(scaled(name, -more), kept=out.counts.kept or {}), random=random)
    assert (world.failed, world.skipped, back.counts.kept) == ([], [], {})
    there = (i for i in world.snapshot.instances.values() if i.exists)
    assert {i.id: (i.state, i.local, i.host, i.index, i.applied) for i in there} == before
    assert world.snapshot.links.keys() == links.keys()
    assert world.plan().is_empty


@QUICK
@given(topologies(), st.integers(0, 2**32), st.data())
def test_a_scale_out_that_fails_anywhere_leaves_what_was_there(
    given_service: Service, seed: int, data: st.DataObject
) -> None:
    """R-7.1-4: what it has added is removed, and nothing else."""
    random = Random(seed)
    world = World(given_service)
    world.run(random=random)
    counted = [n.name for n in given_service.nodes.values() if n.instance_count is not None]
    options = scaled(data.draw(st.sampled_from(counted)), data.draw(st.integers(1, 2)))
    before = {i.id: (i.state, i.host, i.index) for i in world.snapshot.instances.values()}
    links = set(world.snapshot.links)
    called = [s.id for s in world.plan("scale", options).steps if s.action is Action.CALL]
    unlucky = data.draw(st.sampled_from(called)) if called else ""
    out = world.run(
        "scale", lambda step, _: Ending.FAILED if step.id == unlucky else None, options=options, random=random
    )
    back = RolledBack(f"job{world.jobs}", frozenset(i.id for i in out.records.new))
    world.jobs -= 1  # It is the same job that is rolled back.
    world.run(ROLLBACK_OF_JOB, options=replace(OPTIONS, rolled_back=back), random=random)
    assert world.failed == []
    assert {i.id: (i.state, i.host, i.index) for i in world.snapshot.instances.values() if i.exists} == before
    assert set(world.snapshot.links) == links


@QUICK
@given(topologies(), st.integers(0, 2**32), st.data())
def test_a_scale_in_that_fails_anywhere_is_completed_by_another_run(
    given_service: Service, seed: int, data: st.DataObject
) -> None:
    """R-7.1-4: what was not removed is there as it is, and is removed the next time."""
    random = Random(seed)
    world = World(given_service)
    world.run(random=random)
    counted = [n.name for n in given_service.nodes.values() if n.instance_count is not None]
    name = data.draw(st.sampled_from(counted))
    wanted = len(world.snapshot.ids_of(name)) - 1
    options = replace(OPTIONS, scaling=Scaling((Goal(name, count=wanted),)))
    made = world.plan("scale", options)
    leaving = {c.instance for c in made.changes if c.symbol == "-"}
    called = [s.id for s in made.steps if s.action is Action.CALL]
    unlucky = data.draw(st.sampled_from(called)) if called else ""
    world.run("scale", lambda step, _: Ending.FAILED if step.id == unlucky else None, options=options, random=random)
    done = set(world.ran)
    assert {i.local for i in world.snapshot.instances.values() if i.exists and i.id not in leaving} <= {"ok", "unknown"}
    world.run("scale", options=options, random=random)
    assert (world.failed, world.skipped) == ([], [])
    assert not done & set(world.ran)
    assert leaving.isdisjoint(world.existing)
    assert len(world.snapshot.ids_of(name)) == wanted
    assert world.plan("scale", options).is_empty


def scaled(node: str, delta: int) -> PlanOptions:
    return replace(OPTIONS, scaling=Scaling((Goal(node, delta=delta),)))


def _recount(given_service: Service, name: str, more: int) -> Service:
    nodes = {
        n.name: msgspec.structs.replace(n, instance_count=n.instance_count + more)  # type: ignore[operator]
        if n.name == name
        else n
        for n in given_service.nodes.values()
    }
    return msgspec.structs.replace(given_service, nodes=nodes)


@QUICK
@given(topologies())
def test_removal_is_ordered_against_requirements(given_service: Service) -> None:
    world = World(given_service)
    world.run()
    made = world.plan("undeploy")
    last = {s.instance: s.id for s in made.steps if s.effect.leave == "deleted"}
    assert set(last) == set(world.existing)
    for record in world.snapshot.instances.values():
        for relationship in given_service.nodes[record.node].requirements:
            targets = [record.host] if relationship.is_hosting else world.snapshot.ids_of(relationship.target)
            for target in targets:
                assert is_before(made, last[record.id], last[target])
    assert len(steps_of(made)) >= len(last)
