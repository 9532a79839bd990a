"""How a job ended, for who has asked for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.ensemble.keeping import NOTHING, KeptCommits
from ordito.work.events import StepFailed


class JobReport(msgspec.Struct, frozen=True):
    """How a job ended: ``status`` is ok, degraded, failed or cancelled; counts are of steps and include what was done
    before an interruption. ``left`` is how many instances exist after it. ``crash_file`` holds what is known about
    faults of executors and listeners, "" where there were none. ``timed_out`` says that it was cancelled because the
    command's time was over. ``rollback`` is "complete" or "incomplete" where what it did was taken back, ``remains``
    what was not, ``again`` the instances that were removed and made again. ``handled`` says that each failure was
    followed by what the workflow has for it, which went well. ``warnings`` say of steps, by id, what deserved
    attention.
    ``locked`` are hosts of the inventory that let nobody in, each with where its key or password stands, FILE:LINE.
    ``written`` is whether somebody wrote the workflow. ``kept`` is what came of its files in git. ``steps`` are the
    options by which its command was told where lifecycle steps are, for the next one that is to mean the same.
    ``changed_files`` are those of the pinned service that were changed while the job ran.
    ``untouched`` says that it ended before it changed anything of what it was to make otherwise. ``gone`` are those
    failures whose instance was removed all the same: what the operation was to end may be at work still. ``stands`` are
    the lifecycle steps of a change that did not come to its end whose work going back would undo, by their ids.
    ``lacks`` says that an instance does its work without something that has failed, which the next deployment tries
    again."""

    job: str
    workflow: str
    status: str
    seconds: float
    succeeded: int
    no_op: int
    failed: int
    skipped: int
    failures: tuple[StepFailed, ...] = ()
    outputs: Mapping[str, object] = {}
    left: int = 0
    crash_file: str = ""
    changed_files: tuple[str, ...] = ()
    kept: KeptCommits = NOTHING
    timed_out: bool = False
    rollback: str = ""
    remains: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    handled: bool = False
    warnings: Mapping[str, tuple[str, ...]] = {}
    locked: Mapping[str, str] = {}
    written: bool = False
    steps: tuple[str, ...] = ()
    untouched: bool = False
    gone: tuple[StepFailed, ...] = ()
    stands: tuple[str, ...] = ()
    lacks: bool = False
