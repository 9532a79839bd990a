"""The status after whatever has become of random topologies: the records of jobs give exactly what is written down, it
is the same whoever looks, and where every instance is well and nothing is left to do, the whole is."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from ordito.instances.status import OPERATIONAL
from tests.scenarios.test_random_failures import FailsOnce
from tests.scenarios.test_random_upgrades import Versions, placed
from tests.scenarios.test_random_workflows import SEEDS, SOME
from tests.support.edits import three_versions
from tests.support.hands import always_well
from tests.support.random_topologies import Nodes

CHANGES = (
    ("upgrade", 1),
    ("upgrade", 2),
    ("upgrade", 0),
    ("deploy", 1),
    ("deploy", 2),
    ("rollback",),
    ("restart",),
    ("stop",),
    ("check",),
    ("undeploy",),
)
HEADLINE = re.compile(r"\S+  (ok|degraded|absent)\b|.*no instances")
FAILURES = st.sampled_from(("continue", "abort", "rollback"))
STEPS = st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 9), FAILURES), min_size=1, max_size=4)


def looked_at(them: Versions) -> None:
    """See that the status is what the records of jobs give, however it is come by."""
    if not (them.commands.ensemble / "ensemble.yaml").exists():
        return
    replayed = them.commands.run("jobs", "replay")
    assert replayed.code == 0, replayed.out + replayed.err
    first = them.commands.run("status", "-o", "json")
    (them.commands.ensemble / ".ordito" / "outline").unlink(missing_ok=True)
    again = them.commands.run("status", "-o", "json")
    assert first.out == again.out


NODE: dict[str, object] = {"runs": "create start stop delete", "size": 1, "scripts": {}}
WITHOUT_ITS_TARGET: Nodes = {"n1": NODE}
WITH_ITS_TARGET: Nodes = {"n0": NODE, "n1": {**NODE, "needs": {"n0": "add_target"}}}
"""What is dropped had a relationship from what stays, which is dropped with it."""


@SOME
@given(three_versions(), SEEDS, STEPS)
@example(
    (WITH_ITS_TARGET, WITH_ITS_TARGET, WITHOUT_ITS_TARGET), 0, [(("upgrade", 2), 0, "continue"), (("restart",), 0, "")]
)
def test_the_status_is_what_the_records_give(
    three: tuple[Nodes, Nodes, Nodes], seed: int, steps: list[tuple[tuple[str | int, ...], int, str]]
) -> None:
    with placed(three, seed) as them:
        for which in range(3):
            them.fresh(which)  # Not every topology that can be written can be deployed.
        them.run("deploy", them.files[0])
        looked_at(them)
        for change, place, how in steps:
            words = [them.files[w] if isinstance(w, int) else w for w in change]
            if place:
                them.commands.hands.answer = FailsOnce(place)
            them.commands.run(*words, *(("--on-failure", how) if change[0] == "upgrade" else ()), "--yes")
            them.commands.hands.answer = always_well
            looked_at(them)
        ended = them.commands.run("deploy", them.files[2], "--yes")
        looked_at(them)
        snapshot, _ = them.commands.recorded()
        if ended.code == 0 and all(i.local in OPERATIONAL for i in snapshot.instances.values() if i.exists):
            assert HEADLINE.match(them.commands.run("status").out)
