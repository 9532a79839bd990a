"""What a use case tells its caller while it works, and what it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ordito.app.proposal import Proposal
from ordito.base.diagnostics import Diagnostic
from ordito.work.events import Listener


class Conversation(Protocol):
    """The caller of a use case that changes something."""

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show warnings and notes about the documents; errors are raised instead."""

    def warn(self, text: str) -> None:
        """Show a warning before a plan is made."""

    def approve(self, proposal: Proposal) -> bool:
        """Ask whether to go ahead with a plan that is not empty."""

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        """Ask whether to go ahead with a change that has no plan: ``intent`` says what it does, ``lines`` list its
        effects. ``asks`` is whether a person is asked about it: if not, it goes ahead, unless this caller only wants to
        know what would change."""

    @property
    def wants_inputs(self) -> bool:
        """Whether the events of a job must have the inputs with which operations start."""

    def listener(self) -> Listener:
        """The listener to the job's events."""

    def cancelling(self, cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """While the context lasts, ``cancel`` asks the running job to end: the first call lets running steps finish,
        the second ends them. It may be called from any thread, and from a signal handler."""

    def cancel_asked(self, times: int, why: str) -> None:
        """Tell that the job was asked to end, for the first or a later time; ``why`` is "" if this caller has asked for
        it."""
