"""Numbers that remember how they were written."""

from __future__ import annotations


class WrittenNumber:
    """A number that remembers how it was written: ``6.10`` stays ``6.10`` in a text."""

    written: str
