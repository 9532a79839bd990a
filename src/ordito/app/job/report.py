"""How a job ended, for the caller."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.engine.messages import Counts
from ordito.ensemble.keeping import NOTHING, KeptCommits
from ordito.work.events import StepFailed


class RollbackReport(msgspec.Struct, frozen=True):
    """How the rollback of a job ended."""

    outcome: str = ""
    """``complete`` or ``incomplete``, "" if there was none."""
    remains: tuple[str, ...] = ()
    """What was not taken back, for people."""
    again: tuple[str, ...] = ()
    """The instances that were replaced."""


class FilesReport(msgspec.Struct, frozen=True):
    """What happened to the files of a job."""

    kept: KeptCommits = NOTHING
    """What was committed to git."""
    crashes: str = ""
    """The file with details about faults of executors and listeners, "" for none."""
    changed: tuple[str, ...] = ()
    """The files of the pinned service that were changed while the job ran."""
    untold: str = ""
    """Why the file of the job's events is not complete, "" if it is."""


class AfterReport(msgspec.Struct, frozen=True):
    """How the ensemble is after a job."""

    outputs: Mapping[str, object] = {}
    """The outputs of what is deployed now."""
    left: int = 0
    """How many instances exist."""
    is_untouched: bool = False
    """Whether the job ended before it changed anything that it was to change."""
    lacks: bool = False
    """Whether an instance works although something optional has failed, which the next deployment tries again."""


class CausesReport(msgspec.Struct, frozen=True):
    """What explains how a job ended."""

    timed_out: bool = False
    """Whether it was cancelled because of the command's timeout."""
    handled: bool = False
    """Whether the workflow has handled each failure successfully."""
    locked: Mapping[str, str] = {}
    """The hosts of the inventory that refused the login, each with the place of its key or password, FILE:LINE."""
    gone: tuple[StepFailed, ...] = ()
    """Failures whose instance was removed nevertheless: what the operation was to end may still run."""
    stands: tuple[str, ...] = ()
    """The ids of the lifecycle steps of an incomplete change, whose work a rollback would undo."""


class HealedInstance(msgspec.Struct, frozen=True):
    """What a healing has come to for one instance."""

    healing: str
    """What was done, or ``failed``."""
    local: str
    """Its status now."""
    state: str
    """Its node state now."""
    reason: str = ""
    """Whose status could not be found out, so that it was left alone, "" where it was not."""
    unlinked: tuple[str, ...] = ()
    """The targets of its relationships that have failed."""


class HealedReport(msgspec.Struct, frozen=True):
    """What a healing has come to."""

    instances: Mapping[str, HealedInstance]
    """By the ids of the instances that were to be healed."""
    missed: tuple[str, ...] = ()
    """The instances on those that needed nothing that must still be created again."""
    keeps_data: bool = False
    """Whether one of them keeps data: then replacing it is not proposed."""


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
    """Warnings, by ids of steps."""
    rollback: RollbackReport = RollbackReport()
    """How its rollback ended."""
    files: FilesReport = FilesReport()
    """What happened to its files."""
    after: AfterReport = AfterReport()
    """How the ensemble is after it."""
    causes: CausesReport = CausesReport()
    """What explains how it ended."""
    written: bool = False
    """Whether the workflow is one of the template."""
    given: tuple[str, ...] = ()
    """The options of its command that the next one needs as well (``requests.GIVEN_AGAIN``)."""
    healed: HealedReport | None = None
    """What it has come to where it was to heal, None for other jobs, and where it was resumed."""
