"""Texts in a page: whatever they hold, they stay texts."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime

ANSI = re.compile(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""What HTML cannot have, and what changes the direction of writing."""


def text(value: object) -> str:
    """A text of an element or of an attribute."""
    return html.escape(UNFIT.sub("\N{REPLACEMENT CHARACTER}", ANSI.sub("", str(value))))


def clipped(value: str, most: int) -> str:
    """A text of at most so many characters; a longer one is cut and marked."""
    return value if len(value) <= most else f"{value[: most - 1]}…"


def when(seconds: float | None) -> str:
    """A moment for people, in UTC."""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def how_long(seconds: float) -> str:
    """A time for people, as in ``12 ms``, ``0.3 s``, ``1 min 5 s``, ``2 h 10 min``."""
    if seconds < 0.1:
        return f"{max(0.0, seconds) * 1_000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
