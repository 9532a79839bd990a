"""The verbs that begin a job: they make a request of a workflow, run it, and report the result."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ordito.app.requests import Request
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import VERBS
from ordito.cli.request_options import ON_FAILURE, ON_FAILURE_MAKING, job_options, takes
from ordito.cli.session import Session
from ordito.cli.settings import GlobalSettings
from ordito.cli.verb import verb
from ordito.work.options import JobOptions

if TYPE_CHECKING:
    from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
    from ordito.cli.conversation import CliConversation

Finish = Callable[["WorkflowResult", "CliConversation", Session], ExitCode]
"""Reports the end of a workflow, from its result and the conversation, through the session."""


def job_verb(
    kind: type[Request], help_text: str = "", *, named: str = ""
) -> Callable[[Callable[..., ExitCode]], click.Command]:
    """Make a function the verb of a workflow, with the options of its request and of every job. The function gets a
    session, a ``WorkflowRequest``, and the values of the options below this decorator. ``named`` is its name in
    messages and the manual, if that is not the name of the workflow."""

    def decorate(function: Callable[..., ExitCode]) -> click.Command:
        @verb(
            named.rpartition(" ")[2] or kind.WORKFLOW,
            help_text,
            takes_inputs="inputs" in kind.__struct_fields__,
            named=named,
        )
        @takes(kind)
        @job_options(ON_FAILURE if kind.stays else ON_FAILURE_MAKING)
        @functools.wraps(function)
        def command(
            session: Session, request: Request, options: JobOptions, wait_lock: float, **others: Any
        ) -> ExitCode:
            return function(session, workflow_request(session, request, options, wait_lock), **others)

        return command

    return decorate


def workflow_request(session: Session, request: Request, options: JobOptions, wait_lock: float) -> WorkflowRequest:
    """The request of a command, with its ensemble. Raises ``click.UsageError`` if a failed job is to be rolled back and
    cannot be."""
    from ordito.app.workflow_run import WorkflowRequest

    if request.stays and options.on_failure == "rollback":
        raise click.UsageError(request.stays)
    settings = session.settings
    environment = environment_for(request, settings.wanted_environment)
    hosts = hosts_for(request, settings) if not settings.wanted_server else None
    return WorkflowRequest(settings.directory, request, options, wait_lock, environment, hosts)


def environment_for(request: Request, wanted: str | None) -> str | None:
    """The environment to work in: the ``wanted`` one, None if none is named; for a saved plan, the plan's own."""
    from ordito.app.saved_plan import SavedPlanRequest

    return request.environment if isinstance(request, SavedPlanRequest) else wanted


def hosts_for(request: Request, settings: GlobalSettings) -> str | None:
    """The inventory to work with: the one that the command names; for a saved plan, the plan's own."""
    from ordito.app.place import place_of
    from ordito.app.saved_plan import SavedPlanRequest

    if settings.hosts is None and isinstance(request, SavedPlanRequest):
        return request.hosts(place_of(settings.directory))
    return settings.hosts


def finisher(workflow: str) -> Finish:
    """How the verb of a workflow reports its end."""
    # All workflows of templates are one: the name comes behind.
    word = workflow.partition(" ")[0]
    module = importlib.import_module(f"ordito.cli.verbs.{VERBS[word].module}")
    finish: Finish = getattr(module, f"finish_{word}", _finish)
    return finish


def _finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a workflow whose verb reports more than is known from a saved plan."""
    from ordito.cli.job_view import end_job
    from ordito.cli.progress.report import NextCommand
    from ordito.work.workflows import workflow_of

    if result.report is None and result.proposal is not None:
        for warning in result.proposal.plan.summary.warnings:
            session.note(warning)  # It says itself that it is a warning.
    code = end_job(result.report, conversation.ledger, session, nothing="Nothing to do.")
    if result.report is not None and workflow_of(result.report.workflow).looks:
        session.next(NextCommand(session.settings.command("status"), "see the status of everything"))
    return code


def carry_out(session: Session, request: WorkflowRequest, finish: Finish, *, explains: bool = False) -> ExitCode:
    """Plan, ask, carry out, and report the result: here, at the server that is named, or by workers of a store.
    With ``explains`` the differences are shown first."""
    if session.settings.wanted_server:
        from ordito.cli import remote_jobs

        return remote_jobs.carry_out(session, request, finish, explains=explains)
    if session.settings.detach:
        from ordito.cli.queued import queue

        return queue(session, request, finish)
    from ordito.app.workflow_run import run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session, explains=explains)
    return finish(run_workflow(request, conversation), conversation, session)


def finishing(already: str) -> Finish:
    """Reports the result; ``already`` is the state of everything if there was nothing to do."""

    def finish(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
        from ordito.cli.job_view import end_job

        nothing = f"Nothing to do: according to the records, everything named is {already}."
        return end_job(result.report, conversation.ledger, session, nothing=nothing)

    return finish
