"""Parts of logs, read forwards and backwards, with an index that is whole, behind, or not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.ensemble.logs import Frame, JobLog, log_part, log_part_before


def written(path: Path, pieces: list[tuple[str, bytes]]) -> list[Frame]:
    """A log with these pieces, each a frame; its frames."""
    path.unlink(missing_ok=True)
    path.with_suffix(".index").unlink(missing_ok=True)
    with JobLog(path) as log:
        for step, data in pieces:
            log.write(step, data)
            log.flush()
    return list(log_part(path, 0, 1 << 30).frames)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["a_1.create", "b_1.start"]), st.binary(min_size=1, max_size=40)), max_size=30),
    st.integers(1, 100),
    st.sampled_from(["whole", "behind", "none"]),
)
def test_a_log_is_the_same_forwards_and_backwards(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[str, bytes]], most: int, index: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "job.log"
    frames = written(path, pieces)
    assert [(frame.step, frame.content) for frame in frames] == pieces
    kept = path.with_suffix(".index")
    if kept.exists() and index == "behind":
        kept.write_bytes(kept.read_bytes()[: kept.stat().st_size // 2])
    elif index == "none":
        kept.unlink(missing_ok=True)
    found: list[Frame] = []
    before: int | None = None
    while before != 0:
        part = log_part_before(path, before, most)
        assert not part.frames or (part.begin, part.end) == (part.frames[0].begin, part.frames[-1].end)
        found = [*part.frames, *found]
        before = part.begin
    assert found == frames


def test_only_what_is_wanted_is_read(tmp_path: Path) -> None:
    frames = written(tmp_path / "job.log", [("a", b"1"), ("b", b"2"), ("a", b"3"), ("b", b"4")])
    wanted = [frame for frame in frames if frame.step == "a"]
    forwards = log_part(tmp_path / "job.log", 0, 100, lambda step: step == "a")
    assert (list(forwards.frames), forwards.end) == (wanted, frames[-1].end)
    backwards = log_part_before(tmp_path / "job.log", None, 100, lambda step: step == "a")
    assert (list(backwards.frames), backwards.begin, backwards.end) == (wanted, 0, frames[-1].end)
    first = log_part_before(tmp_path / "job.log", frames[2].begin, 1, lambda step: step == "b")
    assert list(first.frames) == [frames[1]]


def test_a_frame_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    frames = written(path, [("a", b"whole")])
    with path.open("ab") as log:
        log.write(b"=100 a\ncut")
    assert list(log_part(path, 0, 100).frames) == list(log_part_before(path, None, 100).frames) == frames


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert not log_part(tmp_path / "none.log", 0, 100).frames
    assert not log_part_before(tmp_path / "none.log", None, 100).frames


def test_the_end_of_a_log_with_very_many_pieces(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    with JobLog(path) as log:
        for number in range(60_000):
            log.write(f"step_{number % 7}", b"%d\n" % number)
    last = log_part_before(path, None, 10)
    assert last.frames[-1].content == b"59999\n"
    earlier = log_part_before(path, last.begin, 10)
    assert earlier.frames[-1].end == last.begin
    middle = next(frame for frame in log_part(path, 0, 1 << 30).frames if frame.content == b"3000\n")
    assert log_part_before(path, middle.begin, 1).frames[-1].content == b"2999\n"
