"""`ordito policy` and `ordito notify`: policies, their triggers, and the events that these wait for."""

from __future__ import annotations

import click

from ordito.app.requests import GivenInputs
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import POLICY_VERBS, VerbGroup
from ordito.cli.request_options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.options import JobOptions

policy_command = VerbGroup("policy", POLICY_VERBS, {}, "Show policies, and what their triggers make of events.")


@verb("list", named="policy list")
def list_command(session: Session) -> ExitCode:
    """List the policies of the deployed service, with what their triggers wait for and what they made of the last
    event.

    A trigger acts if the event is about a target of its policy, its condition has held as often as required, and its
    schedule has begun and not ended."""
    from ordito.cli.policy_view import say_what_waits, write_list
    from ordito.results.policies import POLICIES, PoliciesAsked

    found = session.ask(POLICIES, PoliciesAsked())
    session.show(found, write_list)
    say_what_waits(found, session)
    return ExitCode.DONE


@verb("show", named="policy show")
@click.argument("name", metavar="POLICY")
def show_command(session: Session, name: str) -> ExitCode:
    """Show a policy: its targets, what its triggers wait for, and what they made of the last events.

    Notices that still wait to be handled are shown too. `ordito notify` reports an event by hand."""
    from ordito.cli.policy_view import say_what_waits, write_policy
    from ordito.results.policies import POLICIES, PoliciesAsked

    found = session.ask(POLICIES, PoliciesAsked(name))
    session.show(found, write_policy)
    say_what_waits(found, session)
    return ExitCode.DONE


@verb("notify", takes_inputs=True)
@click.argument("about", metavar="ABOUT")
@click.argument("event", metavar="NOTIFICATION")
@job_options()
def notify_command(
    session: Session, about: str, event: str, inputs: GivenInputs, options: JobOptions, wait_lock: float
) -> ExitCode:
    """Report that something has happened to an instance: one of its notifications, or an event that a trigger awaits.

    The outputs of a notification, given with -i NAME=VALUE, are written to the attributes that they are mapped to. Then
    the triggers of policies that wait for it act. While another command works on the ensemble, the notice is kept and
    is handled when that command ends.

    ABOUT is an instance (web_1), a node with only one instance, or a relationship (app_1.database.db_1); NOTIFICATION
    is written Interface.notification, or as its name alone if one interface has it."""
    if options.on_failure == "rollback":
        raise click.UsageError("what a trigger does cannot be rolled back: use --on-failure abort, or continue")
    if session.settings.wanted_server:
        from ordito.cli.remote_notices import notify_there

        return notify_there(session, about, event, inputs, options, wait_lock)
    from ordito.app.notices.notify import NotifyRequest, notify
    from ordito.cli.handling_view import CliOnlooker, notified, say_kept
    from ordito.results.policies import notify_data

    request = NotifyRequest(session.settings.directory, about, event, inputs, options, wait_lock)
    result = notify(request, CliOnlooker(session))
    if not result.is_handled:
        say_kept(result.handling.holder, result.handling.interrupted, session)
    found = notify_data(result)
    session.show(found)
    return notified(found)
