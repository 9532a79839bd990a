"""The order of transforms is declared; ``conftest.py`` sees that nothing more depends on it."""

from __future__ import annotations

from itertools import chain, pairwise

import pytest

from ordito.planning.order import PLACES, DraftPart, name_of, out_of_order
from ordito.planning.workflows import OVERRIDDEN, TRIGGERED, WORKFLOWS, WRITTEN, Transform

TUPLES: dict[str, tuple[Transform, ...]] = {
    **WORKFLOWS,
    **{f"{name}, written by somebody": transforms for name, transforms in OVERRIDDEN.items()},
    "written": WRITTEN,
    "triggered": TRIGGERED,
}


def test_each_transform_says_what_it_needs_and_gives() -> None:
    assert {name_of(t) for t in chain.from_iterable(TUPLES.values())} == PLACES.keys()
    assert {part for place in PLACES.values() for part in place.gives} == set(DraftPart)


@pytest.mark.parametrize("workflow", TUPLES)
def test_every_workflow_keeps_to_that(workflow: str) -> None:
    assert list(out_of_order(TUPLES[workflow])) == []


@pytest.mark.parametrize("workflow", TUPLES)
def test_two_that_depend_on_each_other_are_noticed_the_other_way_round(workflow: str) -> None:
    transforms = TUPLES[workflow]
    noticed = 0
    for place, (one, other) in enumerate(pairwise(transforms)):
        before, after = PLACES[name_of(one)], PLACES[name_of(other)]
        if before.gives & (after.needs | after.after):
            swapped = (*transforms[:place], other, one, *transforms[place + 2 :])
            assert list(out_of_order(swapped)), f"{name_of(other)} before {name_of(one)}"
            noticed += 1
    assert noticed


@pytest.mark.parametrize("workflow", TUPLES)
def test_nothing_that_is_needed_can_be_left_out(workflow: str) -> None:
    transforms = TUPLES[workflow]
    without = [t for t in transforms if DraftPart.NODES not in PLACES[name_of(t)].gives]
    assert list(out_of_order(without))
