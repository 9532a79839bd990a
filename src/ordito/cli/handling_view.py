"""Messages while notices are handled: what was received, which triggers act, and with what result."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Refused
from ordito.app.job.report import JobReport
from ordito.app.notices.handling import Refusal
from ordito.cli.conversation import CliConversation, LookingConversation
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.ensemble.inbox import Firing, InboxEntry
from ordito.ensemble.status import WELL
from ordito.results.policies import notice_data


class CliOnlooker:
    """Shows the handling of notices on a terminal, or as events of a stream."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._conversation = CliConversation(session)

    def received(self, entry: InboxEntry) -> None:
        """Say what was received, and which triggers act."""
        session, notice = self._session, entry.notice
        if session.stream is not None:
            session.stream.say("notice.received", msgspec.to_builtins(notice_data(entry)))
            return
        if entry.said:
            session.warn(f"{notice.event} of {notice.entity} changes nothing: {printable(entry.said)}")
            return
        session.note(f"{notice.entity}: {printable(notice.event)} received (job {entry.job}).")
        for firing in entry.firings:
            session.note(
                f"  trigger {firing.name} {(printable(firing.said) and '- ' + printable(firing.said)) or 'acts'}"
            )

    def acting(self, entry: InboxEntry, firing: Firing) -> Conversation:
        """A new conversation, which counts what this trigger's job does; nobody has to approve it."""
        self._conversation = LookingConversation(self._session)
        return self._conversation

    def acted(self, entry: InboxEntry, firing: Firing, report: JobReport | None) -> None:
        """Show how the job of a trigger has ended."""
        if report is None:
            self._session.note(f"  trigger {firing.name}: there is nothing to do.")
        else:
            self._ended(report)

    def _ended(self, report: JobReport) -> None:
        from ordito.cli.job_view import write_report

        session = self._session
        write_report(report, self._conversation.ledger, session)
        if report.status not in WELL:
            command = session.settings.command("jobs", "logs", report.job)
            session.next(NextCommand(command, "read all that the operations printed"))

    def telling(self, entry: InboxEntry) -> Conversation:
        """A new conversation; nobody has to approve it."""
        self._conversation = LookingConversation(self._session)
        return self._conversation

    def told(self, entry: InboxEntry, report: JobReport | Refusal) -> None:
        """Say how the job that notified peers of changes has ended, or why there was none."""
        if isinstance(report, JobReport):
            self._ended(report)
        else:
            self._refused("the instances that depend on a change cannot be told about it", report)

    def refused(self, entry: InboxEntry, firing: Firing, refusal: Refusal) -> None:
        """Show why the actions of a trigger were not carried out."""
        self._refused(f"trigger {firing.name} asked for what cannot be done, so nothing was done", refusal)

    def _refused(self, said: str, refusal: Refusal) -> None:
        session = self._session
        if isinstance(refusal, Refused):
            hint = f" ({refusal.hint})" if refusal.hint else ""
            session.warn(f"{said}: {printable(refusal.message)}{printable(hint)}")
            if refusal.next_words:
                session.next(NextCommand(session.settings.command(*refusal.next_words), refusal.purpose))
            return
        session.warn(said)
        session.diagnostics(refusal.diagnostics)


def say_waiting(waiting: int, session: Session) -> None:
    """Say that notices wait, and which command handles them."""
    session.warn(f"{waiting} notice{' waits' if waiting == 1 else 's wait'} to be handled")
    session.next(NextCommand(session.settings.command("jobs", "resume"), "handle what waits"))
