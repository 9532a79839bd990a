"""Carry on with a job that was interrupted."""

from __future__ import annotations

import msgspec

from ordito.app.conversation import Conversation
from ordito.app.ensemble_checks import no_ensemble
from ordito.app.job.report import JobReport
from ordito.app.job.run import run_rest
from ordito.app.place import place_of
from ordito.ensemble.store import open_ensemble


class ResumeRequest(msgspec.Struct, frozen=True):
    """Which ensemble; ``wait_lock`` is how many seconds to wait for another command, ``commit`` wins over what
    the job was told about committing when it began."""

    directory: str
    wait_lock: float = 0.0
    commit: str = ""


class ResumeResult(msgspec.Struct, frozen=True):
    """What came of it; ``report`` is None where no job was interrupted."""

    report: JobReport | None = None


def resume(request: ResumeRequest, conversation: Conversation) -> ResumeResult:
    """Carry on with the same job under the same id: what is completed does not run again.

    Raises ``Refused``, ``Locked``, ``EnsembleError``, and ``InvalidDocument`` where the pinned service was changed.
    """
    place = place_of(request.directory)
    if not place.layout.private.exists() and not place.layout.exists:
        raise no_ensemble(place.shown)
    with open_ensemble(request.directory, command="jobs resume", wait_lock=request.wait_lock) as ensemble:
        if ensemble.unfinished is None:
            return ResumeResult()
        return ResumeResult(run_rest(ensemble, place, ensemble.unfinished, conversation, commit=request.commit))
