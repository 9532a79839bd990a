"""The machine's part of an ensemble besides its instances: what was deployed last, with what, and what came of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

import msgspec

from ordito.base.change_ids import last_reserved
from ordito.ensemble.layout import Layout
from ordito.instances.outline import Outline
from ordito.instances.records import Snapshot
from ordito.model.choices import Choices
from ordito.work.forms import form_after, is_same
from ordito.work.plan import KeptCount, Plan
from ordito.work.records import (
    NOT_ROLLED_BACK,
    ROLLED_BACK,
    Form,
    GivenService,
    GivenValue,
    JobClosingRecord,
    JobHeader,
    LeftBehind,
    form_of,
)
from ordito.work.workflows import workflow_of

replace = msgspec.structs.replace

WELL = frozenset({"ok", "degraded"})
"""How a job has ended that did what it should."""


class LastJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """The job that ran last: its id, its workflow, and how it ended."""

    id: str
    workflow: str
    status: str


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `ensemble.yaml` says below its marker line, instances left out.

    ``service`` is the digest of the pinned service and ``main`` its entry definitions file, ``inputs`` the topology
    inputs it was deployed with and ``given`` those to remember, ``choices`` what was chosen where the service leaves a
    choice, ``outputs`` the topology's outputs, ``counts`` the wanted number of instances of each node, ``revision`` the
    number of successful deployments and removals; ``kept`` are those of these numbers that scaling has set.
    ``last_change`` is the highest changeId that any job has reserved.
    ``environment`` is the name of the one that is deployed, "" for none; ``hosts`` the inventory that a command has
    named there, as seen from the ensemble, "" for none.
    ``left`` are nodes that the template has lost and whose instances may exist, by the digest of their pinned service.
    ``form`` is the id of what is deployed, that of the job which did it; ``forms`` are others by their ids: earlier
    ones in which instances still are, and ``base``, the one of the last revision that is complete, "" where there is
    none since everything was removed. ``removed`` says that the last of those jobs has removed all that it was to
    remove, so that what exists is what was kept.
    ``ensemble`` is the id of the deployment, by which what is made elsewhere is known again: a text that its first job
    has drawn, "" before that.
    ``named`` is the service to remember in the place of the one that the user's part names.
    """

    service: str = ""
    main: str = ""
    revision: int = 0
    last_job: LastJob | None = None
    last_change: str = ""
    inputs: dict[str, object] = {}
    outputs: dict[str, object] = {}
    counts: dict[str, int] = {}
    given: dict[str, GivenValue] = {}
    choices: Choices = Choices()
    left: dict[str, LeftBehind] = {}
    environment: str = ""
    kept: dict[str, KeptCount] = {}
    hosts: str = ""
    ensemble: str = ""
    named: GivenService | None = None
    form: str = ""
    base: str = ""
    removed: bool = False
    forms: dict[str, Form] = {}


ID_BYTES = 6


def new_id() -> str:
    """The id of a deployment, as no other has it: short enough for the names of containers and of what clouds have."""
    return os.urandom(ID_BYTES).hex()


