"""Expected errors, and how they are explained: what, where, and a command that helps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ordito.app.errors import Declined, JobUnfinished, NobodyToAsk, Refused
from ordito.base.diagnostics import InvalidDocument, Severity
from ordito.base.text import listed
from ordito.cli.diagnostics import as_json, total
from ordito.cli.exit_codes import ExitCode
from ordito.cli.progress.report import NextCommand
from ordito.cli.session import Session
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.owner import Locked
from ordito.planning.refused import PlanRefused


def _invalid(error: InvalidDocument | PlanRefused, session: Session) -> ExitCode:
    more = {} if isinstance(error, InvalidDocument) else _show_refused(error, session)
    session.diagnostics(error.diagnostics)
    said, found = f"nothing was done: {total(error.diagnostics)}", as_json(session.completed(error.diagnostics))
    session.fail_for_programs(
        "invalid" if isinstance(error, InvalidDocument) else "plan-refused", said, "", found, **more
    )
    if any(found.code in NEEDS_UNDEPLOY for found in error.diagnostics):
        purpose = "remove what runs, with the files that were deployed; then deploy again"
        session.next(NextCommand(session.settings.command("undeploy"), purpose))
    elif isinstance(error, PlanRefused) and (error.more_words or error.is_of_deployed):
        ways = []
        if error.more_words:
            ways.append(NextCommand(session.again(*error.more_words), error.purpose))
        if error.is_of_deployed:
            purpose = "once the template permits it: upgrade to that, then scale again"
            ways.append(NextCommand(session.settings.command("upgrade"), purpose))
        session.next(*ways, *_explanation(error, session))
    else:
        session.next(
            NextCommand(session.again(meant=_meant(error)), "once that is corrected; nothing was done"),
            *_explanation(error, session),
        )
    return ExitCode.REFUSED


def _meant(error: InvalidDocument | PlanRefused) -> Mapping[str, str]:
    """The unknown inputs of the command line, with the nearest names that exist."""
    unknown = [d for d in error.diagnostics if d.code == "unknown-input"]
    found = ((UNKNOWN.search(d.message), MEANT.match(d.hint)) for d in unknown)
    return {name[1]: meant[1] for name, meant in found if name is not None and meant is not None}


UNKNOWN, MEANT = re.compile('has no input "([^"]+)"$'), re.compile('did you mean "([^"]+)"')


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


def _explanation(error: InvalidDocument | PlanRefused, session: Session) -> list[NextCommand]:
    """The command that explains the first error, if there is more to say about it."""
    from ordito.cli.pages import has_page

    code = next((d.code for d in error.diagnostics if d.severity is Severity.ERROR), "")
    words = ("explain", code)
    return [NextCommand(session.settings.plain_command(*words), f"what {code} means")] if has_page(code) else []


MOST_NAMED = 12

NEEDS_UNDEPLOY = frozenset({"removed-node"})
"""Errors of a plan that come from what runs, so that changing the documents is not the only solution."""


def _nobody(error: NobodyToAsk, session: Session) -> ExitCode:
    if error.losing:
        lost = f"the data of {listed(error.losing, MOST_NAMED)}"
        session.fail("needs-answer", str(error), f"{lost} would be lost: back it up first")
        session.next(NextCommand(session.again("--yes"), f"go ahead without being asked, and lose {lost}"))
    else:
        session.fail("needs-answer", str(error))
        session.next(NextCommand(session.again("--yes"), "go ahead without being asked"))
    return ExitCode.USAGE


def _locked(error: Locked, session: Session) -> ExitCode:
    session.fail("locked", error.message, error.hint)
    session.next(NextCommand(session.settings.command("status"), "see what exists and which job runs"))
    return ExitCode.BUSY


def _unfinished(error: JobUnfinished, session: Session) -> ExitCode:
    session.fail("unfinished-job", str(error))
    session.next(
        NextCommand(session.settings.command("jobs", "resume"), "continue it where it stopped"),
        NextCommand(session.settings.command("status"), "see what it has done so far"),
    )
    return ExitCode.BUSY


def _ensemble(error: EnsembleError, session: Session) -> ExitCode:
    session.fail("ensemble", error.message, error.hint)
    return _stopped(session)


def _system(error: OSError, session: Session) -> ExitCode:
    """An error of the operating system that no other code expects: a name too long, no more handles."""
    where = f": {error.filename}" if error.filename else ""
    session.fail("system", f"the operating system says: {error.strerror or error}{where}")
    return _stopped(session)


def _stopped(session: Session) -> ExitCode:
    """Name the command that helps after an error from outside. It may have interrupted this command's job, which can
    then be resumed. Another job that waits to be resumed is no failure of this command."""
    if session.job_began and _offer_resume(session):
        return ExitCode.JOB_FAILED
    session.next(NextCommand(session.again(), "once that is corrected"))
    return ExitCode.REFUSED


def _refused(error: Refused, session: Session) -> ExitCode:
    session.fail(error.code, error.message, error.hint)
    if error.next_words:
        session.next(NextCommand(session.settings.command(*error.next_words), error.purpose))
    elif error.more_words:
        session.next(NextCommand(session.again(*error.more_words), error.purpose))
    return ExitCode.REFUSED


def _declined(_: Declined, session: Session) -> ExitCode:
    session.note("Nothing was changed.")
    return ExitCode.INTERRUPTED


def interrupted(session: Session) -> ExitCode:
    """Say that the user interrupted the command, and how its job can be continued."""
    session.fail("interrupted", "interrupted by the user")
    _offer_resume(session)
    return ExitCode.INTERRUPTED


def _offer_resume(session: Session) -> bool:
    """Name the command that continues an interrupted job, if there is one."""
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


_PRESENTED: Mapping[type[Exception], Callable[[Any, Session], ExitCode]] = {
    InvalidDocument: _invalid,
    PlanRefused: _invalid,
    NobodyToAsk: _nobody,
    JobUnfinished: _unfinished,
    Refused: _refused,
    Declined: _declined,
    Locked: _locked,
    EnsembleError: _ensemble,
    OSError: _system,
}

EXPECTED = tuple(_PRESENTED)


def present(error: Exception, session: Session) -> ExitCode:
    """Explain one of ``EXPECTED``, and return its exit code."""
    if isinstance(error, Refused | PlanRefused):
        session.public_inputs |= error.public_inputs
    kind = next(kind for kind in type(error).__mro__ if kind in _PRESENTED)
    return _PRESENTED[kind](error, session)
