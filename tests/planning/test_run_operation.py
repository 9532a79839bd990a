"""Plans of one operation on chosen instances, on random topologies and on very many instances."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ordito.model.service import Service
from ordito.planning.options import OfNode, OperationRun
from ordito.work.plan import Action, Plan
from tests.planning.test_random_topologies import QUICK, topologies
from tests.support.runs import OPTIONS, World
from tests.support.services import Requires, node, service


def planned(world: World, chosen: frozenset[str], *, in_order: bool) -> Plan:
    nodes = {world.snapshot.instances[i].node: OfNode("Standard") for i in chosen}
    wanted = OperationRun("start", nodes, in_order)
    return world.plan("run", replace(OPTIONS, instances=chosen, run=wanted))


def after_each(plan: Plan) -> dict[str, set[str]]:
    """For each instance the instances whose steps come before its own."""
    before: list[set[int]] = [set() for _ in plan.steps]
    for first, second, _ in plan.edges:  # sorted by the step they lead to
        before[second] |= {first, *before[first]}
    works = {i: s.instance for i, s in enumerate(plan.steps) if s.action is not Action.JOIN}
    return {name: {works[b] for b in before[i] if b in works} for i, name in works.items()}


def needed_by(world: World, instance: str) -> set[str]:
    """All that an instance depends on, directly and in turn: its host, and the instances of what its node requires."""
    found: set[str] = set()
    waiting = [instance]
    while waiting:
        record = world.snapshot.instances[waiting.pop()]
        direct = [record.host] if record.host else []
        for relationship in world.service.nodes[record.node].requirements:
            if not relationship.is_hosting:
                direct += world.snapshot.ids_of(relationship.target)
        waiting += [i for i in direct if i not in found]
        found.update(direct)
    return found


@QUICK
@given(topologies(), st.integers(0, 2**32))
def test_the_order_of_dependencies_holds_through_what_is_left_out(made: Service, seed: int) -> None:
    """Exactly the chosen instances have a step; each waits for all of the chosen that it depends on, and no others."""
    world = World(made)
    world.run()
    random = Random(seed)
    existing = [i for i, r in world.snapshot.instances.items() if r.exists]
    chosen = frozenset(i for i in existing if random.random() < 0.6)
    if not chosen:
        return
    plan = planned(world, chosen, in_order=True)
    found = after_each(plan)
    assert set(found) == chosen
    assert found == {i: needed_by(world, i) & chosen for i in chosen}
    apart = planned(world, chosen, in_order=False)
    assert {s.instance for s in apart.steps} == chosen
    assert not apart.edges


def test_reasons_say_that_the_order_was_asked_for() -> None:
    """Nothing comes up in such a plan: what waits only has its turn after the other."""
    world = World(service(node("b", count=2), node("a", Requires("b"), count=2)))
    world.run()
    plan = planned(world, frozenset(i for i, r in world.snapshot.instances.items() if r.exists), in_order=True)
    reasons = {plan.reasons[reason] for _, _, reason in plan.edges}
    assert reasons == {"a requires b (b): it comes before a", "all instances of b have had their turn"}


def test_the_number_of_edges_is_linear() -> None:
    """Whatever is left out between very many instances: n and m of them do not make n times m edges."""
    world = World(service(node("c", count=300), node("b", "c", count=300), node("a", Requires("b"), count=300)))
    world.run()
    ends = frozenset(i for i, r in world.snapshot.instances.items() if r.node != "b")
    plan = planned(world, ends, in_order=True)
    assert sum(s.action is not Action.JOIN for s in plan.steps) == 600
    assert len(plan.edges) < 2_000
