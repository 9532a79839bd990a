"""A job that is not closed, of which no more is read than is asked for: others may look at it while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

from ordito.work.plan import Plan
from ordito.work.records import JobHeader, Record


class JobRows(Protocol):
    """Where the rows of a job are; what is asked raises ``EnsembleError``."""

    def plan(self) -> Plan:
        """The whole plan."""

    def records(self) -> Iterator[Record]:
        """The records so far."""

    def progress(self) -> tuple[int, int]:
        """How many steps have ended, and how many the plan has, without those that only join others."""

    def is_going_back(self) -> bool:
        """Whether what the job did is being taken back."""


class UnfinishedJob:
    """A job that the journal holds: it runs, or it was interrupted and must be resumed.

    All but ``header`` and ``counts``, the numbers of instances that the plan wants, is read when it is asked for first,
    as long as the journal is open; then it stays as it is. What is asked raises ``EnsembleError``.
    """

    def __init__(self, header: JobHeader, counts: dict[str, int], rows: JobRows) -> None:
        self.header = header
        self.counts = counts
        self._rows = rows

    @cached_property
    def plan(self) -> Plan:
        """The whole plan: for a large job that takes a while."""
        return self._rows.plan()

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All records so far: for a large job that takes a while."""
        return tuple(self._rows.records())

    @cached_property
    def progress(self) -> tuple[int, int]:
        """How many steps have ended, and how many there are, without those that only join others."""
        return self._rows.progress()

    @cached_property
    def is_going_back(self) -> bool:
        """Whether what the job did is being taken back."""
        return self._rows.is_going_back()
