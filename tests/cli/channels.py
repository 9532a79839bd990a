"""Channels whose text can be looked at."""

from __future__ import annotations

import io

from ordito.cli.channel import Channel, Color


class Kept(io.TextIOWrapper):
    """A text stream that keeps the bytes it was given."""

    def __init__(self, encoding: str) -> None:
        self.kept = io.BytesIO()
        super().__init__(self.kept, encoding=encoding, errors="backslashreplace")


def channel(encoding: str = "utf-8", color: Color = Color.NEVER) -> Channel:
    """A channel that is no terminal."""
    return Channel(Kept(encoding), color)


def written(to: Channel) -> str:
    """What was written to such a channel."""
    assert isinstance(to.stream, Kept)
    to.stream.flush()
    return to.stream.kept.getvalue().decode(to.stream.encoding)
