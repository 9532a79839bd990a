"""`ordito secrets get`."""

from __future__ import annotations

import sys

import click

from ordito.app.secrets import get_secret
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """Show the secret NAME: its value and nothing else, so that a script can use it.

The key of the ensemble is needed for that: .ordito/key, or the file that the variable ORDITO_KEY_FILE names."""


@verb("get", HELP, named="secrets get")
@click.argument("name")
def command(session: Session, name: str) -> ExitCode:
    """Show a secret."""
    value = get_secret(session.settings.directory, name)

    def text(channel: Channel) -> None:
        if sys.stdout.isatty():
            channel.line(printable(value))
        else:
            channel.write(f"{value}\n")

    session.result({"name": name, "value": value}, text)
    return ExitCode.DONE
