"""The attempts of a job, which a timeline shows, are those that the course of each of its steps has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.app.attempts import job_attempts
from ordito.app.course import CourseRequest, job_course
from ordito.results.timeline import timeline_data
from tests.server.conftest import deployed

STEPS = ("one.create", "two.create", "three.Standard.start")
KINDS = ("started", "succeeded", "nothing", "failed", "retrying", "skipped", "needless", "warning", "log", "again")
EVENT = st.tuples(st.sampled_from(KINDS), st.sampled_from(STEPS), st.sampled_from([0.0, 0.5, 2.0]))


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An ensemble, and the file of the events of its only job."""
    shop = deployed(tmp_path_factory.mktemp("attempts"))
    return shop, next((shop / ".ordito" / "events").iterdir())


def lines(job: str, told: list[tuple[str, str, float]]) -> Iterator[bytes]:
    """The lines of what is told of a job, which has ended then."""
    at = 1_000.0
    yield msgspec.json.encode({"type": "version", "format": "ordito.events/1", "ordito": "0"})
    yield msgspec.json.encode({"type": "job.started", "job": job, "workflow": "deploy", "at": at})
    for kind, step, later in told:
        at += later
        instance, _, operation = step.partition(".")
        event: dict[str, Any] = {"type": f"step.{kind}", "job": job, "step": step, "at": at}
        if kind == "again":
            event = {"type": "job.started", "job": job, "workflow": "deploy", "at": at}
        elif kind not in ("warning", "log"):
            event |= {"instance": instance, "operation": operation}
        if kind == "nothing":
            event |= {"type": "step.succeeded", "no_op": True}
        if kind == "needless":
            event |= {"type": "step.skipped", "needless": True}
        if kind == "retrying":
            event |= {"outcome": {"message": "not yet"}, "next": 2, "attempts": 9, "seconds": 1.0}
        yield msgspec.json.encode(event)
    yield msgspec.json.encode({"type": "job.finished", "job": job, "status": "failed", "at": at + 1})


@given(st.lists(EVENT, max_size=14))
def test_they_are_those_of_the_steps(ensemble: tuple[Path, Path], told: list[tuple[str, str, float]]) -> None:
    shop, path = ensemble
    path.write_bytes(b"".join(line + b"\n" for line in lines(path.stem, [("started", STEPS[0], 0.0), *told])))
    course = job_course(CourseRequest(str(shop), path.stem))
    found = job_attempts(str(shop), path.stem)
    assert (found.job, found.status, found.began, found.ended) == (path.stem, "failed", course.began, course.ended)
    for step in course.steps.values():
        mine = [one for one in found.all if one.step == step.id]
        if not mine:
            # Nothing is known of it but a warning.
            assert (step.state, step.attempts) == ("pending", [])
            continue
        assert mine[-1].state == step.state
        times = [(one.start, None if one.ended == math.inf else one.ended) for one in mine if one.number]
        assert times == [(one.began, one.ended) for one in step.attempts]
        assert [one.number for one in mine] == (list(range(1, len(mine) + 1)) if step.attempts else [0])
        assert not step.attempts or {one.began for one in mine} == {step.began}
    shown = timeline_data(found).steps
    assert len(shown.row) == len(found.all)
    assert all(start >= 0 for start in shown.start[1:])


def test_a_line_that_is_longer_than_what_is_read_at_once_is_read_whole(ensemble: tuple[Path, Path]) -> None:
    shop, path = ensemble
    long = f"{'x' * 300_000}.create"
    told = [("started", STEPS[0], 0.0), ("started", long, 1.0), ("succeeded", STEPS[0], 1.0)]
    # The last line is being written.
    path.write_bytes(b"".join(line + b"\n" for line in lines(path.stem, told)) + b'{"type": "step.st')
    found = job_attempts(str(shop), path.stem)
    assert [(one.step, one.state) for one in found.all] == [(STEPS[0], "succeeded"), (long, "running")]
