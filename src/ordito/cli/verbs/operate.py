"""The verbs that act on what runs: `ordito run`, `scale`, `stop`, `start` and `restart`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.cli.asked.restart import asked as asked_of_restart
from ordito.cli.asked.run import asked as asked_of_run
from ordito.cli.asked.scale import asked as asked_of_scale
from ordito.cli.asked.start import asked as asked_of_start
from ordito.cli.asked.stop import asked as asked_of_stop
from ordito.cli.exit_codes import ExitCode
from ordito.cli.moving import finishing, job_verb
from ordito.cli.options import job_options, making_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.proposals.run import RunAsked
    from ordito.app.proposals.scale import ScaleAsked
    from ordito.app.workflow_run import WorkflowResult
    from ordito.cli.conversation import CliConversation


@verb("run", takes_inputs=True)
@asked_of_run
@job_options
def run_command(session: Session, asked: RunAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Run one operation on all instances, or on those that the filters leave.

    OPERATION is INTERFACE.OPERATION, or its name alone where one interface only has it. An instance must pass every
    kind of filter that is given. Where a node has the operation without an implementation, nothing happens on its
    instances. With -i and -I the operation gets values for its inputs, and any further ones as they are. What it
    sets is recorded (states, attributes, outputs), and nothing counts as deployed by it."""
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


@verb("scale")
@asked_of_scale
@making_options
def scale_command(session: Session, asked: ScaleAsked, options: JobOptions, wait_lock: float) -> ExitCode:
    """Have more or fewer instances of a node, and of all that it contains.

    Give a node or a group and --delta D, or NODE=N. A node is scaled with the Compute that contains it; then N, and
    its bounds, are that Compute's. With --no-scale-compute it is scaled by itself. The newest instances leave, or
    those that --remove names. Nothing runs on instances that stay but what links them.

    A scale-out that fails removes what it has added. The number is kept until the template asks for another one, or
    until `deploy --reset-counts`."""
    from ordito.app.workflow_run import WorkflowRequest, run_workflow
    from ordito.cli.conversation import CliConversation

    conversation = CliConversation(session)
    settings = session.settings
    request = WorkflowRequest(
        settings.directory, asked, options, wait_lock, settings.wanted_environment, settings.hosts
    )
    return finish_scale(run_workflow(request, conversation), conversation, session)


def finish_scale(result: WorkflowResult, conversation: CliConversation, session: Session) -> ExitCode:
    """Say what came of it."""
    from ordito.cli.job_view import end_job

    nothing = "Nothing to do: there are as many instances as are asked for."
    return end_job(result.report, conversation.ledger, session, nothing=nothing)


STOP_HELP = """Stop instances: from started to configured, dependents first.

What depends on what is named is stopped too: what it hosts, and what requires a node of which no other instance stays
up. Who can do with the others goes on, and is only unlinked. `ordito start` starts them again; so does `ordito deploy`.
A node that a provider made is not stopped, only its state changes."""

finish_stop = finishing("stopped already")

stop_command = job_verb("stop", STOP_HELP, asked_of_stop, finish_stop)


START_HELP = """Start instances that are stopped: from configured to started, and link them.

What they require has to be up, or named too."""

finish_start = finishing("started already")

start_command = job_verb("start", START_HELP, asked_of_start, finish_start)


RESTART_HELP = """Stop and start instances, and what depends on them, in one job.

First everything is stopped, dependents first, then everything is started the other way round. What is stopped already
is started."""

finish_restart = finishing("as it should be")

restart_command = job_verb("restart", RESTART_HELP, asked_of_restart, finish_restart)
