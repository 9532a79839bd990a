"""Numbers in templates that keep the author's spelling."""

from __future__ import annotations


class WrittenNumber:
    """A number that keeps its spelling: ``6.10`` stays ``6.10`` in a text."""

    written: str
