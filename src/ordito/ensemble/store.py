"""An ensemble as a whole: its files and its journal, which are reconciled when it is opened."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType

import msgspec

from ordito.base.change_ids import ChangeIds, is_change_id
from ordito.ensemble.backing import Backing, EnsembleLock, backing_of
from ordito.ensemble.close import NO_KEEPER, Effective, close_job
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_mark import refuse_lost
from ordito.ensemble.job_rows import UnfinishedJob
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.keeping import Keeper, KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_state, state_digest, user_part
from ordito.ensemble.pending_rows import last_change_of_instance
from ordito.ensemble.rebuilding import highest_id
from ordito.ensemble.status import Status
from ordito.instances.records import Snapshot
from ordito.source.new_files import sweep
from ordito.work.plan import Plan

OVERTAKEN = (
    "ensemble.yaml was changed while this job waited, by a merge perhaps, and what other jobs did since is not in its "
    "status now; `ordito jobs replay --write` makes it whole; then commit and push it, and where clones share a lock: "
    "`ordito jobs unlock --remote`"
)

EDITED_CURE = (
    "`ordito jobs replay` shows what the records of jobs say otherwise, and `ordito jobs replay --write` corrects it;"
    " go on where it was changed on purpose"
)

WRITE_AGAIN = (
    "remove everything below your own part of ensemble.yaml, and move the folder status away where there is one; then"
    " `ordito jobs resume`: the journal knows what exists, and writes it again; or restore the files from git"
)


class Ensemble:
    """An open ensemble, as a context; use ``open_ensemble`` or ``read_ensemble``.

    ``unfinished`` is a job that the journal holds: it runs if somebody holds the lock, else it was interrupted.
    ``snapshot`` is then that of its last committed turn, and ``status`` that of the last closed job. ``is_edited`` says
    whether the files were changed since the last command of this machine, and not by a job.
    """

    def __init__(
        self,
        layout: Layout,
        snapshot: Snapshot,
        status: Status,
        journal: EnsembleJournal | None,
        lock: EnsembleLock | None,
        *,
        is_edited: bool = False,
    ) -> None:
        self.layout = layout
        self.is_edited = is_edited
        self.snapshot = snapshot
        self.status = status
        self.unfinished: UnfinishedJob | None = journal.unfinished() if journal else None
        self._journal = journal
        self._lock = lock

    @property
    def journal(self) -> EnsembleJournal:
        """The journal, of an ensemble that was opened to be changed."""
        if self._journal is None or self._lock is None:
            raise ValueError("this ensemble was opened for reading")
        return self._journal

    @property
    def is_shared(self) -> bool:
        """Whether the clones of this ensemble share a lock, so that others need what a job has made of the state."""
        return self._lock is not None and self._lock.is_shared

    def name_job(self, job: str) -> None:
        """Tell those that wait for a lock which job will run. Raises ``EnsembleError``."""
        if self._lock is not None:
            self._lock.name_job(job)

    def change_ids(self, now: float, tasks: int) -> ChangeIds:
        """Ids for a new job with at most so many tasks, higher than all ids in the ensemble."""
        last = max(self.status.last_change, highest_id(self.layout))
        return ChangeIds.begin(now, tasks=tasks, last=last, existing=self.layout.job_ids())

    def close_job(self, effective: Effective, keeper: Keeper = NO_KEEPER, plan: Plan | None = None) -> KeptCommits:
        """Write the files of the job that has ended, see ``close.close_job``, and push them to other clones."""
        is_overtaken = self._is_overtaken()
        self.status, kept = close_job(self.layout, self.journal, self.snapshot, effective, keeper, plan)
        self.unfinished = None
        if is_overtaken and self._lock is not None:
            self._lock.keep()
            return msgspec.structs.replace(kept, sharing=OVERTAKEN)
        return self._lock.publish(kept) if self._lock is not None else kept

    def have_files_changed(self) -> bool:
        """Whether the files differ from those that were last read into the journal or written from it: after a merge, a
        pull, or damage. An attempt to close the unfinished job does not count, nor does a missing journal.

        Raises ``EnsembleError`` for files that cannot be read: a job that waits could not be written into them.
        """
        if self._journal is None:
            return False
        try:
            user_part(self.layout)
            if state_digest(self.layout) == self._journal.files_digest():
                return False
            last = read_state(self.layout)[1].last_job
        except EnsembleError as error:
            if self.unfinished is None:
                raise
            raise EnsembleError(str(error), WRITE_AGAIN) from error
        return self.unfinished is None or last is None or last.id != self.unfinished.header.id

    def _is_overtaken(self) -> bool:
        """Whether the files tell of other jobs than those that had run when the journal's job began."""
        digest = state_digest(self.layout)
        if digest == self.journal.files_digest():
            return False
        last = read_state(self.layout)[1].last_job
        before = self.journal.status().last_job
        # Written by an earlier attempt to close this very job, they name it.
        job = self.unfinished.header.id if self.unfinished is not None else ""
        return last is not None and last != before and (not job or last.id != job)

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_finished = False
        try:
            if self._journal is not None:
                is_finished = self._lock is not None and self._journal.is_free()
                self._journal.shut()
        finally:
            if self._lock is not None:
                self._lock.release(is_finished=is_finished, may_fail=error is None)


