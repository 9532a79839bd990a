"""`ordito secrets list`."""

from __future__ import annotations

from ordito.app.secrets import list_secrets
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """List the names of the secrets that this ensemble keeps. Their values are not shown, and no key is needed."""


@verb("list", HELP, named="secrets list")
def command(session: Session) -> ExitCode:
    """List secrets."""
    names = list_secrets(session.settings.directory)

    def text(channel: Channel) -> None:
        for name in names:
            channel.line(name)

    session.result({"secrets": names}, text)
    if not names and session.writes_text:
        session.note("no secrets are kept here")
        session.next(NextCommand(session.settings.command("secrets", "set", "NAME"), "keep one"))
    return ExitCode.DONE
