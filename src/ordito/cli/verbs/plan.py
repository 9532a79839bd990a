"""`ordito plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.planned import PLANNED, PlanCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.proposal import Asked, Proposal

HELP = """Show what a command would do, and why. Nothing is changed.

`ordito plan` is about deploying; `ordito plan WORKFLOW` about another workflow, with what its verb takes: {workflows}.

{about}"""


def _make(workflow: str, arguments: Any) -> click.Command:
    """The command that plans one workflow."""
    text = HELP.format(workflows=", ".join(PLANNED), about=arguments.ABOUT)

    @verb("plan", text, takes_inputs=arguments.TAKES_INPUTS, named=f"plan {workflow}")
    @arguments.asked  # type: ignore[untyped-decorator]
    @click.option("--full", is_flag=True, help="Show every step with its reason.")
    def command(session: Session, asked: Asked, *, full: bool) -> ExitCode:
        """Plan."""
        return _plan(session, asked, full=full)

    return command


command = PlanCommand(_make)


def _plan(session: Session, asked: Asked, *, full: bool) -> ExitCode:
    from ordito.app.plan import PlanRequest, plan
    from ordito.cli.plan_view import plan_data, write_plan

    result = plan(PlanRequest(session.settings.directory, asked))
    if result.unfinished:
        session.warn(f"job {result.unfinished} is not finished; this is planned from things as they are now")
    proposal = result.proposal
    if proposal is None or proposal.plan.is_empty:
        return _nothing_to_do(asked.workflow, proposal, session)
    session.diagnostics(proposal.diagnostics)

    def text(channel: Channel) -> None:
        write_plan(proposal, channel, full=full)

    session.result(plan_data(proposal), text)
    return ExitCode.DONE


def _nothing_to_do(workflow: str, proposal: Proposal | None, session: Session) -> ExitCode:
    from ordito.cli.job_view import warn_of_changed_inputs, warn_of_orphans

    said = "nothing is deployed"
    if proposal is not None:
        session.diagnostics(proposal.diagnostics)
        if workflow == "deploy":
            said = f"{proposal.service.name} is as it should be"
            if proposal.changed_inputs:
                warn_of_changed_inputs(proposal.changed_inputs, session)
        elif proposal.orphans:
            said = "the service that was deployed has no instances"
            warn_of_orphans(proposal.orphans, session)
    empty = {"workflow": workflow, "changes": [], "steps": [], "waves": []}
    session.result(empty, lambda channel: channel.line(f"Nothing to do: {said}."))
    return ExitCode.DONE
