"""`ordito state mv`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import commit_option, wait_lock_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Follow a node that the template calls otherwise now: OLD is the name that is recorded, NEW the one in the
template.

The instances keep their numbers, and nothing is run. What was carried out counts as carried out under the new name
exactly as far as nothing but the name has changed; else this is refused, as deploying would be."""


@verb("mv", HELP, named="state mv")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@wait_lock_option
@commit_option("auto")
def command(session: Session, old: str, new: str, wait_lock: float, commit: str) -> ExitCode:
    """Move a node."""
    from ordito.app.state.move import MoveRequest, move
    from ordito.cli.conversation import CliConversation
    from ordito.cli.kept_view import recorded_data, write_kept

    request = MoveRequest(session.settings.directory, old, new, wait_lock, commit)
    done = move(request, CliConversation(session))
    for before, now in done.instances.items():
        session.note(f"{before} is {now}")
    session.note(f"Recorded as job {done.recorded.job}.")
    write_kept(done.recorded.kept, session)
    session.result({**recorded_data(done.recorded), "instances": done.instances}, lambda _: None)
    return ExitCode.DONE