def status_after(
    before: Status,
    header: JobHeader,
    plan: Plan,
    closing: JobClosingRecord,
    in_use: frozenset[str] = frozenset(),
    *,
    exists: bool = True,
) -> Status:
    """The status once a job is closed; ``in_use`` are the earlier forms in which instances are then, and ``exists`` is
    whether there are any."""
    rolled_back = closing.rollback == ROLLED_BACK
    deployed = ""
    if workflow_of(header.workflow).revises:
        deployed = form_after(header, closing.rollback, is_untouched=closing.is_untouched)
    shapes = deployed == header.id and not rolled_back
    stays = rolled_back or (bool(deployed) and not shapes)
    # What adjusts and was taken back, if not completely, is not wanted: what is left of it is one too many.
    counts = workflow_of(header.workflow).applies and not (stays or (closing.rollback and not shapes))
    found = Status(
        service=header.service if shapes else before.service,
        main=header.main if shapes else before.main,
        revision=before.revision,
        last_job=LastJob(header.id, header.workflow, closing.status),
        last_change=max(before.last_change, last_reserved(header.id, header.ticks)),
        inputs=header.inputs if shapes else before.inputs,
        outputs=before.outputs if stays else closing.outputs,
        counts={**before.counts, **plan.counts.wanted} if counts else before.counts,
        given=header.given if shapes else before.given,
        choices=header.choices if shapes else before.choices,
        named=header.named if shapes else before.named,
        left=header.left if shapes else before.left,
        environment=header.environment if shapes else before.environment,
        hosts=_hosts(before, header, shapes=shapes),
        kept=_kept(plan.counts.kept, header.id) if counts and plan.counts.kept is not None else before.kept,
        ensemble=header.ensemble or before.ensemble,
        form=before.form,
        base=before.base,
        removed=before.removed and not shapes and closing.rollback != NOT_ROLLED_BACK,
    )
    if shapes:
        found = _deployed(found, header, plan, is_well=closing.status in WELL, exists=exists)
    elif deployed and deployed == header.base != before.form:
        found = _gone_back(found, header)
    if deployed and not shapes and closing.rollback == NOT_ROLLED_BACK:
        found = replace(found, left=_joined(found.left, _made(plan, header)))
    return replace(found, forms=_forms(before, found, header, in_use))


def _deployed(status: Status, header: JobHeader, plan: Plan, *, is_well: bool, exists: bool) -> Status:
    """The status with the form that a job has deployed; a revision, where it is complete."""
    if workflow_of(header.workflow).removes:
        # It removes what there is, and leaves what is wanted as it was.
        if plan.summary.is_part and exists:
            # What is deployed is what it was: the next deployment makes again what is gone.
            return replace(status, form=header.current or header.id, base=header.base)
        base = "" if is_well or not exists else header.base
        return replace(
            status,
            form=header.current or header.id,
            base=base,
            removed=is_well and exists,
            revision=status.revision + is_well,
        )
    if plan.summary.is_part:
        return replace(status, form=header.id, base=header.base)
    base_form = header.forms.get(header.base)
    undoes = any(done.job <= header.base for done in plan.undone)
    is_base = base_form is not None and is_same(base_form, header.form) and not undoes
    if is_well and workflow_of(header.workflow).goes_back and is_base:
        # What was begun since the last revision is taken back: that one is what is deployed again.
        return replace(status, form=header.base, base=header.base)
    if is_well:
        return replace(status, form=header.id, base=header.id, revision=status.revision + 1)
    return replace(status, form=header.id, base=header.base)


def _gone_back(status: Status, header: JobHeader) -> Status:
    """The status with the base of a job that was rolled back, where something else was current when it began."""
    base = header.forms.get(header.base)
    if base is None:
        return status
    left = _joined(header.left, status.left)
    return with_form(replace(status, left=left, form=header.base, base=header.base), base)


def with_form(status: Status, form: Form | None) -> Status:
    """The status of an ensemble in which this form is deployed; as it is where nothing is known of that."""
    if form is None:
        return status
    return replace(
        status,
        service=form.service,
        main=form.main,
        inputs=form.inputs,
        choices=form.choices,
        given=form.given,
        named=form.named,
        environment=form.environment,
    )


def _forms(before: Status, after: Status, header: JobHeader, in_use: frozenset[str]) -> dict[str, Form]:
    """The forms that are to be remembered besides the one that is deployed: those in which instances are, and the one
    to which a rollback leads."""
    needed = {*in_use, after.base} - {after.form, ""}
    if not needed:
        return {}
    known = {**before.forms, **header.forms, header.id: header.form}
    if current := current_form(before):
        known[current] = deployed_form(before)
    return {name: known[name] for name in sorted(needed) if name in known}


