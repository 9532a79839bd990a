"""How another process asks a job to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import CANCEL, NOW, Door, DoorRequest, ask

JOB = "A6BKKQCN0000"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.make_private()
    return made


def test_requests_come_in_order_and_only_those_to_this_job(layout: Layout) -> None:
    with Door(layout, JOB) as door:
        assert ask(layout, JOB, CANCEL)
        assert ask(layout, "A6BKKQCN0001", NOW)
        assert ask(layout, JOB, "nonsense")
        assert ask(layout, JOB, NOW, "account\ndefault/robot")
        assert door.requests() == [DoorRequest(CANCEL), DoorRequest(NOW, "account default/robot")]
        assert door.requests() == []


def test_nobody_hears_where_no_job_runs(layout: Layout) -> None:
    assert not ask(layout, JOB, CANCEL)
    with Door(layout, JOB):
        pass
    assert not layout.door.exists()
    assert not ask(layout, JOB, CANCEL)


def test_a_door_that_a_killed_job_has_left_leads_nowhere(layout: Layout) -> None:
    """A named pipe that nobody reads; the next job makes its own."""
    import os

    os.mkfifo(layout.door)
    assert not ask(layout, JOB, CANCEL)
    with Door(layout, JOB) as door:
        assert ask(layout, JOB, CANCEL)
        assert door.requests() == [DoorRequest(CANCEL)]


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_door_is_not_written_to(layout: Layout, kind: str) -> None:
    target = layout.private / "target"
    target.write_text("kept", encoding="utf-8")
    if kind == "link":
        layout.door.symlink_to(target)
    else:
        layout.door.write_text("kept", encoding="utf-8")
    assert not ask(layout, JOB, CANCEL)
    assert layout.door.read_text(encoding="utf-8") == "kept"
