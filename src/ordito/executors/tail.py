"""The last lines that an operation printed, which tell of its failure."""

from __future__ import annotations

TAIL_LINES = 20
TAIL_BYTES = 32_768


class Tail:
    """Keeps the end of what is printed, as far as it may hold the last lines."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> None:
        """Take a piece of output."""
        self._data = (self._data + data)[-TAIL_BYTES:]

    def lines(self) -> tuple[str, ...]:
        """The last lines, without their ends."""
        if not self._data:
            return ()
        lines = [line.decode(errors="replace").removesuffix("\r") for line in self._data.split(b"\n")]
        if not lines[-1]:
            lines.pop()
        return tuple(lines[-TAIL_LINES:])
