"""What holds for every plan that a test here makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning import workflows
from ordito.planning.options import PlanOptions
from ordito.planning.order import name_of, out_of_order
from ordito.work.plan import Plan

TIMES = 3
"""So often a pair of neighbours is looked at for each workflow, in each process that runs tests."""
MOST_STEPS = 300
LOOKED_AT: Counter[tuple[str, str, str]] = Counter()


@pytest.fixture(autouse=True)
def neighbours_that_may_change_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transforms that stand beside each other, and by their declared needs may as well stand the other way round, make
    the same plan so: nothing depends on their order that is not declared."""
    planned = workflows._planned

    def checked(
        name: str,
        transforms: tuple[workflows.Transform, ...],
        service: Service,
        snapshot: Snapshot,
        inputs: Mapping[str, object],
        options: PlanOptions,
    ) -> Plan:
        made = planned(name, transforms, service, snapshot, inputs, options)
        for place in range(len(transforms) - 1):
            one, other = transforms[place : place + 2]
            key = name, name_of(one), name_of(other)
            swapped = (*transforms[:place], other, one, *transforms[place + 2 :])
            if LOOKED_AT[key] >= TIMES or len(made.steps) > MOST_STEPS or any(out_of_order(swapped)):
                continue
            LOOKED_AT[key] += 1
            again = planned(name, swapped, service, snapshot, inputs, options)
            assert again == made, (
                f"{name}: {key[2]} before {key[1]} makes another plan, and planning/order.py allows it"
            )
        return made

    monkeypatch.setattr(workflows, "_planned", checked)
