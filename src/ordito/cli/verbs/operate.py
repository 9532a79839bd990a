"""The verbs that act on what runs: `ordito run`, `scale`, `stop`, `start` and `restart`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.app.requests import RestartRequest, RunRequest, ScaleRequest, StartRequest, StopRequest
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import carry_out, finisher, finishing, job_verb
from ordito.cli.session import Session

if TYPE_CHECKING:
    from ordito.app.workflow_run import WorkflowRequest, WorkflowResult
    from ordito.cli.conversation import CliConversation


@job_verb(RunRequest)
def run_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Run one operation on all instances, or on those that pass the filters.

    OPERATION is INTERFACE.OPERATION, or its name alone if only one interface has it. An instance must pass every kind
    of filter that is given. If a node has the operation without an implementation, nothing happens on its instances. -i
    and -I give values to the operation's inputs; further ones are passed on unchanged. What the operation sets is
    recorded (states, attributes, outputs), but nothing counts as deployed by it."""
    return carry_out(session, request, finisher(request.wanted.workflow))


@job_verb(ScaleRequest)
def scale_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Change the number of instances of a node, and of everything it hosts.

    Give a node or a group and --delta D, or NODE=N. A node is scaled together with the Compute that hosts it; then N,
    and the bounds, are those of the Compute. With --no-scale-compute the node is scaled alone. The newest instances are
    removed, or those that --remove names. On instances that stay, only operations of relationships run.

    A scale-out that fails removes what it has added. The number is kept until the template asks for another one, or
    until `deploy --reset-counts`."""
    return carry_out(session, request, finish_scale)


def finish_scale(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Report the end of a scaling."""
    from ordito.cli.job_view import end_job

    nothing = "Nothing to do: there are already as many instances."
    return end_job(result.report, conversation.ledger, session, nothing=nothing)


finish_stop = finishing("stopped already")


@job_verb(StopRequest)
def stop_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Stop instances: from started to configured, dependents first.

    What depends on the named instances is stopped too: what they host, and what requires a node without any other
    running instance. What still has other instances to use goes on, and is only unlinked. `ordito start` or `ordito
    deploy` starts them again. A node that a provider made is not stopped, only its state changes."""
    return carry_out(session, request, finish_stop)


finish_start = finishing("started already")


@job_verb(StartRequest)
def start_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Start instances that are stopped: from configured to started, and link them.

    What they require must be running, or be named too."""
    return carry_out(session, request, finish_start)


finish_restart = finishing("as described")


@job_verb(RestartRequest)
def restart_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Stop and start instances, and what depends on them, in one job.

    First everything is stopped, dependents first; then everything is started in reverse order. Instances that are
    already stopped are started too."""
    return carry_out(session, request, finish_restart)
