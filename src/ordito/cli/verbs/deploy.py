"""`ordito deploy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.app.given_choices import GivenChoices
from ordito.app.given_inputs import GivenInputs
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import allow_large_option, choice_options, fetch_option, job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.deploy import DeployResult

HELP = """Bring the running system to its description.

SERVICE is a definitions file, or a folder that holds one. The first deployment makes the ensemble: a directory that
knows the service, its inputs, and everything that exists. Later ones need no SERVICE. Inputs given later are remembered
until ensemble.yaml says something else. What is done already is not done again."""


@verb("deploy", HELP, takes_inputs=True)
@click.argument("service", required=False)
@job_options
@allow_large_option
@fetch_option
@choice_options
def command(  # noqa: PLR0913  (one for each option)
    session: Session,
    service: str | None,
    inputs: GivenInputs,
    options: JobOptions,
    wait_lock: float,
    *,
    allow_large: bool,
    fetch: bool,
    choices: GivenChoices,
) -> ExitCode:
    """Deploy."""
    from ordito.app.deploy import DeployRequest, deploy
    from ordito.cli.conversation import CliConversation
    from ordito.cli.job_view import exit_code, report_data, suggest, write_outputs, write_report

    conversation = CliConversation(session)
    directory = session.settings.directory
    request = DeployRequest(directory, service or "", inputs, options, wait_lock, allow_large, fetch, choices)
    result = deploy(request, conversation)
    if result.report is None:
        return _nothing_to_do(result, session)
    report = result.report
    write_report(report, conversation.ledger, session)
    session.result(report_data(report), lambda channel: write_outputs(report.outputs, channel))
    suggest(report, session)
    return exit_code(report)


def _nothing_to_do(result: DeployResult, session: Session) -> ExitCode:
    from ordito.cli.job_view import warn_of_changed_inputs, write_outputs

    session.note(f"Nothing to do: {result.service} is as it should be. No operation was run, no file was changed.")
    if result.changed:
        warn_of_changed_inputs(result.changed, session)
    if result.ignored:
        names = ", ".join(result.ignored)
        session.note(f"These inputs change nothing that exists, so they were not remembered: {names}")
    data = {
        "job": None,
        "workflow": "deploy",
        "status": "ok",
        "outputs": result.outputs,
        "changed_inputs": list(result.changed),
    }
    session.result(data, lambda channel: write_outputs(result.outputs, channel))
    return ExitCode.DONE
