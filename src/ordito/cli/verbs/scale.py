"""`ordito scale`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.scale import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import making_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.scale import ScaleAsked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

HELP = """Have more or fewer instances of a node, and of all that it contains.

Give a node or a group and --delta D, or NODE=N. A node is scaled with the Compute that contains it; then N, and its
bounds, are that Compute's. With --no-scale-compute it is scaled by itself. The newest instances leave, or those that
--remove names. Nothing runs on instances that stay but what links them.

A scale-out that fails removes what it has added. The number is kept until the template asks for another one, or until
`deploy --reset-counts`."""


@verb("scale", HELP)
@asked
@making_options
def command(session: Session, asked: ScaleAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Scale."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    return finish(run_workflow(request, conversation), conversation, session)


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of it."""
    from ordito.cli.job_view import end_job

    nothing = "Nothing to do: there are as many instances as are asked for."
    return end_job(result.report, conversation.ledger, session, nothing=nothing)
