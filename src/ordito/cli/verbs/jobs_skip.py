"""`ordito jobs skip`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import data_loss_option, making_options
from ordito.cli.retrying import retry
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

HELP = """Do what a job that failed or was cancelled has left undone, with one of its steps counted as done by hand.

JOB is its id or the beginning of it; without it, the latest deployment, removal, scaling or workflow of the template is
meant. STEP is the id of the step, as in web_1.Standard.create. The record says that the step was skipped by hand, and
later deployments do not run it again."""


@verb("skip", HELP, named="jobs skip")
@click.argument("words", nargs=-1, required=True, metavar="[JOB] STEP")
@data_loss_option
@making_options
def command(
    session: Session, words: tuple[str, ...], may_lose: tuple[str, ...], options: JobOptions, wait_lock: float
) -> ExitCode:
    """Skip."""
    if len(words) > 2:
        raise click.UsageError("give one step, and before it the job, if it is not the latest")
    job, step = words if len(words) == 2 else ("", words[0])
    from ordito.app.proposals.retry import RetryAsked

    return retry(session, RetryAsked(job, step, may_lose), options, wait_lock)
