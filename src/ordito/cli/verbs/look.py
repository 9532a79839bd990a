"""The verbs that show what exists: `ordito status`, `describe`, `output` and `revisions`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from ordito.cli.channel import Channel, write_columns
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_view import as_text, write_outputs
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.text_width import printable, shorten
from ordito.cli.verb import verb
from ordito.work.workflows import workflow_of

if TYPE_CHECKING:
    from ordito.app.output import OutputResult
    from ordito.app.revisions import IncompleteRevision, RevisionLine
    from ordito.app.status import StatusRequest
    from ordito.results.status import RevisionsData, StatusData


@verb("status")
@click.option("--all", "show_all", is_flag=True, help="Show deleted instances too.")
@click.option("--watch", is_flag=True, help="Show it again whenever something changes, until Ctrl-C.")
@click.option(
    "--detailed-exitcode",
    is_flag=True,
    help="Exit with 2 if an instance is not ok, or if something that was begun is not complete.",
)
def status_command(session: Session, *, show_all: bool, watch: bool, detailed_exitcode: bool) -> ExitCode:
    """Show what exists, below what hosts it: the state and the status of each instance.

    Instances of a node that are alike share one row; with -v each has its own. This works while a job runs, and shows
    the job."""
    if watch and detailed_exitcode:
        raise click.UsageError("--watch never ends by itself, so --detailed-exitcode cannot go with it")
    from ordito.app.job.jobs import INTERRUPTED
    from ordito.app.status import StatusRequest
    from ordito.cli.status_view import write_status
    from ordito.results.status import STATUS, StatusAsked

    fold = not session.settings.verbose
    if watch:
        return _watch(StatusRequest(session.settings.directory, show_all), session, fold=fold)
    found = session.ask(STATUS, StatusAsked(show_all))
    if found.caveat:
        session.warn(f"statuses do not include what the instances depend on: {found.caveat}")
    if found.damage:
        shown = "; this view comes from the journal" if found.job is not None else ""
        session.warn(f"{found.damage.message}{shown} ({found.damage.hint})")
    session.show(found, partial(write_status, fold=fold))
    if found.job is not None and found.job.outcome == INTERRUPTED:
        mended = ", once ensemble.yaml is repaired" if found.damage and found.damage.blocks else ""
        session.next(NextCommand(session.settings.command("jobs", "resume"), f"continue it where it stopped{mended}"))
    elif found.job is None and found.attempt is not None:
        session.next(*_after(found.attempt, session))
    elif found.half_removed:
        command = session.settings.command
        rest = NextCommand(command("undeploy"), "remove the rest, with the scripts as deployed last")
        session.next(rest, NextCommand(command("deploy"), "create again what was removed"))
    elif unwell := _cause(found):
        session.next(
            NextCommand(session.settings.command("describe", unwell), "see why, and what can be done about it")
        )
    elif found.waiting_notices:
        session.next(NextCommand(session.settings.command("policy", "list"), "see which notices wait"))
    return ExitCode.CHANGES if detailed_exitcode and not found.is_well else ExitCode.DONE


def _after(attempt: IncompleteRevision, session: Session) -> list[NextCommand]:
    """The commands that complete or undo an incomplete attempt."""
    command = session.settings.command
    if not attempt.complete:
        rest = NextCommand(command("deploy"), "do what is left of it")
        return [rest, NextCommand(command("undeploy"), "remove what was begun")]
    again = attempt.workflow if workflow_of(attempt.workflow).forms else "upgrade"
    back = [NextCommand(command("rollback"), f"go back to revision {attempt.back}")] if attempt.back else []
    return back if again == "rollback" and back else [NextCommand(command(again), "do what is left of it"), *back]


def _cause(found: StatusData) -> str:
    """The instance to look at first if not all are ok: one that is not ok itself, preferably one that is not optional.
    What was removed on purpose counts as ok."""
    own = [(one.optional, name) for name, one in found.instances.items() if one.counts and one.local not in FINE]
    return min(own, key=lambda one: one[0])[1] if own else ""


FINE = frozenset({"ok", "degraded", "pending"})
"""The statuses of instances that work, and of those that were stopped on purpose."""


def _watch(request: StatusRequest, session: Session, *, fold: bool) -> ExitCode:
    from ordito.app.watch import watch
    from ordito.cli.status_view import follow
    from ordito.results.status import StatusAsked, status_data

    try:
        if session.settings.wanted_server:
            from ordito.cli.remote import ensemble_of
            from ordito.client.looks import watch as watch_there

            follow(watch_there(ensemble_of(session.settings), StatusAsked(request.all)), session, fold=fold)
        else:
            follow(map(status_data, watch(request)), session, fold=fold)
    except KeyboardInterrupt:
        # It is the usual end of watching, not an interruption of anything.
        if session.out.is_animated:
            session.out.line()
    return ExitCode.DONE


@verb("describe")
@click.argument("name", metavar="NODE|INSTANCE")
def describe_command(session: Session, name: str) -> ExitCode:
    """Show all that is known about a node or an instance.

    These are its properties and attributes, the reasons for its status, what was done to it, and what can be done next.

    An instance is named by its id (web_1), a node by its name (web); node:NAME and instance:ID say which is meant."""
    from ordito.cli.description_view import write_description
    from ordito.results.description import DESCRIBE, DescribeAsked

    found = session.ask(DESCRIBE, DescribeAsked(name))
    session.show(found, write_description)
    proposed = zip(found.next, found.purposes, strict=True)
    session.next(*(NextCommand(session.settings.command(*words.split()), purpose) for words, purpose in proposed))
    return ExitCode.DONE


@verb("output")
@click.argument("name", required=False)
@click.option("--reveal", is_flag=True, help="Show the value of NAME even if it is sensitive.")
def output_command(session: Session, name: str | None, reveal: bool) -> ExitCode:
    """Show the current outputs of the service.

    With NAME, show only its bare value, so that a script can use it. Sensitive values are not shown, unless you ask for
    one output with --reveal."""
    from ordito.results.given import OUTPUTS, OutputAsked

    if reveal and not name:
        raise click.UsageError("--reveal shows one output: name it")
    result = _revealed(session, str(name)) if reveal else session.ask(OUTPUTS, OutputAsked(name or ""))
    found = result.outputs
    if result.caveat:
        session.warn(f"these are the outputs after the last job: {result.caveat}")

    def text(channel: Channel) -> None:
        if name:
            channel.line(as_text(found[name]))
        else:
            write_outputs(found, channel)

    session.result(dict(found), text, bare=True)
    return ExitCode.DONE


def _revealed(session: Session, name: str) -> OutputResult:
    """An output with its sensitive value. Raises ``Refused`` where a server is named."""
    from ordito.app.errors import Refused
    from ordito.app.output import OutputRequest, output

    if session.settings.wanted_server:
        message = "--reveal needs the ensemble's key, which is on the server's machine alone"
        raise Refused("local-only", message, "call it there, in the directory of the ensemble")
    return output(OutputRequest(session.settings.directory, name, reveal=True))


WIDEST_INPUTS = 60
SHORT = 12


@verb("revisions")
def revisions_command(session: Session) -> ExitCode:
    """List the revisions of the ensemble, the newest first.

    Each completed deployment, upgrade, removal or rollback made one. The ensemble keeps what it deployed, its files and
    its inputs, so that `ordito rollback REVISION` can go back to it."""
    from ordito.results.answer import Asked
    from ordito.results.status import REVISIONS

    found = session.ask(REVISIONS, Asked())
    session.show(found, _write_revisions)
    if found.is_partial:
        what = f"job {found.partial}" if found.partial else "a job"
        session.warn(f"{what} was begun after the current revision, and did not complete")
        if found.back:
            session.next(NextCommand(session.settings.command("rollback"), f"go back to revision {found.back}"))
    return ExitCode.DONE


def _write_revisions(found: RevisionsData, channel: Channel) -> None:
    rows = [_row(line, channel) for line in found.revisions]
    write_columns(("", "REVISION", "JOB", "WORKFLOW", "ENDED", "SERVICE", "INPUTS CHANGED"), rows, channel)


def _row(line: RevisionLine, channel: Channel) -> tuple[str, ...]:
    inputs = ", ".join(f"{name}={as_text(value)}" for name, value in line.inputs.items())
    return (
        "*" if line.is_current else "",
        str(line.revision),
        line.job,
        line.workflow,
        line.ended,
        "-" if line.was_removed else line.service[:SHORT],
        shorten(printable(inputs), WIDEST_INPUTS, channel.symbols.ellipsis),
    )
