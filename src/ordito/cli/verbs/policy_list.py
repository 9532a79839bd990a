"""`ordito policy list`."""

from __future__ import annotations

from ordito.cli.exit_codes import ExitCode
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """List the policies of what is deployed, with what their triggers wait for and made of the last event.

A trigger acts where the event is about one of the policy's targets, its condition holds as often as it asks for, and
its schedule has begun and not ended."""


@verb("list", HELP, named="policy list")
def command(session: Session) -> ExitCode:
    """List."""
    from ordito.app.policies import PoliciesRequest, policies
    from ordito.cli.policy_view import policies_data, say_what_waits, write_list

    found = policies(PoliciesRequest(session.settings.directory))
    session.result(policies_data(found), lambda channel: write_list(found, channel))
    say_what_waits(found, session)
    return ExitCode.DONE
