"""`ordito rollback`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.asked.rollback import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.rollback import RollbackAsked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

HELP = """Go back to an earlier revision: change what runs into what it was then, with the files and inputs of then.

REVISION is a number that `ordito revisions` shows. Without it, what was begun after the last complete revision is taken
back; where nothing was, the last revision that deployed something else is meant: to deploy the same again, so that it
is repaired, does not count. What lifecycle steps have done since is undone, the newest first, around what is done to
the resources; no lifecycle step is carried out."""

MOST_NAMED = 12


@verb("rollback", HELP)
@asked
@job_options
def command(session: Session, asked: RollbackAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Roll back."""
    if options.on_failure == "rollback":
        raise click.UsageError("going back is not taken back: use --on-failure abort, or continue")
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    return finish(run_workflow(request, conversation), conversation, session)


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of going back."""
    from ordito.app.rollback_leftovers import leftovers
    from ordito.cli.job_view import exit_code, report_data, suggest, write_outputs, write_report
    from ordito.cli.progress.report import NextCommand
    from ordito.cli.text_width import printable

    report = result.report
    if report is None:
        said = "by the record what runs is what was deployed then"
        session.note(f"Nothing to do: {said}. No operation was run, no file was changed.")
        session.result({"job": None, "workflow": "rollback", "status": "ok"}, lambda _: None)
        return ExitCode.DONE
    write_report(report, conversation.ledger, session)
    code = exit_code(report)
    left = leftovers(session.settings.directory) if code is ExitCode.DONE else ()
    data = {**report_data(report), **({"different": list(left)} if left else {})}
    session.result(data, lambda channel: write_outputs(report.outputs, channel, complete=code is ExitCode.DONE))
    if left:
        session.warn("not all is as it was then:")
        for what in left[:MOST_NAMED]:
            session.note(f"  {printable(what)}")
        session.next(NextCommand(session.settings.command("diff"), "see what is different"))
        return ExitCode.ROLLBACK_INCOMPLETE
    suggest(report, session)
    return code
