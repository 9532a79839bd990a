"""`ordito policy` and `ordito notify`: policies, their triggers, and the events that these wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.app.requests import GivenInputs
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import POLICY_VERBS, VerbGroup
from ordito.cli.request_options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.options import JobOptions

if TYPE_CHECKING:
    from ordito.app.notices.notify import NotifyResult


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
    from ordito.app.notices.notify import NotifyRequest, notify
    from ordito.cli.handling_view import CliOnlooker
    from ordito.results.policies import notify_data

    request = NotifyRequest(session.settings.directory, about, event, inputs, options, wait_lock)
    result = notify(request, CliOnlooker(session))
    _say_waiting(result, session)
    session.show(notify_data(result))
    return _code(result)


def _say_waiting(result: NotifyResult, session: Session) -> None:
    """Say what a notice that is not handled waits for; a cancellation is reported afterwards."""
    from ordito.cli.progress.report import NextCommand

    handling = result.handling
    if result.is_handled:
        return
    if handling.holder:
        session.note(f"Kept: it is handled when the command that is running now has ended ({handling.holder}).")
    elif handling.interrupted:
        session.warn(f"kept: it waits for job {handling.interrupted}, which was interrupted")
        session.next(NextCommand(session.settings.command("jobs", "resume"), "continue that job, then handle this"))


def _code(result: NotifyResult) -> ExitCode:
    handling = result.handling
    if any(report.status == "cancelled" for report in handling.reports):
        return ExitCode.INTERRUPTED
    if handling.has_failed:
        return ExitCode.JOB_FAILED
    return ExitCode.REFUSED if handling.refused or result.dropped else ExitCode.DONE
