"""The list of the revisions of an ensemble."""

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
    """A revision in the list."""

    revision: int
    """Its number."""

    job: str
    """The job that has made it."""

    workflow: str
    ended: str
    """When that ended, in UTC."""

    status: str
    service: str
    """The digest of the service."""

    main: str
    """The entry definitions file of the service."""

    inputs: Mapping[str, object]
    """The inputs whose values differ from the revision before, without secrets."""

    is_current: bool = False
    """Whether it is deployed."""

    was_removed: bool = False
    """Whether it has removed everything."""


class RevisionList(msgspec.Struct, frozen=True):
    """The revisions, the newest first."""

    revisions: tuple[RevisionLine, ...]
    is_partial: bool = False
    """Whether something was begun after the current revision and not completed."""

    partial: str = ""
    """The job that has begun it."""

    repairs: bool = False
    """Whether that job was to deploy the current revision again."""

    back: int = 0
    """The revision to which `rollback` leads then, 0 for none."""


def list_revisions(directory: str) -> RevisionList:
    """All revisions. Raises ``Refused`` if there is no ensemble, and ``EnsembleError``."""
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
    """A job that was to make a revision and has not."""

    job: str
    workflow: str
    status: str
    """How it ended: `failed` or `cancelled`."""

    revision: int
    """The revision that it was to make."""

    complete: int = 0
    """The last complete revision, 0 if there is none since everything was removed."""

    repairs: bool = False
    """Whether the job was to deploy that revision again."""

    back: int = 0
    """The revision to which `rollback` leads, 0 for none."""


def incomplete_revision(ensemble: EnsembleState) -> IncompleteRevision | None:
    """The incomplete attempt that is deployed; None if a complete revision is deployed (also one that has removed
    everything except what is kept), or if it was written by a version of the program that did not record this. Raises
    ``EnsembleError``."""
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
