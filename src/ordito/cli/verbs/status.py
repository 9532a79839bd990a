"""`ordito status`."""

from __future__ import annotations

import click

from ordito.app.jobs import INTERRUPTED
from ordito.app.status import StatusRequest, status
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.status_view import status_data, write_status
from ordito.cli.verb import verb

HELP = """Show what exists, below what hosts it: the state and the status of each instance.

Works while a job runs, and shows it."""


@verb("status", HELP)
@click.option("--all", "show_all", is_flag=True, help="Show deleted instances too.")
def command(session: Session, show_all: bool) -> ExitCode:
    """Show the status."""
    found = status(StatusRequest(session.settings.directory, show_all))
    if found.caveat:
        session.warn(f"statuses are those of the instances alone, without what they depend on: {found.caveat}")
    session.result(status_data(found), lambda channel: write_status(found, channel))
    if found.job is not None and found.job.outcome == INTERRUPTED:
        session.next(NextCommand(session.settings.command("jobs", "resume"), "continue it where it stopped"))
    return ExitCode.DONE
