"""`ordito jobs cancel`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """End a job that runs, also in another terminal, or close one that was interrupted.

JOB is its id or the beginning of it; without it, the job that has not ended is meant. Running steps finish and no other
one starts; with --now they are ended. A job whose process is gone is closed: what it has not begun is left out, what
was at work then is ended where it still runs, and the report says what is in doubt."""


@verb("cancel", HELP, named="jobs cancel")
@click.argument("job", required=False)
@click.option("--now", is_flag=True, help="End the running steps, too.")
@wait_lock_option
@commit_option("")
def command(session: Session, job: str | None, *, now: bool, wait_lock: float, commit: str | None) -> ExitCode:
    """Cancel."""
    from ordito.app.cancel import CancelRequest, cancel
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import report_data, write_report

    conversation = CliConversation(session)
    request = CancelRequest(session.settings.directory, job or "", now, wait_lock, commit or "")
    result = cancel(request, conversation)
    if result.report is not None:
        write_report(result.report, conversation.ledger, session)
        session.result(report_data(result.report), lambda _: None)
        if result.report.status == "cancelled":
            retry = session.settings.command("jobs", "retry")
            session.next(NextCommand(retry, "do what it has left undone, as a new job"))
        return ExitCode.DONE
    if not result.job:
        session.note("Nothing to cancel: no job runs, and none was interrupted.")
        session.result({"job": None, "status": "ok"}, lambda _: None)
        return ExitCode.DONE
    what = "its running steps are being ended" if now else "running steps finish, no other one starts"
    session.note(f"Job {result.job} was asked to end: {what}.")
    session.result({"job": result.job, "status": "cancelling"}, lambda _: None)
    session.next(NextCommand(session.settings.command("jobs", "show", result.job), "see how it ended"))
    return ExitCode.DONE
