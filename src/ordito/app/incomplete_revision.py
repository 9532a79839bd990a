"""What was begun after the last complete revision, and is deployed in whole or in part though no revision."""

from __future__ import annotations

import msgspec

from ordito.app.place import EnsembleState
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.status import known_forms, stable_form
from ordito.work.forms import is_same_there


class IncompleteRevision(msgspec.Struct, frozen=True):
    """A job that was to make a ``revision`` and has not: its id, its workflow, and how it has ended (`failed`,
    `cancelled`). ``complete`` is the last revision that is complete, 0 where there is none since everything was
    removed; an attempt that ``repairs`` was to deploy the same as that once more. ``back`` is the revision to which
    `rollback` leads, 0 where it leads to none."""

    job: str
    workflow: str
    status: str
    revision: int
    complete: int = 0
    repairs: bool = False
    back: int = 0


def incomplete_revision(ensemble: EnsembleState) -> IncompleteRevision | None:
    """The attempt that is deployed; None where what is deployed is a revision, that by which all was removed save what
    is kept included, or was written by a version of the program that did not say so. Raises ``EnsembleError``."""
    status, snapshot = ensemble.status, ensemble.snapshot
    base = stable_form(status, snapshot)
    if not status.form or status.form == base or status.removed:
        return None
    if not any(record.exists for record in snapshot.instances.values()):
        return None
    # What goes back plans, and to import that takes longer than all that a status of what is complete needs.
    from ordito.app.rollback_target import back_to

    complete, forms = status.revision if base else 0, known_forms(status)
    repairs, back = is_same_there(forms.get(status.form), forms.get(base)), back_to(ensemble)
    last = status.last_job
    if last is not None and last.id == status.form:
        return IncompleteRevision(last.id, last.workflow, last.status, status.revision + 1, complete, repairs, back)
    # Other jobs ran since, such as one that heals.
    line = next((line for line in job_lines(ensemble.place.layout) if line.id == status.form), None)
    if line is None:
        return IncompleteRevision(status.form, "", "failed", status.revision + 1, complete, repairs, back)
    return IncompleteRevision(line.id, line.workflow, line.outcome, status.revision + 1, complete, repairs, back)
