"""Numbers of instances that were set by scaling, and scaling policies as bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostic
from ordito.model.imperative import Policy
from ordito.model.service import NodeTemplate, Service
from ordito.planning.policy_targets import SCALING
from ordito.planning.refused import PlanRefused
from ordito.syntax.expressions import Value
from ordito.work.plan import KeptCount, Plan
from tests.support.runs import OPTIONS, World, codes
from tests.support.services import call, capability, compute, definition, node, on, service


def scaling(name: str, *nodes: str, **properties: Value) -> Policy:
    return Policy(name, (f"my.{name}", SCALING, "tosca.policies.Root"), properties, targets=nodes, nodes=nodes)


def with_policies(given: Service, *policies: Policy) -> Service:
    return msgspec.structs.replace(given, policies={p.name: p for p in policies})


def planned(given: Service, kept: Mapping[str, KeptCount] | None = None, **inputs: object) -> Plan:
    return World(given, inputs).plan(options=replace(OPTIONS, kept=kept or {}))


def refused(given: Service, kept: Mapping[str, KeptCount] | None = None, **inputs: object) -> list[Diagnostic]:
    with pytest.raises(PlanRefused) as caught:
        planned(given, kept, **inputs)
    return caught.value.diagnostics


def asked(name: str = "web") -> NodeTemplate:
    return node(name, count=call("get_input", "n"))


THREE = {"web": KeptCount(3, 2, "A0AP4P9C0000")}


def test_a_kept_number_is_wanted_until_the_template_asks_for_another_one() -> None:
    given = service(asked(), inputs=[definition("n", "integer")])
    made = planned(given, THREE, n=2)
    assert made.counts.wanted == {"web": 3}
    assert made.counts.origins == {"web": "kept from scale (job A0AP4P9C0000)"}
    assert made.counts.kept == THREE
    made = planned(given, THREE, n=4)
    assert (made.counts.wanted, made.counts.origins, made.counts.kept) == ({"web": 4}, {"web": "instance_count"}, {})
    assert planned(given, {}, n=2).counts.wanted == {"web": 2}


def test_what_is_hosted_follows_a_kept_number() -> None:
    given = service(compute("h", count=1), node("app", on("h"), occurrences=(0, None)), node("war", on("app")))
    made = planned(given, {"h": KeptCount(2, 1, "j")})
    assert made.counts.wanted == {"h": 2, "app": 2, "war": 2}
    assert planned(given, {"h": KeptCount(2, 1, "j"), "app": KeptCount(4, 2, "j")}).counts.wanted["app"] == 4


def test_a_kept_number_of_what_is_hosted_follows_the_number_of_hosts() -> None:
    """Two on each host, and one more on one of them: a host that comes or goes is worth two."""
    five = {"app": KeptCount(5, 2, "j")}
    for hosts, expected in ((2, 5), (3, 7), (1, 3)):
        made = planned(service(compute("h", count=hosts), node("app", on("h"), occurrences=(0, None))), five)
        assert made.counts.wanted["app"] == expected
        assert made.counts.kept == {"app": KeptCount(expected, hosts, "j")}
    asked = planned(service(compute("h", count=2), node("app", on("h"), count=3)), five)
    assert (asked.counts.wanted["app"], asked.counts.kept) == (3, {})


def test_a_kept_number_that_the_bounds_no_longer_allow() -> None:
    given = service(node("web", occurrences=(1, 2)))
    (found,) = refused(given, {"web": KeptCount(3, 1, "j")})
    assert found.code == "count-out-of-bounds"
    assert "kept from scale (job j)" in found.message
    assert found.hint is not None
    assert "--reset-counts" in found.hint


def test_scaling_policies_give_the_number_and_bound_it() -> None:
    """R-12-12: default_instances is where a node starts, between min_instances and max_instances."""
    bounds = {"min_instances": 2, "max_instances": 4}
    assert planned(with_policies(service(node("a")), scaling("p", "a", **bounds))).counts.wanted == {"a": 2}
    three = scaling("p", "a", **bounds, default_instances=3)
    made = planned(with_policies(service(node("a")), three))
    assert (made.counts.wanted, made.counts.origins) == ({"a": 3}, {"a": 'default_instances of policy "p"'})
    assert planned(with_policies(service(node("a", count=4)), three)).counts.wanted == {"a": 4}
    (found,) = refused(with_policies(service(node("a", count=5)), three))
    assert found.code == "count-out-of-bounds"
    assert 'policy "p"' in str(found.hint)
    given = with_policies(
        service(node("a"), inputs=[definition("n", "integer")]),
        scaling("p", "a", max_instances=call("get_input", "n"), default_instances=2),
    )
    assert planned(given, n=2).counts.wanted == {"a": 2}
    assert codes(refused(given, n=1)) == ["count-out-of-bounds"]


def test_a_policy_without_numbers_bounds_nothing() -> None:
    """TOSCA's own type of scaling policies has no properties: what is hosted still has one on each host."""
    given = service(compute("host", count=2), node("a", on("host")))
    assert planned(with_policies(given, scaling("p", "a"))).counts.wanted == {"host": 2, "a": 2}
    (found,) = refused(with_policies(given, scaling("p", "a", max_instances=1)))
    assert found.code == "count-out-of-bounds"


def test_a_policy_narrows_what_the_template_allows() -> None:
    scalable = [
        capability(
            "scalable",
            "tosca.capabilities.Scalable",
            properties={"min_instances": 1, "max_instances": 5},
            assigned=["max_instances"],
        )
    ]
    wide = scaling("wide", "a", min_instances=0, max_instances=9)
    narrow = scaling("narrow", "a", max_instances=3)
    given = with_policies(service(node("a", capabilities=scalable, count=4)), wide, narrow)
    (found,) = refused(given)
    assert "1 to 3" in found.message
    assert 'policy "narrow"' in str(found.hint)
    against = with_policies(service(node("a", occurrences=(4, 6))), narrow)
    found = refused(against)[0]
    assert 'policy "narrow" allows 0 to 3' in found.message
    assert "4 to 6" in found.message


def test_a_policy_about_a_group_is_about_each_member() -> None:
    """R-12-2: a policy on a group applies to every member."""
    two = scaling("p", "a", "b", default_instances=2, max_instances=3)
    assert planned(with_policies(service(node("a"), node("b")), two)).counts.wanted == {"a": 2, "b": 2}
    (found,) = refused(with_policies(service(node("a"), node("b", count=4)), two))
    assert 'node "b" wants 4' in found.message


def test_a_policy_about_a_node_and_its_container_is_about_the_container() -> None:
    """R-12-13: scaling a Compute scales its whole HostedOn stack."""
    two = scaling("p", "h", "app", "war", default_instances=2, max_instances=3)
    given = service(compute("h"), node("app", on("h"), count=4), node("war", on("app")))
    assert planned(with_policies(given, two)).counts.wanted == {"h": 2, "app": 4, "war": 4}


def test_numbers_that_count_in_each_container() -> None:
    """A node that is contained in another has its numbers in each instance of that."""
    several = [
        capability(
            "scalable",
            "cloudify.capabilities.Scalable",
            "tosca.capabilities.Scalable",
            properties={"min_instances": 0, "max_instances": 3, "default_instances": 2},
            assigned=["min_instances", "max_instances", "default_instances"],
        )
    ]
    made = planned(service(compute("h", count=3), node("app", on("h"), capabilities=several)))
    assert made.counts.wanted["app"] == 6
    assert sorted(r.host for r in made.records.new if r.node == "app") == ["h_1", "h_1", "h_2", "h_2", "h_3", "h_3"]
