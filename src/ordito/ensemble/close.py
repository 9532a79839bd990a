"""Closes a job: writes its files from the journal, and then removes it from the journal.

Each part may be repeated with the same result, and the journal comes last. So after a crash at any point, closing the
job again is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_record import ClosingJob, JobRecord, write_changes, write_job_record
from ordito.ensemble.jobs_tsv import append_lines
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.keeping import JobEnd, Keeper, KeepsNothing, KeptCommits, ensure_git_files
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import write_manifest
from ordito.ensemble.status import Status, status_after
from ordito.instances.records import Snapshot
from ordito.work.forms import forms_in_use
from ordito.work.plan import Plan
from ordito.work.records import JobClosingRecord

NO_KEEPER = KeepsNothing()

Effective = Callable[[Snapshot], Mapping[str, str]]
"""Gives the effective status of each instance of a snapshot, by its id."""


def close_job(
    layout: Layout,
    journal: EnsembleJournal,
    snapshot: Snapshot,
    effective: Effective,
    keeper: Keeper = NO_KEEPER,
    plan: Plan | None = None,
) -> tuple[Status, KeptCommits]:
    """Write the record of the job whose steps have all ended, its lines in `jobs.tsv`, and the status of the ensemble,
    and commit them to version control; returns that status, and the commits.

    ``snapshot`` holds what the rows of the journal say, ``plan`` is the plan of the job where it is known already.
    Raises ``EnsembleError``; then nothing is lost, and closing may be tried again.
    """
    frame, closing = journal.frame(), journal.last_record()
    if frame is None or not isinstance(closing, JobClosingRecord):
        raise EnsembleError(
            "there is no job to close: its steps have not all ended", "continue with `ordito jobs resume`"
        )
    header, rest, count = frame
    if plan is None or len(plan.steps) != count:
        plan = msgspec.structs.replace(rest, steps=journal.steps())
    before = journal.status()
    exists = any(record.exists for record in snapshot.instances.values())
    after = status_after(before, header, plan, closing, forms_in_use(snapshot.instances), exists=exists)
    record = JobRecord(
        ClosingJob(
            header=header,
            plan=plan,
            records=journal.records,
            previous=journal.previous(),
            snapshot=snapshot,
            closing=closing,
            before=before,
            after=after,
        )
    )
    write_changes(layout, record)
    end = JobEnd(header.id, header.workflow, closing.status, record.summary, header.asked)
    kept = record.kept = keeper.keep_sources(end)
    ensure_git_files(layout)
    write_job_record(layout, record)
    append_lines(layout.jobs_tsv, record.all_lines)
    digest = write_manifest(layout, snapshot, after, effective(snapshot))
    # The journal still holds the job: killed here, what is missing is done when it is resumed.
    record.kept = keeper.keep_ensemble(end, kept)
    if record.kept.problems != kept.problems:
        write_job_record(layout, record)
    journal.finish(after, digest)
    return after, record.kept
