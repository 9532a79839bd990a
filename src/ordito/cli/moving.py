"""What the verbs have in common that stop and start: `ordito stop`, `ordito start` and `ordito restart`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposal import Asked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation

Asking = Callable[[Callable[..., Any]], Callable[..., Any]]
Finish = Callable[["WorkflowResult", "CliConversation", Session], ExitCode]


def moving(workflow: str) -> Asking:
    """The arguments of such a workflow; the verb gets them as ``asked``."""

    def asked(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.argument("names", metavar="[NODE|INSTANCE]...", nargs=-1)
        @click.option("--all", "everything", is_flag=True, help=f"{workflow.capitalize()} everything that is deployed.")
        @functools.wraps(function)
        def with_asked(*arguments: Any, names: tuple[str, ...], everything: bool, **others: Any) -> Any:
            from ordito.app.proposals.move import MoveAsked

            if bool(names) == everything:
                raise click.UsageError(f"say what to {workflow}: nodes and instances by name, or --all")
            return function(*arguments, asked=MoveAsked(workflow, names, everything), **others)

        return with_asked

    return asked


def job_verb(workflow: str, summary: str, asked: Asking, finish: Finish) -> click.Command:
    """The verb of a workflow that changes how instances are, and whose jobs cannot be taken back."""

    @verb(workflow, summary)
    @asked
    @job_options
    def command(session: Session, asked: Asked, options: JobOptions, wait_lock: float) -> ExitCode:
        """Carry it out."""
        if options.on_failure == "rollback":
            raise click.UsageError(f"a {workflow} cannot be taken back: use --on-failure abort, or continue")
        from ordito.app.workflow_run import WorkflowRequest, run_workflow
        from ordito.cli.conversation import CliConversation

        conversation = CliConversation(session)
        settings = session.settings
        request = WorkflowRequest(
            settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
        )
        return finish(run_workflow(request, conversation), conversation, session)

    return command


def finishing(already: str) -> Finish:
    """Says what came of it; ``already`` is how everything is where there was nothing to do."""

    def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
        from ordito.cli.job_view import end_job

        nothing = f"Nothing to do: by the record all that was asked for is {already}."
        return end_job(result.report, conversation.ledger, session, nothing=nothing)

    return finish
