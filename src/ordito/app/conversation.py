"""What a use case says to whoever asked for it while it is at work, and what it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ordito.app.proposal import Proposal
from ordito.base.diagnostics import Diagnostic
from ordito.work.events import Listener


class Conversation(Protocol):
    """The other side of a use case that changes something."""

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Take notice of warnings and notes about the documents; errors are raised instead."""

    def warn(self, text: str) -> None:
        """Take notice of what deserves attention before a plan is made."""

    def approve(self, proposal: Proposal) -> bool:
        """Whether to go ahead with a plan that is not empty."""

    def confirm(self, intent: str, lines: Sequence[str]) -> bool:
        """Whether to go ahead with what is no plan: ``intent`` says what in words, ``lines`` what it comes to."""

    @property
    def wants_inputs(self) -> bool:
        """Whether the events of a job are to tell with which inputs operations start."""

    def listener(self) -> Listener:
        """Who is told of the job's events."""

    def cancelling(self, cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """While the context lasts, ``cancel`` asks the running job to end: the first call lets running steps finish,
        the second ends them. It may be called from any thread, and from a signal handler."""

    def cancel_asked(self, times: int, why: str) -> None:
        """The job has heard that it is to end, for the first or a later time; ``why`` is "" where the one who is
        told has asked for it."""
