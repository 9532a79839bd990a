"""Pages of the lists of a plan are read without the rest of it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from ordito.server.plans.files import PlanFiles
from ordito.server.processes.plan_rows import EACH, PLAN_ROWS, PlanRowsAsked


@pytest.fixture(scope="module")
def plan() -> dict[str, object]:
    """A plan with lists of every length around those of its index."""
    steps = [{"id": f"s{number}", "text": "two\nlines and \u2028"} for number in range(3 * EACH + 1)]
    return {"changes": [], "steps": steps, "edges": [{"n": number} for number in range(EACH)], "workflow": "deploy"}


@pytest.mark.parametrize("shape", [None, 2])
def test_every_page_is_the_part_of_its_list(tmp_path: Path, plan: dict[str, object], shape: int | None) -> None:
    files = PlanFiles(tmp_path)
    assert files.rows("pl_1", "steps", 0, 10) is None
    text = json.dumps(plan, indent=shape).encode()
    files.keep_rows("pl_1", PLAN_ROWS.answer(".", PlanRowsAsked(msgspec.Raw(text))).json)
    for name in ("changes", "steps", "edges"):
        rows = plan[name]
        assert isinstance(rows, list)
        for begin in (0, 1, EACH - 1, EACH, EACH + 1, 3 * EACH, 3 * EACH + 1, 10_000):
            for limit in (1, EACH, EACH + 1, 500):
                found = files.rows("pl_1", name, begin, limit)
                assert found is not None
                assert [json.loads(bytes(row)) for row in found[0]] == rows[begin : begin + limit]
                assert found[1] == len(rows)
    files.forget("pl_1")
    assert files.rows("pl_1", "steps", 0, 10) is None
