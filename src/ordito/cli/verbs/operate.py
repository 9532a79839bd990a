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
    """Run one operation on all instances, or on those that the filters leave.

    OPERATION is INTERFACE.OPERATION, or its name alone where one interface only has it. An instance must pass every
    kind of filter that is given. Where a node has the operation without an implementation, nothing happens on its
    instances. With -i and -I the operation gets values for its inputs, and any further ones as they are. What it
    sets is recorded (states, attributes, outputs), and nothing counts as deployed by it."""
    return carry_out(session, request, finisher(request.wanted.workflow))


@job_verb(ScaleRequest)
def scale_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Have more or fewer instances of a node, and of all that it contains.

    Give a node or a group and --delta D, or NODE=N. A node is scaled with the Compute that contains it; then N, and
    its bounds, are that Compute's. With --no-scale-compute it is scaled by itself. The newest instances leave, or
    those that --remove names. Nothing runs on instances that stay but what links them.

    A scale-out that fails removes what it has added. The number is kept until the template asks for another one, or
    until `deploy --reset-counts`."""
    return carry_out(session, request, finish_scale)


def finish_scale(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of it."""
    from ordito.cli.job_view import end_job

    nothing = "Nothing to do: there are as many instances as are asked for."
    return end_job(result.report, conversation.ledger, session, nothing=nothing)


finish_stop = finishing("stopped already")


@job_verb(StopRequest)
def stop_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Stop instances: from started to configured, dependents first.

    What depends on what is named is stopped too: what it hosts, and what requires a node of which no other instance
    stays up. Who can do with the others goes on, and is only unlinked. `ordito start` starts them again; so does
    `ordito deploy`. A node that a provider made is not stopped, only its state changes."""
    return carry_out(session, request, finish_stop)


finish_start = finishing("started already")


@job_verb(StartRequest)
def start_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Start instances that are stopped: from configured to started, and link them.

    What they require has to be up, or named too."""
    return carry_out(session, request, finish_start)


finish_restart = finishing("as it should be")


@job_verb(RestartRequest)
def restart_command(session: Session, request: WorkflowRequest) -> ExitCode:
    """Stop and start instances, and what depends on them, in one job.

    First everything is stopped, dependents first, then everything is started the other way round. What is stopped
    already is started."""
    return carry_out(session, request, finish_restart)
