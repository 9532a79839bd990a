"""Rows of text with their columns aligned."""

from __future__ import annotations

from collections.abc import Sequence

from ordito.cli.channel import Channel
from ordito.cli.text_width import pad, printable, width


def write_columns(titles: Sequence[str], rows: Sequence[Sequence[str]], channel: Channel) -> None:
    """Write rows below their titles; the last column is as long as it likes."""
    if not rows:
        channel.line("none")
        return
    widths = [max(map(width, column)) for column in zip(titles, *rows, strict=True)]
    channel.line(channel.paint("strong", _row(titles, widths)))
    for row in rows:
        channel.line(printable(_row(row, widths)))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(pad(cell, wide) for cell, wide in zip(cells, widths, strict=True)).rstrip()
