"""`ordito notify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ordito.app.given_inputs import GivenInputs
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import job_options
from ordito.cli.session import Session
from ordito.cli.verb import verb
from ordito.work.records import JobOptions

if TYPE_CHECKING:
    from ordito.app.notify import NotifyResult

HELP = """Tell that something has happened to an instance: one of its notifications, or an event that a trigger awaits.

What a notification gives, with -i NAME=VALUE, is written to the attributes that its outputs are mapped to. Then the
triggers of policies that wait for it act. While another command works on the ensemble the notice waits, is not lost,
and is handled when that ends.

ABOUT is an instance (web_1), a node that has one only, or a pair (app_1.database.db_1); NOTIFICATION is written
Interface.notification, or by its name alone where one interface has it."""


@verb("notify", HELP, takes_inputs=True)
@click.argument("about", metavar="ABOUT")
@click.argument("event", metavar="NOTIFICATION")
@job_options
def command(
    session: Session, about: str, event: str, inputs: GivenInputs, options: JobOptions, wait_lock: float
) -> ExitCode:
    """Notify."""
    if options.on_failure == "rollback":
        raise click.UsageError("what a trigger does cannot be taken back: use --on-failure abort, or continue")
    from ordito.app.notify import NotifyRequest, notify
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
