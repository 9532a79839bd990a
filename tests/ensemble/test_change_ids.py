"""ChangeIds: what they say, that they sort, and that they never go back."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.base.change_ids import (
    LAST_TICK,
    TASKS_PER_TICK,
    ChangeIdParts,
    ChangeIds,
    ChangeIdsExhausted,
    decode,
    encode,
    is_change_id,
    job_of,
    last_reserved,
    tick_at,
)

ticks = st.integers(0, LAST_TICK)
tasks = st.integers(0, TASKS_PER_TICK)
moments = st.floats(0, 3_400_000_000)


@given(ticks, tasks)
def test_an_id_says_its_tick_and_task(tick: int, task: int) -> None:
    change = encode(tick, task)
    assert re.fullmatch(r"A[0-9A-Za-z]{7}[0-9a-f]{4}", change)
    assert decode(change) == ChangeIdParts(tick, task)


@given(ticks, tasks, ticks, tasks)
def test_ids_sort_as_they_were_given(tick: int, task: int, other_tick: int, other_task: int) -> None:
    assert (encode(tick, task) < encode(other_tick, other_task)) == ((tick, task) < (other_tick, other_task))


def test_the_parts_of_an_id_are_those_of_its_moment() -> None:
    """Year-2020, month, day, hour, minute, second, 1/62 second in UTC, then the task."""
    moment = datetime(2026, 11, 20, 20, 26, 12, 371_000, tzinfo=UTC)
    assert encode(tick_at(moment.timestamp()), 1) == "A6BKKQCN0001"
    assert job_of("A6BKKQCN00ff") == "A6BKKQCN0000"


@pytest.mark.parametrize(
    "text",
    ["", "A0DEVF0003", "B6BKKQCN0001", "A6BKKQCN000G", "A6BKKQCN00AB", "A60KKQCN0001", "A6BKKQC 0001", "A6BKKQCN+0a1"],
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert not is_change_id(text)


@given(moments, st.lists(moments, max_size=8), st.integers(0, 200_000))
def test_ids_never_go_back_whatever_the_clock_says(first: float, others: list[float], count: int) -> None:
    last = ""
    for now in [first, *others]:
        ids = ChangeIds.begin(now, tasks=count, last=last)
        assert ids.job > last
        assert ids.next() > ids.job
        last = last_reserved(ids.job, ids.ticks)


def test_a_large_job_reserves_ticks_and_leaves_their_first_id_out() -> None:
    ids = ChangeIds.begin(1_800_000_000.0, tasks=2 * TASKS_PER_TICK + 1)
    assert ids.ticks == 3
    given_ids = [ids.next() for _ in range(2 * TASKS_PER_TICK + 1)]
    assert given_ids == sorted(set(given_ids))
    assert not any(change.endswith("0000") for change in given_ids)
    assert given_ids[-1] < last_reserved(ids.job, ids.ticks)
    assert decode(given_ids[-1]).tick == decode(ids.job).tick + 2
    continued = ChangeIds(ids.job, ids.ticks, used=given_ids)
    assert continued.next() > given_ids[-1]


def test_a_job_gives_no_more_ids_than_it_has_reserved() -> None:
    ids = ChangeIds("A6BKKQCN0000", used=["A6BKKQCNffff"])
    with pytest.raises(ChangeIdsExhausted):
        ids.next()


def test_an_id_that_differs_in_case_only_takes_the_next_tick() -> None:
    """Ids become names of files, and not every file system tells `Q` and `q` apart."""
    now = datetime(2026, 11, 20, 20, 26, 12, 371_000, tzinfo=UTC).timestamp()
    assert ChangeIds.begin(now, tasks=1).job == "A6BKKQCN0000"
    assert ChangeIds.begin(now, tasks=1, existing=["A6BKKqCN0000"]).job == "A6BKKQCO0000"
    assert ChangeIds.begin(now, tasks=70_000, existing=["A6BKKqCO0000"]).job == "A6BKKQCP0000"


def test_after_the_year_2081_there_are_none() -> None:
    with pytest.raises(ChangeIdsExhausted):
        ChangeIds.begin(9e9, tasks=1, last=encode(LAST_TICK))
