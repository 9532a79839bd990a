"""Times as people write them."""

from __future__ import annotations

import pytest

from ordito.cli.durations import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5_400),
        ("1H 30M", 5_400),
        ("500ms", 0.5),
        ("2d", 172_800),
        ("0", 0),
        ("", None),
        ("m", None),
        ("-1", None),
        ("1x", None),
        ("1h30", None),
        ("nan", None),
        ("\u0661s", None),
    ],
)
def test_times(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds
