"""`ordito undeploy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.asked.undeploy import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.undeploy import UndeployAsked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

HELP = """Remove everything that was deployed, with the service as it was deployed last.

It goes on past failures: what can be removed is removed, and every failure is listed."""


@verb("undeploy", HELP)
@asked
@job_options
def command(session: Session, asked: UndeployAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Undeploy."""
    if options.on_failure == "rollback":
        raise click.UsageError("what was removed cannot be taken back: use --on-failure abort, or continue")
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    result = run_workflow(request, conversation)
    return finish(result, conversation, session)


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of a removal."""
    from ordito.cli.job_view import exit_code, report_data, show_kept, suggest, warn_of_orphans, write_report

    report = result.report
    staying = result.proposal.plan.kept if result.proposal is not None else ()
    if report is None:
        kept = result.proposal.orphans if result.proposal is not None else ()
        reason = "the service that was deployed has no instances" if kept else "nothing is deployed"
        reason = "all that exists is kept" if staying else reason
        session.note(f"Nothing to do: {reason}.")
        if kept:
            warn_of_orphans(kept, session)
        show_kept(staying, session)
        names = [*kept, *(change.instance for change in staying)]
        data = {"job": None, "workflow": "undeploy", "status": "ok", "kept": names}
        session.result(data, lambda _: None)
        return ExitCode.DONE
    write_report(report, conversation.ledger, session)
    show_kept(staying, session)
    if report.written and report.left > len(staying):
        left = report.left - len(staying)
        records = "1 instance keeps its record" if left == 1 else f"{left} instances keep their records"
        session.warn(f"{records}: the template's own undeploy has neither deleted them nor set their state to deleted")
    ended = {**report_data(report), "kept": [change.instance for change in staying]}
    session.result(ended, lambda _: None)
    suggest(report, session)
    return exit_code(report)
