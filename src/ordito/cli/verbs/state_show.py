"""`ordito state show`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.settings import Format
from ordito.cli.structured import write_data
from ordito.cli.verb import verb

HELP = """Show what is recorded of instances, deleted ones included: of those named, by their ids or their nodes, or of
all. `status` and `describe` say what it means."""


@verb("show", HELP, named="state show")
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
def command(session: Session, names: tuple[str, ...]) -> ExitCode:
    """Show records."""
    from ordito.app.state.show import StateRequest, show

    found = show(StateRequest(session.settings.directory, names))
    if not found:
        session.note("Nothing is recorded.")
    session.result({"instances": found}, lambda channel: write_data(found, Format.YAML, channel) if found else None)
    return ExitCode.DONE
