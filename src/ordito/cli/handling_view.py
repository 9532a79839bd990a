"""Messages while notices are handled: what was received, which triggers act, and with what result."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Refused
from ordito.app.job.report import JobReport
from ordito.app.notices.handling import Refusal
from ordito.cli.conversation import CliConversation, LookingConversation
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.ensemble.inbox import Firing, InboxEntry
from ordito.ensemble.status import WELL
from ordito.results.policies import NoticeData, NotifyData, notice_data


class CliOnlooker:
    """Shows the handling of notices on a terminal, or as events of a stream."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._conversation = CliConversation(session)

    def received(self, entry: InboxEntry) -> None:
        """Say what was received, and which triggers act."""
        say_received(notice_data(entry), self._session)

    def acting(self, entry: InboxEntry, firing: Firing) -> Conversation:
        """A new conversation, which counts what this trigger's job does; nobody has to approve it."""
        self._conversation = LookingConversation(self._session)
        return self._conversation

    def acted(self, entry: InboxEntry, firing: Firing, report: JobReport | None) -> None:
        """Show how the job of a trigger has ended."""
        if report is None:
            self._session.note(f"  trigger {firing.name}: there is nothing to do.")
        else:
            say_ended(report, self._conversation, self._session)

    def telling(self, entry: InboxEntry) -> Conversation:
        """A new conversation; nobody has to approve it."""
        self._conversation = LookingConversation(self._session)
        return self._conversation

    def told(self, entry: InboxEntry, report: JobReport | Refusal) -> None:
        """Say how the job that notified peers of changes has ended, or why there was none."""
        if isinstance(report, JobReport):
            say_ended(report, self._conversation, self._session)
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


def say_received(found: NoticeData, session: Session) -> None:
    """Say what was received, and which triggers act."""
    if session.stream is not None:
        session.stream.say("notice.received", msgspec.to_builtins(found))
        return
    if found.dropped:
        session.warn(f"{found.event} of {found.entity} changes nothing: {printable(found.dropped)}")
        return
    session.note(f"{found.entity}: {printable(found.event)} received (job {found.job}).")
    for one in found.triggers:
        session.note(f"  trigger {one.trigger} {(printable(one.said) and '- ' + printable(one.said)) or 'acts'}")


def say_ended(report: JobReport, conversation: CliConversation, session: Session) -> None:
    """Say how the job of a trigger has ended."""
    from ordito.cli.job_view import write_report

    write_report(report, conversation.ledger, session)
    if report.status not in WELL:
        command = session.settings.command("jobs", "logs", report.job)
        session.next(NextCommand(command, "read all that the operations printed"))


def say_kept(holder: str, interrupted: str, session: Session) -> None:
    """Say what a notice that is not handled waits for: the command that works on the ensemble, or the job that was
    interrupted, "" for none."""
    if holder:
        session.note(f"Kept: it is handled when the command that is running now has ended ({holder}).")
    elif interrupted:
        session.warn(f"kept: it waits for job {interrupted}, which was interrupted")
        session.next(NextCommand(session.settings.command("jobs", "resume"), "continue that job, then handle this"))


def notified(found: NotifyData) -> ExitCode:
    """The exit code for what came of a notice."""
    ends = {job.status for job in found.jobs}
    if "cancelled" in ends:
        return ExitCode.INTERRUPTED
    if ends - WELL:
        return ExitCode.JOB_FAILED
    return ExitCode.REFUSED if found.refused or found.dropped else ExitCode.DONE


def say_waiting(waiting: int, session: Session) -> None:
    """Say that notices wait, and which command handles them."""
    session.warn(f"{waiting} notice{' waits' if waiting == 1 else 's wait'} to be handled")
    session.next(NextCommand(session.settings.command("jobs", "resume"), "handle what waits"))
