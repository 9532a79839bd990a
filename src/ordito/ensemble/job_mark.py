"""A mark beside the journal while it holds a job. It shows where a journal has lost the job: because it was copied
without its helper files, restored from a backup, or replaced.

It exists from just after the job has begun in the journal until just before the journal removes the job.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import read, write_whole
from ordito.ensemble.layout import PRIVATE, Layout

NAME = "begun"


def mark_begun(journal: Path, job: str) -> None:
    """Mark that a journal holds a job from now on. Raises ``EnsembleError``."""
    write_whole(_mark(journal), [f"{job}\n".encode()])


def unmark(journal: Path) -> None:
    """Remove the mark, since the files of the job are written. Raises ``EnsembleError``."""
    path = _mark(journal)
    with explained("remove", path):
        path.unlink(missing_ok=True)


def marked(journal: Path) -> str:
    """The job that a journal holds, by the mark beside it; "" where it holds none. Raises ``EnsembleError``."""
    return (read(_mark(journal)) or b"").decode("utf-8", "replace").strip()


def may_be_marked(directory: str) -> bool:
    """Whether something is in the place of the mark, in the ensemble in a directory. Nothing is read."""
    return os.path.lexists(f"{directory}/{PRIVATE}/{NAME}")


def _mark(journal: Path) -> Path:
    return journal.with_name(NAME)


def refuse_lost(layout: Layout, has_begun: Callable[[str], bool]) -> None:
    """Raise ``EnsembleError`` where the mark names a job that the journal does not hold. ``has_begun`` says whether it
    holds a job."""
    mark = _mark(layout.journal)
    job = marked(layout.journal)
    # With its record there, the files came with a copy of the ensemble in which it had ended.
    if not job or has_begun(job) or layout.job_record(job).exists():
        return
    raise EnsembleError(
        f"{layout.journal} has lost job {job}, which had begun and not ended: was it copied without its -wal file?",
        f"put the whole directory .ordito back. Where that is gone, what the job has done is in its log only: "
        f"`ordito jobs logs {job}`; then remove {mark}, and let `ordito check` look at what exists",
    )
