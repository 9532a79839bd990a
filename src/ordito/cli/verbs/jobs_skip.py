"""`ordito jobs skip`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import making_options
from ordito.cli.retrying import retry
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

HELP = """Do what a job that failed or was cancelled has left undone, with one of its steps counted as done by hand.

JOB is its id or the beginning of it, STEP the id of the step, as in web_1.Standard.create. The record says that the
step was skipped by hand, and later deployments do not run it again."""


@verb("skip", HELP)
@click.argument("job")
@click.argument("step")
@making_options
def command(session: Session, job: str, step: str, options: JobOptions, wait_lock: float) -> ExitCode:
    """Skip."""
    return retry(session, job, step, options, wait_lock)
