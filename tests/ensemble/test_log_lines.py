"""What was printed, by lines: as it was printed, however it came."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.ensemble.logs import MOST_HELD, MOST_OPEN, by_lines

PIECES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([b"\n", b"x", b"yy\n", b"\xc3", b"\xa9", b""])))


@given(PIECES)
@settings(max_examples=200)
def test_nothing_is_lost_and_lines_are_whole(pieces: list[tuple[str, bytes]]) -> None:
    found = list(by_lines(pieces))
    for step in "abc":
        printed = b"".join(data for name, data in pieces if name == step)
        given_back = [data for name, data in found if name == step]
        assert b"".join(given_back) == printed
        assert all(data.endswith(b"\n") for data in given_back[:-1])
        assert all(given_back)


def test_what_comes_first_stays_first() -> None:
    pieces = [("a", b"1\n2"), ("b", b"3\n"), ("a", b"4\n")]
    assert list(by_lines(pieces)) == [("a", b"1\n"), ("b", b"3\n"), ("a", b"24\n")]


def test_long_lines_and_many_steps_are_not_waited_for() -> None:
    text = ("é" * MOST_HELD).encode()
    found = [data for _, data in by_lines(("a", text[at : at + 7]) for at in range(0, len(text), 7))]
    assert len(found) > 1
    assert max(map(len, found)) <= MOST_HELD + 7
    assert "".join(data.decode() for data in found) == "é" * MOST_HELD
    steps = [(str(number), b"x") for number in range(MOST_OPEN + 5)]
    assert list(by_lines(steps)) == steps
