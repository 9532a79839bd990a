"""`ordito state renew`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import wait_lock_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Put back files that were deployed and changed since: from the service, from what else was deployed, or from
the history of the ensemble in git. Nothing is run.

The ensemble keeps a copy of each service that it has deployed, from which operations run. Where a file of it is not
what it was, commands refuse to work by it; undeploy and --force go on with the files as they are."""


@verb("renew", HELP, named="state renew")
@click.option("--as-they-are", is_flag=True, help="Change nothing, and go on with the files as they are from now on.")
@wait_lock_option
def command(session: Session, wait_lock: float, *, as_they_are: bool) -> ExitCode:
    """Renew."""
    from ordito.app.state.renew import RenewRequest, renew

    done = renew(RenewRequest(session.settings.directory, as_they_are, wait_lock))
    for word, files in (("put back", done.renewed), ("taken as it is", done.accepted)):
        for file in files:
            session.note(f"{word}: {file}")
    if not (done.renewed or done.accepted):
        session.note("Nothing to do: all files that were deployed are what they were.")
    session.result({"renewed": list(done.renewed), "accepted": list(done.accepted)}, lambda _: None)
    return ExitCode.DONE
