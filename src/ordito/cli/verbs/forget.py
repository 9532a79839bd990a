"""`ordito forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.state.forget import Forgotten

HELP = """Drop the records of deleted instances: of those named, or of all. Their numbers are not used again.

With --force instances that exist are forgotten too. Nothing is run: what was made of them stays, and is named."""


@verb("forget", HELP)
@click.argument("names", nargs=-1, metavar="[INSTANCE|NODE]...")
@click.option("--force", is_flag=True, help="Also instances that exist; they have to be named.")
@wait_lock_option
@commit_option("auto")
def command(session: Session, names: tuple[str, ...], wait_lock: float, commit: str, *, force: bool) -> ExitCode:
    """Forget."""
    from ordito.app.state.forget import ForgetRequest, forget
    from ordito.cli.conversation import CliConversation

    request = ForgetRequest(session.settings.directory, names, force, wait_lock, commit)
    return report(session, forget(request, CliConversation(session)))


def report(session: Session, done: Forgotten) -> ExitCode:
    """Say what was forgotten, and what may remain."""
    from ordito.cli.kept_view import recorded_data, write_kept

    if done.recorded is None:
        session.note("Nothing to forget: no instance was deleted.")
    else:
        count = len(done.instances)
        session.note(f"Forgot {count} instance{'' if count == 1 else 's'}; recorded as job {done.recorded.job}.")
        write_kept(done.recorded.kept, session)
    if done.remains:
        session.warn("this may still be there, and nobody knows of it any more:")
        for line in done.remains:
            session.note(f"  {line}")
    told = recorded_data(done.recorded) if done.recorded is not None else {"job": None}
    data = {**told, "forgotten": list(done.instances), "remains": list(done.remains)}
    session.result(data, lambda _: None)
    return ExitCode.DONE