def status_during(before: Status, header: JobHeader) -> Status:
    """The status while a job is not closed that says what is deployed: what names no form is in the job's own."""
    return replace(
        before,
        service=header.service,
        main=header.main,
        inputs=header.inputs,
        given=header.given,
        choices=header.choices,
        named=header.named,
        left=header.left,
        environment=header.environment,
        form=header.id,
        base=header.base,
        removed=False,
        forms={**known_forms(before), **header.forms},
    )


def current_form(status: Status) -> str:
    """The id of the form that was deployed last, "" for none. Where a version of the program has written the status
    that knew of no forms, it is called by the last job."""
    if status.form or not status.service:
        return status.form
    return status.last_job.id if status.last_job is not None else ""


def deployed_form(status: Status) -> Form:
    """The form that was deployed last."""
    return form_of(status, status.revision if status.base and status.base == status.form else 0)


def is_complete(status: Status) -> bool:
    """Whether what was deployed last was deployed completely, as far as is known."""
    return not status.service or status.form == status.base


def stable_form(status: Status, snapshot: Snapshot) -> str:
    """The id of the form that was deployed completely last, "" where none was since everything was removed."""
    if status.form or not status.revision or status.last_job is None or status.last_job.status not in WELL:
        return status.base
    # Written by a version that knew of no forms.
    exists = any(record.exists and record.created for record in snapshot.instances.values())
    return current_form(status) if exists else ""


def known_forms(status: Status) -> dict[str, Form]:
    """All forms that the status knows, by their ids, the one that was deployed last among them."""
    current = current_form(status)
    return {**status.forms, current: deployed_form(status)} if current else dict(status.forms)


def _made(plan: Plan, header: JobHeader) -> dict[str, LeftBehind]:
    """What a job has made that was not taken back completely: of that something may still be there."""
    nodes = tuple(sorted({record.node for record in plan.records.new}))
    return {header.service: LeftBehind(nodes, header.main, header.inputs, header.form.choices)} if nodes else {}


def _joined(one: Mapping[str, LeftBehind], other: Mapping[str, LeftBehind]) -> dict[str, LeftBehind]:
    """What was left behind by either."""
    found = {**other, **one}
    for digest in one.keys() & other.keys():
        nodes = tuple(sorted({*one[digest].nodes, *other[digest].nodes}))
        found[digest] = replace(one[digest], nodes=nodes)
    return found


def _hosts(before: Status, header: JobHeader, *, shapes: bool) -> str:
    """The inventory to remember. A job in another environment, which does not deploy it, says nothing of this one."""
    if not shapes and header.environment != before.environment:
        return before.hosts
    return header.hosts if header.hosts_given else ""


def _kept(counts: Mapping[str, KeptCount], job: str) -> dict[str, KeptCount]:
    """The numbers that are to be kept, with the job where it has set them itself."""
    return {node: kept if kept.job else replace(kept, job=job) for node, kept in counts.items()}


# The outline of the service that a job is about, kept in `.ordito/`. It only saves time: whoever finds none, or that
# of another job, makes it from the pinned service.

FORMAT = "ordito.outline/1"


class _KeptOutline(msgspec.Struct, frozen=True):
    format: str
    job: str
    outline: Outline


def keep_outline(layout: Layout, job: str, outline: Outline) -> None:
    """Keep the outline of a job's service; where that is not possible nothing is lost."""
    new = layout.outline.with_suffix(".new")
    with contextlib.suppress(OSError):
        new.write_bytes(msgspec.msgpack.encode(_KeptOutline(FORMAT, job, outline)))
        new.replace(layout.outline)


def kept_outline(layout: Layout, job: str) -> Outline | None:
    """The outline that was kept for a job."""
    try:
        kept = msgspec.msgpack.decode(layout.outline.read_bytes(), type=_KeptOutline)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return kept.outline if kept.format == FORMAT and kept.job == job else None
