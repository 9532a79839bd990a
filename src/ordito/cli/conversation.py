"""Showing what a use case tells while it works, on a terminal or elsewhere; and the question whether to go ahead."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from ordito.app.data_at_stake import refuse_risks
from ordito.app.errors import NobodyToAsk, Refused
from ordito.app.proposal import Proposal
from ordito.base.diagnostics import Diagnostic
from ordito.base.sensitive import is_sensitive
from ordito.base.text import listed
from ordito.cli.channel import Channel
from ordito.cli.plan_view import Level, write_brief, write_plan
from ordito.cli.progress.ledger import Ledger
from ordito.cli.progress.lines import LineProgress
from ordito.cli.progress.ndjson import StreamProgress
from ordito.cli.progress.report import completed
from ordito.cli.session import Session
from ordito.results.plan import PlanData, change_data, plan_data
from ordito.work.events import Event, Listener

MOST_LINES = 50
"""How many lines are shown before a question."""


class Progress(Protocol):
    """A rendering of a job's events."""

    def __call__(self, event: Event) -> None:
        """Process an event."""

    def say(self, text: str) -> None:
        """Show a message between events."""

    def close(self) -> None:
        """End the rendering; may be called more than once."""


class _Silent:
    """Shows nothing."""

    def __call__(self, event: Event) -> None:
        """Say nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Say nothing."""


class CliConversation:
    """Shows the plan and asks, then renders the job's events. ``ledger`` adds them up for the report at the end. With
    ``explains`` it also shows differences with their causes."""

    def __init__(self, session: Session, *, explains: bool = False) -> None:
        self._session = session
        self._explains = explains
        self.ledger = Ledger()
        self._progress: Progress = _Silent()

    def found(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Show warnings and notes."""
        self._session.diagnostics(diagnostics)

    def warn(self, text: str) -> None:
        """Show it, even with ``--quiet``."""
        self._session.warn(text)

    def approve(self, proposal: Proposal) -> bool:
        """Show the plan, and ask unless ``--yes`` was given. Raises ``NobodyToAsk``."""
        session, settings = self._session, self._session.settings
        session.public_inputs = frozenset(n for n, v in proposal.inputs.asked.items() if not is_sensitive(v))
        if session.stream is not None:
            for change in proposal.plan.changes:
                session.stream.say("plan.change", change_data(change))
        if self._explains and session.stream is None:
            self._explain(proposal)
        refuse_risks(proposal, asks=not settings.yes)
        if settings.yes:
            if proposal.unapproved:
                raise Refused(
                    "changed-meanwhile",
                    f"changed since they were created: {listed(proposal.unapproved)}; nothing was removed",
                    "a check or a discovery has found that they differ from how the last operation left them;"
                    " look at them, and give --allow-changed to remove them anyway",
                    next_words=("describe", proposal.unapproved[0]),
                    purpose="see what was done to it",
                )
            if session.stream is None and not settings.quiet:
                write_brief(plan_data(proposal, whole=False), session.err)
            return True
        if not session.can_ask:
            raise NobodyToAsk(proposal.workflow, tuple(proposal.plan.summary.losing))
        shown = plan_data(proposal, whole=False)
        write_plan(shown, session.err)
        is_agreed = self._ask(proposal.workflow, shown, session.err)
        return is_agreed and all(self._may_lose(name, session.err) for name in proposal.risks.lost)

    def _may_lose(self, instance: str, channel: Channel) -> bool:
        """Ask for the name of an instance whose data will be lost; returns whether it was typed."""
        channel.write(f"Data of {instance} will be lost. Write its name to go ahead: ")
        return sys.stdin.readline().strip() == instance

    def _explain(self, proposal: Proposal) -> None:
        from ordito.app.diff import diff_of
        from ordito.cli.diff_view import write_diff
        from ordito.results.diff import diff_data

        package = proposal.source.read.package
        write_diff(diff_data(diff_of(proposal)), package.shown(package.main), self._session.err, full=True)

    def _ask(self, workflow: str, shown: PlanData, channel: Channel) -> bool:
        while True:
            channel.write(f"Go ahead with {workflow}? [yes/no/details] ")
            line = sys.stdin.readline()
            if not line:
                channel.line()
                return False
            answer = line.strip().lower()
            if answer in {"yes", "y"}:
                return True
            if answer in {"no", "n", ""}:
                return False
            if answer in {"details", "d"}:
                write_plan(shown, channel, Level.FULL)

    def confirm(self, intent: str, lines: Sequence[str], *, asks: bool = True) -> bool:
        """Say what would be done, and ask unless ``--yes`` was given. Raises ``NobodyToAsk``."""
        session = self._session
        if session.settings.yes or not asks:
            return True
        if not session.can_ask:
            raise NobodyToAsk("this")
        for line in lines[:MOST_LINES]:
            session.err.line(f"  {line}")
        if len(lines) > MOST_LINES:
            session.err.line(f"  and {len(lines) - MOST_LINES} more")
        session.err.write(f"Go ahead: {intent}? [yes/no] ")
        return sys.stdin.readline().strip().lower() in {"yes", "y"}

    @property
    def wants_inputs(self) -> bool:
        """Programs and verbose output get the inputs of operations."""
        return self._session.stream is not None or self._session.settings.verbose > 0

    def listener(self) -> Listener:
        """The function that renders events as they come."""
        self._session.job_began = True
        self._progress = self._rendering()
        return self._tell

    def say(self, text: str) -> None:
        """Show a message to people, while a job runs between its events."""
        if isinstance(self._progress, _Silent):
            self._session.note(text)
        else:
            self._progress.say(text)

    def _tell(self, event: Event) -> None:
        event = completed(event, self._session.settings)
        self.ledger(event)
        self._progress(event)

    def _rendering(self) -> Progress:
        session = self._session
        if session.stream is not None:
            return StreamProgress(session.stream)
        shows_output = session.settings.verbose > 0
        if session.settings.quiet:
            return _Silent()
        if session.err.is_animated:
            # rich costs more to import than the other renderings cost in all.
            from ordito.cli.progress.tree import TreeProgress

            return TreeProgress(session.err, shows_output=shows_output)
        return LineProgress(session.err, shows_output=shows_output)

    @contextmanager
    def cancelling(self, cancel: Callable[[], None]) -> Iterator[None]:
        """Let interrupts of the user cancel the job; the third one ends the program at once."""
        asked = 0

        def interrupted(*_: object) -> None:
            nonlocal asked
            asked += 1
            if asked > 2:
                raise KeyboardInterrupt
            # Nothing is written here: a signal may come in the middle of writing.
            cancel()

        before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._progress.close()

    def cancel_asked(self, times: int, why: str) -> None:
        """Say what an interrupt does, or another reason to cancel the job."""
        if times in _SAID:
            said, more = _SAID[times]
            self._progress.say(f"{why}: {said}" if why else f"{said}{more}")


class LookingConversation(CliConversation):
    """For a workflow that changes nothing but records: nobody has to approve it."""

    def approve(self, proposal: Proposal) -> bool:
        """Go ahead."""
        return True


_SAID = {
    1: ("cancelling: running steps finish, no others start", "; once more ends them now"),
    2: ("ending the running steps now", ""),
}
