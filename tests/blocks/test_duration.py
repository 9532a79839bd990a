"""Durations of steps: Go's grammar, and what is said of everything else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.blocks.duration import NotADuration, seconds
from tests.support.thorough import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [("5m", 300.0), ("30s", 30.0), ("1h30m", 5400.0), ("1.5s", 1.5), ("250ms", 0.25), ("90m90s", 5490.0), ("08s", 8.0)],
)
def test_a_duration_has_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5 min", "write 5m"),
        ("5min", "write 5m"),
        ("5M", "write 5m"),
        ("30", "write 30s"),
        ("1h 30m", "write 1h30m"),
        ("1 hour 30 minutes", "write 1h30m"),
        ("2d", "write 48h"),
        ("1.5 days", "write 36h"),
        (" 5m", "write 5m"),
        ("5 fortnights", '"fortnights" is not a unit: ms, s, m, h'),
        ("0s", "write more than 0, such as 30s"),
        ("-5m", "a duration must be longer than 0"),
        ("", "write numbers with units, such as 30s, 5m or 1h30m; units: ms, s, m, h"),
        ("soon", "write numbers with units, such as 30s, 5m or 1h30m; units: ms, s, m, h"),
        ("PT5M", "write numbers with units, such as 30s, 5m or 1h30m; units: ms, s, m, h"),
        ("9" * 50 + "h", ""),
        ("1s" * 100, "write numbers with units, such as 30s, 5m or 1h30m; units: ms, s, m, h"),
    ],
)
def test_what_is_none_is_told_with_what_was_meant(text: str, hint: str) -> None:
    with pytest.raises(NotADuration) as caught:
        seconds(text)
    assert caught.value.hint == hint


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet="0159.hmsdin -", max_size=12))
def test_what_a_hint_tells_to_write_is_a_duration(text: str) -> None:
    hint = ""
    try:
        assert seconds(text) > 0
    except NotADuration as fault:
        hint = fault.hint
    if hint.startswith("write ") and hint[6].isdigit():
        assert seconds(hint.removeprefix("write ")) > 0
