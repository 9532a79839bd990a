"""`ordito run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.run import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.run import RunAsked

HELP = """Run one operation on all instances, or on those that the filters leave.

OPERATION is INTERFACE.OPERATION, or its name alone where one interface only has it. An instance must pass every kind of
filter that is given. Where a node has the operation without an implementation, nothing happens on its instances. With
-i and -I the operation gets values for its inputs, and any further ones as they are. What it sets is recorded (states,
attributes, outputs), and nothing counts as deployed by it."""


@verb("run", HELP, takes_inputs=True)
@asked
@job_options
def command(session: Session, asked: RunAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Run."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation
    from ordito.cli.planned import finisher

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    result = run_workflow(request, conversation)
    return finisher(asked.workflow)(result, conversation, session)
