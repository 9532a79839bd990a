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


policy_command = VerbGroup("policy", POLICY_VERBS, {}, "Look at policies, and at what their triggers make of events.")


@verb("list", named="policy list")
def list_command(session: Session) -> ExitCode:
    """List the policies of what is deployed, with what their triggers wait for and made of the last event.

    A trigger acts where the event is about one of the policy's targets, its condition holds as often as it asks for,
    and its schedule has begun and not ended."""
    from ordito.app.policies import PoliciesRequest, policies
    from ordito.cli.policy_view import policies_data, say_what_waits, write_list

    found = policies(PoliciesRequest(session.settings.directory))
    session.result(policies_data(found), lambda channel: write_list(found, channel))
    say_what_waits(found, session)
    return ExitCode.DONE


@verb("show", named="policy show")
@click.argument("name", metavar="POLICY")
def show_command(session: Session, name: str) -> ExitCode:
    """Show a policy: what it is about, what its triggers wait for, and what they made of the last events.

    Notices that still wait to be handled are shown too. `ordito notify` tells of an event by hand."""
    from ordito.app.policies import PoliciesRequest, policies
    from ordito.cli.policy_view import policies_data, say_what_waits, write_policy

    found = policies(PoliciesRequest(session.settings.directory, name))
    session.result(policies_data(found), lambda channel: write_policy(found.policies[0], channel))
    say_what_waits(found, session)
    return ExitCode.DONE


@verb("notify", takes_inputs=True)
@click.argument("about", metavar="ABOUT")
@click.argument("event", metavar="NOTIFICATION")
@job_options()
def notify_command(
    session: Session, about: str, event: str, inputs: GivenInputs, options: JobOptions, wait_lock: float
) -> ExitCode:
    """Tell that something has happened to an instance: one of its notifications, or an event that a trigger awaits.

    What a notification gives, with -i NAME=VALUE, is written to the attributes that its outputs are mapped to. Then
    the triggers of policies that wait for it act. While another command works on the ensemble the notice waits, is
    not lost, and is handled when that ends.

    ABOUT is an instance (web_1), a node that has one only, or a pair (app_1.database.db_1); NOTIFICATION is written
    Interface.notification, or by its name alone where one interface has it."""
    if options.on_failure == "rollback":
        raise click.UsageError("what a trigger does cannot be rolled back: use --on-failure abort, or continue")
    from ordito.app.notices.notify import NotifyRequest, notify
    from ordito.cli.handling_view import CliOnlooker

    request = NotifyRequest(session.settings.directory, about, event, inputs, options, wait_lock)
    result = notify(request, CliOnlooker(session))
    _say_waiting(result, session)
    session.result(_data(result), lambda _: None)
    return _code(result)


def _say_waiting(result: NotifyResult, session: Session) -> None:
    """Say of a notice that is not handled whom it waits for; where somebody has cancelled, that is said afterwards."""
    from ordito.cli.progress.report import NextCommand

    handling = result.handling
    if result.is_handled:
        return
    if handling.holder:
        session.note(f"Kept: it is handled when the command ends that works on the ensemble now ({handling.holder}).")
    elif handling.interrupted:
        session.warn(f"kept: it waits for job {handling.interrupted}, which was interrupted")
        session.next(NextCommand(session.settings.command("jobs", "resume"), "continue that job, then handle this"))


def _data(result: NotifyResult) -> dict[str, object]:
    from ordito.cli.handling_view import entry_data
    from ordito.cli.job_view import report_data

    handling = result.handling
    return {
        "format": "ordito.notify/1",
        **(entry_data(result.entry) if result.entry is not None else {"number": result.number}),
        "handled": result.is_handled,
        "waiting": handling.waiting,
        "jobs": [report_data(report) for report in handling.reports],
        "refused": handling.refused,
    }


def _code(result: NotifyResult) -> ExitCode:
    handling = result.handling
    if any(report.status == "cancelled" for report in handling.reports):
        return ExitCode.INTERRUPTED
    if handling.has_failed:
        return ExitCode.JOB_FAILED
    return ExitCode.REFUSED if handling.refused or result.dropped else ExitCode.DONE
