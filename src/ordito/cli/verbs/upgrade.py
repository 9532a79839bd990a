"""`ordito upgrade`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.asked.upgrade import asked
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import making_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.cli.verbs.deploy import finish as finish_deployment
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.upgrade import UpgradeAsked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

HELP = """Change what runs into what a service says now.

NEW is a definitions file, a folder that holds one, or an archive. From then on it is the ensemble's service, until
ensemble.yaml names another one; without NEW the ensemble's own service is read again. What has changed is changed with
as little as that takes (`ordito diff` shows it), what is new is added, what the service has lost is removed last.

After a failure nothing more is done that depends on it; `ordito jobs resume`, `ordito upgrade` again, or `ordito
rollback` go on from there. With --on-failure rollback everything is brought back by itself."""


@verb("upgrade", HELP, takes_inputs=True)
@asked
@click.option("--explain", is_flag=True, help="Show first what is different, because of what, and what runs for it.")
@making_options
def command(session: Session, asked: UpgradeAsked, options: JobOptions, wait_lock: float, *, explain: bool) -> ExitCode:
    """Upgrade."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session, explains=explain)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    return finish(run_workflow(request, conversation), conversation, session)


def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of an upgrade."""
    return finish_deployment(result, conversation, session)
