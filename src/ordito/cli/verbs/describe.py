"""`ordito describe`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Show all that is known of a node or of an instance.

That is its properties and attributes, what its status comes from, what was done to it, and what can be done next.

An instance is named by its id (web_1), a node by its name (web); node:NAME and instance:ID say which is meant."""


@verb("describe", HELP)
@click.argument("name", metavar="NODE|INSTANCE")
def command(session: Session, name: str) -> ExitCode:
    """Describe."""
    from ordito.app.describe import DescribeRequest, describe
    from ordito.cli.description_view import description_data, write_description

    found = describe(DescribeRequest(session.settings.directory, name))
    session.result(description_data(found), lambda channel: write_description(found, channel))
    session.next(*(NextCommand(session.settings.command(*step.words), step.purpose) for step in found.next))
    return ExitCode.DONE
