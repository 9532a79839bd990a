"""Durations for people."""

from __future__ import annotations

import re

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_NUMBER = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def seconds_of(text: str) -> float | None:
    """The seconds of a time as people write it: ``90``, ``90s``, ``1h30m``, ``500ms``; None for another text."""
    written = text.strip().lower().replace(" ", "")
    if _NUMBER.fullmatch(written):
        return float(written)
    parts = _PART.findall(written)
    if not parts or "".join(number + unit for number, unit in parts) != written:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, as in ``00:01:05``."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}"


def brief(seconds: float) -> str:
    """A running time, with tenths of a second if it is short: ``0.3s``, ``75s``."""
    return f"{seconds:.1f}s" if seconds < 60 else f"{seconds:.0f}s"
