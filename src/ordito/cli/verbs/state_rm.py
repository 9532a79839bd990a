"""`ordito state rm`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.cli.verbs.forget import report

HELP = """Take the records of instances away, whether they exist or not. Nothing is run: what was made of them stays,
and is named. Their numbers are not used again."""


@verb("rm", HELP, named="state rm")
@click.argument("names", nargs=-1, required=True, metavar="INSTANCE|NODE...")
@wait_lock_option
@commit_option("auto")
def command(session: Session, names: tuple[str, ...], wait_lock: float, commit: str) -> ExitCode:
    """Remove records."""
    from ordito.app.state.forget import ForgetRequest, forget
    from ordito.cli.conversation import CliConversation

    request = ForgetRequest(session.settings.directory, names, existing=True, wait_lock=wait_lock, commit=commit)
    return report(session, forget(request, CliConversation(session)))
