"""Random services brought into the form of others: it converges, whatever is cut, and ends as if it had begun there."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.instances.records import Instance
from ordito.model.service import Service
from tests.planning.test_random_topologies import topologies
from tests.support.forming import Forming
from tests.support.runs import failing
from tests.support.services import STANDARD_OPERATIONS
from tests.support.thorough import examples

QUICK = settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
Digests = dict[str, str]
digests = st.dictionaries(st.sampled_from([f"scripts/{o}.sh" for o in STANDARD_OPERATIONS]), st.sampled_from("12"))


def state(world: Forming) -> tuple[list[str], list[str]]:
    """What exists in the end, whatever its numbers: how it is, what was carried out for it, and how pairs are linked.
    What was done for relationships when it was made depends on those of then."""
    records = {r.id: r for r in world.snapshot.instances.values() if r.exists}
    found = [f"{r.node} {r.state} {r.local} {r.form} {_applied(r)}" for r in records.values()]
    links = [
        f"{link.relationship} {key}"
        for link in world.snapshot.links.values()
        for key in link.applied
        if not key.rpartition(".")[2].startswith("remove")
    ]
    return sorted(found), sorted(links)


def _applied(record: Instance) -> list[str]:
    applied = record.applied.items()
    return sorted(f"{k} {one.digest}" for k, one in applied if "/" not in k)


@QUICK
@given(topologies(), topologies(), digests, digests)
def test_there_and_back_and_there_again(one: Service, other: Service, first: Digests, then: Digests) -> None:
    world = Forming(one)
    for service, files in ((one, first), (other, then), (one, first), (other, then)):
        world.to(service, files)
        assert world.failed == []
        assert world.differs(service, files).is_empty, [s.id for s in world.differs(service, files).steps]
        assert {i.local for i in world.snapshot.instances.values() if i.exists} <= {"ok"}
    straight = Forming(other)
    straight.to(other, then)
    assert state(world) == state(straight)


@QUICK
@given(topologies(), topologies(), digests, digests, st.integers(0, 40), st.booleans())
def test_what_is_cut_or_fails_is_completed_by_the_next(
    one: Service, other: Service, first: Digests, then: Digests, place: int, fails: bool
) -> None:
    world = Forming(one)
    world.to(one, first)
    steps = [s.id for s in world.differs(other, then).steps if s.call >= 0]
    if fails and steps:
        world.to(other, then, failing(steps[place % len(steps)]))
    else:
        world.to(other, then, cut=place)
    world.to(other, then)
    assert world.failed == []
    assert world.differs(other, then).is_empty, [s.id for s in world.differs(other, then).steps]
    straight = Forming(other)
    straight.to(other, then)
    found, wanted = state(world), state(straight)
    assert found == wanted
