"""The records of jobs rebuild what exists: after every job, and whatever became of the files."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_rows
from ordito.ensemble.replay import Replay, rebuild
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Snapshot
from ordito.work.plan import Plan
from tests.engine.fakes import FakeExecutor, World, make_plan, plans
from tests.ensemble.jobs import deploy
from tests.support.thorough import examples

PLAN = make_plan(5, [(0, 1), (1, 2), (0, 3)], no_ops=[3])


def content(snapshot: Snapshot) -> tuple[object, ...]:
    attributes = {name: dict(values) for name, values in snapshot.attributes.items() if values}
    outputs = {name: dict(values) for name, values in snapshot.outputs.items() if values}
    return dict(snapshot.instances), dict(snapshot.links), attributes, outputs, dict(snapshot.highest)


@given(st.lists(st.tuples(plans(8), st.sets(st.integers(0, 7), max_size=3)), min_size=1, max_size=4))
@settings(
    max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
def test_the_first_records_give_the_state_after_each_job(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[tuple[Plan, set[int]]]
) -> None:
    root = tmp_path_factory.mktemp("e")
    after = []
    for plan, failing in jobs:
        deploy(root, plan, FakeExecutor(World(plan), [f"s{index}" for index in failing]))
        with read_ensemble(root) as ensemble:
            after.append((content(ensemble.snapshot), ensemble.status))
    found = []
    replay = Replay(Layout(root))
    for job in replay.jobs:
        replay.run(job)
        rebuilt = replay.result(all_of_them=False)
        assert rebuilt.problems == ()
        found.append((content(rebuilt.snapshot), rebuilt.status))
    assert found == after
    for count in range(len(jobs) + 1):
        rebuilt = rebuild(Layout(root), first=count)
        expected = after[count - 1] if count else (content(Snapshot()), rebuilt.status)
        assert (content(rebuilt.snapshot), rebuilt.status) == expected
    assert read_rows(Layout(root)) is not None
