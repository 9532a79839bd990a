"""`ordito policy show`."""

from __future__ import annotations

import click

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """Show a policy: what it is about, what its triggers wait for, and what they made of the last events.

Notices that still wait to be handled are shown too. `ordito notify` tells of an event by hand."""


@verb("show", HELP, named="policy show")
@click.argument("name", metavar="POLICY")
def command(session: Session, name: str) -> ExitCode:
    """Show."""
    from ordito.app.policies import PoliciesRequest, policies
    from ordito.cli.policy_view import policies_data, say_what_waits, write_policy

    found = policies(PoliciesRequest(session.settings.directory, name))
    session.result(policies_data(found), lambda channel: write_policy(found.policies[0], channel))
    say_what_waits(found, session)
    return ExitCode.DONE
