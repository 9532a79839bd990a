"""`ordito jobs unlock`."""

from __future__ import annotations

import sys

import click

from ordito.app.errors import Declined, NobodyToAsk
from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Take away the lock that the clones of an ensemble share, from one that was killed and does not come back.

Shows who holds it, and asks. A job that was cut off in another clone is not lost: it is to be resumed there."""


@verb("unlock", HELP, named="jobs unlock")
@click.option("--remote", is_flag=True, help="The lock in the repository that the clones share (`lock: git`).")
def command(session: Session, remote: bool) -> ExitCode:
    """Unlock."""
    from ordito.app.unlock import held_lock, take_away

    if not remote:
        raise click.UsageError(
            "say --remote: a lock of this directory ends with its process, only one that clones share can stay behind"
        )
    held = held_lock(session.settings.directory)
    if held is None:
        session.note("Nothing to unlock: nobody holds the lock.")
        session.result({"unlocked": False, "owner": None}, lambda _: None)
        return ExitCode.DONE
    owner = held.lease.owner
    session.err.line(f"{held.meeting.remote} is locked by {owner}")
    if owner.job:
        session.warn(f"job {owner.job} may be unfinished: resume it in {owner.place} on {owner.machine}")
    if not session.settings.yes:
        if not session.can_ask:
            raise NobodyToAsk("unlock")
        session.err.write("Take the lock away? [yes/no] ")
        if sys.stdin.readline().strip().lower() not in {"yes", "y"}:
            raise Declined
    take_away(held)
    session.note("The lock is taken away.")
    data = {"user": owner.user, "machine": owner.machine, "pid": owner.pid, "job": owner.job, "place": owner.place}
    session.result({"unlocked": True, "owner": data}, lambda _: None)
    return ExitCode.DONE
