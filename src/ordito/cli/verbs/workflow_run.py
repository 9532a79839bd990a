"""`ordito workflow run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.asked.workflow import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.workflow import WorkflowAsked

HELP = """Run a workflow of the template that is deployed.

Its preconditions are looked at before anything runs. -i and -I give it its inputs; in what it calls they come before
those of the topology. A step that fails lets no other one start, save those that the workflow has for that
(on_failure); a failure that was handled so is a failed job all the same, and its exit code is 1."""


@verb("run", HELP, takes_inputs=True, named="workflow run")
@asked
@job_options
def command(session: Session, asked: WorkflowAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Run a workflow."""
    if options.on_failure == "rollback":
        raise click.UsageError("a workflow says itself what follows a failure (on_failure): leave --on-failure out")
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
