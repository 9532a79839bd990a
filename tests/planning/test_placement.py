"""Placement policies: which host is chosen where several can be (chapter 12)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostic
from ordito.model.imperative import Policy
from ordito.model.service import Service
from ordito.planning.options import Goal, Scaling
from ordito.planning.placement import container_type
from ordito.planning.policy_targets import PLACEMENT
from ordito.planning.refused import PlanRefused
from ordito.syntax.expressions import Value
from tests.support.runs import OPTIONS, World, codes
from tests.support.services import call, compute, definition, node, on, service


def placing(*nodes: str, **properties: Value) -> Policy:
    return Policy("place", ("my.Place", PLACEMENT, "tosca.policies.Root"), properties, targets=nodes, nodes=nodes)


def with_policy(given: Service, policy: Policy) -> Service:
    return msgspec.structs.replace(given, policies={policy.name: policy})


def hosts(given: Service, **inputs: object) -> dict[str, str]:
    """The host of each new instance."""
    return {r.id: r.host for r in World(given, inputs).plan().records.new if r.host}


def refused(given: Service) -> list[Diagnostic]:
    with pytest.raises(PlanRefused) as caught:
        World(given).plan()
    return caught.value.diagnostics


def two_on(hosts: int, app: int = 1, db: int = 1) -> Service:
    return service(compute("h", count=hosts), node("db", on("h"), count=db), node("app", on("h"), count=app))


def test_without_a_policy_both_are_on_the_first_host() -> None:
    assert hosts(two_on(3)) == {"db_1": "h_1", "app_1": "h_1"}


def test_targets_that_are_apart() -> None:
    """R-2.13-2, R-12-10: anti-affinity spreads its targets over different containers."""
    apart = placing("db", "app", anti_affinity="Compute")
    assert hosts(with_policy(two_on(3), apart)) == {"db_1": "h_1", "app_1": "h_2"}
    assert hosts(with_policy(two_on(3, app=2), apart)) == {"db_1": "h_1", "app_1": "h_2", "app_2": "h_3"}
    (found,) = refused(with_policy(two_on(3, app=3), apart))
    assert found.code == "no-host"
    assert 'policy "place" is not met: h_1 has several instances' in found.message


def test_targets_that_are_spread_over_a_number_of_containers() -> None:
    """R-12-10: a failover policy keeps copies running in three separate containers at least."""
    given = service(compute("h", count=5), node("web", on("h"), count=4), inputs=[definition("n", "integer")])
    three = placing("web", container_type="tosca.nodes.Compute", container_number=call("get_input", "n"))
    assert len(set(hosts(with_policy(given, three), n=3).values())) == 4
    (found,) = refused(with_policy(two_on(2, app=3), placing("app", container_number=3)))
    assert found.code == "no-host"
    assert "its targets are on h_1, h_2, and it wants 3" in found.message
    named = placing("app", container_number=2, containers=["h_2", "h_4"])
    assert hosts(with_policy(two_on(4, app=3), named)) == {
        "db_1": "h_1",
        "app_1": "h_2",
        "app_2": "h_4",
        "app_3": "h_2",
    }
    (found,) = refused(with_policy(two_on(2, app=1), placing("app", container_number=1, containers=["other"])))
    assert 'policy "place" wants "app" on other' in found.message
    assert "h_1, h_2" in found.message


def test_computes_are_containers_of_themselves() -> None:
    apart = placing("h", container_type="Compute", container_number=3)
    assert not World(with_policy(service(compute("h", count=3)), apart)).plan().is_empty
    (found,) = refused(with_policy(service(compute("h", count=2)), apart))
    assert "h_1, h_2" in found.message


def test_targets_that_are_together() -> None:
    """R-12-11: `affinity: Compute` puts the targets on the same host."""
    together = placing("db", "app", affinity="Compute")
    assert hosts(with_policy(two_on(3, db=2, app=3), together)) == {
        "db_1": "h_1",
        "db_2": "h_2",
        "app_1": "h_1",
        "app_2": "h_2",
        "app_3": "h_1",
    }
    # Both of the first are where the only one of the other can be.
    assert set(hosts(with_policy(two_on(3, db=2, app=1), together)).values()) == {"h_1"}


def test_targets_that_cannot_be_together() -> None:
    given = service(compute("h"), compute("g"), node("db", on("h"), count=1), node("app", on("g"), count=1))
    found = refused(with_policy(given, placing("db", "app", affinity="Compute")))
    assert codes(found) == ["no-host"]
    assert 'policy "place"' in found[0].message
    assert "g_1" in found[0].message


def test_what_a_target_is_hosted_on_in_turn_counts() -> None:
    """The container is the nearest node of the type that carries the target."""
    given = service(
        compute("h", count=3),
        node("engine", on("h"), count=6),
        node("a", on("engine"), count=1),
        node("b", on("engine"), count=1),
    )
    apart = hosts(with_policy(given, placing("a", "b", anti_affinity="Compute")))
    assert apart[apart["a_1"]] != apart[apart["b_1"]]
    together = hosts(with_policy(given, placing("a", "b", affinity="Compute")))
    assert together[together["a_1"]] == together[together["b_1"]]


def test_what_runs_is_not_moved() -> None:
    """An instance keeps its host, also where a policy that came later wants it elsewhere."""
    world = World(two_on(3))
    world.run()
    world.service = with_policy(two_on(3), placing("db", "app", anti_affinity="Compute"))
    assert world.plan().is_empty
    world.service = with_policy(two_on(3, app=2), placing("db", "app", anti_affinity="Compute"))
    with pytest.raises(PlanRefused, match="place"):
        world.plan()


def test_scaling_heeds_placement() -> None:
    """R-12-10, R-12-11: a new instance goes where the policies have it, and what they forbid is refused."""
    given = service(
        compute("h", count=4), node("db", on("h"), count=2), node("app", on("h"), count=1, occurrences=(0, 9))
    )
    world = World(with_policy(given, placing("db", "app", anti_affinity="Compute")))
    world.run()
    one_more = replace(OPTIONS, scaling=Scaling((Goal("app", delta=1),)))
    assert [r.host for r in world.plan("scale", one_more).records.new] == ["h_4"]
    world.run("scale", options=one_more)
    with pytest.raises(PlanRefused, match="has several instances that are to be apart"):
        world.plan("scale", one_more)
    together = World(with_policy(given, placing("db", "app", affinity="Compute")))
    together.run()
    assert {i.host for i in together.snapshot.instances.values() if i.host} == {"h_1"}
    together.run("scale", options=one_more)
    assert together.snapshot.instances["app_2"].host == "h_1"


def test_very_many_targets_are_spread_evenly() -> None:
    names = [f"n{i}" for i in range(1_000)]
    given = service(compute("h", count=2), *(node(name, on("h"), count=1) for name in names))
    found = hosts(with_policy(given, placing(*names, container_number=2)))
    assert set(Counter(found.values()).values()) == {500}


def test_which_policies_are_understood() -> None:
    given = two_on(2)
    assert container_type(given, placing("app", affinity="Compute")) == "Compute"
    assert container_type(given, placing("app", container_number=2)) == "Compute"
    assert not container_type(given, placing("app", container_type="region", container_number=2))
    assert not container_type(given, placing("app", distance="rack"))
