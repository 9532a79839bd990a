"""`ordito plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import allow_large_option, choice_options, fetch_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.proposal import Proposal

HELP = """Show what a deployment would do, and why. Nothing is changed.

SERVICE is needed where there is no ensemble yet. `ordito plan undeploy` shows what removing everything would do."""


@verb("plan", HELP, takes_inputs=True)
@click.argument("words", metavar="[deploy|undeploy] [SERVICE]", nargs=-1)
@click.option("--full", is_flag=True, help="Show every step with its reason.")
@allow_large_option
@fetch_option
@choice_options
def command(
    session: Session,
    words: tuple[str, ...],
    inputs: GivenInputs,
    *,
    full: bool,
    allow_large: bool,
    fetch: bool,
    choices: GivenChoices,
) -> ExitCode:
    """Plan."""
    from ordito.app.plan import WORKFLOWS, PlanRequest, plan
    from ordito.cli.plan_view import plan_data, write_plan

    workflow, service = _meant(words, WORKFLOWS)
    if workflow == "undeploy" and not inputs.is_empty:
        raise click.UsageError("undeploy takes no inputs: it uses those of the last deployment")
    result = plan(PlanRequest(session.settings.directory, workflow, service, inputs, allow_large, fetch, choices))
    if result.unfinished:
        session.warn(f"job {result.unfinished} is not finished; this is planned from things as they are now")
    proposal = result.proposal
    if proposal is None or proposal.plan.is_empty:
        return _nothing_to_do(workflow, proposal, session)
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


def _meant(words: tuple[str, ...], workflows: Sequence[str]) -> tuple[str, str]:
    """The workflow, by default the first, and the service that are meant."""
    workflow, rest = (words[0], words[1:]) if words and words[0] in workflows else (workflows[0], words)
    if len(rest) > (1 if workflow == "deploy" else 0):
        raise click.UsageError(f'"{rest[-1]}" is one word too many for a plan of {workflow}')
    return workflow, rest[0] if rest else ""
