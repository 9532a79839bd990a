"""The revisions of an ensemble, as people ask for them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.jobs import ensemble_place
from ordito.app.place import EnsembleState
from ordito.base.sensitive import shown
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
