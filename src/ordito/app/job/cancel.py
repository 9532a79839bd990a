"""Cancel a job: ask the process that runs it, or close the job if none does."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.errors import Refused
from ordito.app.job.jobs import OpenJob, ensemble_place, find_job, open_job
from ordito.app.job.report import JobReport
from ordito.app.job.run import run_rest
from ordito.app.job.running import CancelLimits
from ordito.app.place import Place
from ordito.ensemble.backing import backing_of
from ordito.ensemble.owner import CANCEL, NOW, Locked, ask, current_user
from ordito.ensemble.store import Ensemble, open_ensemble


class CancelRequest(msgspec.Struct, frozen=True):
    """The job of an ensemble to cancel."""

    directory: str
    job: str = ""
    """Its id or the beginning of it, "" for the one that is not closed."""

    now: bool = False
    """Whether its running steps are ended."""

    wait_lock: float = 0.0
    """Seconds to wait for another command."""

    commit: str = ""
    """Overrides the job's own setting for committing, if no process runs it any more."""

    by: str = ""
    """Who asks through a server, "" for the user of this process."""


class CancelResult(msgspec.Struct, frozen=True):
    """The result: ``job`` is "" if there was none to cancel; ``report`` is None if the process that runs it was asked
    to end it."""

    job: str = ""
    report: JobReport | None = None


def cancel(request: CancelRequest, conversation: Conversation) -> CancelResult:
    """Cancel a job, whether or not a process runs it.

    Raises ``Refused``, ``Locked``, ``EnsembleError``, and ``InvalidDocument`` where the pinned service was changed.
    """
    place = ensemble_place(request.directory)
    found = open_job(place)
    if request.job or found is not None:
        _check(place, request.job, found)
    if found is None:
        return CancelResult()
    by = request.by or current_user()
    if found.holder and ask(place.layout, found.job, NOW if request.now else CANCEL, by):
        return CancelResult(found.job)
    if backing_of(place.layout).cancel_elsewhere(NOW if request.now else CANCEL):
        return CancelResult(found.job)
    # Nobody listens: it was interrupted, or is being closed. Whoever holds the lock decides.
    with _opened(request) as ensemble:
        if ensemble.unfinished is None:
            return CancelResult()
        _check(place, request.job or found.job, open_job(place))
        limits = CancelLimits(cancelled=True, by=by)
        report = run_rest(ensemble, place, ensemble.unfinished, conversation, limits, commit=request.commit)
        return CancelResult(found.job, report)


def _opened(request: CancelRequest) -> Ensemble:
    try:
        return open_ensemble(request.directory, command="jobs cancel", wait_lock=request.wait_lock)
    except Locked as locked:
        if locked.owner is not None and locked.owner.pid:
            locked.hint = (
                "its process takes no requests: it is just beginning or ending, or the file system has no named pipes; "
                f"try again, or `kill -INT {locked.owner.pid}` on {locked.owner.machine}, which is the same as Ctrl-C"
            )
        raise


def _check(place: Place, wanted: str, found: OpenJob | None) -> None:
    """Refuse a job that has ended."""
    job = find_job(place, wanted, found) if wanted else ""
    if job and (found is None or job != found.job):
        raise Refused(
            "job-ended",
            f"job {job} has ended: there is nothing to cancel",
            "to take back what it did, undeploy" if found is None else f"the job that has not ended is {found.job}",
            next_words=("jobs", "show", job),
            purpose="see how it ended",
        )
