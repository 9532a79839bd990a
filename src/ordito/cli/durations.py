"""Durations as people read them."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """Hours, minutes and seconds, as in ``00:01:05``."""
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}"


def brief(seconds: float) -> str:
    """A running time, with tenths of a second where they matter: ``0.3s``, ``75s``."""
    return f"{seconds:.1f}s" if seconds < 60 else f"{seconds:.0f}s"
