"""The revision to which a rollback leads, and what lifecycle steps have done since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

import msgspec

from ordito.app.errors import Refused
from ordito.app.place import EnsembleState, place_of
from ordito.base.change_ids import job_of
from ordito.ensemble.done_hooks import done_since
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_history import JobLine, job_lines, read_job
from ordito.ensemble.layout import Layout
from ordito.ensemble.revisions import Revision, recorded_form, revisions
from ordito.ensemble.status import WELL, current_form, known_forms, stable_form
from ordito.ensemble.store import read_ensemble
from ordito.planning.operation_steps import can_be_undone
from ordito.work.forms import forms_in_use, is_same, is_same_there
from ordito.work.hooks import DoneHook
from ordito.work.records import Form
from ordito.work.workflows import workflow_of


class RollbackTarget(msgspec.Struct, frozen=True):
    """Where a rollback leads."""

    number: int
    """The number of the revision."""

    job: str
    """The job that has made it."""

    form: Form
    """The deployed version."""

    done: tuple[DoneHook, ...] = ()
    """The lifecycle steps that were carried out since and not undone, in order."""

    lost: tuple[str, ...] = ()
    """The ids of lifecycle steps of the revision that have been undone since, and will not run again."""

    began: str = ""
    """The first job that is taken back, if none of them was completed; else ""."""


def target_of(known: EnsembleState, number: int) -> RollbackTarget:
    """The revision with a number; for 0 the last complete one if something else was begun since, else the last one
    before it of another service. An attempt that only repairs what is deployed does not count.

    Raises ``Refused`` if there is no revision to go back to, and ``EnsembleError``.
    """
    layout = known.place.layout
    base = stable_form(known.status, known.snapshot)
    if not base:
        raise _nothing_stable(known)
    # What was deployed before everything was removed is deployed again, not gone back to. Each is a record that is
    # read.
    there = takewhile(lambda revision: not revision.was_removed, revisions(layout))
    if number:
        found = _numbered(there, number, known)
        return _with_hooks(layout, RollbackTarget(found.number, found.job, found.form))
    deployed = known_forms(known.status).get(base)
    if deployed is not None and _is_unfinished(known, base, deployed):
        return _with_hooks(layout, _last_complete(known, base, deployed))
    before = _before(layout, there)
    if before is not None:
        return _with_hooks(layout, RollbackTarget(before.number, before.job, before.form))
    if deployed is not None and _is_tried(known, base):
        return _with_hooks(layout, _last_complete(known, base, deployed))
    raise Refused(
        "no-revision",
        "no revision before the deployed one has anything else",
        next_words=("revisions",),
        purpose="see which there are",
    )


def back_to(ensemble: EnsembleState) -> int:
    """The number of the revision to which `rollback` without a number leads; 0 if there is none, or it is not known."""
    try:
        return target_of(ensemble, 0).number
    except (Refused, EnsembleError):
        return 0


def led_back_to(directory: str) -> int:
    """``back_to`` of the ensemble in a directory. Raises ``Refused`` if there is none, and ``EnsembleError``."""
    place = place_of(directory)
    with read_ensemble(directory) as ensemble:
        return back_to(EnsembleState(place, ensemble.snapshot, ensemble.status))


def _last_complete(known: EnsembleState, base: str, deployed: Form) -> RollbackTarget:
    """The last complete revision, to which a rollback leads if something was begun or tried since."""
    lines = job_lines(known.place.layout)
    began = min((line.id for line in lines if line.id > base and workflow_of(line.workflow).revises), default="")
    return RollbackTarget(deployed.revision or known.status.revision, base, deployed, began=began)


def _is_tried(known: EnsembleState, base: str) -> bool:
    """Whether anything was begun after the last complete revision, or tried without success."""
    last = _last_line(known)
    return _is_begun(known, base) or (last is not None and last.outcome not in WELL)


def _is_unfinished(known: EnsembleState, base: str, deployed: Form) -> bool:
    """Whether anything other than what is deployed was begun or tried after the last complete revision. A repair of
    what is deployed does not count, because it leaves nothing to take back, unless lifecycle steps were carried out."""
    forms, layout = known_forms(known.status), known.place.layout
    if not all(is_same_there(forms.get(form), deployed) for form in _begun_forms(known)):
        return True
    last = _last_line(known)
    if last is not None and last.outcome not in WELL:
        tried = recorded_form(layout, last.id)
        if workflow_of(last.workflow).removes or not is_same_there(tried, deployed):
            return True
    elif not _is_begun(known, base):
        return False
    return bool(done_since(layout, base))


def _is_begun(known: EnsembleState, base: str) -> bool:
    return known.status.form != base or any(r.form for r in known.snapshot.instances.values() if r.exists)


def _begun_forms(known: EnsembleState) -> frozenset[str]:
    """The deployed versions of instances, including the last one."""
    return forms_in_use(known.snapshot.instances) | {current_form(known.status)}


def _last_line(known: EnsembleState) -> JobLine | None:
    """The last job that was to make a revision."""
    lines = (line for line in job_lines(known.place.layout) if workflow_of(line.workflow).revises)
    return max(lines, key=lambda line: line.id, default=None)


def _before(layout: Layout, there: Iterable[Revision]) -> Revision | None:
    """The last revision that differs from what is deployed now: by its service, or because lifecycle steps have run
    since. A revision made by a rollback counts as the one to which it went. None for none."""
    deployed: Revision | None = None
    other: Revision | None = None
    alike: list[Revision] = []
    for revision in there:
        if deployed is None or _went_to(deployed, revision):
            deployed = revision
        elif not workflow_of(deployed.workflow).goes_back:
            if not is_same_there(revision.form, deployed.form):
                other = revision
                break
            alike.append(revision)
            deployed = revision
    done = [one.job for one in done_since(layout, alike[-1].job) if can_be_undone(one)] if alike else []
    last = max(done, default="")
    return next((revision for revision in alike if revision.job < last), other)


def _went_to(deployed: Revision, revision: Revision) -> bool:
    """Whether a revision was made by going back to another one."""
    if not workflow_of(deployed.workflow).goes_back:
        return False
    return deployed.to == revision.job if deployed.to else is_same(revision.form, deployed.form)


def _numbered(there: Iterable[Revision], number: int, known: EnsembleState) -> Revision:
    newest: list[int] = []
    for revision in there:
        if revision.number == number:
            return revision
        newest.append(revision.number)
    was = any(revision.number == number for revision in revisions(known.place.layout))
    named = ", ".join(map(str, reversed(newest[:MOST_NAMED])))
    said = f"there is no revision {number}; there are {named}"
    if was:
        said = f"everything was removed after revision {number}, so that nothing can go back to it"
    raise Refused(
        "unknown-revision",
        said,
        "deploy its service again" if was else "",
        next_words=("revisions",),
        purpose="see which there are",
    )


MOST_NAMED = 8


def _with_hooks(layout: Layout, target: RollbackTarget) -> RollbackTarget:
    return msgspec.structs.replace(
        target, done=done_since(layout, target.job), lost=tuple(_undone_since(layout, target.job))
    )


def made_again_since(known: EnsembleState, target: RollbackTarget) -> tuple[str, ...]:
    """The ids of the instances that existed at that revision and were replaced since: what they held then is lost
    already. Raises ``EnsembleError``."""
    records = known.snapshot.instances.values()
    made = {record.id for record in records if record.exists and job_of(record.created) > target.job}
    if not made:
        return ()
    found: dict[str, bool] = {}
    for line in sorted(job_lines(known.place.layout), key=lambda line: line.id):
        record = read_job(known.place.layout, line.id) if line.id > target.job else None
        for change in record.changes() if record is not None else ():
            if change.target in made and change.change_id:
                # What no job has ever changed before was not there.
                found.setdefault(change.target, bool(change.previous_id))
    return tuple(name for name in sorted(found) if found[name])


def _undone_since(layout: Layout, job: str) -> Iterator[str]:
    """The lifecycle steps of a job, and of those before it, that later jobs have undone. A step whose undoing has
    changed nothing does not count."""
    undone: dict[str, dict[str, bool]] = {}
    for line in job_lines(layout):
        record = read_job(layout, line.id) if line.id > job and workflow_of(line.workflow).revises else None
        for change in record.changes() if record is not None else ():
            if change.undoes and job_of(change.undoes) <= job:
                undone.setdefault(job_of(change.undoes), {})[change.undoes] = change.changed is not False
    for name in sorted(undone):
        record = read_job(layout, name)
        for change in record.changes() if record is not None else ():
            if change.hook is None or change.change_id not in undone[name]:
                continue
            # Where an operation has undone it, that is told by the steps of its instances.
            if undone[name][change.change_id] or change.hook.step.block.is_operation:
                yield change.hook.step.id


def _nothing_stable(known: EnsembleState) -> Refused:
    exist = any(record.exists for record in known.snapshot.instances.values())
    if exist:
        return Refused(
            "no-revision",
            "no deployment was completed here, so there is nothing to go back to",
            next_words=("undeploy",),
            purpose="remove what was begun",
        )
    return Refused(
        "not-deployed",
        f"nothing is deployed in {known.place.shown}",
        next_words=("deploy",),
        purpose="deploy it",
    )
