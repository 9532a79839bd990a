"""`ordito jobs resume`."""

from __future__ import annotations

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Continue a job that was interrupted, under the same id.

What is completed does not run again. An operation that was running when the program died is ended if it still runs.
Then the check of its instance says whether it is done; if nothing says so it runs again.

Afterwards, or where no job was interrupted, what was told meanwhile (`ordito notify`) and still waits is handled."""


@verb("resume", HELP, named="jobs resume")
@wait_lock_option
@commit_option("")
def command(session: Session, wait_lock: float, commit: str | None) -> ExitCode:
    """Resume."""
    from ordito.app.resume import ResumeRequest, resume
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import end_job

    conversation = CliConversation(session)
    report = resume(ResumeRequest(session.settings.directory, wait_lock, commit or ""), conversation).report
    return end_job(report, conversation.ledger, session, nothing="Nothing to resume: no job was interrupted.")
