"""What `jobs retry` and `jobs skip` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.retry import RetryAsked


def retry(session: Session, asked: RetryAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Carry out what a job has left undone."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import end_job

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    result = run_workflow(request, conversation)
    return end_job(result.report, conversation.ledger, session, nothing="Nothing is left to do.")
