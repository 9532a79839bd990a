"""`ordito secrets rm`."""

from __future__ import annotations

import click

from ordito.app.secrets import remove_secrets
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Forget secrets: all that are named, or none if one of them is not there.

What was deployed with them keeps them until it is deployed anew."""


@verb("rm", HELP, named="secrets rm")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """Forget secrets."""
    remove_secrets(session.settings.directory, names)
    session.note(f"forgotten: {', '.join(names)}")
    session.result({"removed": list(names)}, lambda _: None)
    return ExitCode.DONE
