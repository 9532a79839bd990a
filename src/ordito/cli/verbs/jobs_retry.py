"""`ordito jobs retry`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import data_loss_option, making_options
from ordito.cli.retrying import retry
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

HELP = """Do what a job that failed or was cancelled has left undone, as a new job.

JOB is its id or the beginning of it; without it, the latest deployment, removal, scaling or workflow of the template is
meant. The service and the inputs are those that it had. Other jobs (heal, stop, start, restart, run) do not continue
where they stopped: give their command again."""


@verb("retry", HELP, named="jobs retry")
@click.argument("job", required=False)
@data_loss_option
@making_options
def command(
    session: Session, job: str | None, may_lose: tuple[str, ...], options: JobOptions, wait_lock: float
) -> ExitCode:
    """Retry."""
    from ordito.app.proposals.retry import RetryAsked

    return retry(session, RetryAsked(job or "", may_lose=may_lose), options, wait_lock)