def open_ensemble(root: str | Path, *, command: str, wait_lock: float = 0.0) -> Ensemble:
    """Open an ensemble to change it: its lock is held until the context ends.

    Nothing but `.ordito/` is made where there is no ensemble yet. Raises ``Locked`` if another command holds the lock
    for longer than ``wait_lock`` seconds, else ``EnsembleError``.
    """
    layout = Layout(Path(root))
    backing = backing_of(layout)
    lock = backing.lock(layout, command, wait_lock)
    lock.take()
    try:
        backing.files(layout).checkout()
        sweep_leftovers(layout)
        journal = backing.open_journal(layout)
        try:
            refuse_lost(layout, journal.holds_job)
            snapshot, status, changed = _read(layout, journal, backing)
            is_edited = changed is not None and _is_edited(layout, journal, status)
            if changed is not None:
                # The journal's rows are brought in step with the files.
                journal.replace_state(snapshot, status, changed)
            ensemble = Ensemble(layout, snapshot, status, journal, lock, is_edited=is_edited)
            if ensemble.unfinished is None:
                lock.check_current()
            return ensemble
        except BaseException:
            journal.shut()
            raise
    except BaseException:
        lock.abandon()
        raise


def read_ensemble(root: str | Path) -> Ensemble:
    """Open an ensemble for reading: without its lock, so also while a job runs. Raises ``EnsembleError``."""
    layout = Layout(Path(root))
    backing = backing_of(layout)
    journal = backing.read_journal(layout)
    if journal is None:
        if not state_digest(layout):
            _refuse_forgotten(layout)
        snapshot, status = read_state(layout)
        return Ensemble(layout, snapshot, status, None, None)
    try:
        refuse_lost(layout, journal.holds_job)
        snapshot, status, changed = _read(layout, journal, backing)
        is_edited = changed is not None and _is_edited(layout, journal, status)
        return Ensemble(layout, snapshot, status, journal, None, is_edited=is_edited)
    except BaseException:
        journal.shut()
        raise


def _is_edited(layout: Layout, journal: EnsembleJournal, status: Status) -> bool:
    """Whether files that are not as the journal left them were changed by hand, or by damage: they speak of the same
    last job, or of none that has a record. What a pull, a merge or a checkout brings is the work of another job."""
    before, now = journal.status().last_job, status.last_job
    if before is None:
        return False
    return now is None or now.id == before.id or now.id not in layout.job_ids()


def _read(layout: Layout, journal: EnsembleJournal, backing: Backing) -> tuple[Snapshot, Status, str | None]:
    """What exists: by the journal's rows if the files were written from them, else by the files, whose digest is given
    then.

    The files may have been changed by a merge, or come from another clone; those of a working copy only repeat what a
    store says.
    """
    if backing.is_store:
        return journal.snapshot(), journal.status(), None
    digest = state_digest(layout)
    if not digest and journal.is_free():
        _refuse_forgotten(layout)
    if journal.is_truth(digest):
        return journal.snapshot(), journal.status(), None
    if not digest and journal.holds_instances():
        raise EnsembleError(
            f"{layout.manifest} has no machine part, but {layout.journal} knows instances",
            f"restore the file from git; if those instances are really gone, remove {layout.journal}",
        )
    snapshot, status = read_state(layout)
    known = (last_change_of_instance(instance) for instance in snapshot.instances.values())
    last = max(known, default="")
    return snapshot, msgspec.structs.replace(status, last_change=max(last, status.last_change)), digest


def _refuse_forgotten(layout: Layout) -> None:
    """Raise ``EnsembleError`` where `ensemble.yaml` knows nothing, and records of jobs do: what they made would be made
    a second time."""
    jobs = layout.job_ids()
    if jobs:
        raise EnsembleError(
            f"{layout.manifest} has no machine part, but there are records of jobs: {jobs[-1]} is the last",
            "`ordito jobs replay --write` makes it again from the records; or restore the file from git",
        )


# What a process that was killed while it wrote has left behind: files that were to take the place of others.

_NEW = re.compile(r"\..{1,40}\.[0-9a-f]{16}\.new")


def sweep_leftovers(layout: Layout) -> None:
    """Remove temporary files; only for the holder of the ensemble's lock, so that none of them is in use. A file that
    cannot be removed stays, and does no harm."""
    for path in (layout.manifest, layout.jobs_tsv, layout.git_ignore, layout.git_attributes, layout.private / "begun"):
        sweep(path, ".new")
    for folder in (layout.status, layout.shared, layout.jobs, *_unrecorded(layout)):
        for name in _names(folder):
            if _NEW.fullmatch(name):
                sweep(folder / name[1:-21], ".new")


def _unrecorded(layout: Layout) -> list[Path]:
    """The folders of large jobs that are not closed."""
    names = _names(layout.jobs)
    known = set(names)
    return [layout.jobs / name for name in names if is_change_id(name) and f"{name}.yaml" not in known]


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  (plain names, of which there may be many)
    except OSError:
        return []
