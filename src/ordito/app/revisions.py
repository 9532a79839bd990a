"""The revisions of an ensemble, as people ask for them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.job.jobs import ensemble_place
from ordito.app.place import EnsembleState
from ordito.base.sensitive import shown
from ordito.ensemble.job_history import job_lines
from ordito.ensemble.revisions import Revision, revisions
from ordito.ensemble.status import known_forms, stable_form
from ordito.ensemble.store import read_ensemble
from ordito.work.forms import is_same_there


class RevisionLine(msgspec.Struct, frozen=True):
    """A revision in the list: its number, the job that has made it, with its workflow and when it ended (UTC), the
    digest of the service and its entry definitions file there, and the inputs that had other values than in the
    revision before, as they may be shown. ``is_current`` marks the one that is deployed, ``was_removed`` one by which
    everything was removed."""

    revision: int
    job: str
    workflow: str
    ended: str
    status: str
    service: str
    main: str
    inputs: Mapping[str, object]
    is_current: bool = False
    was_removed: bool = False


class RevisionList(msgspec.Struct, frozen=True):
    """The revisions, the newest first. ``is_partial`` says that something was begun after the current one and not
    completed: by ``partial``, the job; one that ``repairs`` was to deploy the same as the current one once more. Then
    ``back`` is the revision to which `rollback` leads, 0 where it leads to none."""

    revisions: tuple[RevisionLine, ...]
    is_partial: bool = False
    partial: str = ""
    repairs: bool = False
    back: int = 0


def list_revisions(directory: str) -> RevisionList:
    """All revisions. Raises ``Refused`` where there is no ensemble, and ``EnsembleError``."""
    place = ensemble_place(directory)
    with read_ensemble(directory) as ensemble:
        status, snapshot = ensemble.status, ensemble.snapshot
        base = stable_form(status, snapshot)
        existing = [record for record in snapshot.instances.values() if record.exists]
        is_complete = status.form == base or status.removed
        is_partial = bool(existing) and not (is_complete and not any(record.form for record in existing))
        found = list(revisions(place.layout))
    lines = [_line(one, found[n + 1] if n + 1 < len(found) else None, base) for n, one in enumerate(found)]
    partial, forms = "" if is_complete else status.form, known_forms(status)
    repairs = bool(partial) and is_same_there(forms.get(partial), forms.get(base))
    if not (is_partial and (base or partial)):
        return RevisionList(tuple(lines), partial=partial, repairs=repairs)
    # What goes back plans, and to import that takes long.
    from ordito.app.rollback_target import back_to

    return RevisionList(tuple(lines), True, partial, repairs, back_to(EnsembleState(place, snapshot, status)))


def _line(one: Revision, before: Revision | None, base: str) -> RevisionLine:
    old = before.form.inputs if before is not None and not before.was_removed else {}
    new = one.form.inputs
    names = dict.fromkeys((*old, *new))
    changed = {n: shown(new.get(n)) for n in names if n not in old or n not in new or old[n] != new[n]}
    return RevisionLine(
        one.number,
        one.job,
        one.workflow,
        one.ended,
        one.status,
        one.form.service,
        one.form.main,
        {} if one.was_removed else changed,
        is_current=bool(base) and one.job == base,
        was_removed=one.was_removed,
    )


# What was begun after the last complete revision, and is deployed in whole or in part though no revision.


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
