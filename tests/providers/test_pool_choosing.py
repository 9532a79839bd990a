"""Which host of a pool an instance gets."""

from __future__ import annotations

from ordito.providers.pool.allocations import Lost
from ordito.providers.pool.choosing import Choosing
from ordito.providers.pool.fitting import HostRequest, Taken
from ordito.providers.pool.hosts import PoolHost
from ordito.work.providing import Delegation, ProviderVerb


def asked(instance: str, apart: frozenset[str] = frozenset()) -> Delegation:
    node = instance.rpartition("_")[0]
    return Delegation(instance, ("tosca.nodes.Compute",), ProviderVerb.CREATE, node=node, apart=apart, ensemble="here")


def given(
    choosing: Choosing, instances: list[str], asking: HostRequest, apart: frozenset[str] = frozenset()
) -> list[str]:
    """The hosts that instances get one after another; at the end the reason why one gets none."""
    found: list[str] = []
    for instance in instances:
        one = asked(instance, apart)
        host, problem = choosing.choose(one, asking)
        if host is None:
            return [*found, problem]
        choosing.take(Taken("here", instance, one.node, host.name, asking.least, place="/e"))
        found.append(host.name)
    return found


def pool(*instances: int) -> list[PoolHost]:
    return [PoolHost(f"h{n}", instances=many, host={"num_cpus": 4}) for n, many in enumerate(instances)]


def test_instances_are_spread_those_of_one_node_before_all() -> None:
    """Free hosts come first, then those without an instance of the same node, then those with the fewest."""
    choosing = Choosing(pool(3, 3, 3), {}, {}, "hosts.yaml")
    assert given(choosing, ["a_1", "a_2", "b_1", "b_2", "b_3"], HostRequest()) == ["h0", "h1", "h2", "h0", "h1"]
    assert given(choosing, ["c_1", "a_3", "a_4"], HostRequest()) == ["h2", "h2", "h0"]


def test_instances_are_packed_where_that_is_asked_for() -> None:
    choosing = Choosing(pool(2, 3), {"h1": [Taken("there", "x_1", "x", "h1")]}, {}, "hosts.yaml")
    assert given(choosing, ["a_1", "a_2", "a_3", "a_4"], HostRequest(packs=True))[:4] == ["h1", "h1", "h0", "h0"]


def test_why_there_is_no_host_is_said_of_ten_and_the_others_are_counted() -> None:
    lost = {"h1": Lost("2024-01-01", "away")}
    choosing = Choosing(
        pool(*(1 for _ in range(13))), {"h0": [Taken("there", "x_1", "x", "h0", place="/t")]}, lost, "f"
    )
    *hosts, problem = given(choosing, [f"a_{n}" for n in range(1, 13)], HostRequest())
    assert hosts == [f"h{n}" for n in range(2, 13)]
    assert problem.startswith(
        "no host of f is free and suitable (any host): h1 could not be reached, and is not used before"
    )
    assert "h0 is taken by x_1 of /t; h2 is taken by a_1 of /e" in problem
    assert problem.endswith("; and 3 more")


def test_what_one_asks_in_vain_another_may_get() -> None:
    """What was refused is remembered by all that was asked, and by what is to be apart."""
    choosing = Choosing(pool(2, 1), {}, {}, "hosts.yaml")
    much, little = HostRequest({"num_cpus": 3.0}), HostRequest({"num_cpus": 1.0})
    assert given(choosing, ["a_1", "a_2"], much) == ["h0", "h1"]
    assert "h0 has num_cpus 1 left" in given(choosing, ["a_3"], much)[0]
    assert "h0 has a_1, which must be on another host" in given(choosing, ["b_1"], little, frozenset({"a"}))[0]
    assert given(choosing, ["b_1"], little) == ["h0"]
