"""Expected errors, and how they are shown: what, where, and a command that helps."""

from __future__ import annotations

from ordito.app.errors import Declined, JobUnfinished, NobodyToAsk, Refused
from ordito.base.diagnostics import InvalidDocument
from ordito.cli.diagnostics import as_json
from ordito.cli.exit_codes import ExitCode
from ordito.cli.places import AT_SERVER, LOCAL_ONLY, TO_WORKERS
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.cli.settings import GlobalSettings
from ordito.client.errors import AT_THE_DOOR, ServerError
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.owner import Locked
from ordito.planning.refused import PlanRefused
from ordito.results.failure import EXPECTED as FAILURES
from ordito.results.failure import INTERRUPTING, NextStep, failure_of
from ordito.results.findings import diagnostic_of

EXPECTED: tuple[type[Exception], ...] = (*FAILURES, Declined, ServerError)
"""The errors that are no fault of this program."""

EXIT_CODES = {NobodyToAsk: ExitCode.USAGE, Locked: ExitCode.BUSY, JobUnfinished: ExitCode.BUSY}
"""The exit codes of errors by their kinds; that of all others is ``REFUSED``."""

CODES_OF_SERVER = {
    "needs-answer": ExitCode.USAGE,
    **dict.fromkeys(("locked", "unfinished-job"), ExitCode.BUSY),
    **dict.fromkeys(AT_THE_DOOR, ExitCode.NO_SERVER),
}
"""The same for what a server says, by its code."""


def check_place(settings: GlobalSettings, verb: str) -> None:
    """Refuse a verb that cannot work at the server that is named. Raises ``Refused``."""
    if settings.wants_store and settings.server:
        raise Refused("two-places", "an ensemble is at a server, or in a store", "give --server or --store, not both")
    if not settings.wanted_server or settings.wants_store:
        if settings.wait_approval or (settings.detach and not (settings.wants_store and verb in TO_WORKERS)):
            hint = "leave --detach and --wait-approval out, or give --server URL"
            raise Refused("needs-server", "only a server can go on without the command", hint)
        return
    if verb in LOCAL_ONLY:
        hint = 'call it there, in the directory of the ensemble; --server "" is for an ensemble of this machine'
        raise Refused("local-only", f"{verb} is not for servers: {LOCAL_ONLY[verb]}", hint)
    if verb in AT_SERVER and settings.hosts is not None:
        message = "--hosts names a file of this machine, and the ensemble is on the server's"
        raise Refused("local-only", message, "leave it out: the inventory of the ensemble is used")


def present(error: Exception, session: Session) -> ExitCode:
    """Explain one of ``EXPECTED``, and return its exit code."""
    if isinstance(error, Declined):
        session.note("Nothing was changed.")
        return ExitCode.INTERRUPTED
    if isinstance(error, ServerError):
        return _present_server(error, session)
    if isinstance(error, Refused | PlanRefused):
        session.public_inputs |= error.public_inputs
    failure = failure_of(error)
    if isinstance(error, InvalidDocument | PlanRefused):
        _show_findings(error, failure.code, failure.message, session)
    else:
        session.fail(failure.code, failure.message, failure.hint)
    # An error from outside may have interrupted this command's job. Another job that waits to be resumed is no failure
    # of this command.
    if failure.code in INTERRUPTING and session.job_began and _offer_resume(session):
        return ExitCode.JOB_FAILED
    session.next(*(_command(step, session) for step in failure.next))
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), ExitCode.REFUSED)


def _present_server(error: ServerError, session: Session) -> ExitCode:
    """What the server says, as it would be said here."""
    failure, found = error.failure, [diagnostic_of(one) for one in error.diagnostics]
    if found:
        session.diagnostics(found)
        session.fail_for_programs(failure.code, failure.message, "", as_json(session.completed(found)))
    else:
        session.fail(failure.code, failure.message, failure.hint)
    session.next(*(_command(step, session) for step in failure.next))
    return CODES_OF_SERVER.get(failure.code, ExitCode.REFUSED)


def _command(step: NextStep, session: Session) -> NextCommand:
    if not step.words:
        return NextCommand(session.again(*step.more, meant=step.meant), step.purpose)
    if step.words[0] == "explain":
        return NextCommand(session.settings.plain_command(*step.words), step.purpose)
    return NextCommand(session.settings.command(*step.words), step.purpose)


def _show_findings(error: InvalidDocument | PlanRefused, code: str, message: str, session: Session) -> None:
    more = {} if isinstance(error, InvalidDocument) else _show_refused(error, session)
    session.diagnostics(error.diagnostics)
    session.fail_for_programs(code, message, "", as_json(session.completed(error.diagnostics)), **more)


def _show_refused(error: PlanRefused, session: Session) -> dict[str, object]:
    """Show what a refused plan would change, if known, so that all of it is seen at once. Returns it for programs."""
    if not error.changes:
        return {}
    from ordito.results.plan import changes_data

    data = changes_data(error.changes)
    if session.stream is not None:
        for change in data:
            session.stream.say("plan.change", change)
    else:
        from ordito.cli.plan_view import write_changes

        write_changes(error.changes, session.err)
    return {"changes": data}


def interrupted(session: Session) -> ExitCode:
    """Say that the user interrupted the command, and how its job can be continued."""
    session.fail("interrupted", "interrupted by the user")
    _offer_resume(session)
    return ExitCode.INTERRUPTED


def _offer_resume(session: Session) -> bool:
    """Name the command that continues an interrupted job, if there is one. What a server runs goes on there."""
    if session.settings.wanted_server:
        return False
    from ordito.app.job.jobs import open_job
    from ordito.app.place import place_of

    try:
        job = open_job(place_of(session.settings.directory))
    except (EnsembleError, OSError):
        # What keeps us from looking may be what has stopped the job.
        found, named = session.job_began, "the job"
    else:
        found, named = job is not None and not job.holder, f"job {job.job}" if job is not None else ""
    if found:
        session.next(NextCommand(session.settings.command("jobs", "resume"), f"continue {named} where it stopped"))
    return found
