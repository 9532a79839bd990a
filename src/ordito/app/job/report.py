"""How a job ended, for who has asked for it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.engine.messages import Counts
from ordito.ensemble.keeping import NOTHING, KeptCommits
from ordito.work.events import StepFailed


class RollbackReport(msgspec.Struct, frozen=True):
    """How it went to take back what a job did."""

    outcome: str = ""
    """``complete`` or ``incomplete``, "" where nothing was to be taken back."""
    remains: tuple[str, ...] = ()
    """What was not taken back, in words."""
    again: tuple[str, ...] = ()
    """The instances that were removed and made again."""


class FilesReport(msgspec.Struct, frozen=True):
    """What became of the files of a job."""

    kept: KeptCommits = NOTHING
    """What came of them in git."""
    crashes: str = ""
    """The file that holds what is known about faults of executors and listeners, "" where there were none."""
    changed: tuple[str, ...] = ()
    """The files of the pinned service that were changed while the job ran."""


class AfterReport(msgspec.Struct, frozen=True):
    """How the ensemble is after a job."""

    outputs: Mapping[str, object] = {}
    """The outputs of what is deployed now."""
    left: int = 0
    """How many instances exist."""
    is_untouched: bool = False
    """Whether the job ended before it changed anything of what it was to change."""
    lacks: bool = False
    """Whether an instance works without something that has failed, which the next deployment tries again."""


class CausesReport(msgspec.Struct, frozen=True):
    """What explains how a job ended."""

    timed_out: bool = False
    """Whether it was cancelled because the command's time was over."""
    handled: bool = False
    """Whether each failure was followed by what the workflow has for it, and that went well."""
    locked: Mapping[str, str] = {}
    """The hosts of the inventory that let nobody in, each with where its key or password stands, FILE:LINE."""
    gone: tuple[StepFailed, ...] = ()
    """Failures whose instance was removed all the same: what the operation was to end may run still."""
    stands: tuple[str, ...] = ()
    """The lifecycle steps, by their ids, of a change that did not come to its end, whose work a rollback undoes."""


class JobReport(msgspec.Struct, frozen=True):
    """How a job ended."""

    job: str
    """Its id."""
    workflow: str
    """The name of its workflow."""
    status: str
    """``ok``, ``degraded``, ``failed`` or ``cancelled``."""
    seconds: float
    """How long it took."""
    counts: Counts
    """The numbers of steps, with what was done before an interruption."""
    failures: tuple[StepFailed, ...] = ()
    """The steps that failed."""
    warnings: Mapping[str, tuple[str, ...]] = {}
    """What deserved attention, by the ids of steps."""
    rollback: RollbackReport = RollbackReport()
    """How it went to take back what it did."""
    files: FilesReport = FilesReport()
    """What became of its files."""
    after: AfterReport = AfterReport()
    """How the ensemble is after it."""
    causes: CausesReport = CausesReport()
    """What explains how it ended."""
    written: bool = False
    """Whether somebody wrote the workflow."""
    steps: tuple[str, ...] = ()
    """The options that tell the next command where lifecycle steps are, and which part is meant."""
